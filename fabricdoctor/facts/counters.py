"""Counters as differences between two samples, never as lifetime totals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..host import Host, name_of
from ..unknown import Unknown, then


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """One counter at two times. `limit` is the value at which the hardware stops counting, if it does."""

    name: str
    before: int
    now: int
    seconds: float
    limit: int | None = None

    @property
    def delta(self) -> int | Unknown:
        """Return the growth, or Unknown when the counter was reset or stands at its limit."""
        if self.limit is not None and self.now >= self.limit:
            return Unknown(self.name, "unsupported", "the counter stands at its limit and counts no further")
        if self.now < self.before:
            return Unknown(self.name, "one-sample", "the counter was reset between the samples")
        return self.now - self.before

    @property
    def per_second(self) -> float | Unknown:
        return then(self.delta, lambda delta: delta / self.seconds, self.name)


#: InfiniBand's port counters of 32 bits stop at their limit (IBA, PortCounters); 64-bit ones never get there.
PMA_LIMIT = 0xFFFFFFFF
#: -1 in 64 bits: what a driver prints for a counter it could not read
_ALL_ONES = 0xFFFFFFFFFFFFFFFF
_CENTURY_S = 3.2e9


def counter(host: Host, kind: str, key: str, member: str = "", limit: int | None = None) -> Counter | Unknown:
    """Return a counter of one question, or of one `member` of a question whose answer is a map."""
    pick: Callable[[Any], Any] = (lambda answer: answer[member]) if member else (lambda answer: answer)
    name = name_of(kind, key) + (f" {member}" if member else "")
    current = host.ask(kind, key)
    if member and isinstance(current, dict) and member not in current:
        current = Unknown(name, "unparsable", f"the driver shows no {member}")
    now = then(current, lambda a: count(pick(a)), name)
    earlier = host.earlier(kind, key)
    if member and isinstance(earlier, dict) and member not in earlier:
        earlier = Unknown(name, "one-sample", "the counter was not there in the earlier sample")
    before = then(earlier, lambda a: count(pick(a)), name)
    seconds = host.seconds()
    for value in (now, before, seconds):
        if isinstance(value, Unknown):
            return value
    assert not isinstance(now, Unknown) and not isinstance(before, Unknown) and not isinstance(seconds, Unknown)  # noqa: S101, PT018
    return Counter(name, before, now, seconds, limit)


def count(text: Any) -> int:
    """Return a non-negative number. Raises ValueError for anything else, "N/A (no PMA)" among it."""
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise TypeError("not a counter")
    value = int(text)
    if not 0 <= value < _ALL_ONES:
        raise ValueError("not a counter of 64 bits")
    return value


def first_sample_age(host: Host) -> float | Unknown:
    """Return how many seconds after boot the earlier sample was taken."""
    seconds = host.seconds()
    if isinstance(seconds, Unknown):
        return seconds
    return then(host.ask("read", "/proc/uptime"), lambda text: uptime(text) - seconds, "read /proc/uptime")


def uptime(text: str) -> float:
    value = float(text.split(maxsplit=1)[0])
    if not 0 <= value < _CENTURY_S:
        raise ValueError("no time since boot")
    return value
