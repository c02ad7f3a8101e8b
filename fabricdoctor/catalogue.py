"""Find checks: every file under a directory, every Check value in a file."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from .check import Check
from .finding import Severity
from .limit import TooLong, within

SITE = Path("/etc/fabricdoctor/checks.d")
#: seconds a file may take to load
_LOAD_S = 2.0


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
        from difflib import get_close_matches  # noqa: PLC0415  for messages only

        near = get_close_matches(name, self.checks, 1)
        return f"; did you mean {near[0]!r}?" if near else "; `fabricdoctor checks` lists them"


def builtin() -> Path:
    """Return the directory of the checks that come with the tool: in an installed copy, or in a checkout."""
    here = Path(__file__).parent
    packaged = here / "checks"
    return packaged if packaged.is_dir() else here.parent / "checks"


def load_all(extra: Iterable[Path] = ()) -> Catalogue:
    """Load the checks that come with the tool, then the site's where it has any, then those of `extra` directories."""
    site = (SITE,) if _is_directory(SITE) else ()
    return load((builtin(), *site, *extra))


def load(directories: Iterable[Path]) -> Catalogue:
    """Load all checks; one of a later directory replaces one of an earlier. Raises CatalogueError for unsafe files.

    What a file prints while it is loaded goes to standard error: standard output is for the report.
    """
    checks: dict[str, Check[Any]] = {}
    broken: dict[str, str] = {}
    for directory in directories:
        own: dict[str, Check[Any]] = {}
        for file in _files(directory):
            try:
                with contextlib.redirect_stdout(sys.stderr), within(_LOAD_S):
                    found = list(_read(directory, file))
            except (Exception, SystemExit, TooLong) as error:  # noqa: BLE001  whatever one file does, the others judge
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
    """Return the check files. Those of a site are refused where someone else could change them.

    The tool's own checks are as safe as the tool: who could change them could change this file.
    """
    if not _is_directory(directory):
        raise CatalogueError(f"{directory}: no such directory of checks")
    found = sorted(p for p in directory.rglob("[!_.]*.py") if "__pycache__" not in p.parts)
    if os.geteuid() == 0 and directory != builtin():
        _refuse_unsafe(directory, found)
    return found


def _is_directory(path: Path) -> bool:
    """Return whether it is a directory. Raises CatalogueError where that may not be known."""
    try:
        return path.is_dir()
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read: {error.strerror or error}") from error


def _refuse_unsafe(directory: Path, files: list[Path]) -> None:
    """As root, accept only what nobody else can write, or put something else in the place of: these files are run."""
    real = [path.resolve() for path in (directory, *files) if path.exists()]
    inside = {parent for file in files for parent in file.resolve().parents if directory.resolve() in parent.parents}
    above = {parent for path in real for parent in path.parents} - inside - {*real}
    for path in (*real, *sorted(inside)):
        _refuse_others(path, stat.S_IWOTH | stat.S_IWGRP)
    for path in sorted(above):
        _refuse_others(path, 0 if _info(path).st_mode & stat.S_ISVTX else stat.S_IWOTH | stat.S_IWGRP)


def _info(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read: {error.strerror or error}") from error


def _refuse_others(path: Path, writable: int) -> None:
    info = _info(path)
    if info.st_uid != 0:
        raise CatalogueError(f"{path}: owned by uid {info.st_uid}; root runs only its own checks: chown root {path}")
    others = info.st_mode & writable & (stat.S_IWOTH if info.st_gid == 0 else ~0)
    if others:
        raise CatalogueError(f"{path}: others can write it, and root would run it: chmod go-w {path}")


def _read(directory: Path, file: Path) -> Iterator[Check[Any]]:
    area = file.parent.name if file.parent != directory else "site"
    name = f"fabricdoctor_checks.{area}.{file.stem}".replace("-", "_")
    module = _imported(name, file) if directory == builtin() else _run(name, file)
    for value in vars(module).values():
        if isinstance(value, Check):
            _refuse_malformed(value)
            yield replace(value, area=area, file=str(file))


def _imported(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules.pop(name, None)
    spec.loader.exec_module(module)
    return module


def _run(name: str, file: Path) -> ModuleType:
    """Load a site's file without Python's cache: no folder is made beside it, and none that is there is trusted."""
    if not file.is_file():
        raise ImportError("not a regular file")
    module = ModuleType(name)
    module.__file__ = str(file)
    exec(compile(file.read_bytes(), file, "exec"), vars(module))  # noqa: S102  as importing it would
    return module


def _refuse_malformed(check: Check[Any]) -> None:
    """Raise TypeError for what judging or reporting would stumble over."""
    if not isinstance(check.severity, Severity):
        raise TypeError(f"{check.id}: severity must be Severity.CRITICAL, WARNING or INFO, not {check.severity!r:.40}")
    if not isinstance(check.explained_by, tuple) or not all(isinstance(name, str) for name in check.explained_by):
        raise TypeError(f'{check.id}: explained_by must be a tuple of ids, as in ("pfc-off",)')
    if not isinstance(check.links, tuple) or not all(isinstance(name, str) for name in check.links):
        raise TypeError(f'{check.id}: links must be a tuple of ids, as in ("pfc-off",)')
    if not callable(check.over):
        raise TypeError(f"{check.id}: over must be a function from the node to its subjects")
