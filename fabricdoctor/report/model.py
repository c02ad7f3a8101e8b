"""Everything a report shows, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricdoctor.finding import Finding
from fabricdoctor.judge import Conclusion


@dataclass(frozen=True, slots=True)
class PortLine:
    """One RDMA port as listed: `role` is "fabric" when it was judged, else why it was not."""

    name: str
    state: str
    rate: str
    role: str


@dataclass(frozen=True, slots=True)
class Report:
    """One node's report. Times are ISO 8601, UTC; `seconds` is how long observing took.

    `interval_s` is the time between the two samples of counters, None when there was only one. `hints` are sentences
    for the reader, each ending in a command. `left_out` names the questions that had no time left.
    """

    host: str
    tool: str
    taken: str
    seconds: float
    interval_s: float | None
    profile: str | None
    conclusion: Conclusion
    findings: tuple[Finding, ...]
    ports: tuple[PortLine, ...] | None
    hints: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    expectations: Mapping[str, tuple[str, str]] = field(default_factory=dict)
