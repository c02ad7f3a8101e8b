"""What an RDMA port counts, by its driver's own counters: packets missing, and notices of congestion."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..host import Host
from ..unknown import Unknown, first_unknown, then
from .counters import counter
from .vendors import RdmaNames, rdma_names

#: ten times what the fastest interface there is can carry of the smallest packets: beyond it a count is a misread one
_MOST_PACKETS_PER_S = 16e12 / (84 * 8)
#: fewer than this are chance: a link that came up, a peer that started
FEW = 10
#: connections stall seldom and briefly where time-outs are rarer than this: where packets may be lost, and on a
#: lossless fabric, where each is a peer that went away
_SECONDS_A_TIMEOUT, _LOSSLESS_SECONDS_A_TIMEOUT = 60.0, 600.0
#: what is missing more seldom than this costs nothing, however little there is to send
_SECONDS_A_LOSS = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Packets lost, by the difference of two samples; each count is None where the driver does not count it.

    `out_of_order` were missing on the way to this port, `retransmitted` on the way from it. `timeouts` had no answer at
    all; `gave_up` connections ended for that, and `flushed` requests were thrown away as their connection ended.
    `discarded` RDMA packets were dropped on arrival.
    """

    out_of_order: int | None
    retransmitted: int | None
    timeouts: int | None
    gave_up: int | None
    flushed: int | None
    discarded: int | None
    received: int | None
    sent: int | None
    seconds: float
    ordered: bool

    def missing(self, over_ppm: float, *, both_ways: bool = True) -> tuple[int, float] | None | Unknown:
        """Return packets missing, and per million, on the worse way.

        None unless there are 10, two a minute, and more than allowed.
        """
        ways = [(self.retransmitted or 0, self.sent), (self.out_of_order or 0 if both_ways else 0, self.received)]
        shares = [(lost, self._ppm(lost, of)) for lost, of in ways if lost >= max(FEW, self.seconds / _SECONDS_A_LOSS)]
        known = [(lost, ppm) for lost, ppm in shares if not isinstance(ppm, Unknown) and ppm > over_ppm]
        if known:
            lost, ppm = max(known, key=lambda share: share[1])
            return lost, float(f"{ppm:.3g}")
        return first_unknown(ppm for _, ppm in shares)

    def _ppm(self, lost: int, of: int | None) -> float | Unknown:
        if of is None:
            return Unknown("packet counters", "not-applicable", "packets are not counted, so there is no share of them")
        if lost > of:
            return Unknown("packet counters", "unparsable", f"{lost} packets missing of {of}")
        return lost * 1e6 / of

    def many_timeouts(self, *, lossless: bool) -> bool:
        """Return whether there are enough time-outs to speak of: 10, and one a minute (lossless: in ten minutes)."""
        apart = _LOSSLESS_SECONDS_A_TIMEOUT if lossless else _SECONDS_A_TIMEOUT
        return (self.timeouts or 0) >= max(FEW, self.seconds / apart)

    @property
    def job_died(self) -> bool:
        """Return whether connections ended in failure: then peers are gone, and time-outs are what is left of them."""
        return bool(self.gave_up or self.flushed)

    def __str__(self) -> str:
        told = [(self.out_of_order, "missing on the way here"), (self.retransmitted, "missing on the way from here")]
        parts = [f"{n} packets {what}" for n, what in told if n]
        late = f"{self.timeouts or 0} time-outs"
        if not parts:
            late += ": a peer that is gone, or a path that swallows everything"
        return ", ".join([*parts, late])


@dataclass(frozen=True, slots=True, eq=False)
class Notices:
    """Notices of congestion between two samples; what the driver does not count is not applicable.

    `marked` packets arrived with an ECN mark and `cnp_sent` were sent for them; of the CNPs that arrived, `cnp_handled`
    slowed a connection down and `cnp_ignored` did not.
    """

    marked: int | Unknown
    cnp_sent: int | Unknown
    cnp_handled: int | Unknown
    cnp_ignored: int | Unknown
    seconds: float | Unknown


@dataclass(frozen=True, slots=True, eq=False)
class RdmaCounters:
    loss: Share | Unknown
    notices: Notices


def rdma_counters(host: Host, base: str, driver: str | Unknown) -> RdmaCounters:
    """Return what the driver counts. Unknown when the driver is not known; `loss` also when it counts none."""
    names = then(driver, rdma_names)
    if names is None:
        names = Unknown(f"{base}/hw_counters", "unsupported", f"the counters of driver {driver} are not known")
    if isinstance(names, Unknown):
        return RdmaCounters(names, Notices(names, names, names, names, host.seconds()))
    host.ask_all([("read", _path(base, name)) for name in _all(names)])
    return RdmaCounters(_loss(host, base, names), _notices(host, base, names))


def _loss(host: Host, base: str, names: RdmaNames) -> Share | Unknown:
    groups = (
        names.out_of_order, names.retransmit, names.timeouts, names.gave_up, names.flushed, names.discards,
        names.received, names.sent,
    )  # fmt: skip
    counted = [_total(host, base, group) for group in groups]
    seconds = host.seconds()
    bad = first_unknown((*counted, seconds))
    if bad is not None:
        return bad
    if all(value is None for value in counted[:3]):
        return Unknown(f"{base}/hw_counters", "not-applicable", "the device has no error counters")
    return Share(*counted, seconds, names.ordered)  # type: ignore[arg-type, call-arg]


def _notices(host: Host, base: str, names: RdmaNames) -> Notices:
    def counted(what: str, group: tuple[str, ...]) -> int | Unknown:
        total = _total(host, base, group)
        return Unknown(f"{base}/hw_counters", "not-applicable", f"no {what} counted here") if total is None else total

    return Notices(
        counted("ECN marks are", names.ecn_marked),
        counted("CNPs sent are", names.cnp_sent),
        counted("CNPs handled are", names.cnp_handled),
        counted("CNPs ignored are", names.cnp_ignored),
        host.seconds(),
    )


def _total(host: Host, base: str, names: tuple[str, ...]) -> int | None | Unknown:
    """Return the growth of these counters together; None when the driver has none of them."""
    deltas = [_delta(host, _path(base, name)) for name in names]
    present = [d for d in deltas if not (isinstance(d, Unknown) and d.why == "missing")]
    bad = first_unknown(present)
    return bad if bad is not None else sum(present) if present else None  # type: ignore[arg-type]


def _delta(host: Host, path: str) -> int | Unknown:
    grown = counter(host, "read", path)
    if isinstance(grown, Unknown):
        return grown
    delta = grown.delta
    if not isinstance(delta, Unknown) and delta > grown.seconds * _MOST_PACKETS_PER_S:
        return Unknown(path, "unparsable", f"it grew by {delta}, more than any link carries")
    return delta


def _all(names: RdmaNames) -> list[str]:
    groups = [getattr(names, field.name) for field in fields(names)]
    return [name for group in groups if isinstance(group, tuple) for name in group]


def _path(base: str, name: str) -> str:
    directory, _, file = name.rpartition("/")
    if directory == "device":
        return f"{base.rsplit('/ports/', 1)[0]}/hw_counters/{file}"
    return f"{base}/{directory or 'hw_counters'}/{file}"
