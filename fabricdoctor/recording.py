"""Recordings on disk: one answer a line, written aside and renamed, readable by every later version."""

from __future__ import annotations

import gzip
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import __version__
from .host import Replay

FORMAT = 1


class RecordingError(Exception):
    """A file that is no recording this version can read; the message names the file and what would be right."""


@dataclass(frozen=True, slots=True)
class Take:
    """When a sample was taken: wall clock (seconds since the epoch, UTC) and monotonic since boot, and which boot."""

    wall: float
    monotonic: float
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """Answers of a sample, those counters' answers of an earlier one, and when both were taken."""

    answers: Mapping[str, Mapping[str, Any]]
    take: Take
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    before_take: Take | None = None
    tool: str = __version__
    origin: str = ""

    @property
    def seconds(self) -> float | None:
        """Return the time between the two samples, None when there is one."""
        return self.take.monotonic - self.before_take.monotonic if self.before_take else None

    def host(self) -> Replay:
        return Replay(self.answers, self.before, self.seconds)

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "{"
        yield f'"format": {FORMAT},'
        yield f'"tool": {json.dumps(self.tool)},'
        yield f'"origin": {json.dumps(self.origin)},'
        takes = [t for t in (self.before_take, self.take) if t]
        yield f'"takes": {json.dumps([asdict(t) for t in takes])},'
        yield from _block("before", self.before, ",")
        yield from _block("answers", self.answers, "")
        yield "}"


def _block(name: str, answers: Mapping[str, Mapping[str, Any]], end: str) -> Iterator[str]:
    yield f'"{name}": {{'
    lines = [f"{json.dumps(key)}: {json.dumps(answers[key], sort_keys=True)}" for key in sorted(answers)]
    yield from (line + "," for line in lines[:-1])
    yield from lines[-1:]
    yield "}" + end


def load(path: Path) -> Recording:
    """Read a recording (gzip when the name ends in .gz). Raises RecordingError, naming the file and the fault."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise RecordingError(f"{path}: not a regular file; give a recording made by `fabricdoctor snapshot`")
        raw = path.read_bytes()
        document = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise RecordingError(f"{path}: not a recording (JSON expected): {error}") from error
    return _read(path, document)


def _read(path: Path, document: Any) -> Recording:
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise RecordingError(f'{path}: not a recording: it has no "format" number')
    if document["format"] > FORMAT:
        raise RecordingError(
            f"{path}: format {document['format']}, written by fabricdoctor {document.get('tool', '?')}; "
            f"this version ({__version__}) reads up to format {FORMAT}: update it to read this file"
        )
    try:
        takes = [Take(float(t["wall"]), float(t["monotonic"]), str(t["boot_id"])) for t in document["takes"]]
        answers, before = (_answers(document[name]) for name in ("answers", "before"))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"{path}: not a complete recording: {type(error).__name__} {error}") from error
    if not takes:
        raise RecordingError(f'{path}: not a complete recording: "takes" is empty')
    earlier = takes[0] if len(takes) > 1 else None
    return Recording(
        answers, takes[-1], before, earlier, str(document.get("tool", "")), str(document.get("origin", ""))
    )


def _answers(block: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(block, dict) or not all(
        isinstance(a, dict) and ("value" in a or "unknown" in a) for a in block.values()
    ):
        raise TypeError("answers are not as they should be")
    return block


def write(path: Path, text: str, *, mode: int = 0o640) -> None:
    """Write a file whole or not at all: aside, synced, renamed. Raises OSError; nothing is left behind."""
    if path.exists() and not path.is_file():
        path.write_text(text)  # a device or pipe: there is nothing to rename
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    data = gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode()
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
