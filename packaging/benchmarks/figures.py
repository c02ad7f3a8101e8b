"""Figures, and how they are taken: commands in turn, so that what disturbs one disturbs its neighbour, too."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

ROUNDS = 9

Command = Sequence[str]


@dataclass(frozen=True)
class Figure:
    """One number. A limit of None: it is only told. The limit is the most that is good."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    ok: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ok", self.limit is None or self.value <= self.limit)


@dataclass(frozen=True)
class Run:
    """One run of a command: wall time, and the most memory it, or a child it waited for, held."""

    milliseconds: float
    megabytes: float


def environment() -> dict[str, str]:
    """Return the environment of a user: compiled modules are kept, as they are after installation."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def run_once(command: Command, statuses: Collection[int] = (0,)) -> Run:
    """Run a command without its output. Raises RuntimeError for another exit status than those."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)}: exit status {child.returncode}")
    return Run(seconds * 1000, usage.ru_maxrss / 1024)


def in_turn(commands: Sequence[tuple[Command, Collection[int]]], rounds: int = ROUNDS) -> list[list[Run]]:
    """Run all commands once to warm up, then `rounds` times one after the other; return each one's runs."""
    for command in commands:
        run_once(*command)
    rows = [[run_once(*command) for command in commands] for _ in range(rounds)]
    return [list(column) for column in zip(*rows, strict=True)]


def wall(runs: Sequence[Run]) -> float:
    return statistics.median(run.milliseconds for run in runs)


def ratio(runs: Sequence[Run], yardstick: Sequence[Run]) -> float:
    """Return the median of the ratios of runs that stood side by side."""
    pairs = zip(runs, yardstick, strict=True)
    return statistics.median(one.milliseconds / other.milliseconds for one, other in pairs)
