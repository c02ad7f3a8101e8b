"""What judging yields: one finding per check and subject."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How bad a fault is. Ordered by `rank`, not by name."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return ("critical", "warning", "info").index(self.value)


class Verdict(str, Enum):
    """What is known of one subject under one check."""

    OK = "ok"
    FAULT = "fault"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Fault:
    """What was seen, what is wanted, and the command that fixes it (a text to read: the tool never runs it)."""

    saw: str
    want: str
    fix: str
    severity: Severity | None = None
    #: for a check over a group: the members it blames, as their `str()`
    odd: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no report could show: a check that gives it is broken, the report is not. Raises TypeError."""
        for name in ("saw", "want", "fix"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"Fault: {name} must be a text, not {getattr(self, name)!r:.40}")
        if self.severity is not None and not isinstance(self.severity, Severity):
            raise TypeError(f"Fault: severity must be Severity.CRITICAL, WARNING or INFO, not {self.severity!r:.40}")
        if not isinstance(self.odd, tuple) or not all(isinstance(name, str) for name in self.odd):
            raise TypeError(f"Fault: odd must be a tuple of texts, not {self.odd!r:.40}")


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    subject: str
    verdict: Verdict
    severity: Severity
    fault: Fault | None = None
    #: why it is unknown, skipped or broken
    reason: str = ""
    #: a slug of that reason, to group by: an Unknown's `why`, "no-expectation", "excluded", "nothing-to-check"
    why: str = ""
    #: the question that had no answer
    source: str = ""
    #: the expectation that was not set
    expectation: str = ""
    #: id of the check whose fault on the same subject explains this one; it does not count by itself
    folded_under: str = ""
