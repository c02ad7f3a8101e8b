"""Judge every subject with every check. Nothing here knows what RoCE is."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from .check import Check
from .expect import Asked, Expect, UnsetExpectation
from .facts import Node
from .finding import Fault, Finding, Severity, Verdict
from .limit import TooLong, within
from .unknown import SKIPS, Unknown, UnknownFact

#: seconds a check may take: all of them together have a budget, but each gets enough for a busy node
_MOST_S, _LEAST_S = 1.0, 0.25


def judge(
    checks: Iterable[Check[Any]],
    node: Node,
    expect: Expect,
    severities: Mapping[str, Severity] | None = None,
    seconds: float = 30.0,
) -> list[Finding]:
    """Return the findings of all checks, faults folded under their causes; `severities` overrides per check id.

    What a check prints goes to standard error, so that it does not end up in the report. A check takes microseconds:
    one that does not return is broken after a second, or less when `seconds` for all of them are spent.
    """
    checks = list(checks)
    override = severities or {}
    found: dict[str, list[Finding]] = {}
    end = time.monotonic() + seconds
    with contextlib.redirect_stdout(sys.stderr):
        for check in sorted(checks, key=lambda check: bool(check.links)):
            severity = override.get(check.id)
            judged = partial(_chained, found) if check.links else partial(_one, expect)
            whole = Finding(check.id, "node", Verdict.BROKEN, severity or check.severity)
            limit = max(_LEAST_S, min(_MOST_S, end - time.monotonic()))
            found[check.id] = _limited(_over(check, node, partial(judged, check, severity), whole), limit, whole)
    return _fold([f for check in checks for f in found[check.id]], causes_of(checks))


def causes_of(checks: Iterable[Check[Any]]) -> dict[str, tuple[str, ...]]:
    """Return for each check what its faults are shown under: its causes, then the chains it is a link of."""
    checks = list(checks)
    return {c.id: c.explained_by + tuple(whole.id for whole in checks if c.id in whole.links) for c in checks}


def _limited(each: Iterator[Finding], seconds: float, late: Finding) -> list[Finding]:
    """Return the findings that come in this time, with the one that says so when it is over."""
    found: list[Finding] = []
    try:
        with within(seconds):
            found.extend(each)
    except TooLong as error:
        found.append(_broken(late, error))
    return found


def _over(check: Check[Any], node: Node, judged: Callable[[object], Finding], whole: Finding) -> Iterator[Finding]:
    """Yield a finding for each subject; `whole` is the one to fill in where there is none, or no telling."""
    try:
        subjects = check.over(node)
        if isinstance(subjects, Unknown):
            yield _not_known(whole, subjects)
        elif not subjects:
            reason = "nothing on this node to check"
            yield replace(whole, verdict=Verdict.SKIPPED, reason=reason, why="nothing-to-check")
        else:
            for subject in subjects:
                yield judged(subject)
    except (Exception, SystemExit) as error:  # noqa: BLE001  one bad check must not take the others with it
        yield _broken(whole, error)


def _one(expect: Expect, check: Check[Any], severity: Severity | None, subject: object) -> Finding:
    finding = Finding(check.id, str(subject), Verdict.OK, severity or check.severity)
    asked: Any = Asked(expect)
    try:
        fault = check.judge(subject, asked)
    except UnknownFact as stop:
        return _not_known(finding, stop.unknown)
    except UnsetExpectation:
        unset = asked.unset
        return replace(
            finding, verdict=Verdict.SKIPPED, reason=f"no expectation: {unset}", why="no-expectation", expectation=unset
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return _broken(finding, error)
    if fault is None:
        return finding
    if not isinstance(fault, Fault):
        return _broken(finding, TypeError(f"a check returns a Fault or None, not {fault!r:.40}"))
    return replace(finding, verdict=Verdict.FAULT, severity=severity or fault.severity or check.severity, fault=fault)


def _chained(
    found: Mapping[str, list[Finding]], whole: Check[Any], severity: Severity | None, subject: object
) -> Finding:
    """Return the verdict of a chain: the first broken link's fault, else what a critical link lacks."""
    finding = Finding(whole.id, str(subject), Verdict.OK, severity or whole.severity)
    links = [f for link in whole.links for f in found.get(link, ()) if f.subject == finding.subject]
    broken = [f for f in links if f.fault and f.severity is not Severity.INFO]
    if broken and (fault := broken[0].fault):
        worst = min((f.severity for f in broken), key=lambda level: level.rank)
        fault = replace(fault, saw=f"first broken link: {broken[0].check}; {fault.saw}")
        return replace(finding, verdict=Verdict.FAULT, severity=severity or worst, fault=fault)
    weighty = [f for f in links if f.severity is Severity.CRITICAL] or links
    gap = next((f for f in weighty if f.verdict in (Verdict.UNKNOWN, Verdict.BROKEN)), None)
    told = gap or next((f for f in weighty if f.why != "no-expectation"), next(iter(weighty), None))
    if told is None:
        return replace(finding, verdict=Verdict.SKIPPED, reason="none of its links was judged", why="excluded")
    if told.verdict in (Verdict.OK, Verdict.FAULT):
        return finding
    return replace(told, check=finding.check, severity=finding.severity)


