"""A fabric port with the physical links under it: what all of their counters together say of loss."""

from __future__ import annotations

from dataclasses import dataclass

from ..unknown import Unknown, first_unknown, known_or, then
from .port import Port
from .qos import Link


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """A fabric port and its links; no link where its link layer is not Ethernet or it has no interface here."""

    port: Port
    links: tuple[Link, ...] | Unknown

    @property
    def seen_links(self) -> tuple[Link, ...] | Unknown:
        """Return the links, at least one of them."""
        if isinstance(self.links, Unknown) or self.links:
            return self.links
        return Unknown(f"links of {self.port}", "not-applicable", "its interface is not in this network namespace")

    @property
    def paused_priorities(self) -> frozenset[int] | Unknown:
        """Return the priorities for which PFC is on, on any of the links."""
        links = self.seen_links
        if isinstance(links, Unknown):
            return links
        found: frozenset[int] = frozenset()
        for link in links:
            if isinstance(link.pfc_priorities, Unknown):
                return link.pfc_priorities
            found |= link.pfc_priorities
        return found

    def missing(self, over_ppm: float, *, lossless: bool | None) -> tuple[int, float] | None | Unknown:
        """Return packets missing, and per million; None where it is not more than allowed, or says nothing of loss.

        `lossless` is what the site says of its fabric; where it says nothing, what came out of order is left aside and
        what peers reported missing counts only while PFC is on.
        """
        loss = self.port.loss
        if isinstance(loss, Unknown):
            return loss
        if not loss.ordered or lossless is False:
            return None
        if isinstance(self.port.is_ethernet, Unknown):
            return self.port.is_ethernet
        if not self.port.is_ethernet:
            return None
        found = loss.missing(over_ppm, both_ways=lossless is True)
        if lossless is None and isinstance(found, tuple):
            return then(self.paused_priorities, lambda paused: found if paused else None)
        return found

    def dropped(self, priorities: frozenset[int]) -> int | Unknown:
        """Return packets of these priorities dropped on arrival, or RDMA packets where the device counts those."""
        loss = self.port.loss
        if not isinstance(loss, Unknown) and loss.discarded is not None:
            return loss.discarded
        links = self.seen_links
        if isinstance(links, Unknown):
            return links
        total = 0
        for link in links:
            if isinstance(link.counters.discards, Unknown):
                return link.counters.discards
            total += sum(n for p, n in link.counters.discards.items() if p in priorities)
        return total

    @property
    def interfaces(self) -> str:
        """Return the names of the links' interfaces, for a command."""
        return " ".join(link.netdev for link in known_or(self.links, ()))

    def __str__(self) -> str:
        return str(self.port)

    @property
    def signs(self) -> tuple[str, ...] | Unknown:
        """Return what explains loss as congestion or as this node's own: pause, ECN marks, drops, broken frames.

        Empty only where all of them are counted and none was seen. What this driver does not count is not applicable.
        """
        links, notices = self.seen_links, self.port.notices
        if isinstance(links, Unknown):
            return links
        counts: list[tuple[str, int | Unknown]] = [("ECN marks", notices.marked)]
        counts += [("CNPs", n) for n in (notices.cnp_handled, notices.cnp_ignored) if _is_counted(n)]
        for link in links:
            counts += [("pause", link.counters.frames_received), ("drops on arrival", self._drops(link))]
            counts += [("broken frames", link.counters.corrupted)]
        unread = first_unknown(number for _, number in counts)
        return unread if unread is not None else tuple(dict.fromkeys(what for what, number in counts if number))

    def _drops(self, link: Link) -> int | Unknown:
        """Return packets dropped on arrival by any count there is: of RDMA, of the port, of its priorities."""
        by_priority = then(link.counters.discards, lambda table: sum(table.values()))
        rdma = then(self.port.loss, lambda loss: loss.discarded)
        told = [rdma, link.counters.port_discards, by_priority]
        numbers = [number for number in told if not isinstance(number, Unknown) and number is not None]
        return sum(numbers) if numbers else link.counters.port_discards


def _is_counted(number: int | Unknown) -> bool:
    return not (isinstance(number, Unknown) and number.why == "not-applicable")


def traffic(ports: tuple[Port, ...], links: tuple[Link, ...] | Unknown) -> tuple[Traffic, ...]:
    """Put each port's links to it."""

    def of(port: Port) -> tuple[Link, ...] | Unknown:
        if isinstance(links, Unknown):
            return links
        return tuple(link for link in links if (link.device, link.number) == (port.device, port.number))

    return tuple(Traffic(port, of(port)) for port in ports)
