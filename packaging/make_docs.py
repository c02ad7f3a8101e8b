"""Write the parts of the documentation that follow from the code, between <!-- X:begin --> and <!-- X:end -->."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from fabricdoctor import catalogue, expect
from fabricdoctor.cli import app
from fabricdoctor.cli.knowledge import summary

ROOT = Path(__file__).resolve().parents[1]
FILES = ("README.md", "ARCHITECTURE.md", "checks/README.md")
BLOCK = re.compile(r"(<!-- ([\w-]+):begin -->\n).*?(<!-- \2:end -->)", re.DOTALL)


class DocsError(Exception):
    """A document asks for what cannot be generated."""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(header)
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def checks(document: Path) -> str:
    """List the checks, each with a link to its file from this document."""
    found = catalogue.load((catalogue.builtin(),))
    if found.broken:
        raise DocsError(f"checks that cannot be loaded: {found.broken}")
    rows = [
        (c.area, f"[{c.id}]({_from(document, Path(c.file))})", c.severity.value, summary(c.doc))
        for c in sorted(found.checks.values(), key=lambda c: (c.area, c.id))
    ]
    return table(("Area", "Check", "Severity", "What it looks at"), rows)


def _from(document: Path, file: Path) -> str:
    return file.resolve().relative_to(document.parent).as_posix()


def exit_codes(_document: Path) -> str:
    """Take the exit statuses from the command's own help, so that there is one place for them."""
    text = " ".join(inspect.cleandoc(app.check.__doc__ or "").split())
    _, found, listed = text.partition("Exit status: ")
    rows = re.findall(r"(\d+) (.+?)(?:, (?=\d)|\.$|\. )", listed)
    if not found or not rows:
        raise DocsError("the help of `fabricdoctor check` names no exit statuses")
    return table(("Exit status", "Meaning"), rows)


def profiles(_document: Path) -> str:
    return table(("Profile", "For"), ((f"`{name}`", title) for name, title in expect.profiles().items()))


def expectations(_document: Path) -> str:
    return table(("Key of `[expect]`", "What it says"), ((f"`{name}`", expect.about(name)) for name in expect.names()))


BLOCKS: dict[str, Callable[[Path], str]] = {
    "checks": checks,
    "checks-table": checks,
    "exit-codes": exit_codes,
    "profiles": profiles,
    "expectations": expectations,
}


def renewed(document: Path) -> str:
    """Return the document's text with each block as it should be. Raises DocsError for a block nobody makes."""

    def block(found: re.Match[str]) -> str:
        name = found.group(2)
        if name not in BLOCKS:
            raise DocsError(f"{document.name}: no block is called {name!r}; there are {', '.join(BLOCKS)}")
        return f"{found.group(1)}{BLOCKS[name](document)}{found.group(3)}"

    text = document.read_text()
    for name in re.findall(r"<!-- ([\w-]+):begin -->", text):
        if f"<!-- {name}:end -->" not in text:
            raise DocsError(f"{document.name}: {name}:begin has no {name}:end")
    return BLOCK.sub(block, text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/make-docs", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit status 1 when something is out of date"
    )
    given = parser.parse_args()
    stale = []
    for document in (ROOT / name for name in FILES if (ROOT / name).exists()):
        text = renewed(document)
        if text != document.read_text():
            stale.append(str(document.relative_to(ROOT)))
            if not given.check:
                document.write_text(text)
    for name in stale:
        print(f"{name}: {'out of date; run packaging/make-docs' if given.check else 'written anew'}")
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DocsError as error:
        sys.exit(f"make-docs: {error}")
