"""`check` and `snapshot`."""

from __future__ import annotations

import shutil
import signal
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import FrameType

from .. import preflight, recording, report
from ..preflight import Options
from ..report.model import Report
from ..sources.live import Live
from .common import INTERRUPTED, choice, complain, emit, fits, unicode_terminal, wants_color


class _Interrupt:
    """Turns SIGINT, SIGTERM and SIGHUP into an early end: what is known is still reported.

    Where nothing live is asked they end the command at once, with the same exit status. What the caller has set to be
    ignored (nohup, a job in the background) stays ignored.
    """

    def __init__(self) -> None:
        self.happened = False
        self._live: Live | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def watch(self, live: Live) -> None:
        self._live = live

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.happened = True
        if self._live is None:
            raise KeyboardInterrupt
        self._live.stop()


def run_check(options: Options, form: str, output: Path | None, source: Path | None, *, verbose: bool) -> int:
    """Check this machine or a recording; print or write the report; return the exit status."""
    choice(form, report.FORMATS, "--format")
    fits(options.interval, options.budget)
    interrupt = _Interrupt()
    found = _from_file(options, source) if source else preflight.check_live(options, interrupt.watch)
    if interrupt.happened:
        complain("interrupted; this is what is known so far", INTERRUPTED)
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
