"""What this process, and so a job started here, may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..host import Host
from ..unknown import Unknown, then

_CAP_IPC_LOCK = 14  # include/uapi/linux/capability.h


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """`memlock` is in bytes, None for unlimited; `may_lock` is CAP_IPC_LOCK, which waives it."""

    memlock: int | None | Unknown
    may_lock: bool | Unknown

    def __str__(self) -> str:
        return "limits"


def limits(host: Host) -> Limits:
    """Return the soft limits in force here. In a prolog the job's are not visible, and none is asked for."""
    answer = host.ask("limits")
    status = host.ask("read", "/proc/self/status")
    return Limits(
        memlock=then(answer, lambda a: _bytes(a["memlock"]), "limits"),
        may_lock=then(status, _has_ipc_lock, "read /proc/self/status"),
    )


def _bytes(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ValueError("not a limit")
    return value


def _has_ipc_lock(status: str) -> bool:
    line = next(line for line in [*status.splitlines(), "CapEff:"] if line.startswith("CapEff:"))
    return bool(int(line.split(":")[1], 16) >> _CAP_IPC_LOCK & 1)
