"""Bonds under RoCE rails: whether each member carries its share.

The files of sysfs are those of the kernel's Documentation/networking/bonding.rst and bond_sysfs_slave.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..host import Host
from ..unknown import Unknown, first_unknown, then
from .counters import Counter, count, counter
from .netdev import Netdev, netdev
from .port import Port
from .vendors import eth_names

_NET = "/sys/class/net"
_MODES = (
    "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"
)  # fmt: skip
LACP = "802.3ad"
#: IEEE 802.1AX, the state of an aggregation port: it has heard nothing of a partner and works with default values
_DEFAULTED = 0x40
_NOBODY = "00:00:00:00:00:00"


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One interface of a bond. `partner` is whether LACP hears the other end; None where there is no LACP."""

    name: str
    up: bool | Unknown
    partner: bool | None | Unknown
    aggregator: int | None | Unknown
    sent_bytes: Counter | Unknown
    speed_gbps: float | Unknown


@dataclass(frozen=True, slots=True, eq=False)
class Bond:
    """A bond that carries a rail. `aggregator` is the one in use, `partner` the switch's MAC; None without LACP."""

    port: Port
    name: str
    mode: str | Unknown
    members: tuple[Member, ...] | Unknown
    aggregator: int | None | Unknown
    partner: str | None

    @property
    def is_spare(self) -> bool | Unknown:
        """Return whether all members but one only wait, so that losing one costs no bandwidth."""
        return then(self.mode, lambda mode: mode == "active-backup")

    @property
    def lost(self) -> tuple[tuple[str, str], ...] | Unknown:
        """Return the members that carry nothing although they should, each with the reason."""
        for value in (self.mode, self.members):
            if isinstance(value, Unknown):
                return value
        assert not isinstance(self.members, Unknown)  # noqa: S101
        reasons = [(member.name, self._why_lost(member)) for member in self.members]
        found = tuple((name, why) for name, why in reasons if not isinstance(why, Unknown) and why)
        unread = first_unknown(why for _, why in reasons)
        return found if found or unread is None else unread

    def _why_lost(self, member: Member) -> str | Unknown:
        if isinstance(member.up, Unknown):
            return member.up
        if not member.up:
            return "no link"
        return self._why_apart(member) if self.mode == LACP else ""

    def _why_apart(self, member: Member) -> str | Unknown:
        """Return why LACP keeps a member with a link out of the bond."""
        if isinstance(member.partner, Unknown):
            return member.partner
        if self.partner == _NOBODY or not member.partner:
            return "no LACP partner"
        for number in (member.aggregator, self.aggregator):
            if isinstance(number, Unknown):
                return number
        return "" if member.aggregator == self.aggregator else "in another aggregator than the bond uses"

    @property
    def spreads(self) -> bool | Unknown:
        """Return whether it spreads what it sends by a hash, over members that all work."""
        lost = self.lost  # not known where mode or members are not
        if isinstance(lost, Unknown):
            return lost
        return then(self.members, lambda members: self.mode in (LACP, "balance-xor") and len(members) > 1 and not lost)

    @property
    def busiest(self) -> tuple[Member, float, float] | Unknown:
        """Return the member that sent most, its share of what all sent, and its bytes a second."""
        if isinstance(self.members, Unknown):
            return self.members
        rates = [(member, then(member.sent_bytes, lambda c: c.per_second)) for member in self.members]
        told = [(member, rate) for member, rate in rates if not isinstance(rate, Unknown)]
        if len(told) < len(rates) or not told:
            unread = first_unknown(rate for _, rate in rates)
            return Unknown(self.name, "not-applicable", "empty") if unread is None else unread
        member, rate = max(told, key=lambda pair: pair[1])
        return member, rate / (sum(r for _, r in told) or 1.0), rate

    def __str__(self) -> str:
        return str(self.port)


def bonds(host: Host, ports: tuple[Port, ...]) -> tuple[Bond, ...]:
    """Return the bonds that carry these ports: a port's interface, or what its VLAN lies on."""
    found = []
    for port in ports:
        if isinstance(port.netdev, Netdev) and not isinstance(port.netdev.lower, Unknown) and port.netdev.lower:
            for name in (port.netdev.name, *port.netdev.lower):
                mode = host.ask("read", f"{_NET}/{name}/bonding/mode")
                if not (isinstance(mode, Unknown) and mode.why == "missing"):
                    found.append(_bond(host, port, name, mode))
    return tuple(found)