def _not_known(finding: Finding, unknown: Unknown) -> Finding:
    verdict = Verdict.SKIPPED if unknown.why in SKIPS else Verdict.UNKNOWN
    return replace(finding, verdict=verdict, reason=str(unknown), why=unknown.why, source=unknown.source)


def _broken(finding: Finding, error: BaseException) -> Finding:
    return replace(finding, verdict=Verdict.BROKEN, reason=f"{type(error).__name__}: {error}", why="broken")


def _fold(findings: list[Finding], causes: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Put each fault under the first of its causes that is present on all the subjects it blames."""
    faults = {(f.check, f.subject) for f in findings if f.verdict is Verdict.FAULT}
    blamed = {(f.check, odd) for f in findings if f.fault for odd in f.fault.odd}

    def cause_of(finding: Finding) -> str:
        if finding.fault is None:
            return ""
        about = finding.fault.odd or (finding.subject,)
        present = (c for c in causes.get(finding.check, ()) if all((c, a) in faults or (c, a) in blamed for a in about))
        return next(present, "")

    return [replace(f, folded_under=cause) if (cause := cause_of(f)) else f for f in findings]


READY, NOT_READY, CANNOT_TELL = "ready", "not ready", "cannot tell"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The one answer. `status` is the exit status of `fabricdoctor check`; `because` says it in one sentence."""

    verdict: str
    status: int
    because: str


def conclude(
    findings: Iterable[Finding], *, fail_on: Severity = Severity.CRITICAL, require: Iterable[str] = ()
) -> Conclusion:
    """Return 1 for a fault at or above `fail_on`, else 3 when something that had to be known is not, else 0.

    What critical checks need has to be known (where an expectation is unset they are skipped), and whatever the
    patterns of `require` name has to be judged: there, being skipped is not enough.
    """
    found = [f for f in findings if not f.folded_under]
    faults = [f for f in found if f.verdict is Verdict.FAULT and f.severity.rank <= fail_on.rank]
    if faults:
        return Conclusion(NOT_READY, 1, f"{_many(len(faults), 'fault')} at or above {fail_on.value}")
    patterns = tuple(require)
    gaps = [f for f in found if _had_to_be_known(f, patterns)]
    if gaps:
        return Conclusion(CANNOT_TELL, 3, f"{_many(len(gaps), 'answer')} that had to be known could not be had")
    if not any(f.verdict in (Verdict.OK, Verdict.FAULT) for f in found):
        return Conclusion(CANNOT_TELL, 3, "nothing on this node could be judged")
    return Conclusion(READY, 0, f"no fault at or above {fail_on.value}")


def _had_to_be_known(finding: Finding, require: tuple[str, ...]) -> bool:
    if finding.verdict in (Verdict.OK, Verdict.FAULT):
        return False
    if any(fnmatchcase(finding.check, pattern) for pattern in require):
        return True
    return finding.verdict is not Verdict.SKIPPED and finding.severity is Severity.CRITICAL


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
