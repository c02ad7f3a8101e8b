"""A port of an RDMA device: its link, its rate, its MTU, its GIDs, and what it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..host import Host, Question
from ..unknown import Unknown, first_unknown, known_or, then
from .counters import PMA_LIMIT, Counter, count, counter, first_sample_age
from .gid import Gid, gid_table
from .loss import Notices, Share, rdma_counters
from .netdev import Netdev, netdev
from .pci import names_in
from .tools.mlxlink import LinkDiagnosis

_IB = "/sys/class/infiniband"
_STATES = {1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
_FASTEST_GBPS = 16_000
#: the role of a port that is judged
FABRIC = "fabric"
#: what the kernel says of an adapter that explains no port without a link
_GOOD_NEWS = ("set-up", "link-up", "module-plugged")
_PHYS = {1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery"}


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """One port. `rate_gbps` is the link's; `role` is "fabric" for a port that is judged, else why it is not.

    `first_sample_age` is when, in seconds after boot, its counters were first read; `siblings_rate_gbps` the usual
    rate of the other rails that are up, None when there is none. `far_end` names the switch port, where it is known.
    """

    device: str
    number: int
    link_layer: str | Unknown
    state: str | Unknown
    phys_state: str | Unknown
    rate_gbps: float | Unknown
    lanes: int | Unknown
    active_mtu: int | Unknown
    gids: tuple[Gid, ...] | Unknown
    netdev: Netdev | Unknown
    loss: Share | Unknown
    notices: Notices
    link_downed: Counter | Unknown
    ever_up: bool | Unknown
    board: str
    first_sample_age: float | Unknown
    kernel_says: str | Unknown = ""
    role: str = ""
    siblings_up: bool | Unknown = field(default_factory=lambda: Unknown("siblings", "missing"))
    siblings_rate_gbps: float | None | Unknown = None
    #: whether another rail has, or may have, a RoCE v2 GID with a routable address
    siblings_routable: bool = True
    far_end: str = ""
    diagnosis: LinkDiagnosis | Unknown = field(default_factory=lambda: Unknown("tool mlxlink", "not-applicable"))

    @property
    def is_fabric(self) -> bool:
        return self.role == FABRIC

    @property
    def active(self) -> bool | Unknown:
        return then(self.state, lambda state: state == "ACTIVE")

    @property
    def usable_gids(self) -> tuple[Gid, ...] | Unknown:
        """Return the routable RoCE v2 GIDs; Unknown when none is known to be one and some may be."""
        if isinstance(self.gids, Unknown):
            return self.gids
        usable = [(gid, gid.usable) for gid in self.gids]
        found = tuple(gid for gid, is_usable in usable if not isinstance(is_usable, Unknown) and is_usable)
        return found or next((u for gid, u in usable if isinstance(u, Unknown) and gid.routable), ())

    @property
    def in_use(self) -> bool | Unknown:
        """Return whether anything shows that this port is meant to be up: a link it had, an address, its siblings."""
        addresses = then(self.netdev, lambda n: n.routable_addresses) if isinstance(self.netdev, Netdev) else ()
        signs = [self.siblings_up, self.ever_up, then(addresses, bool)]
        if any(known_or(sign, default=False) for sign in signs):
            return True
        return next((sign for sign in signs if isinstance(sign, Unknown)), False)

    @property
    def link_drops(self) -> int | Unknown:
        """Return how often the link went down between two samples, by whichever counter there is."""
        changes = then(self.carrier_changes, lambda c: then(c.delta, lambda delta: delta // 2))
        downed = then(self.link_downed, lambda c: c.delta)
        told = [n for n in (changes, downed) if not isinstance(n, Unknown)]
        return max(told) if told else changes if isinstance(self.netdev, Netdev) else downed

    @property
    def carrier_changes(self) -> Counter | Unknown:
        return self.netdev.carrier_changes if isinstance(self.netdev, Netdev) else self.netdev

    @property
    def firmware_says(self) -> str:
        """Return what the adapter's firmware advises, "" when nothing or when it was not asked."""
        return self.diagnosis.advice if isinstance(self.diagnosis, LinkDiagnosis) else ""

    @property
    def at_far_end(self) -> str:
        """Return the switch port as the end of a sentence, "" when it is not known."""
        return f"; at the other end: {self.far_end}" if self.far_end else ""

    @property
    def is_ethernet(self) -> bool | Unknown:
        return then(self.link_layer, lambda layer: layer == "Ethernet")

    def __str__(self) -> str:
        name = self.netdev.name if isinstance(self.netdev, Netdev) else ""
        return f"{self.device}/{self.number}" + (f" ({name})" if name else "")


