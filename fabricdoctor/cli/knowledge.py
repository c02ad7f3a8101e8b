"""`checks`, `explain`, `schema` and `config`: what the tool knows, and what the site told it."""

from __future__ import annotations

import inspect
import json
import platform
import sys
from pathlib import Path
from typing import Any

from .. import catalogue, expect
from ..check import Check
from ..judge import causes_of
from .common import BAD, DONE, choice, complain


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
    else:
        _list(found)
    for file, why in found.broken.items():
        complain(f"{file}: cannot be loaded: {why}", BAD)
    return BAD if found.broken else DONE


def _list(found: catalogue.Catalogue) -> None:
    width = max(map(len, found.checks), default=0)
    for check in sorted(found.checks.values(), key=lambda c: (c.area, c.id)):
        sys.stdout.write(f"{check.area:5} {check.id:{width}}  {check.severity.value:8}  {summary(check.doc)}\n")


def run_explain(name: str, extra: tuple[Path, ...]) -> int:
    found = catalogue.load_all(extra)
    causes = causes_of(found.checks.values())
    texts = [_explained(found.checks[check], causes[check]) for check in sorted(found.matching([name], "explain"))]
    sys.stdout.write("\n\n".join(texts))
    return DONE


def _explained(check: Check[Any], causes: tuple[str, ...]) -> str:
    text = f"{check.id} ({check.area}, {check.severity.value})\n\n{inspect.cleandoc(check.doc)}\n"
    text += f"\nShown under, when they explain it: {', '.join(causes)}\n" if causes else ""
    return text + (f"\nIts links, in order: {', '.join(check.links)}\n" if check.links else "")


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
        none = f"{expect.SITE_FILE} does not exist: this site expects nothing but what --profile names\n"
        sys.stdout.write(f"{config.file}: as it should be, for node {hostname}\n" if config.file else none)
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
