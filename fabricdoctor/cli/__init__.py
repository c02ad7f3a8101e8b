"""The command line. Each subcommand imports what it needs when it runs."""

from __future__ import annotations

import sys

from .. import streams

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    streams.prepare()
    try:
        from .app import run  # noqa: PLC0415  typer is loaded only for the command line

        status = run()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    streams.settle()
    sys.exit(status)
