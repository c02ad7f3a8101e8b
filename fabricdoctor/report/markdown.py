"""The report for a ticket, a wiki or a comment: GitHub-flavoured Markdown in which the node's data is only data."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fabricdoctor.finding import Verdict

from .groups import FIXES_SHOWN, Entry, Gap, counts, entries, gaps, not_judged, skipped
from .model import Report
from .words import clean, clean_lines, compact, many

_SPECIAL = re.compile(r"([\\`*_\[\]|~#>!])")
_TICKS = re.compile(r"`+")
_FENCE = 3


def render(report: Report) -> str:
    """Return the same content as the text, in the same order."""
    faults = entries(report.findings)
    blocks = [
        f"## {report.conclusion.verdict.upper()}: {_code(report.host)}",
        f"{_prose(report.conclusion.because)}. {_context(report)}",
        _table(faults),
        *(_fix(entry) for entry in faults),
        *_section("Unknown", [_gap(gap) for gap in gaps(report.findings, Verdict.UNKNOWN)]),
        *_section("Broken checks", [_gap(gap) for gap in gaps(report.findings, Verdict.BROKEN)]),
        *_section("Not judged", _rest(report)),
        *_section("Hints", [f"- {_prose(hint)}" for hint in report.hints]),
        _counts(report),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _prose(text: str) -> str:
    """Escape what Markdown or HTML would act on, and what would notify a person or link an issue."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(r"\\\1", text).replace("@", "@<!-- -->")


def _code(text: str) -> str:
    """Return a code span, fenced by more backticks than the data holds. A pipe would end the cell of a table."""
    text = clean(text).replace("|", "\\|") or " "
    fence = _fence(text, 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _fence(text: str, least: int) -> str:
    return "`" * max(least, max((len(run) for run in _TICKS.findall(text)), default=0) + 1)


def _context(report: Report) -> str:
    interval = report.interval_s
    parts = [
        report.taken,
        "counters sampled once" if interval is None else f"counters over {interval:g} s",
        f"profile {report.profile}" if report.profile else "no profile",
        report.tool,
    ]
    return _prose(", ".join(parts)) + "."


def _table(faults: list[Entry]) -> str:
    if not faults:
        return ""
    return "\n".join(["| Severity | Check | On | Saw | Want |", "|---|---|---|---|---|", *map(_row, faults)])


def _row(entry: Entry) -> str:
    where = f"{_prose(entry.group)}: " if entry.group else ""
    number = f"{len(entry.subjects)}: " if len(entry.subjects) > 1 else ""
    cells = [
        f"**{entry.severity.value.upper()}**",
        "<br>".join([_code(entry.check), *(_explained(check, names) for check, names in entry.explained.items())]),
        where + number + _code(compact(entry.subjects)),
        _cell(entry.saw),
        _cell(entry.want),
    ]
    return f"| {' | '.join(cells)} |"


def _explained(check: str, names: tuple[str, ...]) -> str:
    return f"explains {_code(check)} on {_code(compact(names))}"


def _cell(text: str) -> str:
    return "<br>".join(_prose(line) for line in clean_lines(text))


def _fix(entry: Entry) -> str:
    """Return the commands in a fence longer than any they hold."""
    rest = len(entry.fixes) - FIXES_SHOWN
    shown = [*entry.fixes[:FIXES_SHOWN], *([f"# and {rest} more: --format json"] if rest > 0 else [])]
    commands = "\n".join(line for fix in shown for line in clean_lines(fix))
    if not commands:
        return ""
    fence = _fence(commands, _FENCE)
    return f"Fix {_code(entry.check)} on {_code(compact(entry.subjects))}:\n\n{fence}sh\n{commands}\n{fence}"


def _section(title: str, items: list[str]) -> list[str]:
    return [f"### {title}", "\n".join(items)] if items else []


def _gap(gap: Gap) -> str:
    named = (_code(check) + (" (critical)" if critical else "") for check, critical in gap.checks.items())
    asked = f"; asked {_code(compact(gap.sources))}" if gap.sources else ""
    reason = "; ".join(_prose(line) for line in clean_lines(gap.reason))
    where = _code(compact(gap.subjects))
    return f"- {many(len(gap.checks), 'check')}: {reason} ({', '.join(named)} on {where}{asked})"


def _rest(report: Report) -> list[str]:
    reasons = skipped(report.findings)
    total = sum(number for number, _ in reasons)
    return [
        *_item(f"- {total} skipped: ", (f"{number} {_prose(why)}" for number, why in reasons)),
        *(["- RDMA ports: could not be listed"] if report.ports is None else []),
        *(
            f"- {_prose(role)}: {_code(compact(p.name for p in ports))}"
            for role, ports in not_judged(report.ports or ()).items()
        ),
        *_item("- no time left to ask: ", (_code(question) for question in report.left_out)),
    ]


def _item(start: str, parts: Iterable[str]) -> list[str]:
    text = ", ".join(parts)
    return [start + text] if text else []


def _counts(report: Report) -> str:
    tally = counts(report.findings)
    kinds = ", ".join(f"{number} {kind}" for kind, number in tally.items() if number and kind != "checked")
    return f"checked {tally['checked']}" + (f": {kinds}" if kinds else ", nothing was judged")
