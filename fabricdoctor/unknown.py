"""A value we tried to observe and could not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeVar, get_args

T = TypeVar("T")
U = TypeVar("U")

Why = Literal[
    "missing",
    "denied",
    "unsupported",
    "timeout",
    "unparsable",
    "not-recorded",
    "not-applicable",
    "needs-root",
    "not-exercised",
    "one-sample",
]
WHYS: tuple[str, ...] = get_args(Why)
#: Reasons that say "there is nothing to know here for you", not "it should have answered and did not".
SKIPS: frozenset[str] = frozenset({"not-applicable", "needs-root", "one-sample"})


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """Why `source` (a question, `"<kind> <key>"`) gave no value. Never a pass, never a fault, never a number."""

    source: str
    why: Why
    detail: str = ""

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no truth value; use known()")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unknown):
            return (self.source, self.why) == (other.source, other.why)
        raise TypeError(f"{self} compared with {other!r}; use known()")

    def __hash__(self) -> int:
        return hash((self.source, self.why))

    def __str__(self) -> str:
        return f"{self.source}: {self.detail or self.why}"


class UnknownFact(Exception):
    """Ends the judging of one subject."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(str(unknown))
        self.unknown = unknown


def known(value: T | Unknown) -> T:
    """Return the value itself, or stop judging this subject because it is unknown."""
    if isinstance(value, Unknown):
        raise UnknownFact(value)
    return value


def known_or(value: T | Unknown, default: U) -> T | U:
    """Return the value, or `default` where knowing it would only have added detail. Never for a judgement."""
    return default if isinstance(value, Unknown) else value


def first_unknown(values: Iterable[object]) -> Unknown | None:
    """Return the first of these that is unknown, None when all are known."""
    return next((value for value in values if isinstance(value, Unknown)), None)


def then(answer: T | Unknown, parse: Callable[[T], U | Unknown], source: str = "") -> U | Unknown:
    """Parse an answer; unknown stays unknown and nonsense becomes unknown."""
    if isinstance(answer, Unknown):
        return answer
    try:
        return parse(answer)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        return Unknown(source, "unparsable", f"not understood: {answer!r:.80} ({error})")
