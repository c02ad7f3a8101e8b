"""Reports: text, JSON and Markdown, one file per format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line asks for FORMATS alone
    from .model import Report

FORMATS = ("text", "json", "markdown")


def render(
    form: str,
    report: Report,
    *,
    color: bool = False,
    width: int = 80,
    ascii_only: bool = False,
    verbose: bool = False,
) -> str:
    """Return the report in one of FORMATS; the options are for text. Only that format's module is imported."""
    if form == "json":
        from . import json  # noqa: PLC0415

        return json.render(report)
    if form == "markdown":
        from . import markdown  # noqa: PLC0415

        return markdown.render(report)
    if form == "text":
        from . import text  # noqa: PLC0415

        return text.render(report, color=color, width=width, ascii_only=ascii_only, verbose=verbose)
    raise ValueError(f"no such format: {form}; there are {', '.join(FORMATS)}")
