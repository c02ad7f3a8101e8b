"""Vendors' tools and lldpd as sources. Each question is a row of a table; none changes anything.

Of a question only a PCI address goes into a command, and only when it is written like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import process

_PCI = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
#: how many adapters are asked at the same time; those of one adapter wait for each other, as they share a semaphore
_AT_ONCE = 4


#: question: (names of one tool, of which any will do; arguments, {} being the adapter's PCI address; seconds)
_TOOLS: dict[str, tuple[tuple[str, ...], tuple[str, ...], float]] = {
    "lldpcli": (("lldpcli",), ("-f", "json0", "show", "neighbors", "details"), 3.0),
    "mstconfig": (("mstconfig", "mlxconfig"), ("-d", "{}", "-e", "q"), 15.0),
    "mlxlink": (("mlxlink", "mstlink"), ("-d", "{}", "-c", "-m", "--json"), 15.0),
    "nicctl qos": (("nicctl",), ("show", "qos"), 10.0),
    "nicctl dcqcn": (("nicctl",), ("show", "dcqcn"), 10.0),
    "niccli qos": (("niccli",), ("--dev", "{}", "qos", "--ets", "--show"), 10.0),
}
NONE: frozenset[str] = frozenset()
#: asked whenever it is installed: one question to a local socket
QUICK = frozenset({"lldpcli"})
#: these talk to firmware, a second or two for each adapter
ALL = QUICK | {"mstconfig", "mlxlink", "nicctl", "niccli"}


def answers(
    questions: Sequence[str], asked: frozenset[str], until: process.Deadline, *, root: bool
) -> list[dict[str, Any]]:
    """Answer all, in order: {"value": {"status": …, "output": …}} or {"why": …, "detail": …}."""
    chosen = [q for q in dict.fromkeys(questions) if q.split(" ")[0] in asked and root]
    found = dict(_at_once(_by_adapter(chosen), lambda question: _run(question, until)))
    return [found.get(q) or _unasked(q, asked) for q in questions]


def _unasked(question: str, asked: frozenset[str]) -> dict[str, Any]:
    if question.split(" ", maxsplit=1)[0] in asked:
        return {"why": "needs-root", "detail": "only root may ask"}
    return {"why": "not-applicable", "detail": "not asked: run with --vendor-tools"}


def _by_adapter(questions: Iterable[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for question in questions:
        groups.setdefault(question.rpartition(" ")[2], []).append(question)
    return list(groups.values())


def _at_once(groups: list[list[str]], ask: Callable[[str], dict[str, Any]]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Ask the groups side by side, and within each one question after the other."""
    if len(groups) < 2:  # noqa: PLR2004  loading threads costs more than asking lldpd
        return [(q, ask(q)) for group in groups for q in group]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [pair for pairs in pool.map(lambda group: [(q, ask(q)) for q in group], groups) for pair in pairs]


def _run(question: str, until: process.Deadline) -> dict[str, Any]:
    try:
        argv, seconds = _command(question)
        if not until.left:
            raise TimeoutError("no time left")  # noqa: TRY301  as for a tool that has begun
        status, output = process.run(argv, seconds, until)
    except FileNotFoundError as error:
        return {"why": "missing", "detail": error.strerror or "not installed"}
    except TimeoutError as error:
        return {"why": "timeout", "detail": str(error)}
    except (OSError, ValueError) as error:
        return {"why": "unsupported", "detail": str(error)}
    if status and not output.strip():
        return {"why": "unsupported", "detail": f"{argv[0]} ended with status {status} and said nothing"}
    return {"value": {"status": status, "output": output}}


def _command(question: str) -> tuple[list[str], float]:
    """Return the command of a question and its seconds. Raises ValueError for a question that is not in the table."""
    name, _, address = (question, "", "") if question in _TOOLS else question.rpartition(" ")
    if name not in _TOOLS:
        raise ValueError(f"no tool answers {question!r}")
    commands, arguments, seconds = _TOOLS[name]
    if ("{}" in arguments) != bool(address) or (address and not re.fullmatch(_PCI, address)):
        raise ValueError(f"no tool answers {question!r}")
    return [_installed(commands), *(a.replace("{}", address) for a in arguments)], seconds


def _installed(names: tuple[str, ...]) -> str:
    for name in names[:-1]:
        try:
            process.find(name)
        except FileNotFoundError:
            continue
        return name
    return names[-1]
