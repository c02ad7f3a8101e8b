"""A time limit for code that is not ours: a site's check that never returns must not hold up the report."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class TooLong(BaseException):
    """Raised in the middle of what takes too long; no `except Exception` in there takes it for one of its own."""


class within:  # noqa: N801  reads as a word: `with within(1.0):`
    """Raise TooLong in the block when it takes longer than so many seconds.

    Only the main thread has a limit: Python runs signal handlers nowhere else.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._works = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._works:
            self._before = signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._works:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        raise TooLong(f"it did not return within {self._seconds:.3g} s")
