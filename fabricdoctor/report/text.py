"""The report for a person at a terminal: the verdict first, then what to do, then what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..finding import Severity, Verdict
from .groups import FIXES_SHOWN, Entry, Gap, counts, entries, gaps, not_judged, skipped
from .model import Report
from .words import clean, clean_lines, compact, many, to_ascii, wrap

_BOLD, _RED, _YELLOW, _CYAN, _GREEN, _END = "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[36m", "\x1b[1;32m", "\x1b[0m"
_SEVERITY_COLOR = {Severity.CRITICAL: _RED, Severity.WARNING: _YELLOW, Severity.INFO: _CYAN}
_VERDICT_COLOR = {"ready": _GREEN, "not ready": _RED, "cannot tell": _YELLOW}
_MOST_LEFT_OUT = 5


def render(report: Report, *, color: bool, width: int = 80, ascii_only: bool, verbose: bool = False) -> str:
    """Return the report; lines fit `width` columns, but commands stay whole so that they can be copied."""
    lines = list(_lines(report, _Paint(color), width, verbose=verbose))
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if ascii_only else text


class _Paint:
    """Adds colour, or nothing. Never the only sign of anything."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{_END}" if self._on else text


def _lines(report: Report, paint: _Paint, width: int, *, verbose: bool) -> Iterator[str]:
    yield from _verdict(report, paint, width)
    for entry in entries(report.findings):
        yield ""
        yield from _entry(entry, paint, width)
    yield from _unknown(report, paint, width)
    yield from _section(paint, "Skipped", _skips(report, verbose=verbose), width)
    yield from _section(paint, "Ports not judged", _ports(report), width)
    yield from _section(paint, "No time left for", _left_out(report), width)
    if verbose:
        yield from _section(paint, "Fine", _fine(report), width)
    yield from _hints(report, paint, width)
    yield ""
    yield from wrap(_counts(report), width)


def _verdict(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    conclusion = report.conclusion
    word = conclusion.verdict.upper()
    [first, *rest] = wrap(f"{clean(report.host)}: {conclusion.because}", width, f"{word}  ", "  ")
    yield paint(_VERDICT_COLOR[conclusion.verdict], word) + first[len(word) :]
    yield from rest
    about = [f"judged by profile {report.profile}" if report.profile else "", _span(report)]
    if any(about):
        yield from wrap("; ".join(filter(None, about)), width, "  ", "  ")


def _span(report: Report) -> str:
    return f"counters over {report.interval_s:.0f} s" if report.interval_s else ""


def _entry(entry: Entry, paint: _Paint, width: int) -> Iterator[str]:
    word = entry.severity.value.upper()
    subjects = compact(map(clean, entry.subjects))
    [first, *rest] = wrap(f"{entry.check}: {subjects}", width, f"{word}  ", " " * 10)
    yield paint(_SEVERITY_COLOR[entry.severity], word) + paint(_BOLD, first[len(word) :])
    yield from rest
    for label, text in (("saw", entry.saw), ("want", entry.want)):
        yield from _labelled(label, text, width)
    for fix in entry.fixes[:FIXES_SHOWN]:
        lines = clean_lines(fix)
        yield from (f"    {'fix' if not at else '':5} {line}" for at, line in enumerate(lines))
    if len(entry.fixes) > FIXES_SHOWN:
        yield f"    {'':5} and {len(entry.fixes) - FIXES_SHOWN} more: --format json"
    for check, names in entry.explained.items():
        yield from wrap(f"{check} on {compact(map(clean, names))}", width, "    also  explained by this: ", " " * 10)


def _labelled(label: str, text: str, width: int) -> Iterator[str]:
    for at, line in enumerate(clean_lines(text) or ["-"]):
        yield from wrap(line, width, f"    {label if not at else '':5} ", " " * 10)


def _unknown(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    for title, verdict in (("Not known", Verdict.UNKNOWN), ("Broken", Verdict.BROKEN)):
        yield from _section(paint, title, (_gap(gap) for gap in gaps(report.findings, verdict)), width)


def _gap(gap: Gap) -> str:
    names = compact((f"{name} (critical)" if critical else name for name, critical in gap.checks.items()), 6)
    sources = f" [{compact(map(clean, gap.sources), 3)}]" if gap.sources else ""
    return f"{names} on {compact(map(clean, gap.subjects), 4)}: {clean(gap.reason)}{sources}"


def _section(paint: _Paint, title: str, items: Iterable[str], width: int) -> Iterator[str]:
    listed = list(items)
    if listed:
        yield ""
        yield paint(_BOLD, title)
        for item in listed:
            yield from wrap(item, width, "  - ", "    ")


def _skips(report: Report, *, verbose: bool) -> Iterator[str]:
    told = skipped(report.findings)
    if told and not verbose:
        yield "; ".join(f"{number} {reason}" for number, reason in told)
    elif verbose:
        for finding in report.findings:
            if finding.verdict is Verdict.SKIPPED:
                yield f"{finding.check} on {clean(finding.subject)}: {clean(finding.reason)}"


def _ports(report: Report) -> Iterator[str]:
    if report.ports is None:
        yield "the RDMA ports could not be listed"
        return
    for role, ports in not_judged(report.ports).items():
        yield f"{compact(clean(p.name) for p in ports)}: {clean(role) or 'not of the fabric'}"


def _left_out(report: Report) -> Iterator[str]:
    names = list(dict.fromkeys(map(clean, report.left_out)))
    yield from names[:_MOST_LEFT_OUT]
    if len(names) > _MOST_LEFT_OUT:
        yield f"and {many(len(names) - _MOST_LEFT_OUT, 'more question')}: --format json"


def _fine(report: Report) -> Iterator[str]:
    by_check: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.verdict is Verdict.OK:
            by_check.setdefault(finding.check, []).append(clean(finding.subject))
    yield from (f"{check}: {compact(subjects)}" for check, subjects in by_check.items())


def _hints(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    if report.hints:
        yield ""
        yield paint(_BOLD, "Next")
    for hint in report.hints:
        sentence, _, command = clean(hint).rpartition(": ")
        yield from wrap(f"{sentence}:" if sentence else command, width, "  - ", "    ")
        if sentence:
            yield f"      {command}"


def _counts(report: Report) -> str:
    tally = counts(report.findings)
    rest: Sequence[str] = [f"{number} {name}" for name, number in tally.items() if number and name != "checked"]
    return f"{tally['checked']} judgements: {', '.join(rest) or 'none'}"
