"""`niccli --dev PCI qos --ets --show` (Broadcom): the adapter's own tables, in the terms of IEEE 802.1Qaz."""

from __future__ import annotations

import re
from typing import Literal

from ...unknown import Unknown, then
from ..classes import TrafficClasses
from . import lines
from .qos import QosByTool

_SOURCE = "tool niccli qos"
_TOLD_NOT = Unknown(_SOURCE, "not-applicable", "niccli does not tell it here")
_ENTRY = re.compile(r"APP#(\d+):\s+Priority:\s*([0-7])\s+Sel:\s*(\d)\s+([\w {}/]+):\s*(\w+)")
_BY_DSCP = "5"


def parse(text: str) -> QosByTool:
    """Return the QoS of one adapter; what is not in the text, or damaged, is unknown."""
    whole = "\n".join(lines(text))
    return QosByTool(
        then(whole, _pfc, _SOURCE),
        then(whole, _trust, _SOURCE),
        then(whole, _by_dscp, _SOURCE),
        then(whole, _classes, _SOURCE),
        _TOLD_NOT,
        _TOLD_NOT,
    )


def _field(text: str, name: str) -> str:
    (value,) = re.findall(rf"^\s*{name}:[ \t]*(.*?)\s*$", text, re.MULTILINE)
    return str(value)


def _pfc(text: str) -> frozenset[int]:
    """Return the priorities listed. A lone 0 may be the priority or the count: it is not understood."""
    listed = _field(text, "PFC enabled")
    if listed == "none":
        return frozenset()
    found = [int(word) for word in listed.split()]
    if not found or found == [0] or len(set(found)) != len(found) or not set(found) <= set(range(8)):
        raise ValueError("not a list of priorities")
    return frozenset(found)


def _trust(text: str) -> Literal["dscp", "pcp"]:
    return "dscp" if _by_dscp(text) else "pcp"


def _by_dscp(text: str) -> dict[int, int]:
    """Return the entries by DSCP, when the table was printed to its end and each entry of it is understood."""
    table, _, rest = text.partition("IEEE 8021QAZ APP TLV:")[2].partition("TC Rate Limit:")
    entries = _ENTRY.findall(table)
    if not rest or [number for number, *_ in entries] != [str(i) for i in range(len(re.findall("Sel:", table)))]:
        raise ValueError("not a whole table of applications")
    found = {int(value): int(priority) for _, priority, kind, _, value in entries if kind == _BY_DSCP}
    if not all(0 <= dscp < 1 << 6 for dscp in found):
        raise ValueError("no such DSCP")
    return found


def _classes(text: str) -> TrafficClasses:
    """Return the class of each priority, and the share of each class that has one."""
    pairs, kinds = (dict(re.findall(r"\b([0-7]):(\w+)", _field(text, name))) for name in ("PRIO_MAP", "TSA_MAP"))
    shares = [int(share) for share in re.findall(r"\b(\d+)%", _field(text, "TC Bandwidth"))]
    of_priority = tuple(int(pairs[str(priority)]) for priority in range(8))
    if len(shares) != len(kinds) or max(shares) > 100 or not set(of_priority) <= set(range(len(shares))):  # noqa: PLR2004
        raise ValueError("not a whole table of classes")
    percent = [share if kinds[str(tc)] == "ets" else None for tc, share in enumerate(shares)]
    return TrafficClasses(of_priority, (*percent, *[None] * (8 - len(percent))))
