"""The one seam between us and a machine: questions, their answers, and the recording that keeps them.

A question is a kind and a key, as in `read /sys/class/net/eth0/mtu`. An answer is a JSON value or an `Unknown`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from .unknown import WHYS, Unknown

Question = tuple[str, str]
#: As kept in a recording: {"value": …} or {"unknown": why, "detail": …}.
Answers = Mapping[str, Mapping[str, Any]]


class Source(Protocol):
    """Something that answers about now."""

    def ask_all(self, questions: Sequence[Question]) -> list[Any]: ...


class Host(Protocol):
    """A machine, live or recorded, that can be asked about now and about the sample before."""

    def ask(self, kind: str, key: str = "") -> Any: ...

    def ask_all(self, questions: Sequence[Question]) -> list[Any]: ...

    def earlier(self, kind: str, key: str = "") -> Any:
        """Return the answer to the same question in the sample taken before this one."""

    def seconds(self) -> float | Unknown:
        """Return the time between the earlier sample and this one."""


def name_of(kind: str, key: str) -> str:
    return f"{kind} {key}".rstrip()


def encode(answer: Any) -> dict[str, Any]:
    if isinstance(answer, Unknown):
        return {"unknown": answer.why, "detail": answer.detail}
    return {"value": answer}


def decode(source: str, answer: Mapping[str, Any] | None) -> Any:
    """Return the value of a recorded answer, or the Unknown it stands for."""
    if answer is None:
        return Unknown(source, "not-recorded", "the recording does not have it")
    if "value" in answer:
        return answer["value"]
    why = answer.get("unknown")
    return Unknown(source, why if why in WHYS else "unparsable", str(answer.get("detail", "")))


class Recorder:
    """Wraps any host and remembers every answer, failures included.

    `before` are answers of an earlier sample, taken `seconds` ago; `counters` collects the questions they are for.
    """

    def __init__(self, host: Source, before: Answers | None = None, seconds: float | None = None) -> None:
        self.host = host
        self.answers: dict[str, dict[str, Any]] = {}
        self.counters: set[str] = set()
        self._replay = Replay({}, before, seconds)

    def ask(self, kind: str, key: str = "") -> Any:
        return self.ask_all([(kind, key)])[0]

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        """Ask what was not asked before: within one sample a question has one answer."""
        new = [q for q in dict.fromkeys(questions) if name_of(*q) not in self.answers]
        for question, answer in zip(new, self.host.ask_all(new), strict=True):
            self.answers[name_of(*question)] = encode(answer)
        return [decode(name, self.answers[name]) for name in [name_of(*q) for q in questions]]

    def earlier(self, kind: str, key: str = "") -> Any:
        self.counters.add(name_of(kind, key))
        return self._replay.earlier(kind, key)

    def seconds(self) -> float | Unknown:
        return self._replay.seconds()


class Replay:
    """Answers from a recording; what was never recorded is not known."""

    def __init__(self, answers: Answers, before: Answers | None = None, seconds: float | None = None) -> None:
        self.answers = answers
        self.before = before or {}
        self._seconds = seconds

    def ask(self, kind: str, key: str = "") -> Any:
        name = name_of(kind, key)
        return decode(name, self.answers.get(name))

    def ask_all(self, questions: Iterable[Question]) -> list[Any]:
        return [self.ask(*question) for question in questions]

    def earlier(self, kind: str, key: str = "") -> Any:
        name = name_of(kind, key)
        if name not in self.before:
            return Unknown(name, "one-sample", "only one sample was taken")
        return decode(name, self.before[name])

    def seconds(self) -> float | Unknown:
        if self._seconds is None or self._seconds <= 0:
            return Unknown("clock", "one-sample", "only one sample was taken")
        return self._seconds
