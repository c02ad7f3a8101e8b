"""What one physical link says of congestion: time paused, pause frames, pause storms, and packets dropped on arrival.

Received pause holds this node back, and its cause is elsewhere; sent pause is this node's own doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..host import Host
from ..unknown import Unknown, Why, first_unknown, known_or, then
from .counters import Counter, count, counter
from .vendors import EthNames, eth_names

Way = Literal["received", "sent"]
#: the longest that one pause frame can ask for: 65535 quanta of 512 bit times (IEEE 802.3, annex 31B)
_BITS_A_FRAME = 65535 * 512
_ALL_PRIORITIES = frozenset(range(8))


@dataclass(frozen=True, slots=True, eq=False)
class Pause:
    """Share of time (0 to 1) in which this link was paused by its peer and paused its peer.

    Where the driver counts frames and not the time, it is not `exact` but the most these frames can have asked for.
    """

    cause: str
    received: float | Unknown
    sent: float | Unknown
    exact: bool = True

    def share(self, way: Way) -> float | Unknown:
        return self.received if way == "received" else self.sent


@dataclass(frozen=True, slots=True, eq=False)
class Congestion:
    """Differences of two samples. `frames_received` are pause frames; `discards` are by priority, of those paused."""

    pauses: tuple[Pause, ...] | Unknown
    frames_received: int | Unknown
    storm_warnings: int | Unknown
    storm_errors: int | Unknown
    discards: Mapping[int, int] | Unknown
    port_discards: int | Unknown
    corrupted: int | Unknown
    seconds: float | Unknown

    def most_paused(self, way: Way, over: float) -> tuple[float, str] | None | Unknown:
        """Return the longest pause above this share of time, and its cause; None when there is known to be none."""
        if isinstance(self.pauses, Unknown):
            return self.pauses
        shares = [(p.share(way), p.cause, p.exact) for p in self.pauses]
        told = [(s, cause, exact) for s, cause, exact in shares if not isinstance(s, Unknown) and s > over]
        if exact := [(s, cause) for s, cause, is_exact in told if is_exact]:
            return max(exact)
        unread = first_unknown(s for s, _, _ in shares)
        if told and unread is None:
            return Unknown(f"{way} pause", "not-applicable", "this driver counts pause frames, not the time paused")
        return unread

    @property
    def paused_by_802_3x(self) -> bool:
        shares = [s for p in known_or(self.pauses, ()) if not p.cause.startswith("PFC") for s in (p.received, p.sent)]
        return any(known_or(share, 0.0) > 0 for share in shares)


def congestion(
    host: Host, name: str, pfc: frozenset[int] | Unknown, driver: str | Unknown, *, is_virtual: bool
) -> Congestion:
    """Read the counters of interface `name`, on which PFC is on for the priorities `pfc`."""
    source = f"ethtool.stats {name}"
    names = then(driver, eth_names)
    if names is None:
        why: Why = "not-applicable" if is_virtual else "unsupported"
        names = Unknown(source, why, f"the driver's names are not known ({driver})")
    if isinstance(names, EthNames):
        return _Counted(host, name, names, pfc).congestion()
    return Congestion(names, names, names, names, names, names, names, host.seconds())


class _Counted:
    """The statistics of one interface; a name that this driver has not got, or not here, is not applicable."""

    def __init__(self, host: Host, name: str, names: EthNames, pfc: frozenset[int] | Unknown) -> None:
        self.host, self.name, self.names, self.pfc = host, name, names, pfc
        self.source = f"ethtool.stats {name}"
        self.seconds = host.seconds()
        if isinstance(pfc, Unknown) and not names.dcb:
            self.pfc = _ALL_PRIORITIES  # which of them are paused only the vendor's tool knows, so look at each

    def congestion(self) -> Congestion:
        names = self.names
        return Congestion(
            self._pauses(),
            self._frames_received(),
            self._grown(names.storm_warnings),
            self._grown(names.storm_errors),
            self._discards(),
            self._grown(names.port_discards),
            self._grown(names.corrupted),
            self.seconds,
        )

    def _grown(self, statistic: str) -> int | Unknown:
        if not statistic:
            return Unknown(self.source, "not-applicable", "this driver does not count it")
        return then(self._counter(statistic), lambda c: c.delta)

    def _counter(self, statistic: str) -> Counter | Unknown:
        table = self.host.ask("ethtool.stats", self.name)
        if isinstance(table, dict) and statistic not in table:
            return Unknown(self.source, "not-applicable", f"this interface has no {statistic}")
        return counter(self.host, "ethtool.stats", self.name, statistic)

    def _has(self, statistic: str) -> bool:
        table = self.host.ask("ethtool.stats", self.name)
        return bool(statistic) and isinstance(table, dict) and statistic in table

    def _pauses(self) -> tuple[Pause, ...] | Unknown:
        """Return the time paused per PFC priority, and by 802.3x pause where the driver counts it."""
        names = self.names
        if not (names.pfc_received_us or names.pfc_received_frames):
            return Unknown(self.source, "not-applicable", "this driver counts no pauses")
        for needed in (self.pfc, self.seconds, self.host.ask("ethtool.stats", self.name)):
            if isinstance(needed, Unknown):
                return needed
        found = [self._pause(f"PFC on priority {p}", p) for p in sorted(known_or(self.pfc, frozenset()))]
        return (*found, *self._pause_802_3x())

    def _pause(self, cause: str, priority: int) -> Pause:
        names = self.names
        if names.pfc_received_us:
            received, sent = (n.format(p=priority) for n in (names.pfc_received_us, names.pfc_sent_us))
            return Pause(cause, self._share(received), self._share(sent))
        received, sent = (n.format(p=priority) for n in (names.pfc_received_frames, names.pfc_sent_frames))
        return Pause(cause, self._at_most(received), self._at_most(sent), exact=False)

    def _pause_802_3x(self) -> tuple[Pause, ...]:
        """Return 802.3x pause where it is counted: mlx5 has these statistics only while PFC is off."""
        names, cause = self.names, "802.3x pause"
        if self._has(names.pause_received_us):
            return (Pause(cause, self._share(names.pause_received_us), self._share(names.pause_sent_us)),)
        received, sent = names.pause_received_frames, names.pause_sent_frames
        if not names.pause_received_us and self._has(received):
            return (Pause(cause, self._at_most(received), self._at_most(sent), exact=False),)
        return ()

    def _share(self, statistic: str) -> float | Unknown:
        rate = then(self._counter(statistic), lambda microseconds: microseconds.per_second)
        return then(rate, lambda microseconds: _at_most_all(microseconds / 1e6), f"{self.source} {statistic}")

    def _at_most(self, statistic: str) -> float | Unknown:
        """Return the share of time that so many pause frames can have asked for, at this interface's speed."""
        frames = self._grown(statistic)
        if isinstance(frames, Unknown) or not frames:
            return 0.0 if frames == 0 else frames
        megabits = then(self.host.ask("read", f"/sys/class/net/{self.name}/speed"), _speed, "speed")
        seconds = known_or(self.seconds, 1.0)
        most = then(megabits, lambda speed: min(1.0, frames * _BITS_A_FRAME / (speed * 1e6) / seconds))
        return known_or(most, 1.0)

    def _frames_received(self) -> int | Unknown:
        """Return the pause frames received, of PFC on any of its priorities and of 802.3x together."""
        names = self.names
        if not names.pfc_received_frames:
            return Unknown(self.source, "not-applicable", "this driver counts no pause frames by priority")
        if isinstance(self.pfc, Unknown):
            return self.pfc
        statistics = [names.pfc_received_frames.format(p=p) for p in sorted(self.pfc)]
        if self._has(names.pause_received_frames):
            statistics.append(names.pause_received_frames)
        return _sum([self._grown(statistic) for statistic in statistics])

    def _discards(self) -> Mapping[int, int] | Unknown:
        """Return packets dropped on arrival, of the priorities that are paused."""
        if not self.names.discards:
            return Unknown(self.source, "not-applicable", "this driver does not count discards per priority")
        if isinstance(self.pfc, Unknown):
            return self.pfc
        totals = {p: self._grown(self.names.discards.format(p=p)) for p in self.pfc}
        unread = first_unknown(totals.values())
        return unread if unread is not None else {p: known_or(total, 0) for p, total in totals.items()}


def _sum(values: Iterable[int | Unknown]) -> int | Unknown:
    total = 0
    for value in values:
        if isinstance(value, Unknown):
            return value
        total += value
    return total


def _speed(text: Any) -> int:
    speed = count(text)
    if speed in (0, 0xFFFF, 0xFFFFFFFF):
        raise ValueError("speed unknown")
    return speed


def _at_most_all(share: float) -> float:
    """Return a share of time, cut at 1 where the two clocks differ a little. Raises ValueError for nonsense."""
    if share > 1.5:  # noqa: PLR2004
        raise ValueError("paused for longer than the time that passed")
    return min(share, 1.0)
