"""The entry point for Slurm's prolog: the same core without typer, started for every job.

Contract: exit status 1 only for a critical fault that was seen. Whatever could not be known, and any error of the tool
or its configuration, is said on standard error and ends with 0: a prolog that fails drains the node.
"""

from __future__ import annotations

import sys
from pathlib import Path

_USAGE = "usage: fabricdoctor-prolog [--config FILE] [--profile NAME] [--budget SECONDS] [--root DIR] [--no-save]"
#: Well under slurmctld's patience with a prolog (twice MessageTimeout, 20 s by default).
_BUDGET_S = 8.0


def main() -> None:
    """Check this node and exit with 0 or 1."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Return the exit status; never raises."""
    try:
        return _check(_values(arguments))
    except Exception as error:  # noqa: BLE001  the contract above
        print(f"fabricdoctor-prolog: not checked: {error}", file=sys.stderr)
        return 0


def _values(arguments: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, _, value = argument.partition("=")
        if name == "--no-save":
            values[name] = "yes"
        elif name in ("--config", "--profile", "--budget", "--root"):
            values[name] = value or next(rest, "")
        else:
            raise ValueError(f"unknown argument {argument!r}; {_USAGE}")
    return values


def _check(values: dict[str, str]) -> int:
    from .finding import Verdict  # noqa: PLC0415  an error in our own modules must obey the contract too
    from .preflight import Options, check_live  # noqa: PLC0415
    from .sources.command import NONE  # noqa: PLC0415

    options = Options(
        profile=values.get("--profile"),
        config=Path(values["--config"]) if "--config" in values else None,
        budget=float(values.get("--budget", _BUDGET_S)),
        root=values.get("--root", ""),
        save="--no-save" not in values,
        in_job=False,
        tools=NONE,
    )
    report = check_live(options)
    _say(f"{report.conclusion.verdict}: {report.conclusion.because}", report.host)
    for found in report.findings:
        if found.verdict is Verdict.FAULT and found.fault and not found.folded_under:
            about = f"{found.severity.value}: {found.check}: {found.subject}"
            _say(f"{about}: saw {found.fault.saw}; want {found.fault.want}", report.host)
    return 1 if report.conclusion.status == 1 else 0


def _say(text: str, host: str) -> None:
    print(f"fabricdoctor: {host}: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
