"""`mlxlink -d PCI -c -m --json` (MFT; mstlink of mstflint prints the same): a port's link, its errors and its cable.

The status in the document may be 1 although what could be read is there; what could not be is "N/A" or absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...host import Host
from ...unknown import Unknown, then
from . import document, plain, told


@dataclass(frozen=True, slots=True, eq=False)
class LinkDiagnosis:
    """What the adapter's firmware says of a link; None is what it did not say.

    `opcode` is 0 when it sees nothing wrong, and `recommendation` says what to do. Bit error ratios are since the
    counters were cleared: raw before error correction, effective after it.
    """

    opcode: int | None
    recommendation: str
    raw_ber: float | None
    effective_ber: float | None
    cable: str

    @property
    def advice(self) -> str:
        """Return the recommendation, "" when there is none."""
        return self.recommendation if self.opcode else ""


def diagnosis(host: Host, pci: str) -> LinkDiagnosis | Unknown:
    """Read what the tool says of the port of a PCI function."""
    question = f"mlxlink {pci}"
    return then(told(host, question), parse, f"tool {question}")


def parse(text: str) -> LinkDiagnosis:
    """Return the diagnosis. Raises ValueError or LookupError for what is no answer of the tool."""
    output = document(text)["result"]["output"]
    if not isinstance(output, dict) or not any(isinstance(section, dict) for section in output.values()):
        raise ValueError("nothing about the link")
    trouble, errors, module = (
        _section(output, name) for name in ("Troubleshooting Info", "Physical Counters and BER Info", "Module Info")
    )
    opcode = _text(trouble, "Status Opcode")
    return LinkDiagnosis(
        int(opcode) if opcode.isdecimal() else None,
        _text(trouble, "Recommendation").rstrip("."),
        _ratio(errors, "Raw Physical BER"),
        _ratio(errors, "Effective Physical BER"),
        " ".join(filter(None, (_text(module, "Vendor Name"), _text(module, "Vendor Part Number")))),
    )


def _section(output: dict[str, Any], name: str) -> dict[str, Any]:
    found = output.get(name)
    return found if isinstance(found, dict) else {}


def _text(section: dict[str, Any], name: str) -> str:
    value = section.get(name)
    text = plain(value) if isinstance(value, (str, int)) else ""
    return "" if text.upper() == "N/A" or "\N{REPLACEMENT CHARACTER}" in text else text


def _ratio(section: dict[str, Any], name: str) -> float | None:
    """Return a bit error ratio; 15E-255 is how the firmware writes none."""
    try:
        ratio = float(_text(section, name))
    except ValueError:
        return None
    return ratio if 0 <= ratio <= 1 else None
