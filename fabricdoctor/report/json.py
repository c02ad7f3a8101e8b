"""The report for programs: versioned JSON (see `schema`), keys in a fixed order, one finding a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..finding import Finding
from .groups import counts
from .model import Report

FORMAT, KIND = 1, "fabricdoctor.report"


def render(report: Report) -> str:
    """Return ASCII: whatever else the node's data holds is escaped."""
    fields = (f"  {json.dumps(name)}: {_value(value)}" for name, value in content(report).items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def content(report: Report) -> dict[str, Any]:
    """Return what is rendered; a field that does not apply is null."""
    return {
        "format": FORMAT,
        "kind": KIND,
        "tool": report.tool,
        "host": report.host,
        "taken": report.taken,
        "seconds": round(report.seconds, 3),
        "interval_s": report.interval_s,
        "profile": report.profile,
        "verdict": report.conclusion.verdict,
        "status": report.conclusion.status,
        "because": report.conclusion.because,
        "counts": counts(report.findings),
        "findings": [_finding(f) for f in report.findings],
        "ports": _ports(report),
        "left_out": list(report.left_out),
        "hints": list(report.hints),
        "expectations": [
            {"name": name, "value": value, "source": source} for name, (value, source) in report.expectations.items()
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    fault = finding.fault
    return {
        "check": finding.check,
        "subject": finding.subject,
        "verdict": finding.verdict.value,
        "severity": finding.severity.value,
        "saw": fault.saw if fault else None,
        "want": fault.want if fault else None,
        "fix": fault.fix if fault else None,
        "odd": list(fault.odd) if fault else [],
        "reason": finding.reason or None,
        "why": finding.why or None,
        "source": finding.source or None,
        "expectation": finding.expectation or None,
        "folded_under": finding.folded_under or None,
    }


def _ports(report: Report) -> list[dict[str, str]] | None:
    if report.ports is None:
        return None
    return [{"name": p.name, "state": p.state, "rate": p.rate, "role": p.role} for p in report.ports]


def _value(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n" + ",\n".join(_indented(value)) + "\n  ]"


def _indented(items: Iterable[Any]) -> Iterable[str]:
    return (f"    {json.dumps(item)}" for item in items)
