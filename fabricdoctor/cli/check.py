"""`check` and `snapshot`."""

from __future__ import annotations

import shutil
import signal
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import FrameType

from .. import preflight, recording, report
from ..preflight import Options
from ..report.model import Report
from ..sources.live import Live
from .common import INTERRUPTED, choice, emit, fits, unicode_terminal, wants_color


class _Interrupt:
    """Turns SIGINT and SIGTERM into an early end: what is known is still reported."""

    def __init__(self) -> None:
        self.happened = False

    def watch(self, live: Live) -> None:
        def stop(_number: int, _frame: FrameType | None) -> None:
            self.happened = True
            live.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)


def run_check(options: Options, form: str, output: Path | None, source: Path | None, *, verbose: bool) -> int:
    """Check this machine or a recording; print or write the report; return the exit status."""
    choice(form, report.FORMATS, "--format")
    fits(options.interval, options.budget)
    interrupt = _Interrupt()
    found = _from_file(options, source) if source else preflight.check_live(options, interrupt.watch)
    if interrupt.happened:
        print("fabricdoctor: interrupted; this is what is known so far", file=sys.stderr)
    status = emit(_render(found, form, output, verbose=verbose), output, found.conclusion.status)
    return INTERRUPTED if interrupt.happened else status


def _from_file(options: Options, source: Path) -> Report:
    taken = recording.load(source)
    chosen = preflight.plan(options, preflight.hostname_of(taken.host()))
    return preflight.check_recording(taken, options, chosen)


def _render(found: Report, form: str, output: Path | None, *, verbose: bool) -> str:
    if form != "text":
        return report.render(form, found)
    return report.render(
        "text",
        found,
        color=output is None and wants_color(),
        width=max(40, min(shutil.get_terminal_size((80, 24)).columns, 120)),
        ascii_only=not unicode_terminal(),
        verbose=verbose,
    )


def run_snapshot(options: Options, output: Path | None, *, redact: bool) -> int:
    """Record this machine; print or write the recording."""
    fits(options.interval, options.budget)
    interrupt = _Interrupt()
    with closing(Live(options.budget, options.root, tools=options.tools)) as live:
        interrupt.watch(live)
        taken, _ = preflight.observe_live(live, options, None)
    if redact:
        from ..redact import redacted  # noqa: PLC0415

        taken = redacted(taken)
    status = emit(replace(taken, origin="captured").text(), output, 0)
    return INTERRUPTED if interrupt.happened else status
