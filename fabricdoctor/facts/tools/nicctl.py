"""`nicctl show qos` and `nicctl show dcqcn` (AMD Pensando): all adapters in one text, each under its PCI address.

Much is told twice, as a bitmap and as a list; where the two differ the text is damaged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...unknown import Unknown, then
from . import lines
from .qos import QosByTool

_ADAPTER = re.compile(r"\s*NIC\s*:\s*\S+\s+\(([0-9a-f:.]+)\)")
_FIELD = re.compile(r"\s*(.+?)\s*:\s*(.*?)\s*(?:==>\s*priority\s*:\s*(\d+)\b.*)?")
_TOLD_NOT = Unknown("tool nicctl qos", "not-applicable", "nicctl does not tell it")


@dataclass(frozen=True, slots=True, eq=False)
class Dcqcn:
    """Rate control of one RDMA device."""

    enabled: bool | Unknown
    cnp_dscp: int | Unknown


def parse(text: str) -> dict[str, QosByTool]:
    """Return QoS by PCI address, of adapters with one port: of two it could not be told which is meant."""
    found = {}
    for address, block in _blocks(text, _ADAPTER).items():
        if sum(1 for name, _, _ in block if name == "Port") == 1:
            found[address] = QosByTool(
                then(block, _pfc, "tool nicctl qos"),
                then(block, _trust, "tool nicctl qos"),
                then(block, _by_dscp, "tool nicctl qos"),
                _TOLD_NOT,
                _TOLD_NOT,
                _TOLD_NOT,
            )
    return found


def dcqcn(text: str) -> dict[str, Dcqcn]:
    """Return rate control by RDMA device, as its first profile has it."""
    return {
        name: Dcqcn(then(block, _enabled, "tool nicctl dcqcn"), then(block, _cnp, "tool nicctl dcqcn"))
        for name, block in _blocks(text, re.compile(r"\s*ROCE device\s*:\s*(\S+)")).items()
    }


_Block = list[tuple[str, str, str | None]]


def _blocks(text: str, head: re.Pattern[str]) -> dict[str, _Block]:
    """Return, for each head, the fields under it: name, value, and the priority behind an arrow."""
    found: dict[str, _Block] = {}
    block: _Block = []
    for line in lines(text):
        if started := head.match(line):
            block = found.setdefault(started[1], [])
        elif field := _FIELD.fullmatch(line):
            block.append((field[1], field[2], field[3]))
    return found


def _only(block: _Block, name: str) -> str:
    (value,) = [v for n, v, _ in block if n == name]
    return value


def _first(block: _Block, name: str) -> str:
    value, *_ = [v for n, v, _ in block if n == name]
    return value


def _pfc(block: _Block) -> frozenset[int]:
    mask = int(_only(block, "PFC priority bitmap"), 16)
    listed = frozenset(_numbers(_only(block, "PFC no-drop priorities")))
    if not 0 <= mask < 1 << 8 or listed != _bits(mask):
        raise ValueError("two lists of priorities that differ")
    return listed


def _trust(block: _Block) -> Literal["dscp"]:
    if _only(block, "Classification type") != "DSCP":
        raise ValueError("a classification that is not known")
    return "dscp"


def _by_dscp(block: _Block) -> dict[int, int]:
    """Return the whole table: every DSCP has one priority, in the bitmaps and in the lists alike."""
    rows = [(n, v, int(p)) for n, v, p in block if p is not None]
    by_bits = [(d, p) for n, v, p in rows if n == "DSCP bitmap" for d in _bits(int(v, 16))]
    listed = [(d, p) for n, v, p in rows if n == "DSCP" for d in _numbers(v)]
    if sorted(by_bits) != sorted(listed) or sorted(d for d, _ in listed) != list(range(64)):
        raise ValueError("not a table of 64 DSCPs")
    if any(priority > 7 for _, priority in listed):  # noqa: PLR2004
        raise ValueError("no such priority")
    return dict(listed)


def _enabled(block: _Block) -> bool:
    return {"Enabled": True, "Disabled": False}[_first(block, "Status")]


def _cnp(block: _Block) -> int:
    dscp = int(_first(block, "DSCP value used for CNP"))
    if not 0 <= dscp < 1 << 6:
        raise ValueError("no such DSCP")
    return dscp


def _bits(mask: int) -> frozenset[int]:
    return frozenset(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a list such as "0-23, 25". Raises ValueError for anything else."""
    for part in filter(None, (p.strip() for p in text.split(","))):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 0 <= low <= high < 1 << 6:
            raise ValueError("not a list of numbers")
        yield from range(low, high + 1)
