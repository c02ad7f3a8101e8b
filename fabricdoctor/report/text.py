"""The report for a person: the answer, then what is wrong and how to fix it, then what is not known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabricdoctor.finding import Finding, Severity, Verdict
from fabricdoctor.judge import NOT_READY, READY

from .groups import FIXES_SHOWN, Entry, Gap, counts, entries, gaps, not_judged, skipped
from .model import PortLine, Report
from .words import clean, clean_lines, compact, many, to_ascii, wrap

BOLD, DIM, RED, YELLOW, GREEN = "1", "2", "1;31", "1;33", "1;32"
_COLORS = {Severity.CRITICAL: RED, Severity.WARNING: YELLOW, Severity.INFO: BOLD}
#: lines of prose longer than this are hard to read, however wide the terminal
_NARROWEST, _WIDEST = 24, 120
_ALL = 1_000_000


def render(report: Report, *, color: bool, width: int, ascii_only: bool, verbose: bool = False) -> str:
    """Return the text, no line longer than `width` but for commands. `verbose` leaves nothing out."""
    page = _Page(color, min(max(width, _NARROWEST), _WIDEST), ascii_only, verbose)
    blocks = [
        _head(page, report),
        *(_fault(page, entry) for entry in entries(report.findings)),
        *(_gap(page, gap, "UNKNOWN") for gap in gaps(report.findings, Verdict.UNKNOWN)),
        *(_gap(page, gap, "BROKEN") for gap in gaps(report.findings, Verdict.BROKEN)),
        _rest(page, report),
        [line for hint in report.hints for line in _hint(page, hint)],
        *(_details(page, report) if verbose else ()),
        _counts(page, report.findings),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


@dataclass(frozen=True, slots=True)
class _Page:
    color: bool
    width: int
    ascii_only: bool
    verbose: bool

    def safe(self, text: str) -> str:
        return to_ascii(clean(text)) if self.ascii_only else clean(text)

    def lines(self, text: str) -> list[str]:
        return [self.safe(line) for line in clean_lines(text)]

    def names(self, names: Iterable[str]) -> str:
        return compact(names, _ALL) if self.verbose else compact(names)

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text else text

    def titled(self, word: str, style: str, text: str) -> list[str]:
        """Wrap the text after a word in color; further lines stand under the text."""
        start = f"{word}  "
        first, *others = wrap(self.safe(text), self.width, start, " " * len(start))
        return [self.paint(style, word) + first.removeprefix(word), *others]

    def field(self, label: str, text: str) -> list[str]:
        """Wrap the text after a label; further lines stand under the text."""
        first = f"  {label:<4}  "
        told: list[str] = []
        for line in self.lines(text):
            told += wrap(line, self.width, first if not told else " " * len(first), " " * len(first))
        return told

    def prose(self, text: str) -> list[str]:
        return wrap(self.safe(text), self.width, "", "  ")


def _head(page: _Page, report: Report) -> list[str]:
    conclusion = report.conclusion
    style = {READY: GREEN, NOT_READY: RED}.get(conclusion.verdict, YELLOW)
    return [
        *page.titled(conclusion.verdict.upper(), style, f"{report.host}: {conclusion.because}"),
        *(page.paint(DIM, line) for line in wrap(page.safe(_context(report)), page.width)),
    ]


def _context(report: Report) -> str:
    interval = report.interval_s
    return ", ".join(
        [
            report.taken,
            "counters sampled once" if interval is None else f"counters over {interval:g} s",
            f"profile {report.profile}" if report.profile else "no profile",
            report.tool,
        ]
    )


def _fault(page: _Page, entry: Entry) -> list[str]:
    where = f"{entry.group}: " if entry.group else ""
    number = f"{len(entry.subjects)} subjects: " if len(entry.subjects) > 1 and not where else ""
    heading = f"{entry.check} on {where}{number}{page.names(entry.subjects)}"
    return [
        *page.titled(entry.severity.value.upper(), _COLORS[entry.severity], heading),
        *page.field("saw", entry.saw),
        *page.field("want", entry.want),
        *_fixes(page, entry.fixes),
        *_explained(page, entry),
    ]


def _fixes(page: _Page, fixes: tuple[str, ...]) -> list[str]:
    """Return each command on a line of its own, never wrapped; what is left out is said in a shell comment."""
    if not fixes:
        return []
    shown = fixes if page.verbose else fixes[:FIXES_SHOWN]
    rest = len(fixes) - len(shown)
    more = [f"# and {rest} more: --format json"] if rest else []
    return ["  fix", *(f"    {line}" for fix in [*shown, *more] for line in page.lines(fix))]


def _explained(page: _Page, entry: Entry) -> list[str]:
    """Return what this explains: of the same subjects in one sentence, of others with their names."""
    here = [check for check, names in entry.explained.items() if set(names) == set(entry.subjects)]
    elsewhere = [f"{c} on {page.names(names)}" for c, names in entry.explained.items() if c not in here]
    told = [", ".join(here)] if here else []
    sentences = [page.safe(f"also, explained by this: {text}") for text in (*told, *elsewhere)]
    return [line for sentence in sentences for line in wrap(sentence, page.width, "  ", "    ")]


def _gap(page: _Page, gap: Gap, word: str) -> list[str]:
    """Return one reason and what could not be judged for it."""
    reason = "; ".join(page.lines(gap.reason))
    told = "could not be judged" if word == "UNKNOWN" else "failed, report it to its author"
    named = (f"{check} (critical)" if critical else check for check, critical in gap.checks.items())
    return [
        *page.titled(word, YELLOW, f"{many(len(gap.checks), 'check')} {told}: {reason}"),
        *page.field("id", ", ".join(named)),
        *page.field("on", page.names(gap.subjects)),
        *(page.field("ask", page.names(gap.sources)) if gap.sources else ()),
    ]


def _rest(page: _Page, report: Report) -> list[str]:
    """Return what was not judged because nobody asked for it, in a line each."""
    reasons = skipped(report.findings)
    lines: list[str] = []
    if reasons:
        total = sum(number for number, _ in reasons)
        lines += page.prose(f"{total} skipped: " + ", ".join(f"{number} {why}" for number, why in reasons))
    if report.ports is None:
        lines += page.prose("RDMA ports: could not be listed")
    for role, ports in not_judged(report.ports or ()).items():
        lines += page.prose(f"not judged, {role}: {page.names(p.name for p in ports)}")
    if report.left_out:
        lines += page.prose(f"no time left to ask: {page.names(report.left_out)}")
    return lines


def _hint(page: _Page, hint: str) -> list[str]:
    """Keep the command at the end of a hint whole: on a line of its own when all of it does not fit on one."""
    text = page.safe(f"hint: {hint}")
    if len(text) <= page.width:
        return [text]
    sentence, colon, command = text.rpartition(": ")
    if not sentence.startswith("hint: "):
        return wrap(text, page.width, "", "  ")
    return [*wrap(sentence + colon.rstrip(), page.width, "", "  "), f"    {command}"]


def _details(page: _Page, report: Report) -> list[list[str]]:
    """Return what only `verbose` shows."""
    ports = [line for port in report.ports or () for line in page.prose(f"  {_port(port)}")]
    wants = [
        line
        for name, (value, source) in report.expectations.items()
        for line in page.prose(f"  {name} = {value} ({source})")
    ]
    return [
        ["ports", *ports] if ports else [],
        ["expectations", *wants] if wants else [],
        _each(page, report.findings, Verdict.OK),
        _each(page, report.findings, Verdict.SKIPPED),
    ]


def _port(port: PortLine) -> str:
    return ", ".join(part for part in (f"{port.name}: {port.state}", port.rate, port.role) if part)


def _each(page: _Page, findings: Iterable[Finding], verdict: Verdict) -> list[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for f in findings:
        if f.verdict is verdict:
            groups.setdefault((f.check, f.reason), []).append(f.subject)
    lines = [
        line
        for (check, reason), names in groups.items()
        for line in page.prose(f"  {check} on {page.names(names)}" + (f": {reason}" if reason else ""))
    ]
    return [verdict.value, *lines] if lines else []


def _counts(page: _Page, findings: Iterable[Finding]) -> list[str]:
    tally = counts(findings)
    kinds = ", ".join(f"{number} {kind}" for kind, number in tally.items() if number and kind != "checked")
    return page.prose(f"checked {tally['checked']}" + (f": {kinds}" if kinds else ", nothing was judged"))
