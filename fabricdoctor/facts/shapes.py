"""A host whose answers have the shape that their kind promises; any other is unknown, before a fact sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..host import Host, Question, name_of
from ..unknown import Unknown

_SHAPES: dict[str, type] = {
    "read": str, "link": str, "list": list, "euid": int, "kmsg": list, "ethtool.pfc-storm": int,
    "route.routes": list, "route.rules": list, "route.silent": list,
}  # fmt: skip


class Shaped:
    """Wraps a host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def ask(self, kind: str, key: str = "") -> Any:
        return _shaped(self._host.ask(kind, key), kind, key)

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        answers = self._host.ask_all(questions)
        return [_shaped(answer, *question) for question, answer in zip(questions, answers, strict=True)]

    def earlier(self, kind: str, key: str = "") -> Any:
        return _shaped(self._host.earlier(kind, key), kind, key)

    def seconds(self) -> float | Unknown:
        return self._host.seconds()


class Silent:
    """A host that tells nothing, for one reason."""

    def __init__(self, why: Unknown) -> None:
        self._why = why

    def ask(self, _: str, __: str = "") -> Any:
        return self._why

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        return [self._why for _ in questions]

    def earlier(self, _: str, __: str = "") -> Any:
        return self._why

    def seconds(self) -> float | Unknown:
        return self._why


def _shaped(answer: Any, kind: str, key: str) -> Any:
    shape = _SHAPES.get(kind, dict)
    if isinstance(answer, Unknown) or (isinstance(answer, shape) and not isinstance(answer, bool)):
        return answer
    return Unknown(name_of(kind, key), "unparsable", f"not understood: {answer!r:.80}")
