"""The physical link of each fabric port: its errors, its module, and when it went down. A bond has one per member."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from ..host import Host
from ..unknown import Unknown, known_or, then
from .counters import counter, first_sample_age, uptime
from .fec import corrected_bits, uncorrectable
from .interfaces import Interface
from .kernel_log import MANY_DROPS, downs, link_log
from .module import Module, module

#: RS(544,514) corrects 15 of 544 symbols of 10 bits; a counter that says more is wrong
_MOST_CORRECTABLE = 15 * 10 / 5440
_SHORTEST_S = 5.0
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, eq=False)
class PhysicalLink:
    """One cable. `uncorrectable` blocks and `corrected_bits` of error correction, by difference of two samples.

    `steady`: the link did not come or go between the samples; `drops`: how often it went down; `downs`: the seconds
    after boot of each link-down message in the kernel log; `siblings`: the other rails' links.
    """

    port: str
    device: str
    netdev: str
    is_ethernet: bool | Unknown
    active: bool | Unknown
    rate_gbps: float | Unknown
    seconds: float | Unknown
    steady: bool | Unknown
    drops: int | Unknown
    downs: tuple[float, ...] | Unknown
    first_sample_age: float | Unknown
    uptime: float | Unknown
    uncorrectable: int | Unknown
    corrected_bits: int | Unknown
    module: Module | Unknown
    siblings: tuple[PhysicalLink, ...] = ()
    #: whether its port has other links as well, as a bond's members
    is_member: bool = False

    @property
    def was_up(self) -> Literal[True] | Unknown:
        """Return that the link was up all the time between two samples; while it trains, errors mean nothing."""
        for value in (self.active, self.steady, self.seconds):
            if isinstance(value, Unknown):
                return value
        if self.active and self.steady and known_or(self.seconds, 0.0) >= _SHORTEST_S:
            return True
        return Unknown(f"errors of {self.netdev}", "one-sample", "the link was not up between two samples")

    @property
    def raw_ber(self) -> float | Unknown:
        """Return the bit error rate before correction."""
        for value in (self.was_up, self.corrected_bits, self.rate_gbps):
            if isinstance(value, Unknown):
                return value
        rate = known_or(self.corrected_bits, 0) / (known_or(self.rate_gbps, 0.0) * 1e9 * known_or(self.seconds, 0.0))
        if rate > _MOST_CORRECTABLE:
            return Unknown(f"errors of {self.netdev}", "unparsable", f"a bit error rate of {rate:g} is not corrected")
        return rate

    def flaps(self, grace: float) -> tuple[int, str] | None | Unknown:
        """Return how often the link went down, and when, if that was often; `grace` is seconds after boot.

        A link that its operator takes down moves the same counters. What all rails had is therefore left out, as
        the host's doing (a driver reload, a new network configuration), and on Ethernet the driver must have said in
        the kernel log that the link was lost. InfiniBand's link_downed counts lost links only (IBA, PortCounters).
        """
        if isinstance(self.uptime, Unknown):
            return self.uptime
        logged = self._downs_alone(max(grace, self.uptime - _HOUR_S))
        if known_or(logged, 0) >= MANY_DROPS:
            return known_or(logged, 0), "in the last hour, says the kernel log"
        counted = _more(self.drops, [link.drops for link in self.siblings])
        for value in (self.first_sample_age, counted, self.is_ethernet):
            if isinstance(value, Unknown):
                return None if not isinstance(logged, Unknown) else value
        age, many = known_or(self.first_sample_age, 0.0), known_or(counted, 0)
        if age < grace or many < MANY_DROPS:
            return None
        lost = self._downs_alone(age) if self.is_ethernet else counted
        if isinstance(lost, Unknown):
            return lost
        return (lost, "between the two samples") if lost >= MANY_DROPS else None

    def _downs_alone(self, after: float) -> int | Unknown:
        """Return how many messages more than any sibling has, from `after` seconds after boot on."""

        def late(link: PhysicalLink) -> int | Unknown:
            return then(link.downs, lambda found: sum(second >= after for second in found))

        return _more(late(self), [late(link) for link in self.siblings])

    def __str__(self) -> str:
        return self.port


def _more(own: int | Unknown, others: list[int | Unknown]) -> int | Unknown:
    """Return by how much a number is above the smallest of the others'."""
    if isinstance(own, Unknown) or not others or own < MANY_DROPS:
        return own
    told = [n for n in others if not isinstance(n, Unknown)]
    return own - min(told) if told else others[0]


def physical_links(host: Host, interfaces: tuple[Interface, ...], *, in_guest: bool) -> tuple[PhysicalLink, ...]:
    log = link_log(host, interfaces)
    found = [_link(host, at, log, in_guest=in_guest) for at in interfaces]
    return tuple(replace(link, siblings=tuple(s for s in found if s is not link)) for link in found)


def _link(host: Host, at: Interface, log: Any, *, in_guest: bool) -> PhysicalLink:
    lost, corrected, plugged = _of_interface(host, at, absent=in_guest or at.is_virtual)
    steady, drops = _history(host, at)
    state = host.ask("ethtool.state", at.name) if not at.sole else None
    speed = at.port.rate_gbps if at.sole or at.netdev is None else at.netdev.speed_gbps
    return PhysicalLink(
        port=at.label,
        device=at.device.name,
        netdev=at.name,
        is_ethernet=at.port.is_ethernet,
        active=at.port.active if at.sole else then(state, lambda s: s["link"] is True, f"ethtool.state {at.name}"),
        rate_gbps=speed,
        seconds=host.seconds(),
        steady=steady,
        drops=drops,
        downs=downs(host, log, at),
        first_sample_age=first_sample_age(host),
        uptime=then(host.ask("read", "/proc/uptime"), uptime, "read /proc/uptime"),
        uncorrectable=lost,
        corrected_bits=corrected,
        module=plugged,
        is_member=not at.sole,
    )


def _of_interface(host: Host, at: Interface, *, absent: bool) -> tuple[int | Unknown, int | Unknown, Module | Unknown]:
    """Return blocks lost, bits corrected, and the module. InfiniBand has them not on an interface."""
    if at.netdev is None or not known_or(at.port.is_ethernet, default=True) or absent:
        why = "a virtual function has none" if absent else "no Ethernet interface is visible for it"
        none = Unknown(f"ethtool.fec {at.label}", "not-applicable", why)
        return none, none, none
    host.ask_all([("ethtool.fec", at.name), ("ethtool.stats", at.name), ("ethtool.module", at.name)])
    driver = at.netdev.driver
    return uncorrectable(host, at.name, driver), corrected_bits(host, at.name, driver), module(host, at.name)


def _history(host: Host, at: Interface) -> tuple[bool | Unknown, int | Unknown]:
    """Return whether the link neither came nor went between two samples, and how often it went."""
    downed = then(at.port.link_downed, lambda c: c.delta)
    if at.netdev is None or not known_or(at.port.is_ethernet, default=True):
        return then(downed, lambda n: n == 0), downed
    changes = then(counter(host, "read", f"/sys/class/net/{at.name}/carrier_changes"), lambda c: c.delta)
    if not at.sole or isinstance(downed, Unknown):
        return then(changes, lambda n: n == 0), then(changes, lambda n: n // 2)
    return then(changes, lambda n: n == 0 and downed == 0), then(changes, lambda n: max(n // 2, downed))
