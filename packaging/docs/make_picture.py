"""Draw the README's picture: the report of a recorded node with a fault, as a terminal shows it (SVG, needs rich)."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "tests" / "cases" / "C08-everything-on-priority-0.json"


def main() -> None:
    """Write check.svg beside this file."""
    code = "import sys; sys.stdout.isatty = lambda: True; from fabricdoctor.cli import main; main()"
    command = [sys.executable, "-c", code, "check", "--profile", "roce-lossless", "--from", str(CASE)]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(Text("$ fabricdoctor check --profile roce-lossless"))
    console.print(Text.from_ansi(done.stdout))
    svg = console.export_svg(title="fabricdoctor", theme=MONOKAI, unique_id="check")
    # Not every viewer keeps a leading no-break space, which is how rich keeps columns.
    svg = svg.replace("&#160;", " ").replace("<svg ", '<svg xml:space="preserve" ', 1)
    Path(__file__).with_name("check.svg").write_text(svg)


if __name__ == "__main__":
    main()
