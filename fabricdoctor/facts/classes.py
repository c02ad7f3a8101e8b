"""Traffic classes and receive buffers of one interface, as DCB has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_PRIORITIES = 8
_ETS = 2  # IEEE_8021QAZ_TSA_ETS, include/uapi/linux/dcbnl.h
_WHOLE = 100


@dataclass(frozen=True, slots=True)
class TrafficClasses:
    """The traffic class of each priority, and of each class its share of the bandwidth in percent.

    A class that is strict, shaped by credits or left to the vendor's arbiter has no share: None.
    """

    of_priority: tuple[int, ...]
    percent: tuple[int | None, ...]

    def beside(self, priorities: Iterable[int]) -> frozenset[int]:
        """Return the priorities that are in a traffic class of these, and are none of these."""
        ours = frozenset(priorities)
        classes = {self.of_priority[p] for p in ours}
        return frozenset(p for p, tc in enumerate(self.of_priority) if tc in classes) - ours

    def least_percent(self, priorities: Iterable[int]) -> int | None:
        """Return the smallest share that a class of these priorities has, None when none has one of its own."""
        shares = [self.percent[self.of_priority[p]] for p in priorities]
        return min((share for share in shares if share is not None), default=None)


def traffic_classes(ets: dict[str, Any]) -> TrafficClasses:
    """Read the kernel's struct ieee_ets. Raises ValueError where it is none."""
    classes, shares, algorithms = (_eight(ets[key]) for key in ("prio_tc", "tc_tx_bw", "tc_tsa"))
    if max(classes) >= _PRIORITIES or max(shares) > _WHOLE:
        raise ValueError("no such traffic class or share")
    if not any(shares):  # a driver that reports no shares at all reports none of 0 either
        return TrafficClasses(classes, (None,) * _PRIORITIES)
    pairs = zip(shares, algorithms, strict=True)
    return TrafficClasses(classes, tuple(share if algorithm == _ETS else None for share, algorithm in pairs))


def rates(maxrate: Any) -> tuple[float | None, ...]:
    """Return each class's rate limit in Gb/s, None without one (kbit/s in struct ieee_maxrate, 0 for none)."""
    return tuple(rate / 1e6 if rate else None for rate in _eight(maxrate))


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """The receive buffer of each priority, and the buffers' sizes in bytes."""

    of_priority: tuple[int, ...]
    size: tuple[int, ...]

    def size_for(self, priority: int) -> int:
        return self.size[self.of_priority[priority]]


def buffers(answer: dict[str, Any]) -> Buffers:
    """Read the kernel's struct dcbnl_buffer. Raises ValueError where it is none, or all of it is 0."""
    owner, size = _eight(answer["prio2buffer"]), _eight(answer["size"])
    if max(owner) >= _PRIORITIES or not any(size):
        raise ValueError("no receive buffers")
    return Buffers(owner, size)


def _eight(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) != _PRIORITIES:
        raise ValueError("not one value for each of 8")
    if not all(type(value) is int and 0 <= value < 1 << 63 for value in values):
        raise ValueError("not a number")
    return tuple(values)


def headroom_bytes(cable_m: int, gbps: float, mtu: int) -> int:
    """Return the bytes that still arrive after a pause was sent.

    The formula is the driver's own for mlx5 (calculate_xoff() in drivers/net/ethernet/mellanox/mlx5/core/en/
    port_buffer.c): the way there and back over the cable, the peer's reaction, and packets of a full MTU under way.
    """
    return int((301 + 216 * cable_m / 100) * max(gbps, 40.0) + 272 * mtu / 100)
