"""What `json.render` promises, as JSON Schema 2020-12."""

from __future__ import annotations

from typing import Any

from .json import FORMAT, KIND

_VERDICTS = ["ok", "fault", "unknown", "skipped", "broken"]
_SEVERITIES = ["critical", "warning", "info"]


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "description": about}


def _maybe(kind: str, about: str) -> dict[str, Any]:
    return {"type": [kind, "null"], "description": about}


def _one_of(values: list[str], about: str) -> dict[str, Any]:
    return {"enum": values, "description": about}


def _count(about: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": about}


def _list(items: dict[str, Any], about: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": about}


def _object(properties: dict[str, Any], about: str) -> dict[str, Any]:
    """Return a closed object: every field is always there, none else is."""
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_COUNTS = _object(
    {
        "checked": _count("All findings: the sum of the others"),
        "ok": _count("Subjects found in order"),
        "critical": _count("Faults that are critical"),
        "warning": _count("Faults that are warnings"),
        "info": _count("Faults that are worth a note"),
        "explained": _count("Faults of any severity that another fault explains"),
        "unknown": _count("Subjects of which something needed could not be observed"),
        "broken": _count("Subjects on which the check itself failed"),
        "skipped": _count("Subjects that were not to be judged"),
    },
    "How many findings there are of each kind",
)

_FINDING = _object(
    {
        "check": _text("Id of the check"),
        "subject": _text("What was judged: a port, an interface, a PCI address, a group, the node"),
        "verdict": _one_of(_VERDICTS, "What is known of the subject under this check"),
        "severity": _one_of(_SEVERITIES, "How bad the fault is, or would be if there is one"),
        "saw": _maybe("string", "What was observed; null unless a fault"),
        "want": _maybe("string", "What is right; null unless a fault"),
        "fix": _maybe("string", "Shell commands to read, one a line; null unless a fault"),
        "odd": _list({"type": "string"}, "The members blamed, when the subject is a group"),
        "reason": _maybe("string", "Why it is unknown, skipped or broken, as a sentence"),
        "why": _maybe("string", "The same as a slug to group by, such as timeout, needs-root or no-expectation"),
        "source": _maybe("string", "The question that had no answer: its kind, a space, its key"),
        "expectation": _maybe("string", "Name of the expectation that is not set"),
        "folded_under": _maybe("string", "Id of the check whose fault explains this one, which then does not count"),
    },
    "One check on one subject",
)
_FINDING["if"] = {"properties": {"verdict": {"const": "fault"}}}
_FINDING["then"] = {"properties": {name: {"type": "string"} for name in ("saw", "want", "fix")}}
_FINDING["else"] = {"properties": {name: {"type": "null"} for name in ("saw", "want", "fix")}}

_PORT = _object(
    {
        "name": _text("RDMA device and port number, and the interface in parentheses if there is one"),
        "state": _text("State of the port"),
        "rate": _text("Link rate with its unit"),
        "role": _text('"fabric" when the port was judged, else why it was not'),
    },
    "One RDMA port",
)

_EXPECTATION = _object(
    {
        "name": _text("Key under [expect]"),
        "value": _text("Its value"),
        "source": _text("Where the value comes from"),
    },
    "One expectation that is set",
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"urn:fabricdoctor:report:{FORMAT}",
    "title": "Report of one node",
    **_object(
        {
            "format": {"const": FORMAT, "description": "Version of this layout"},
            "kind": {"const": KIND, "description": "What this document is"},
            "tool": _text("Name or version of the tool that made the report"),
            "host": _text("Name of the node"),
            "taken": _text("When the node was observed: ISO 8601, UTC"),
            "seconds": {"type": "number", "description": "How long observing took, seconds"},
            "interval_s": _maybe("number", "Time between the two samples of counters, seconds; null with one sample"),
            "profile": _maybe("string", "Profile of expectations in use"),
            "verdict": _one_of(["ready", "not ready", "cannot tell"], "The one answer"),
            "status": {"enum": [0, 1, 3], "description": "Exit status: 0 ready, 1 not ready, 3 cannot tell"},
            "because": _text("The answer in one sentence"),
            "counts": _COUNTS,
            "findings": _list(_FINDING, "One for each check and subject"),
            "ports": {
                "type": ["array", "null"],
                "items": _PORT,
                "description": "All RDMA ports, judged or not; null when they could not be listed",
            },
            "left_out": _list({"type": "string"}, "Questions there was no time left to ask"),
            "hints": _list({"type": "string"}, "Sentences for the reader, each ending in a command"),
            "expectations": _list(_EXPECTATION, "What the node was judged against"),
        },
        "One node judged by all checks, format 1 of `fabricdoctor check --format json`",
    ),
}
