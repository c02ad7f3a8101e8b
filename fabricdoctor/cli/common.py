"""What all subcommands share: exit statuses, output that is never lost, and a terminal's abilities."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from ..catalogue import CatalogueError
from ..expect import ConfigError
from ..finding import Severity
from ..recording import RecordingError, write

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
        error.show()  # type: ignore[attr-defined]
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _forget_stdout()
        return DONE
    except OSError as error:
        _forget_stdout()
        return complain(f"cannot write the output: {error.strerror or error}", CANNOT_TELL)
    return status if isinstance(status, int) else DONE


def complain(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(f"fabricdoctor: {message}", file=sys.stderr)
    return status


def _forget_stdout() -> None:
    """Keep the interpreter from complaining about a pipe or disk that takes nothing more."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    if output is not None:
        try:
            write(output, text)
        except OSError as error:
            complain(f"{output}: cannot be written: {error.strerror or error}; nothing was left there", USAGE)
            status = status or CANNOT_TELL
        else:
            return status
    sys.stdout.write(text)
    sys.stdout.flush()
    return status


def unicode_terminal() -> bool:
    """Return whether the locale's encoding is UTF-8, as the environment says (LC_ALL=C means it is not)."""
    locale = next((v for name in ("LC_ALL", "LC_CTYPE", "LANG") if (v := os.environ.get(name))), "")
    return "utf" in locale.lower()


def wants_color() -> bool:
    """Return whether standard output is a terminal that may be coloured (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def fits(interval: float, budget: float) -> None:
    """Refuse an interval that leaves no time for the second sample."""
    if interval >= budget:
        message = f"{interval:g} s leave no time for the second sample; give a --budget above that (it is {budget:g} s)"
        raise typer.BadParameter(message, param_hint="--interval")
