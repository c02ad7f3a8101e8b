"""Data of a node as text that is safe to print: no control characters, lists of names kept short, lines wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ASCII = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "•": "*", "·": "-"}
    | {"→": "->", "←": "<-", "×": "x", "≤": "<=", "≥": ">=", "µ": "u", "μ": "u"}
)
_PORT = re.compile(r"(?P<port>(?P<device>\S+)/\d+)(?: \((?P<interface>[^()]+)\))?")
_NUMBER = re.compile(r"([0-9]+)")
#: up to so many names are listed as they are; up to the second number when they do not fold into ranges
_FEW, _MANY = 3, 16


def clean(text: str) -> str:
    """Return one line in which whatever a terminal would obey, hide or reorder is spelled out: `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c == "\t" else _escaped(c) for c in text)


def clean_lines(text: str) -> list[str]:
    """Return the cleaned lines of a text that may have several, without empty ones."""
    return [line for raw in text.split("\n") if (line := clean(raw.rstrip()))]


def to_ascii(text: str) -> str:
    return text if text.isascii() else text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def many(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def generic(text: str, subject: str) -> str:
    """Return the text with the names of its subject replaced, so that the same fault on siblings reads the same."""
    names = _names(subject)
    if not any(name in text for name in names):
        return text
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda found: names[found[0]], text)


def compact(names: Iterable[str], most: int = _MANY) -> str:
    """List the names, numbered ones as ranges: `mlx5_[0-7]/1 (rail[0-7])`."""
    unique = list(dict.fromkeys(names))
    if len(unique) > _FEW:
        unique = _folded(unique)
    rest = len(unique) - most
    return ", ".join(unique[:most]) + (f" and {rest} more" if rest > 0 else "")


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Break the text at spaces; `first` opens the first line and `rest` every other. A word too long is cut."""
    if len(first) + len(text) <= width:
        return [first + text]
    lines, line, empty = [], first, True
    for word in _pieces(text, width - max(len(first), len(rest))):
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, empty = rest, True
        line, empty = line + ("" if empty else " ") + word, False
    return [*lines, line]


def _pieces(text: str, most: int) -> list[str]:
    most = max(most, 1)
    return [word[at : at + most] for word in text.split() for at in range(0, len(word), most)]


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _names(subject: str) -> dict[str, str]:
    port = _PORT.fullmatch(subject)
    if not port:
        return {subject: "<name>"}
    return {subject: "<port>"} | {name: f"<{what}>" for what, name in port.groupdict().items() if name}


def _folded(names: list[str]) -> list[str]:
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        # the numbers of a PCI address are hexadecimal: they have no ranges
        shape = (name,) if ":" in name else tuple(_NUMBER.split(name)[::2])
        alike.setdefault(shape, []).append(name)
    return [text for shape, members in alike.items() for text in _ranges(shape, members)]


def _ranges(shape: tuple[str, ...], names: list[str]) -> list[str]:
    if len(names) < _FEW:
        return names
    rows = sorted((_NUMBER.findall(name) for name in names), key=lambda row: [int(n) for n in row])
    columns = [_range(column) for column in zip(*rows, strict=True)]
    if not all(columns):
        return names
    return ["".join(part for pair in zip(shape, [*columns, ""], strict=True) for part in pair)]


def _range(column: Sequence[str]) -> str:
    """Fold the numbers of one place into `[0-3,5]`, or into "" when they do not rise or are written unevenly."""
    if len(set(column)) == 1:
        return column[0]
    values = [int(n) for n in column]
    even = len({len(n) for n in column}) == 1 or not any(n != str(int(n)) for n in column)
    if not even or any(b <= a for a, b in zip(values, values[1:], strict=False)):
        return ""
    runs: list[list[str]] = []
    for number, value in zip(column, values, strict=True):
        if runs and int(runs[-1][-1]) + 1 == value:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return "[" + ",".join("-".join(run) for run in runs) + "]"
