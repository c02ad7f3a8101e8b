"""Standard input, output and error as the tool wants them, whatever the caller made of them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO


def prepare() -> None:
    """Open what the caller closed, and never fail for a character that the encoding lacks.

    A descriptor 1 that is closed would be the number of the next file that is opened, and our own pipes would be
    written to. It becomes one that takes nothing, so that a report which nobody can get is an error, not a success.
    """
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        with contextlib.suppress(OSError):
            os.fstat(number)
            continue
        os.open(os.devnull, flags)  # the lowest number that is free: this one
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def settle() -> None:
    """Write out what is left, and let the interpreter find nothing to complain about when it ends."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        _settle(stream, number)


def _settle(stream: TextIO, number: int) -> None:
    try:
        stream.flush()
    except (OSError, ValueError):
        forget(number)


def forget(number: int) -> None:
    """Send whatever still goes to this descriptor nowhere."""
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
