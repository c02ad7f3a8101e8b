"""`checks`, `explain`, `schema` and `config`: what the tool knows, and what the site told it."""

from __future__ import annotations

import inspect
import json
import platform
import sys
from pathlib import Path

from .. import catalogue, expect
from ..judge import causes_of
from .common import choice


def summary(doc: str) -> str:
    """Return the first sentence of what a check looks at."""
    lines = [line.strip() for line in inspect.cleandoc(doc).splitlines()]
    body = " ".join(line for line in lines if line and not line.startswith("#"))
    return body.split(". ")[0].rstrip(".") + "."


def run_checks(form: str, extra: tuple[Path, ...]) -> int:
    found = catalogue.load_all(extra)
    if choice(form, ("text", "json"), "--format") == "json":
        causes = causes_of(found.checks.values())
        rows = [
            {
                "id": c.id,
                "area": c.area,
                "severity": c.severity.value,
                "summary": summary(c.doc),
                "explained_by": list(causes[c.id]),
                "links": list(c.links),
            }
            for c in found.checks.values()
        ]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return 0
    width = max(map(len, found.checks), default=0)
    for check in sorted(found.checks.values(), key=lambda c: (c.area, c.id)):
        sys.stdout.write(f"{check.area:5} {check.id:{width}}  {check.severity.value:8}  {summary(check.doc)}\n")
    for file, why in found.broken.items():
        sys.stderr.write(f"fabricdoctor: {file}: cannot be loaded: {why}\n")
    return 1 if found.broken else 0


def run_explain(name: str, extra: tuple[Path, ...]) -> int:
    found = catalogue.load_all(extra)
    [check_id] = found.matching([name], "explain") if name in found.checks else [*found.matching([name], "explain")][:1]
    check = found.checks[check_id]
    above = ", ".join(causes_of(found.checks.values())[check.id])
    sys.stdout.write(f"{check.id} ({check.area}, {check.severity.value})\n\n{inspect.cleandoc(check.doc)}\n")
    sys.stdout.write(f"\nShown under, when they explain it: {above}\n" if above else "")
    sys.stdout.write(f"\nIts links, in order: {', '.join(check.links)}\n" if check.links else "")
    return 0


def run_schema() -> int:
    from ..report.schema import SCHEMA  # noqa: PLC0415

    sys.stdout.write(json.dumps(SCHEMA, indent=2) + "\n")
    return 0


def run_config(path: Path | None, profile: str | None, *, show: bool) -> int:
    hostname = platform.node()
    config = expect.load(path, profile, hostname)
    found = catalogue.load_all()
    found.matching(config.disable, f"{config.file}: checks.disable")
    found.matching(config.severity, f"{config.file}: checks.severity")
    if not show:
        sys.stdout.write(f"{config.file or 'no configuration file'}: as it should be, for node {hostname}\n")
        return 0
    for name in expect.names():
        value = getattr(config.expect, name)
        if name in config.origin:
            shown = (
                sorted(value) if isinstance(value, frozenset) else list(value) if isinstance(value, tuple) else value
            )
            sys.stdout.write(f"{name} = {json.dumps(shown)}\n    {config.origin[name]}\n")
        else:
            sys.stdout.write(f"{name}: not set ({expect.about(name)})\n")
    sys.stdout.write("\nprofiles:\n" + "".join(f"  {name}: {title}\n" for name, title in expect.profiles().items()))
    return 0
