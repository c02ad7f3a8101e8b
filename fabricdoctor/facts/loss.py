"""Packets that an RDMA port saw to be missing, by its driver's own counters."""

from __future__ import annotations

from dataclasses import dataclass

from ..host import Host
from ..unknown import Unknown, then
from .counters import counter
from .vendors import rdma_names


@dataclass(frozen=True, slots=True)
class Share:
    """Packets lost, by the difference of two samples; each count is None where the driver does not count it."""

    out_of_order: int | None
    retransmitted: int | None
    timeouts: int | None
    packets: int
    seconds: float
    ordered: bool

    @property
    def lost(self) -> int:
        """Return how many packets were seen to be missing, by this side or by its peers."""
        return (self.out_of_order or 0) + (self.retransmitted or 0)


def loss(host: Host, base: str, driver: str | Unknown) -> Share | Unknown:
    """Return the loss its driver counts. Unknown when the driver is not known, or none of its counters answers."""
    names = then(driver, rdma_names)
    if isinstance(names, Unknown):
        return names
    if names is None:
        return Unknown(f"{base}/hw_counters", "unsupported", f"the counters of driver {driver} are not known")

    def total(counters: tuple[tuple[str, str], ...]) -> int | None | Unknown:
        """Return the growth of these counters together; None when the driver has none of them."""
        host.ask_all([("read", f"{base}/{directory}/{name}") for directory, name in counters])
        deltas = [then(counter(host, "read", f"{base}/{d}/{n}"), lambda c: c.delta) for d, n in counters]
        present = [d for d in deltas if not (isinstance(d, Unknown) and d.why == "missing")]
        bad = next((d for d in present if isinstance(d, Unknown)), None)
        return bad if bad is not None else sum(present) if present else None  # type: ignore[arg-type]

    def named(group: tuple[str, ...]) -> int | None | Unknown:
        return total(tuple(("hw_counters", name) for name in group))

    order, again, late = named(names.out_of_order), named(names.retransmit), named(names.timeouts)
    packets, seconds = total(names.packets), host.seconds()
    for value in (order, again, late, packets, seconds):
        if isinstance(value, Unknown):
            return value
    if order is None and again is None and late is None:
        return Unknown(f"{base}/hw_counters", "not-applicable", "the device has no error counters")
    return Share(order, again, late, packets or 0, seconds, names.ordered)  # type: ignore[arg-type]
