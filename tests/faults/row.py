"""One way to make a healthy node faulty, and what must be said about it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nodes import make

from fabricdoctor.facts import Node, observe
from fabricdoctor.host import Replay
from fabricdoctor.recording import Recording

MISSING = {"unknown": "missing", "detail": "no such file"}
Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """`answers` and `before` map questions to a new value, to an unknown such as MISSING, or to a function that edits
    the value in place.

    `saw` is part of what the fault must say about `subject`; `also` are further checks that this change must trigger;
    `expect` changes the expectations.
    """

    answers: Changes
    saw: str
    severity: str = "critical"
    subject: str = "mlx5_0/1 (rail0)"
    expect: Mapping[str, Any] = field(default_factory=dict)
    before: Changes = field(default_factory=dict)
    also: tuple[str, ...] = ()
    node: Callable[[], Recording] = make.two_rails_roce

    def observed(self) -> Node:
        """Return the node with the change made to it."""
        healthy = self.node()
        answers, before = changed(healthy.answers, self.answers), changed(healthy.before, self.before)
        return observe(Replay(answers, before, healthy.seconds))

    def expectations(self) -> Any:
        return replace(make.LOSSLESS, **self.expect)


def changed(answers: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    result = copy.deepcopy(dict(answers))
    for question, change in changes.items():
        if callable(change):
            change(result[question]["value"])
        else:
            unknown = isinstance(change, dict) and set(change) <= {"unknown", "detail"} and bool(change)
            result[question] = change if unknown else {"value": change}
    return result


def put(*path: str, value: Any) -> Callable[[Any], None]:
    """Return a function that sets one member, deep in an answer."""

    def edit(answer: Any) -> None:
        for key in path[:-1]:
            answer = answer[key]
        answer[path[-1]] = value

    return edit