def port_questions(device: str, number: int) -> list[Question]:
    """Return what is asked about a port of any driver, to ask it of several at once."""
    base = f"{_IB}/{device}/ports/{number}"
    files = ("state", "phys_state", "rate", "link_layer", "counters/link_downed", "counters/port_rcv_data")
    return [*(("read", f"{base}/{file}") for file in files), ("gids", f"{device}/{number}")]


def ports(host: Host, device: str, driver: str | Unknown, verbs: Any, board: str) -> tuple[Port, ...] | Unknown:
    numbers = names_in(host, f"{_IB}/{device}/ports")
    return then(
        numbers,
        lambda ns: tuple(_port(host, device, int(n), driver, verbs, board, len(ns)) for n in sorted(ns, key=int)),
        f"list {_IB}/{device}/ports",
    )


def _port(host: Host, device: str, number: int, driver: str | Unknown, verbs: Any, board: str, of: int) -> Port:
    base = f"{_IB}/{device}/ports/{number}"
    state, phys, rate, layer, *_ = host.ask_all(port_questions(device, number))
    gids = gid_table(host, device, number)
    interface = _netdev(host, device, number, of, gids)
    by_verbs = then(verbs, lambda v: v["ports"][str(number)], f"verbs.device {device}")
    link_layer = then(layer, _layer, f"read {base}/link_layer")
    ethernet = known_or(link_layer, "") == "Ethernet"
    counted = rdma_counters(host, base, driver)
    return Port(
        device=device,
        number=number,
        link_layer=link_layer,
        state=then(state, lambda s: _enum(s, _STATES), f"read {base}/state"),
        phys_state=then(phys, lambda s: _enum(s, _PHYS), f"read {base}/phys_state"),
        rate_gbps=_rate(rate, by_verbs, interface if ethernet else None, base),
        lanes=then(rate, _lanes, f"read {base}/rate"),
        active_mtu=_active_mtu(by_verbs, interface),
        gids=gids,
        netdev=interface,
        loss=counted.loss,
        notices=counted.notices,
        link_downed=_if_counted(counter(host, "read", f"{base}/counters/link_downed", limit=PMA_LIMIT)),
        ever_up=_ever_up(host, base, interface if ethernet else None),
        board=board,
        first_sample_age=first_sample_age(host),
    )


def _if_counted(found: Counter | Unknown) -> Counter | Unknown:
    """Return a counter of the port; drivers without a performance agent have none, nor has a container's view."""
    if isinstance(found, Unknown) and found.why == "missing":
        return Unknown(found.source, "not-applicable", "the driver shows no port counters here")
    return found


def with_kernel_log(host: Host, port: Port, path: tuple[str, ...]) -> Port:
    """Add what the kernel last said of the port's adapter, when the port has no link; else it is not asked."""
    if known_or(port.active, default=True):
        return port
    names = {*path[-1:], port.netdev.name if isinstance(port.netdev, Netdev) else ""}

    def last(log: list[dict[str, Any]]) -> str:
        said = (n for n in reversed(log) if n["device"] in names and n["kind"] not in _GOOD_NEWS)
        return next((str(n["text"]) for n in said), "")

    return replace(port, kernel_says=then(host.ask("kmsg"), last, "kmsg"))


def _layer(text: str) -> str:
    if text not in ("InfiniBand", "Ethernet", "Unknown", "Unspecified"):
        raise ValueError("no such link layer")
    return text


def _enum(text: str, names: Mapping[int, str]) -> str:
    """Return the kernel's "4: ACTIVE" as a name. Raises ValueError for a number it does not have."""
    return names[int(text.split(":", maxsplit=1)[0])]


def _lanes(text: str) -> int:
    found = re.search(r"\((\d+)X", text)
    if not found or not int(found.group(1)):
        raise ValueError("no width in the rate")
    return int(found.group(1))


