"""Judge every subject with every check. Nothing here knows what RoCE is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .check import Check
from .expect import Expect, UnsetExpectation
from .facts import Node
from .finding import Finding, Severity, Verdict
from .unknown import SKIPS, Unknown, UnknownFact


def judge(
    checks: Iterable[Check[Any]], node: Node, expect: Expect, severities: Mapping[str, Severity] | None = None
) -> list[Finding]:
    """Return the findings of all checks, faults folded under their causes; `severities` overrides per check id."""
    checks = list(checks)
    override = severities or {}
    found = [f for check in checks for f in _over(check, node, expect, override.get(check.id))]
    return _fold(found, {check.id: check.explained_by for check in checks})


def _over(check: Check[Any], node: Node, expect: Expect, severity: Severity | None) -> Iterator[Finding]:
    level = severity or check.severity
    try:
        subjects = check.over(node)
        if isinstance(subjects, Unknown):
            yield _not_known(Finding(check.id, "node", Verdict.UNKNOWN, level), subjects)
        elif not subjects:
            yield Finding(
                check.id, "node", Verdict.SKIPPED, level, reason="nothing on this node to check", why="nothing-to-check"
            )
        else:
            for subject in subjects:
                yield _one(check, subject, expect, severity)
    except Exception as error:  # noqa: BLE001  one bad check must not take the others with it
        yield _broken(Finding(check.id, "node", Verdict.BROKEN, level), error)


def _one(check: Check[Any], subject: object, expect: Expect, severity: Severity | None) -> Finding:
    finding = Finding(check.id, str(subject), Verdict.OK, severity or check.severity)
    try:
        fault = check.judge(subject, expect)
    except UnknownFact as stop:
        return _not_known(finding, stop.unknown)
    except UnsetExpectation as stop:
        return replace(
            finding, verdict=Verdict.SKIPPED, reason=f"no expectation: {stop.name}", why="no-expectation",
            expectation=stop.name,
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001
        return _broken(finding, error)
    if fault is None:
        return finding
    return replace(
        finding, verdict=Verdict.FAULT, severity=severity or fault.severity or check.severity, fault=fault
    )


def _not_known(finding: Finding, unknown: Unknown) -> Finding:
    verdict = Verdict.SKIPPED if unknown.why in SKIPS else Verdict.UNKNOWN
    return replace(finding, verdict=verdict, reason=str(unknown), why=unknown.why, source=unknown.source)


def _broken(finding: Finding, error: Exception) -> Finding:
    return replace(finding, verdict=Verdict.BROKEN, reason=f"{type(error).__name__}: {error}", why="broken")


def _fold(findings: list[Finding], causes: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """Put each fault under the first of its causes that is present on all the subjects it blames."""
    faults = {(f.check, f.subject) for f in findings if f.verdict is Verdict.FAULT}
    blamed = {(f.check, odd) for f in findings if f.fault for odd in f.fault.odd}

    def cause_of(finding: Finding) -> str:
        if finding.fault is None:
            return ""
        about = finding.fault.odd or (finding.subject,)
        present = (
            c for c in causes.get(finding.check, ()) if all((c, a) in faults or (c, a) in blamed for a in about)
        )
        return next(present, "")

    return [replace(f, folded_under=cause) if (cause := cause_of(f)) else f for f in findings]
