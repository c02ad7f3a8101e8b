"""Subcommands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from .. import __version__

app = typer.Typer(
    name="fabricdoctor",
    help="Is this node ready for a large RDMA training job, and if not, what is wrong and which command fixes it?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
config_app = typer.Typer(help="What the site wants.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(config_app, name="config")

Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="Expectations of a kind of fabric; `fabricdoctor config show` lists them."
    ),
]


def _path(text: str) -> Path:
    """Refuse an empty name: a variable that is not set must not become the current directory."""
    if not text:
        raise typer.BadParameter("the name is empty")
    return Path(text)


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        parser=_path,
        help="The site's file [default: /etc/fabricdoctor/fabricdoctor.toml, if it exists].",
    ),
]
Globs = Optional[list[str]]  # noqa: UP045


def _interval(otherwise: str) -> Any:
    """Return the option; `otherwise` is what is done without it."""
    return typer.Option(
        "--interval",
        metavar="S",
        min=0.0,
        max=86400.0,
        show_default=False,
        help=f"Sample counters twice, S seconds apart [default: {otherwise}].",
    )


Interval = Annotated[float, _interval("compare with the last run")]
SnapshotInterval = Annotated[float, _interval("once, and counters then show no growth")]
Budget = Annotated[
    float,
    typer.Option(
        "--budget", metavar="S", min=0.1, max=3600.0, help="Return within S seconds plus one, whatever hangs."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        parser=_path,
        help="Write to FILE (whole or not at all) instead of the terminal; - is the terminal.",
    ),
]
ChecksDirs = Annotated[
    list[Path] | None, typer.Option("--checks", metavar="DIR", parser=_path, help="A directory of more checks.")
]
VendorTools = Annotated[
    bool,
    typer.Option(
        "--vendor-tools",
        help="Also ask the adapters' tools (mstconfig, mlxlink, nicctl, niccli), seconds each; root only.",
    ),
]
Root = Annotated[
    str, typer.Option("--root", metavar="DIR", hidden=True, help="Read files under DIR and ask nothing but files.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fabricdoctor {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take the options that belong to no subcommand."""


@app.command()
def check(  # noqa: PLR0913, PLR0917  these are the command's options
    profile: Profile = None,
    config: Config = None,
    only: Annotated[Globs, typer.Option("--only", metavar="GLOB", help="Judge only these checks.")] = None,
    skip: Annotated[Globs, typer.Option("--skip", metavar="GLOB", help="Leave these checks out.")] = None,
    require: Annotated[
        Globs, typer.Option("--require", metavar="GLOB", help="These must be judged, else exit 3.")
    ] = None,
    checks: ChecksDirs = None,
    interval: Interval = 0.0,
    budget: Budget = 30.0,
    fail_on: Annotated[str, typer.Option("--fail-on", metavar="LEVEL", help="critical, warning or info.")] = "critical",
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text, json or markdown.")] = "text",
    output: Out = None,
    recording: Annotated[
        Path | None,
        typer.Option("--from", metavar="RECORDING", parser=_path, help="Judge a recording, not this machine."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Also list what is fine, and each skipped check.")
    ] = False,
    vendor_tools: VendorTools = False,
    root: Root = "",
    no_save: Annotated[
        bool, typer.Option("--no-save", hidden=True, help="Neither use nor keep the last run's counters.")
    ] = False,
) -> None:
    """Check this node, before a job.

    Exit status: 0 ready, 1 not ready (a fault at or above --fail-on), 2 usage or configuration error, 3 cannot tell,
    130 interrupted.
    """
    from ..preflight import Options  # noqa: PLC0415
    from .check import run_check  # noqa: PLC0415
    from .common import severity  # noqa: PLC0415

    options = Options(
        profile, config, tuple(only or ()), tuple(skip or ()), tuple(require or ()), tuple(checks or ()),
        interval, budget, severity(fail_on), root, not no_save, tools=_tools(vendor_tools),
    )  # fmt: skip
    raise typer.Exit(run_check(options, form, output, recording, verbose=verbose))


@app.command(short_help="Record this node's answers, to be judged anywhere.")
def snapshot(
    output: Out = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace names, addresses and serials by stable pseudonyms.")
    ] = False,
    interval: SnapshotInterval = 0.0,
    budget: Budget = 30.0,
    vendor_tools: VendorTools = False,
    root: Root = "",
) -> None:
    """Record this node's answers into a file that `check --from` judges anywhere."""
    from ..preflight import Options  # noqa: PLC0415
    from .check import run_snapshot  # noqa: PLC0415

    options = Options(interval=interval, budget=budget, root=root, save=False, tools=_tools(vendor_tools))
    raise typer.Exit(run_snapshot(options, output, redact=redact))


def _tools(vendor_tools: bool) -> frozenset[str]:
    from ..sources.command import ALL, QUICK  # noqa: PLC0415

    return ALL if vendor_tools else QUICK


@app.command("checks")
def list_checks(
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")] = "text",
    checks: ChecksDirs = None,
) -> None:
    """List all checks."""
    from .knowledge import run_checks  # noqa: PLC0415

    raise typer.Exit(run_checks(form, tuple(checks or ())))


@app.command(short_help="Say what a check looks at, why, and how to fix it.")
def explain(
    check: Annotated[str, typer.Argument(metavar="CHECK", help="Its id, or a glob pattern.")], checks: ChecksDirs = None
) -> None:
    """Say what a check looks at, why it matters and how to fix what it finds."""
    from .knowledge import run_explain  # noqa: PLC0415

    raise typer.Exit(run_explain(check, tuple(checks or ())))


@app.command()
def schema() -> None:
    """Print the JSON Schema of `check --format json`."""
    from .knowledge import run_schema  # noqa: PLC0415

    raise typer.Exit(run_schema())


@config_app.command("check", short_help="Find mistakes in the site's file, by line.")
def config_check(config: Config = None, profile: Profile = None) -> None:
    """Check the site's file: exit status 2 and file, line, key and what would be right, when it cannot be used."""
    from .knowledge import run_config  # noqa: PLC0415

    raise typer.Exit(run_config(config, profile, show=False))


@config_app.command("show", short_help="Print each expectation with its origin, and the profiles.")
def config_show(config: Config = None, profile: Profile = None) -> None:
    """Print each expectation with where it comes from, those that are not set, and the profiles there are."""
    from .knowledge import run_config  # noqa: PLC0415

    raise typer.Exit(run_config(config, profile, show=True))


def run() -> int:
    """Run the command line; errors that a person can mend are one line on standard error, with exit status 2."""
    from .common import guarded  # noqa: PLC0415

    return guarded(lambda: app(standalone_mode=False))
