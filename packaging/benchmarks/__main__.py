"""Run one benchmark: a module bench_NAME.py beside this file with measure() -> list of figures."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from figures import Figure

NAMES = sorted(file.stem.removeprefix("bench_") for file in Path(__file__).parent.glob("bench_*.py"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="packaging/bench", description=f"Benchmarks: {', '.join(NAMES)}")
    parser.add_argument("name", metavar="NAME", choices=NAMES, help=", ".join(NAMES))
    parser.add_argument("--json", action="store_true", help="print a list of {name, value, unit, limit, ok}")
    return parser.parse_args()


def show(figures: Sequence[Figure]) -> None:
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        limit = "" if figure.limit is None else f"  limit {figure.limit:g}  {'ok' if figure.ok else 'TOO MUCH'}"
        print(f"{figure.name:{width}}  {figure.value:9.2f} {figure.unit:5}{limit}".rstrip())


def main() -> int:
    given = arguments()
    figures = importlib.import_module(f"bench_{given.name}").measure()
    if given.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
    else:
        show(figures)
    return 0 if all(figure.ok for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
