"""Recordings on disk: one answer a line, written aside and renamed, readable by every later version."""

from __future__ import annotations

import io
import json
import math
import os
import stat
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from . import __version__
from .host import Replay

FORMAT = 1
_GZIP = b"\x1f\x8b"
#: Bytes of a recording, unpacked: a large node has a few hundred kilobytes.
_LIMIT = 64 << 20
_YEAR_9999 = 253402300799.0


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
        document = json.loads(_bytes(path), parse_constant=_no_number)
    except (zlib.error, EOFError) as error:
        raise RecordingError(f"{path}: damaged or cut off (gzip): {error}; copy or take it again") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"{path}: not a recording (JSON expected): {error}") from error
    except RecursionError as error:
        raise RecordingError(f"{path}: not a recording: it is nested too deeply") from error
    return _read(path, document)


def _bytes(path: Path) -> bytes:
    """Return what the file holds, unpacked. What would fill the memory is refused."""
    with path.open("rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        raw = _unpacked(file) if packed else file.read(_LIMIT + 1)
    if len(raw) > _LIMIT:
        raise RecordingError(f"{path}: larger than {_LIMIT >> 20} MiB, which no recording is")
    return raw


def _unpacked(file: BinaryIO) -> bytes:
    import gzip  # noqa: PLC0415  the last run's sample is not packed

    try:
        return gzip.GzipFile(fileobj=file).read(_LIMIT + 1)
    except gzip.BadGzipFile as error:
        raise EOFError(str(error)) from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _read(path: Path, document: Any) -> Recording:
    number = document.get("format") if isinstance(document, dict) else None
    if type(number) is not int or number < 1:
        raise RecordingError(f'{path}: not a recording: it has no "format" number')
    if number > FORMAT:
        raise RecordingError(
            f"{path}: format {number}, written by fabricdoctor {document.get('tool', '?')}; "
            f"this version ({__version__}) reads up to format {FORMAT}: update it to read this file"
        )
    try:
        takes = [_take(t) for t in document["takes"]]
        answers, before = (_answers(document[name]) for name in ("answers", "before"))
    except KeyError as error:
        raise RecordingError(f"{path}: not a complete recording: it has no {error.args[0]!r}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise RecordingError(f"{path}: not a complete recording: {error}") from error
    if len(takes) not in (1, 2):
        raise RecordingError(f'{path}: not a complete recording: "takes" has {len(takes)} samples, not one or two')
    earlier = takes[0] if len(takes) > 1 else None
    return Recording(
        answers, takes[-1], before, earlier, str(document.get("tool", "")), str(document.get("origin", ""))
    )


def _take(value: Any) -> Take:
    if not isinstance(value, dict):
        raise TypeError('each of "takes" has "wall", "monotonic" and "boot_id"')
    wall, monotonic = float(value["wall"]), float(value["monotonic"])
    if not (0 <= wall <= _YEAR_9999 and math.isfinite(monotonic)):
        raise ValueError(f"no time: wall {wall:g}, monotonic {monotonic:g}")
    return Take(wall, monotonic, str(value["boot_id"]))


def _answers(block: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(block, dict) or not all(
        isinstance(a, dict) and ("value" in a or "unknown" in a) for a in block.values()
    ):
        raise TypeError('each answer is {"value": ...} or {"unknown": ...}')
    return block


def write(path: Path, text: str, *, mode: int = 0o640) -> None:
    """Write a file whole or not at all: aside, synced, renamed. Raises OSError; nothing is left behind.

    A symbolic link is replaced, not followed: in a directory that others can write it may point anywhere.
    """
    data = text.encode(errors="backslashreplace")
    if path.suffix == ".gz":
        import gzip  # noqa: PLC0415

        data = gzip.compress(data, mtime=0)
    if _is_stream(path):
        _write_into(path, data)
        return
    aside = path.with_name(f".fabricdoctor.{os.getpid()}.{time.monotonic_ns()}")
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def _is_stream(path: Path) -> bool:
    """Return whether there is nothing to rename: a device or pipe, also as the link /dev/stdout or /dev/fd/3."""
    if not os.path.exists(path):  # noqa: PTH110  Path.exists raises where a directory may not be searched
        return False
    system = os.path.abspath(path).startswith(("/dev/", "/proc/"))  # noqa: PTH100  not resolved: the name counts
    return not path.is_file() or (system and path.is_symlink())


def _write_into(path: Path, data: bytes) -> None:
    """Write into what is there already; a pipe that nobody reads is an error, not something to wait for."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    os.set_blocking(fd, True)
    with io.FileIO(fd, "wb") as file:
        while data:
            data = data[file.write(data) or 0 :]
