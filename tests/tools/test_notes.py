"""What tools add to the findings of a port, where they were asked."""

import pytest
from faults.row import MISSING, Row
from nodes import blocks, tools

from fabricdoctor.judge import judge

_DOWN = {"read /sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN"}
_FAR_END = "; at the other end: switch leaf-rail0 port Ethernet1/3"
_SAYS = tools.mlxlink("1024", "Cable is unplugged.")
_FLAPPED = {"read /sys/class/net/rail0/carrier_changes": "5"}


_NIC = blocks.pci_address("nic", 0)


@pytest.mark.parametrize(
    ("check", "answers", "saw"),
    [
        (
            "port-not-active",
            {f"tool mlxlink {blocks.pci_address('nic', 0)}": _SAYS},
            "; mlxlink says: Cable is unplugged",
        ),
        ("port-not-active", {}, "DOWN (physical state LinkUp)" + _FAR_END),
        ("port-not-active", {"tool lldpcli": MISSING}, "DOWN (physical state LinkUp)"),
        ("link-flapped", _FLAPPED, _FAR_END),
    ],
)
def test_a_finding_of_a_port_says_what_tools_know(checks, check, answers, saw):
    row = Row((_DOWN if check == "port-not-active" else {}) | answers, saw)
    (found,) = [f for f in judge([checks[check]], row.observed(), row.expectations()) if f.fault]
    assert found.fault.saw.endswith(saw) or saw + _FAR_END in found.fault.saw
