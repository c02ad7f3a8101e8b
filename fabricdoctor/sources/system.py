"""This process: its user, its limits, and the few environment variables that matter to RDMA jobs."""

from __future__ import annotations

import os
import time
from typing import Any

#: Names and prefixes of variables that may be read; nothing else of the environment is ever kept.
_PREFIXES = ("NCCL_", "RCCL_", "UCX_", "SLURM_JOB_")
_NAMES = frozenset({"HOME", "CUDA_VISIBLE_DEVICES", "SLURM_NODELIST", "SLURMD_NODENAME", "container"})


def environ(_: str) -> dict[str, str]:
    """Return the allowed variables of the environment."""
    return {name: value for name, value in sorted(os.environ.items()) if name in _NAMES or name.startswith(_PREFIXES)}


def limits(_: str) -> dict[str, int | None]:
    """Return this process's soft limits: `memlock` in bytes, None for unlimited."""
    import psutil  # noqa: PLC0415  17 ms that only a run inside a job has to pay

    soft, _hard = psutil.Process().rlimit(psutil.RLIMIT_MEMLOCK)
    return {"memlock": None if soft == psutil.RLIM_INFINITY else soft}


def clock(_: str) -> dict[str, float]:
    """Return seconds since the epoch ("wall") and since boot, suspended time included ("monotonic")."""
    return {"wall": time.clock_gettime(time.CLOCK_REALTIME), "monotonic": time.clock_gettime(time.CLOCK_BOOTTIME)}


KINDS: dict[str, Any] = {"environ": environ, "limits": limits, "clock": clock, "euid": lambda _: os.geteuid()}
