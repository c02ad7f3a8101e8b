"""The live machine as a host. Everything that may hang is asked in a child process with a deadline."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import process
from ..host import Question, decode, name_of
from ..unknown import Unknown
from . import answer, command, files

#: Seconds one answer may take. A file of sysfs takes microseconds; verbs commands go to firmware.
FILE_DEADLINE_S = 1.0
VERBS_DEADLINE_S = 10.0
_VERBS_PYTHONS = ("/usr/bin/python3", "/usr/libexec/platform-python")
#: Source module of each kind, or of all kinds before the dot, imported in the reading process when first asked.
_SOURCES = {
    "dcb": "dcb",
    "ethtool": "ethtool",
    "ethtool.module": "eeprom",
    "addresses": "address",
    "route": "route",
    "devlink": "devlink",
    "kmsg": "kmsg",
    "environ": "system",
    "limits": "system",
    "euid": "system",
    "clock": "system",
}
#: A transceiver's memory is behind a slow bus: it is read where tools are asked too, so not in a prolog.
_SLOW = "ethtool.module"
_NOT_UNDER_ROOT = frozenset({"dcb", "ethtool", "addresses", "route", "devlink", "kmsg", "verbs", "tool"})


class Live:
    """Asks this machine. `root` puts all files under a directory, and then only files are asked.

    `seconds` is the whole budget; when it is spent, every further answer is Unknown("timeout"). `tools` are the
    vendors' tools that may be asked; the others are Unknown("not-applicable").
    """

    def __init__(
        self,
        seconds: float = 30.0,
        root: str = "",
        pythons: Sequence[str] | None = None,
        tools: frozenset[str] = command.QUICK,
    ) -> None:
        self.tools = tools
        self.until = process.Deadline(seconds)
        self.left_out: list[str] = []
        self._root = root
        self._euid = os.geteuid()
        self._reader = process.forked(_reading(root))
        all_pythons = dict.fromkeys((sys.executable, *_VERBS_PYTHONS) if pythons is None else pythons)
        self._pythons = [path for path in all_pythons if path and os.access(path, os.X_OK)]
        self._worker: process.Server | None = None

    def ask(self, kind: str, key: str = "") -> Any:
        return self.ask_all([(kind, key)])[0]

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        """Answer all, in order. Files and netlink go to one child, verbs to another, and a tool is one of its own."""
        found: dict[Question, Any] = {}
        verbs = [q for q in questions if q[0].startswith("verbs.")]
        tools = [q for q in questions if q[0] == "tool"]
        slow = [q for q in questions if q[0] == _SLOW and not self.tools]
        rest = [q for q in questions if not q[0].startswith("verbs.") and q[0] != "tool" and q not in slow]
        found |= {q: Unknown(name_of(*q), "not-applicable", "slow to read, and left out here") for q in slow}
        if self._root:
            for question in questions:
                if question[0].split(".")[0] in _NOT_UNDER_ROOT:
                    found[question] = Unknown(name_of(*question), "not-applicable", "only files are read under a root")
            verbs, tools, rest = [], [], [q for q in rest if q not in found]
        found |= zip(
            rest, map(self._understand, rest, self._reader.answers(rest, FILE_DEADLINE_S, self.until)), strict=True
        )
        found |= {question: self._understand(question, self._by_worker(question)) for question in verbs}
        if tools:
            told = command.answers([key for _, key in tools], self.tools, self.until, root=self._euid == 0)
            found |= zip(tools, map(self._understand, tools, told), strict=True)
        return [found[q] for q in questions]

    def _understand(self, question: Question, raw: dict[str, Any]) -> Any:
        source = name_of(*question)
        if "value" in raw:
            return raw["value"]
        reason = raw.get("why") or answer.why(raw.get("errno"))
        if reason == "timeout":
            self.left_out.append(source)
        if reason == "denied" and self._euid != 0:
            reason = "needs-root"
        return decode(source, {"unknown": reason, "detail": raw.get("detail", "")})

    def _by_worker(self, question: Question) -> dict[str, Any]:
        """Ask the verbs worker, under the first interpreter that can import pyverbs."""
        while True:
            if self._worker is None:
                if not self._pythons:
                    return self._no_pyverbs
                self._worker = process.spawned([self._pythons[0], "-I", str(_WORKER)])
            got = next(iter(self._worker.answers([question], VERBS_DEADLINE_S, self.until)))
            if got.get("why") != "missing" or "pyverbs" not in str(got.get("detail")):
                return got
            self._no_pyverbs = got
            self._worker.close()
            self._worker = None
            self._pythons.pop(0)

    _no_pyverbs: dict[str, Any] = {"why": "missing", "detail": "no interpreter to run pyverbs under"}  # noqa: RUF012

    def stop(self) -> None:
        """Answer nothing more; what is known so far stays. Safe in a signal handler."""
        self.until.at = 0.0
        self._reader.interrupt()
        if self._worker is not None:
            self._worker.interrupt()

    def close(self) -> None:
        """End the children. One that the kernel holds is left behind, not waited for."""
        self._reader.close()
        if self._worker is not None:
            self._worker.close()


_WORKER = Path(__file__).parent.parent / "worker" / "verbs.py"


def _reading(root: str) -> Callable[[Question], dict[str, Any]]:
    """Return the function that answers in the reading process; sources are imported there when first asked."""
    kinds = files.kinds(root)

    def serve(question: Question) -> dict[str, Any]:
        module = _SOURCES.get(question[0]) or _SOURCES.get(question[0].split(".")[0])
        if question[0] not in kinds and module:
            kinds.update(importlib.import_module(f"{__package__}.{module}").KINDS)
        return answer.serve(kinds, question)

    return serve
