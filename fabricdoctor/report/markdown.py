"""The report for a ticket or a wiki: GitHub-flavoured Markdown, in the order of the text report."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..finding import Verdict
from .groups import Entry, counts, entries, gaps, not_judged, skipped
from .model import Report
from .words import clean, clean_lines, compact

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def render(report: Report) -> str:
    """Return the report; data from the node is escaped, commands stand in code blocks."""
    return "\n".join(_lines(report)) + "\n"


def escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", clean(text).replace("&", "&amp;"))


def _lines(report: Report) -> Iterator[str]:
    yield f"## {report.conclusion.verdict.upper()}: {escape(report.host)}"
    yield ""
    profile = f" Judged by profile `{report.profile}`." if report.profile else ""
    yield f"{report.conclusion.because}.{profile} Taken {report.taken} by fabricdoctor {report.tool}."
    found = entries(report.findings)
    if found:
        yield from _table(found)
    for entry in found:
        yield from _fixes(entry)
    yield from _gaps(report)
    yield from _rest(report)


def _table(found: list[Entry]) -> Iterator[str]:
    yield from ("", "| severity | check | where | saw | want |", "|---|---|---|---|---|")
    for entry in found:
        where = compact(map(clean, entry.subjects))
        cells = (entry.severity.value, entry.check, where, " ".join(clean_lines(entry.saw)), " ".join(clean_lines(entry.want)))
        yield "| " + " | ".join(escape(cell) for cell in cells) + " |"


def _fixes(entry: Entry) -> Iterator[str]:
    lines = [line for fix in entry.fixes for line in clean_lines(fix)]
    fence = "`" * max(3, *(len(run) + 1 for line in lines for run in re.findall("`+", line)), 3)
    yield from ("", f"Fix for {escape(entry.check)}:", "", fence + "sh", *lines, fence)
    for check, names in entry.explained.items():
        yield from ("", f"- explained by this: {escape(check)} on {escape(compact(names))}")


def _gaps(report: Report) -> Iterator[str]:
    for title, verdict in (("Not known", Verdict.UNKNOWN), ("Broken", Verdict.BROKEN)):
        found = gaps(report.findings, verdict)
        if found:
            yield from ("", f"### {title}", "")
        for gap in found:
            yield f"- {escape(', '.join(gap.checks))} on {escape(compact(gap.subjects))}: {escape(gap.reason)}"


def _rest(report: Report) -> Iterator[str]:
    told = [f"skipped: {number} {reason}" for number, reason in skipped(report.findings)]
    told += [f"not judged: {compact(p.name for p in ports)}: {role}" for role, ports in not_judged(report.ports or ()).items()]
    told += [f"no time left for: {name}" for name in dict.fromkeys(report.left_out)]
    told += list(report.hints)
    if told:
        yield from ("", *(f"- {escape(line)}" for line in told))
    tally = counts(report.findings)
    yield from ("", ", ".join(f"{number} {name}" for name, number in tally.items() if number))
