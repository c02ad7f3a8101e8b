"""Answers questions about verbs devices: JSON lines on stdin and stdout, one answer line per question.

It is started as `PYTHON -I .../verbs.py` under an interpreter that can import pyverbs, which may be another than
ours (Python 3.9 or newer), so it and its two siblings use the standard library and pyverbs, nothing of the package.
A driver can hang in any call: whoever started it kills it.

In:  [["verbs.devices", ""], ["verbs.device", "mlx5_0"], ["verbs.usable", "mlx5_0 1000"]]
Out: {"value": ...} | {"errno": 13, "detail": "..."} | {"why": "missing|unsupported|denied|unparsable", "detail": "..."}
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabricdoctor.worker import verbs_read, verbs_use
else:
    # -I keeps a script's own folder out of the path.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import verbs_read
    import verbs_use

KINDS: dict[str, Callable[[str], Any]] = {
    "verbs.devices": verbs_read.devices,
    "verbs.device": verbs_read.device,
    "verbs.usable": verbs_use.usable,
}

#: Seconds after which one question ends this process, should nobody be left to end it.
ORPHAN_S = 60


def main() -> int:
    out = take_stdout()
    os.environ["IBV_SHOW_WARNINGS"] = "1"  # else libibverbs drops a device without a driver silently
    try:
        for line in iter(sys.stdin.buffer.readline, b""):
            signal.alarm(ORPHAN_S)
            for answer in answers(line):
                signal.alarm(ORPHAN_S)
                send(out, answer)
            signal.alarm(0)
    except (BrokenPipeError, KeyboardInterrupt):
        return 1  # nobody listens any more
    return 0


def take_stdout() -> int:
    """Keep stdout for answers: C libraries that print on descriptor 1 get stderr instead."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def answers(line: bytes) -> Iterator[dict[str, Any]]:
    try:
        questions = json.loads(line)
    except (ValueError, RecursionError) as error:
        questions = error
    if not isinstance(questions, list):
        yield {"why": "unparsable", "detail": f"not a JSON list of questions: {line[:200].decode(errors='replace')!r}"}
        return
    for question in questions:
        yield answer_to(question)


def answer_to(question: Any) -> dict[str, Any]:
    if not is_question(question):
        return {"why": "unparsable", "detail": f"not a pair of kind and argument: {str(question)[:200]}"}
    kind, argument = question
    if kind not in KINDS:
        return {"why": "unsupported", "detail": f"unknown question {kind}"}
    try:
        return {"value": KINDS[kind](argument)}
    except Exception as error:
        return verbs_read.answer_for(error)


def is_question(question: Any) -> bool:
    return isinstance(question, list) and [type(part) for part in question] == [str, str]


def send(out: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(out, data) :]


if __name__ == "__main__":
    sys.exit(main())
