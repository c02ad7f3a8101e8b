"""Expectations that cannot hold together: no node could meet them, or one of them would never be looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_ROCE = (
    "addressed_rails",
    "lossless_priorities",
    "trust",
    "dscp",
    "cnp_priority",
    "congestion_control",
    "lossless_bandwidth",
    "cable_m",
    "max_pause_share",
)


class Contradiction(NamedTuple):
    """`keys` contradict each other; `right` says why, and what would be right."""

    keys: tuple[str, ...]
    right: str


Values = Mapping[str, Any]


def contradiction(values: Values) -> Contradiction | None:
    """Return the first contradiction among the values that are set."""
    return next((found for rule in _RULES if (found := rule(values))), None)


def shown(value: Any) -> str:
    """Return a value as one writes it in the file."""
    if isinstance(value, (frozenset, tuple, list)):
        return f"[{', '.join(shown(item) for item in (sorted(value) if isinstance(value, frozenset) else value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _cnp_is_paused(values: Values) -> Contradiction | None:
    if values.get("cnp_priority") not in values.get("lossless_priorities", ()):
        return None
    why = "a CNP that PFC pauses comes too late; give CNPs a priority outside the lossless ones"
    return Contradiction(("cnp_priority", "lossless_priorities"), why)


def _dscp_is_not_looked_at(values: Values) -> Contradiction | None:
    if values.get("trust") != "pcp" or "dscp" not in values:
        return None
    why = 'the DSCP is never looked at where the VLAN priority is trusted; trust = "dscp", or unset = ["dscp"]'
    return Contradiction(("trust", "dscp"), why)


def _nothing_slows_senders(values: Values) -> Contradiction | None:
    if values.get("congestion_control") != "off" or values.get("lossless_priorities", True):
        return None
    why = "nothing would slow a sender down; name the lossless priorities, or a congestion control"
    return Contradiction(("congestion_control", "lossless_priorities"), why)


def _more_devices_than_rails(values: Values) -> Contradiction | None:
    rails = values.get("rails", ("*",))
    if any(sign in pattern for pattern in rails for sign in "*?[") or values.get("devices", 0) <= len(rails):
        return None
    why = f"{len(rails)} names without a wildcard are {len(rails)} devices at most"
    return Contradiction(("devices", "rails"), why)


def _roce_on_infiniband(values: Values) -> Contradiction | None:
    keys = [key for key in _ROCE if key in values]
    if values.get("link_layer") != "InfiniBand" or not keys:
        return None
    why = f'that is for RoCE; link_layer = "Ethernet", profile = "infiniband", or unset = {shown(keys)}'
    return Contradiction(("link_layer", *keys), why)


_RULES: tuple[Callable[[Values], Contradiction | None], ...] = (
    _roce_on_infiniband,
    _cnp_is_paused,
    _dscp_is_not_looked_at,
    _nothing_slows_senders,
    _more_devices_than_rails,
)
