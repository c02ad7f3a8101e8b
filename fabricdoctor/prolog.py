"""The entry point for Slurm's prolog: the same core without typer, started for every job.

Contract: exit status 1 only for a critical fault that was seen. Whatever could not be known, and any error of the tool
or its configuration, is said on standard error and ends with 0: a prolog that fails drains the node.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from . import streams

if TYPE_CHECKING:
    from .sources.live import Live

_USAGE = "usage: fabricdoctor-prolog [--config FILE] [--profile NAME] [--budget SECONDS] [--root DIR] [--no-save]"
#: Well under slurmctld's patience with a prolog (twice MessageTimeout, 20 s by default).
_BUDGET_S = 8.0
_BUDGETS_S = (0.1, 3600.0)
_WITH_VALUE = ("--config", "--profile", "--budget", "--root")


def main() -> None:
    """Check this node and exit with 0 or 1."""
    streams.prepare()
    status = run(sys.argv[1:])
    streams.settle()
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Return the exit status; never raises."""
    try:
        _on_signal(_give_up)
        if {"-h", "--help"} & {*arguments}:
            print(_USAGE)
            return 0
        return _check(_values(arguments))
    except BaseException as error:  # noqa: BLE001  the contract above
        _say(f"fabricdoctor-prolog: not checked: {error or type(error).__name__}")
        return 0


def _values(arguments: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--no-save":
            values[name] = "yes"
        elif name not in _WITH_VALUE:
            raise ValueError(f"unknown argument {argument!r}; {_USAGE}")
        else:
            values[name] = value if equals else next(rest, "")
            if not values[name]:
                raise ValueError(f"{name} needs a value; {_USAGE}")
    return values


def _seconds(text: str) -> float:
    low, high = _BUDGETS_S
    with contextlib.suppress(ValueError):
        if low <= float(text) <= high:
            return float(text)
    raise ValueError(f"--budget: {text!r} is not a number of seconds from {low:g} to {high:g}")


def _on_signal(act: Callable[[], object]) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        act()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def _give_up() -> None:
    """Leave from wherever a signal came; `run` says so."""
    raise KeyboardInterrupt


def _stop_on_signal(live: Live) -> None:
    """Let a signal end the asking early: what was seen until then still counts."""
    _on_signal(live.stop)


def _check(values: dict[str, str]) -> int:
    from .finding import Verdict  # noqa: PLC0415  an error in our own modules must obey the contract too
    from .preflight import Options, check_live  # noqa: PLC0415
    from .sources.command import NONE  # noqa: PLC0415

    options = Options(
        profile=values.get("--profile"),
        config=Path(values["--config"]) if "--config" in values else None,
        budget=_seconds(values.get("--budget", str(_BUDGET_S))),
        root=values.get("--root", ""),
        save="--no-save" not in values,
        in_job=False,
        tools=NONE,
    )
    report = check_live(options, _stop_on_signal)
    about = f"fabricdoctor: {report.host}"
    _say(f"{about}: {report.conclusion.verdict}: {report.conclusion.because}")
    for found in report.findings:
        if found.verdict is Verdict.FAULT and found.fault and not found.folded_under:
            where = f"{found.severity.value}: {found.check}: {found.subject}"
            _say(f"{about}: {where}: saw {found.fault.saw}; want {found.fault.want}")
    return 1 if report.conclusion.status == 1 else 0


def _say(text: str) -> None:
    """Print a line on standard error. A log that is full or gone changes nothing about the node."""
    from .report.words import clean  # noqa: PLC0415

    with contextlib.suppress(OSError):
        print(clean(text), file=sys.stderr)


if __name__ == "__main__":
    main()