def _rate(text: Any, verbs: Any, interface: Netdev | Unknown | None, base: str) -> float | Unknown:
    """Return Gb/s: an Ethernet port's from its interface, else from verbs, else the kernel's text.

    Of a bond, only its own interface tells what all of it carries.
    """
    if isinstance(interface, Netdev) and known_or(interface.in_bond, default=False):
        return Unknown(
            f"rate of {base}", "unparsable", f"{interface.name} is a bond's member, and the bond is not seen"
        )
    unseen = isinstance(interface, Netdev) and (known_or(interface.lower, ()) or isinstance(interface.mtu, Unknown))
    if unseen and isinstance(interface.speed_gbps, Unknown):  # type: ignore[union-attr]
        return interface.speed_gbps  # type: ignore[union-attr]
    if isinstance(interface, Netdev) and not isinstance(interface.speed_gbps, Unknown):
        return interface.speed_gbps
    by_verbs = then(verbs, lambda v: _positive(v["gbps"]))
    return by_verbs if not isinstance(by_verbs, Unknown) else then(text, _rate_text, f"read {base}/rate")


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not 0 < float(value) <= _FASTEST_GBPS:
        raise ValueError("not a rate")
    return float(value)


def _rate_text(text: str) -> float:
    found = re.match(r"(\d+(?:\.\d+)?) Gb/sec \(\d+X ?(\w*)\)", text)
    if not found or not float(found.group(1)):
        raise ValueError("not a rate")
    if found.group(2) in ("", "SDR"):
        raise ValueError("the kernel prints SDR also for speeds it does not know")
    return float(found.group(1))


def _active_mtu(verbs: Any, interface: Netdev | Unknown) -> int | Unknown:
    """Return the port's MTU in bytes: from verbs, else what the kernel derives from the interface's MTU."""
    by_verbs = then(verbs, lambda v: _mtu(v["active_mtu"]))
    if not isinstance(by_verbs, Unknown) or not isinstance(interface, Netdev):
        return by_verbs
    return interface.roce_mtu


def _mtu(value: Any) -> int:
    if value not in (256, 512, 1024, 2048, 4096):
        raise ValueError("not an MTU of RDMA")
    return int(value)


def _netdev(host: Host, device: str, number: int, of: int, gids: tuple[Gid, ...] | Unknown) -> Netdev | Unknown:
    """Return the port's interface: the one its GIDs name, else the device's; several GIDs may lie on VLANs.

    Of a device with several ports, only an interface that names its port is taken: in switchdev mode each virtual
    function is a port of the adapter, with an interface or without.
    """
    named = then(gids, lambda table: list(dict.fromkeys(n for g in table if not isinstance(n := g.netdev, Unknown))))
    candidates = known_or(named, [])
    if not candidates:
        names = names_in(host, f"{_IB}/{device}/device/net")
        if isinstance(names, Unknown):
            return names
        candidates = list(names)
        ports = [host.ask("read", f"/sys/class/net/{name}/dev_port") for name in candidates]
        unread = first_unknown(ports)
        if of > 1 and unread is not None:
            return unread if unread.why != "missing" else Unknown(unread.source, "unsupported", "no port is told")
        own = [n for n, p in zip(candidates, ports, strict=True) if known_or(p, "") == str(number - 1)]
        candidates = own or (candidates if of == 1 else [])
    if not candidates:
        return Unknown(f"netdev of {device}/{number}", "missing", "no network interface is visible for it")
    return netdev(host, min(candidates, key=lambda name: ("." in name, candidates.index(name))))


def _ever_up(host: Host, base: str, interface: Netdev | Unknown | None) -> bool | Unknown:
    """Return whether this port had a link since its driver was loaded.

    An Ethernet port's `interface` knows; link_downed may count a port that came down without having been up (rxe).
    """
    received, downed = host.ask_all([
        ("read", f"{base}/counters/port_rcv_data"), ("read", f"{base}/counters/link_downed")
    ])  # fmt: skip
    came_up = interface.came_up if isinstance(interface, Netdev) else None
    signs = [then(received, lambda n: count(n) > 0)]
    signs.append(came_up if isinstance(came_up, bool) else then(downed, lambda n: count(n) > 0))
    told = [sign for sign in signs if not isinstance(sign, Unknown)]
    return (
        any(told) if told else Unknown(f"history of {base}", "unsupported", "no counter tells whether it was ever up")
    )
