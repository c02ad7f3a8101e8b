"""What a person reads of a report: findings that say the same put together, in the order of their weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..finding import Finding, Severity, Verdict
from .model import PortLine
from .words import generic

T = TypeVar("T")
#: of a fault on many subjects, so many fixes are shown
FIXES_SHOWN = 4
FABRIC = "fabric"

_SKIPPED = {
    "no-expectation": "no expectation",
    "needs-root": "need root",
    "not-applicable": "not applicable",
    "one-sample": "need a second sample",
    "nothing-to-check": "nothing to check",
}
_BARE_WHY = {
    "missing": "it is not there",
    "denied": "permission denied",
    "unsupported": "not supported for this driver or kernel",
    "timeout": "no answer in time",
    "unparsable": "the answer was not understood",
    "not-recorded": "the recording has no such answer",
    "not-exercised": "the probe could not show it",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One fault on one or more subjects; `group` is the group whose members they are, if a group was judged."""

    check: str
    severity: Severity
    group: str
    subjects: tuple[str, ...]
    saw: str
    want: str
    fixes: tuple[str, ...]
    #: check id → subjects of the faults that this one explains
    explained: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Gap:
    """One reason for which something is unknown or broken. `checks` says of each whether it is a critical one."""

    reason: str
    checks: Mapping[str, bool]
    subjects: tuple[str, ...]
    sources: tuple[str, ...]


def entries(findings: Iterable[Finding]) -> list[Entry]:
    """Return the faults by severity, the same one on siblings as one entry, explained ones with their cause."""
    faults = [f for f in findings if f.verdict is Verdict.FAULT and f.fault]
    by_check = _grouped(faults, lambda f: f.check)
    explained: dict[Finding, list[Finding]] = {}
    for fault in faults:
        explained.setdefault(_cause(fault, by_check), []).append(fault)
    groups = _grouped(explained, _sameness)
    found = [_entry(members, [f for m in members for f in explained[m] if f is not m]) for members in groups.values()]
    return sorted(found, key=lambda entry: entry.severity.rank)


def gaps(findings: Iterable[Finding], verdict: Verdict) -> list[Gap]:
    """Return why findings have this verdict, reasons that touch critical checks first."""
    groups = _grouped((f for f in findings if f.verdict is verdict), lambda f: (f.why, generic(_detail(f), f.subject)))
    return sorted((_gap(members) for members in groups.values()), key=lambda gap: not any(gap.checks.values()))


def skipped(findings: Iterable[Finding]) -> list[tuple[int, str]]:
    """Return how many were skipped for which reason, the most frequent first."""
    groups = _grouped((f for f in findings if f.verdict is Verdict.SKIPPED), lambda f: f.why)
    told = [(len(members), _skip_reason(why, members)) for why, members in groups.items()]
    return sorted(told, key=lambda line: -line[0])


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """Return how many findings there are of each kind; they add up to "checked"."""
    kinds = [_kind(f) for f in findings]
    names = ("ok", "critical", "warning", "info", "explained", "unknown", "broken", "skipped")
    return {"checked": len(kinds)} | {name: kinds.count(name) for name in names}


def not_judged(ports: Iterable[PortLine]) -> dict[str, list[PortLine]]:
    """Return the ports that are not of the fabric, by the reason."""
    return _grouped((p for p in ports if p.role != FABRIC), lambda p: p.role)


def _grouped(items: Iterable[T], key: Callable[[T], object]) -> dict[str, list[T]]:
    groups: dict[object, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups  # type: ignore[return-value]


def _kind(finding: Finding) -> str:
    if finding.verdict is not Verdict.FAULT:
        return finding.verdict.value
    return "explained" if finding.folded_under else finding.severity.value


def _about(finding: Finding) -> tuple[str, ...]:
    return (finding.fault.odd if finding.fault else ()) or (finding.subject,)


def _cause(fault: Finding, by_check: Mapping[str, list[Finding]]) -> Finding:
    """Follow the causes to the one that nothing explains. A fault whose cause is not there stands for itself."""
    seen = [fault]
    while seen[-1].folded_under:
        about = {*_about(seen[-1])}
        causes = by_check.get(seen[-1].folded_under, ())
        cause = next((c for c in causes if about & {c.subject, *_about(c)}), None)
        if cause is None or cause in seen:
            return fault
        seen.append(cause)
    return seen[-1]


def _sameness(finding: Finding) -> object:
    fault = finding.fault
    if fault is None or fault.odd:
        return finding
    saw, want = (generic(text, finding.subject) for text in (fault.saw, fault.want))
    return finding.check, finding.severity, saw, want


def _entry(members: list[Finding], explained: list[Finding]) -> Entry:
    first = members[0]
    by_check = _grouped(explained, lambda f: f.check)
    return Entry(
        first.check,
        first.severity,
        first.subject if first.fault and first.fault.odd else "",
        tuple(dict.fromkeys(name for f in members for name in _about(f))),
        _shared([(f.fault.saw, f.subject) for f in members if f.fault]),
        _shared([(f.fault.want, f.subject) for f in members if f.fault]),
        tuple(dict.fromkeys(f.fault.fix for f in members if f.fault and f.fault.fix.strip())),
        {check: tuple(dict.fromkeys(n for f in found for n in _about(f))) for check, found in by_check.items()},
    )


def _shared(texts: list[tuple[str, str]]) -> str:
    """Return the text that all have, or else the one without their names."""
    text, subject = texts[0]
    return text if all(other == text for other, _ in texts) else generic(text, subject)


def _gap(members: list[Finding]) -> Gap:
    checks: dict[str, bool] = {}
    for f in members:
        checks[f.check] = checks.get(f.check, False) or f.severity is Severity.CRITICAL
    return Gap(
        _shared([(_detail(f), f.subject) for f in members]),
        checks,
        tuple(dict.fromkeys(f.subject for f in members)),
        tuple(dict.fromkeys(f.source for f in members if f.source)),
    )


def _detail(finding: Finding) -> str:
    detail = finding.reason.removeprefix(f"{finding.source}: ")
    return _BARE_WHY.get(detail, detail) or "no reason given"


def _skip_reason(why: str, members: list[Finding]) -> str:
    unset = dict.fromkeys(f.expectation for f in members if f.expectation)
    return _SKIPPED.get(why, why or "no reason given") + (f" ({', '.join(unset)})" if unset else "")
