"""A network interface: what it is set to, what it reports, and what carries it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any

from ..host import Host, Question
from ..unknown import Unknown, known_or, then
from .counters import Counter, count, counter
from .pci import names_in

_NET = "/sys/class/net"
#: iboe_get_mtu() in the kernel's include/rdma/ib_addr.h: what remains after the RoCE headers, rounded down
_ROCE_HEADERS = 96
#: ten times the fastest interface there is: beyond it a speed is a misread number
_FASTEST_MBPS = 16_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Netdev:
    """Speeds are Gb/s, the MTU bytes. `addresses` are those of the interface, with prefix length.

    `supported_gbps`, `advertised_gbps` and `peer_gbps` are of the fastest link mode that can be, is, and is over there.
    """

    name: str
    mtu: int | Unknown
    speed_gbps: float | Unknown
    supported_gbps: float | Unknown
    advertised_gbps: float | Unknown
    peer_gbps: float | Unknown
    addresses: tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...] | Unknown
    carrier_changes: Counter | Unknown
    came_up: bool | Unknown
    admin_up: bool | Unknown
    why_down: str | Unknown
    driver: str | Unknown
    port_name: str | Unknown
    lower: tuple[str, ...] | Unknown
    #: whether it is an adapter's own; a macvlan or veth of a container is not, and has nothing under it here either
    is_physical: bool | Unknown
    #: whether it is a bond's member, so that what it reports is not the rail's
    in_bond: bool | Unknown

    @property
    def roce_mtu(self) -> int | Unknown:
        """Return the largest RoCE MTU that fits this interface's MTU."""
        return then(self.mtu, lambda mtu: max(m for m in (256, 512, 1024, 2048, 4096) if m + _ROCE_HEADERS <= mtu))

    @property
    def routable_addresses(self) -> tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...] | Unknown:
        if known_or(self.in_bond, default=False):
            return Unknown(f"addresses of {self.name}", "unparsable", "they are its bond's, which is not seen")
        return then(self.addresses, routable)

    @property
    def is_representor(self) -> bool:
        """Return whether it stands for a virtual or sub-function of an adapter in switchdev mode."""
        return bool(re.match(r"(c\d+)?pf\d+[vs]f\d+", known_or(self.port_name, "")))

    def __str__(self) -> str:
        return self.name


def netdev_questions(name: str) -> list[Question]:
    """Return what is asked about an interface, to ask it of several at once."""
    base = f"{_NET}/{name}"
    files = ("mtu", "speed", "flags", "carrier_up_count", "phys_port_name")
    kinds = ("ethtool.modes", "ethtool.state", "ethtool.driver")
    more = ("read", f"{base}/ifindex"), ("read", f"{base}/carrier_changes"), ("list", base), ("addresses", "")
    return [*(("read", f"{base}/{file}") for file in files), *((kind, name) for kind in kinds), *more]


def netdev(host: Host, name: str) -> Netdev:
    """Read one interface of this network namespace."""
    base = f"{_NET}/{name}"
    mtu, speed, flags, up_count, port_name, modes, state, driver, *_ = host.ask_all(netdev_questions(name))
    parts = names_in(host, base)
    lower = then(parts, _lower)
    return Netdev(
        name=name,
        mtu=then(mtu, count, f"read {base}/mtu"),
        speed_gbps=_speed(speed, modes, state, base),
        supported_gbps=then(modes, _fastest, f"ethtool.modes {name}")
        if "device" in known_or(parts, ("device",)) and not known_or(lower, ())
        else Unknown(
            f"ethtool.modes {name}", "not-applicable", "only an adapter's interface has link modes of its own"
        ),
        advertised_gbps=then(modes, lambda m: _fastest(m, "advertised"), f"ethtool.modes {name}"),
        peer_gbps=then(modes, lambda m: _fastest(m, "peer"), f"ethtool.modes {name}"),
        addresses=then(host.ask("addresses"), lambda a: addresses_of(a, name), "addresses"),
        carrier_changes=counter(host, "read", f"{base}/carrier_changes"),
        came_up=then(up_count, lambda n: count(n) > 0, f"read {base}/carrier_up_count"),
        admin_up=then(flags, lambda f: bool(int(f, 16) & 1), f"read {base}/flags"),
        why_down=then(state, lambda s: str(s["ext_state"] or ""), f"ethtool.state {name}"),
        driver=then(driver, lambda d: str(d["driver"]), f"ethtool.driver {name}"),
        port_name=then(port_name, str),
        lower=lower,
        is_physical=then(parts, lambda names: "device" in names),
        in_bond=then(parts, lambda names: "bonding_slave" in names),
    )


def _speed(text: Any, modes: Any, state: Any, base: str) -> float | Unknown:
    """Return Gb/s; without a link there is none.

    0, -1, 65535 and 4294967295 mean that the driver does not know (ethtool's SPEED_UNKNOWN).
    """

    def parse(value: Any) -> float:
        megabits = int(value)
        if isinstance(value, bool) or not 0 < megabits <= _FASTEST_MBPS or megabits in (0xFFFF, 0xFFFFFFFF):
            raise ValueError("speed unknown")
        return megabits / 1000

    by_sysfs = then(text, parse, f"read {base}/speed")
    told = by_sysfs if not isinstance(by_sysfs, Unknown) else then(modes, lambda m: parse(m["speed_mbps"]), "ethtool")
    if isinstance(told, Unknown) and known_or(then(state, lambda s: s["link"] is False), default=False):
        return Unknown(f"read {base}/speed", "not-applicable", "the link is down")
    return told


def _fastest(modes: dict[str, Any], which: str = "supported") -> float | Unknown:
    """Return the speed of the fastest of these link modes, from names such as 400000baseCR4/Full.

    A virtual function may name none, nor does IP over InfiniBand.
    """
    if modes[which] == []:
        return Unknown("ethtool.modes", "not-applicable", f"none is named as {which}")
    speeds = [int(found.group(1)) for name in modes[which] if (found := re.match(r"(\d+)base", name))]
    if not speeds:
        raise ValueError("no link mode named")
    fastest = max(speeds)
    if fastest > _FASTEST_MBPS:
        raise ValueError("no such speed")
    return fastest / 1000


def addresses_of(
    table: dict[str, list[str]], name: str
) -> tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...]:
    if not isinstance(table, dict) or not table:
        raise TypeError("not a table of addresses")
    return tuple(ipaddress.ip_interface(str(text)) for text in table.get(name, []))


def routable(
    addresses: tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...],
) -> tuple[ipaddress.IPv4Interface | ipaddress.IPv6Interface, ...]:
    """Return those that a router would carry packets to."""
    return tuple(a for a in addresses if not (a.is_link_local or a.is_loopback))


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the physical interfaces under a bond or VLAN; for a physical one, none."""
    return tuple(name.removeprefix("lower_") for name in names if name.startswith("lower_"))
