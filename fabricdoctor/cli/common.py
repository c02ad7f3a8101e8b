"""What all subcommands share: exit statuses, output that is never lost, and a terminal's abilities."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from .. import streams
from ..catalogue import CatalogueError
from ..expect import ConfigError
from ..finding import Severity
from ..recording import RecordingError, write
from ..report.words import clean

#: The base of typer's usage errors (ClickException); typer itself does not export it.
UsageProblem: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
DONE, BAD, USAGE, CANNOT_TELL, INTERRUPTED = 0, 1, 2, 3, 130


def guarded(command: Callable[[], object]) -> int:
    """Run a command and return its exit status."""
    try:
        status = command()
        sys.stdout.flush()
    except (ConfigError, CatalogueError, RecordingError) as error:
        return complain(str(error), USAGE)
    except typer.Exit as stop:
        status = stop.exit_code
    except UsageProblem as error:
        with contextlib.suppress(OSError):
            error.show()  # type: ignore[attr-defined]
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        streams.forget(1)
        return DONE
    except OSError as error:
        streams.forget(1)
        return complain(_about(error), CANNOT_TELL)
    return status if isinstance(status, int) else DONE


def complain(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(f"fabricdoctor: {clean(message)}", file=sys.stderr)
    return status


def _about(error: OSError) -> str:
    """Return what went wrong. Only writing to standard output is without a file's name."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"cannot write the output: {reason}"


def severity(text: str) -> Severity:
    """Return the severity of that name. Raises a usage error that names the choices."""
    try:
        return Severity(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not critical, warning or info", param_hint="--fail-on") from None


def choice(text: str, choices: tuple[str, ...], option: str) -> str:
    """Return `text` if it is one of the choices. Raises a usage error otherwise."""
    if text not in choices:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(choices)}", param_hint=option)
    return text


def emit(text: str, output: Path | None, status: int) -> int:
    """Print, or write a file whole or not at all. What cannot be written is printed, so that it is not lost."""
    if output is not None and output != Path("-"):
        try:
            write(output, text)
        except OSError as error:
            complain(f"{output}: cannot be written: {error.strerror or error}; nothing was left there", USAGE)
            status = status or CANNOT_TELL
        else:
            return status
    return status if show(text) else status or CANNOT_TELL


def show(text: str) -> bool:
    """Print the text and return whether it could be; a reader that wants no more of it is none to complain about."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        streams.forget(1)
    except OSError as error:
        streams.forget(1)
        complain(f"cannot write the output: {error.strerror or error}", CANNOT_TELL)
        return False
    return True


def unicode_terminal() -> bool:
    """Return whether output is UTF-8: as the environment says (LC_ALL=C means it is not), and as Python was told."""
    if "utf" not in (sys.stdout.encoding or "").lower():
        return False
    locale = next((v for name in ("LC_ALL", "LC_CTYPE", "LANG") if (v := os.environ.get(name))), "")
    return "utf" in locale.lower()


def wants_color() -> bool:
    """Return whether standard output is a terminal that may be coloured (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def fits(interval: float, budget: float) -> None:
    """Refuse an interval that leaves no time for the second sample."""
    if not interval < budget:  # also what is not a number
        message = f"{interval:g} s leave no time for the second sample; give a --budget above that (it is {budget:g} s)"
        raise typer.BadParameter(message, param_hint="--interval")
