"""The commands that set an interface's QoS, by whichever tool its driver leaves that to."""

from __future__ import annotations


def pfc_command(netdev: str, tool: str, on: frozenset[int], now: frozenset[int]) -> str:
    """Return the command for PFC on these priorities only; `now` are those that have it."""
    if tool == "nicctl":
        changes = [(p, "disable") for p in sorted(now - on)] + [(p, "enable") for p in sorted(on - now)]
        return "; ".join(f"nicctl update qos pfc --priority {p} --no-drop {change}" for p, change in changes)
    if tool:
        return f"{tool} qos --pfc --enable {','.join(map(str, sorted(on))) or '0xFF (none)'}"
    return " ".join([f"dcb pfc set dev {netdev} prio-pfc all:off", *(f"{p}:on" for p in sorted(on))])


def dscp_command(netdev: str, tool: str, dscp: int, priority: int) -> str:
    """Return the command that maps a DSCP to a priority."""
    if tool == "nicctl":
        return f"nicctl update qos dscp-to-priority --dscp {dscp} --priority {priority}"
    if tool:
        return f"{tool} qos --apptlv --add --app {priority},5,{dscp}"
    return f"dcb app replace dev {netdev} dscp-prio {dscp}:{priority}"