def _bond(host: Host, port: Port, name: str, mode: Any) -> Bond:
    base = f"{_NET}/{name}/bonding"
    slaves, aggregator, partner = host.ask_all([
        ("read", f"{base}/slaves"), ("read", f"{base}/ad_aggregator"), ("read", f"{base}/ad_partner_mac"),
    ])  # fmt: skip
    kind = then(mode, _mode, f"read {base}/mode")
    lacp = kind == LACP if not isinstance(kind, Unknown) else False
    return Bond(
        port,
        name,
        kind,
        then(slaves, lambda text: tuple(_member(host, n, lacp=lacp) for n in _names(text)), f"read {base}/slaves"),
        then(aggregator, count, f"read {base}/ad_aggregator") if lacp else None,
        # empty for a user without CAP_NET_ADMIN; the members' own state then tells alone
        partner if isinstance(partner, str) and partner and lacp else None,
    )


def _mode(text: str) -> str:
    """Return the name in the kernel's "802.3ad 4"."""
    name, number = text.split()
    if _MODES.index(name) != int(number):
        raise ValueError("no such mode")
    return name


def _names(text: str) -> list[str]:
    names = text.split()
    if not names or any("/" in name for name in names):
        raise ValueError("not the names of members")
    return names


def _member(host: Host, name: str, *, lacp: bool) -> Member:
    base = f"{_NET}/{name}"
    state, mii, actor, aggregator = host.ask_all([
        ("read", f"{base}/operstate"), ("read", f"{base}/bonding_slave/mii_status"),
        ("read", f"{base}/bonding_slave/ad_actor_oper_port_state"), ("read", f"{base}/bonding_slave/ad_aggregator_id"),
    ])  # fmt: skip
    interface = netdev(host, name)
    return Member(
        name,
        _up(then(mii, _mii, f"read {base}/bonding_slave/mii_status"), then(state, _state, f"read {base}/operstate")),
        then(actor, lambda text: not _octet(text) & _DEFAULTED, f"read {base}/bonding_slave/ad_actor_oper_port_state")
        if lacp
        else None,
        then(aggregator, count, f"read {base}/bonding_slave/ad_aggregator_id") if lacp else None,
        _sent(host, name, interface.driver),
        interface.speed_gbps,
    )


def _up(by_bond: bool | Unknown, by_kernel: bool | Unknown) -> bool | Unknown:
    """Return whether a member has a link. Without link monitoring (miimon 0) the bond believes in every member."""
    for told in (by_bond, by_kernel):
        if not isinstance(told, Unknown) and not told:
            return False
    return by_bond if isinstance(by_kernel, Unknown) else by_kernel


def _mii(text: str) -> bool:
    return {"up": True, "going down": True, "going back": True, "down": False}[text]


def _state(text: str) -> bool:
    """Return False only for what surely has no link (RFC 2863's down and lowerLayerDown, as the kernel names them)."""
    states = ("unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up")
    return states[states.index(text)] not in ("down", "lowerlayerdown")


def _octet(text: str) -> int:
    value = count(text)
    if value > 0xFF:  # noqa: PLR2004
        raise ValueError("not a state of eight bits")
    return value


def _sent(host: Host, name: str, driver: str | Unknown) -> Counter | Unknown:
    """Return the bytes the port itself sent.

    The interface's own statistics (/sys/class/net/X/statistics) see only what passes the kernel's network stack, so
    that RDMA is not in them: where the driver's counter of the port is not known, nothing is judged.
    """
    names = then(driver, eth_names)
    if isinstance(names, Unknown):
        return names
    stats = host.ask("ethtool.stats", name)
    if isinstance(stats, Unknown) and stats.why not in ("missing", "unsupported"):
        return stats
    # a virtual function has the counters of its queues, but not those of the port
    if names is None or not names.sent_bytes or isinstance(stats, Unknown) or names.sent_bytes not in stats:
        return Unknown(f"ethtool.stats {name}", "not-applicable", "no known counter has the RDMA traffic in it")
    return counter(host, "ethtool.stats", name, names.sent_bytes)
