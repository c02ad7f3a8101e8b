"""What vendors' tools and lldpd say. Each tool's output is one file here; what was not asked is not applicable."""

from __future__ import annotations

from typing import Any

from ...host import Host, name_of
from ...unknown import Unknown, then


def told(host: Host, question: str) -> str | Unknown:
    """Return what a tool printed. Not installed, or not in the recording, is nothing that could be known."""
    answer = host.ask("tool", question)
    if isinstance(answer, Unknown):
        if answer.why == "missing":
            return Unknown(answer.source, "not-applicable", answer.detail or "not installed")
        if answer.why == "not-recorded":
            return Unknown(answer.source, "not-applicable", "not asked when this was recorded")
        return answer
    return then(answer, _output, name_of("tool", question))


def _output(answer: dict[str, Any]) -> str:
    """Return the output; also of a tool that failed in part, as its parser tells whether it is of use."""
    output = answer["output"]
    if type(answer["status"]) is not int or not isinstance(output, str):
        raise TypeError("not a tool's answer")
    return output


def lines(text: str) -> list[str]:
    """Return the whole lines of an output: a last one without its end was cut off, one with U+FFFD damaged."""
    return [line for line in text.split("\n")[:-1] if "\N{REPLACEMENT CHARACTER}" not in line]


def document(text: str) -> Any:
    """Return the JSON in an output, whatever stands around it. Raises ValueError when there is none."""
    import json  # noqa: PLC0415  most runs ask no tool

    found = text.find("{")
    if found < 0:
        raise ValueError("no JSON")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, found)
    except RecursionError as error:
        raise ValueError("not the JSON of a tool") from error
    return value


def plain(text: object, length: int = 80) -> str:
    """Return text from outside as one printable line of at most so many characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())[:length]
