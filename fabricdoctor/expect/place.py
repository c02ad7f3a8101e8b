"""A configuration file, and messages that name its line."""

from __future__ import annotations

import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HEADER = re.compile(r"\[{1,2}\s*(.*?)\s*\]{1,2}\s*(#.*)?")


class ConfigError(Exception):
    """A configuration that cannot be used; the message names file, line, key and what would be right."""


@dataclass(frozen=True, slots=True)
class Place:
    """Finds the line of a key, for messages."""

    file: Path | None

    def line(self, table: str, key: str) -> str:
        """Return "FILE, line N" of `key` in `table` ("" for the top of the file)."""
        wanted, current = _plain(table), ""
        text = self.file.read_text("utf-8-sig", errors="replace") if self.file else ""
        for number, line in enumerate(text.splitlines(), 1):
            header = _HEADER.fullmatch(line.strip())
            if header:
                current = _plain(header.group(1))
            name = current if header else _plain(line.split("=")[0].strip())
            if name == (f"{wanted}.{_plain(key)}".strip(".") if header else _plain(key)) and (
                header or current == wanted
            ):
                return f"{self.file}, line {number}"
        return f"{self.file}"

    def error(self, table: str, key: str, message: str) -> ConfigError:
        """Return the error that names file, line and key."""
        shown = f"{table}.{key}" if table else key
        return ConfigError(f"{self.line(table, key)}: {shown}: {message}")


def _plain(name: str) -> str:
    """Return a name without the quotes that TOML allows around its parts."""
    return name.replace('"', "").replace("'", "")


def exists(path: Path) -> bool:
    """Return whether it exists. Raises ConfigError where that may not be known: it may hold what this site wants."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    return True


def read_toml(path: Path) -> dict[str, Any]:
    """Return the document. Raises ConfigError, also for what is no regular file."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415  4 ms, and many a prolog has no file to read
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(f"{path}: not a regular file")
        document: dict[str, Any] = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text: {error}") from error
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: not valid TOML: it is nested too deeply") from error
    return document


def like(key: str, known: tuple[str, ...]) -> str:
    """Return the end of a message that says which name was meant."""
    from difflib import get_close_matches  # noqa: PLC0415  for messages only

    near = get_close_matches(key, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
