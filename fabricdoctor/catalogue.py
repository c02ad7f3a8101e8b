"""Find checks: every file under a directory, every Check value in a file."""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .check import Check

SITE = Path("/etc/fabricdoctor/checks.d")


class CatalogueError(Exception):
    """The checks cannot be used as they are: unsafe files, two with one id, or an id that does not exist."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Checks by id, and the files that could not be loaded with the reason."""

    checks: dict[str, Check[Any]]
    broken: dict[str, str] = field(default_factory=dict)

    def matching(self, patterns: Iterable[str], option: str) -> frozenset[str]:
        """Return the ids that any of the glob patterns names. Raises CatalogueError for one that names none."""
        found: set[str] = set()
        for pattern in patterns:
            ids = {check for check in self.checks if fnmatchcase(check, pattern)}
            if not ids:
                raise CatalogueError(f"{option}: no check is called {pattern!r}{self._like(pattern)}")
            found |= ids
        return frozenset(found)

    def _like(self, name: str) -> str:
        near = get_close_matches(name, self.checks, 1)
        return f"; did you mean {near[0]!r}?" if near else "; `fabricdoctor checks` lists them"


def builtin() -> Path:
    """Return the directory of the checks that come with the tool: in an installed copy, or in a checkout."""
    here = Path(__file__).parent
    packaged = here / "checks"
    return packaged if packaged.is_dir() else here.parent / "checks"


def load_all(extra: Iterable[Path] = ()) -> Catalogue:
    """Load the checks that come with the tool, then the site's where it has any, then those of `extra` directories."""
    site = (SITE,) if SITE.is_dir() else ()
    return load((builtin(), *site, *extra))


def load(directories: Iterable[Path]) -> Catalogue:
    """Load all checks; one of a later directory replaces one of an earlier. Raises CatalogueError for unsafe files."""
    checks: dict[str, Check[Any]] = {}
    broken: dict[str, str] = {}
    for directory in directories:
        own: dict[str, Check[Any]] = {}
        for file in _files(directory):
            try:
                found = list(_read(directory, file))
            except Exception as error:  # noqa: BLE001  whatever a site's file does, the others still judge
                broken[str(file)] = f"{type(error).__name__}: {error}"
                continue
            for check in found:
                if check.id in own:
                    raise CatalogueError(f"{file}: the id {check.id!r} is also in {own[check.id].file}; rename one")
                own[check.id] = check
        checks |= own
    _refuse_circles(checks)
    return Catalogue(dict(sorted(checks.items())), broken)


def _refuse_circles(checks: dict[str, Check[Any]]) -> None:
    """Refuse checks that explain each other: their faults would hide one another."""
    above = {
        name: [*check.explained_by, *(whole.id for whole in checks.values() if name in whole.links)]
        for name, check in checks.items()
    }
    for name, check in checks.items():
        seen, causes = {name}, list(above[name])
        while causes:
            cause = causes.pop()
            if cause == name:
                raise CatalogueError(f"{check.file}: {name!r} explains itself, by {', '.join(sorted(seen))}")
            if cause in checks and cause not in seen:
                seen.add(cause)
                causes += above[cause]


def _files(directory: Path) -> list[Path]:
    """Return the check files, refusing what someone else could change."""
    if not directory.is_dir():
        raise CatalogueError(f"{directory}: no such directory of checks")
    _refuse_unsafe(directory)
    found = sorted(p for p in directory.rglob("[!_.]*.py") if "__pycache__" not in p.parts)
    for path in sorted({parent for file in found for parent in file.relative_to(directory).parents if parent.name}):
        _refuse_unsafe(directory / path)
    for file in found:
        _refuse_unsafe(file)
    return found


def _refuse_unsafe(path: Path) -> None:
    """As root, accept only what nobody else can write: these files are run."""
    info = path.stat()
    if os.geteuid() != 0:
        return
    if info.st_uid != 0:
        raise CatalogueError(f"{path}: owned by uid {info.st_uid}; root runs only its own checks: chown root {path}")
    if info.st_mode & stat.S_IWOTH or (info.st_mode & stat.S_IWGRP and info.st_gid != 0):
        raise CatalogueError(f"{path}: others can write it, and root would run it: chmod go-w {path}")


def _read(directory: Path, file: Path) -> Iterator[Check[Any]]:
    area = file.parent.name if file.parent != directory else "site"
    name = f"fabricdoctor_checks.{area}.{file.stem}".replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules.pop(name, None)
    spec.loader.exec_module(module)
    for value in vars(module).values():
        if isinstance(value, Check):
            yield replace(value, area=area, file=str(file))
