"""The command line. Each subcommand imports what it needs when it runs."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    from .app import run  # noqa: PLC0415  typer is loaded only for the command line

    run()
