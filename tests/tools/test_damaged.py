"""Damaged outputs are never a fault nor an exception."""

import pytest
from nodes import make, tools
from tools import captured

from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.facts.tools import niccli, nicctl
from fabricdoctor.finding import Verdict
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge
from fabricdoctor.unknown import Unknown


def _damaged(text, step=1):
    """Yield the text cut after each line, cut within each, and with bytes flipped (as they arrive: no UTF-8)."""
    rows = text.split("\n")
    for at in range(len(rows)):
        yield "\n".join(rows[:at])
        yield "\n".join([*rows[:at], rows[at][: len(rows[at]) // 2]])
    raw = text.encode()
    for at in range(0, len(raw), step):
        yield (raw[:at] + bytes([raw[at] ^ 0x80]) + raw[at + 1 :]).decode(errors="replace")


_OUTPUTS = [
    ("tool lldpcli", captured.LLDPCLI, make.two_rails_roce),
    (
        "tool mstconfig 0000:03:00.0",
        captured.THREE_COLUMNS.replace("*        MEMIC", "         OTHER"),
        make.two_rails_roce,
    ),
    ("tool mlxlink 0000:03:00.0", captured.MLXLINK, make.two_rails_roce),
    ("tool nicctl qos", make.ionic().answers["tool nicctl qos"]["value"]["output"], make.ionic),
    ("tool nicctl dcqcn", captured.NICCTL_DCQCN, make.ionic),
]


@pytest.mark.parametrize(("question", "text", "node"), _OUTPUTS, ids=[row[0] for row in _OUTPUTS])
def test_a_damaged_output_is_never_a_fault_and_breaks_nothing(checks, question, text, node):
    taken = node()
    concerned = [checks[c] for c in ("switch-pfc-differs", "firmware-change-pending", "port-not-active")]
    concerned += [c for c in checks.values() if c.area == "roce" and "nicctl" in question]
    for output in _damaged(text, 11):
        answers = dict(taken.answers) | {question: {"value": tools.said(output)}}
        observed = observe(Replay(answers, taken.before, taken.seconds))
        for expect in (make.LOSSLESS, Expect()):
            wrong = [f for f in judge(concerned, observed, expect) if f.verdict in (Verdict.FAULT, Verdict.BROKEN)]
            assert not wrong, (output, wrong)


@pytest.mark.parametrize("text", [captured.NICCLI_QOS, captured.NICCTL_QOS])
def test_damaged_qos_is_unknown_or_as_it_was(text):
    def read(output):
        return niccli.parse(output) if "TLV" in text else nicctl.parse(output).get("0000:f6:00.0")

    whole = read(text)
    for output in _damaged(text):
        found = read(output)
        for name in ("pfc_priorities", "trust", "priority_by_dscp", "classes") if found else ():
            value = getattr(found, name)
            assert isinstance(value, Unknown) or value == getattr(whole, name), output
