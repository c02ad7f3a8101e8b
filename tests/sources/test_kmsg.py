"""Of the kernel's log only what was looked for is kept."""

import pytest

from fabricdoctor.sources import kmsg

LINES = [
    (
        "4,1203,91000000,-;mlx5_core 0000:1a:00.0: mlx5_cmd_out_err: ACCESS_REG(0x805) timeout. "
        "Will cause a leak of a command resource",
        ("command-timeout", "0000:1a:00.0"),
    ),
    (
        "6,9,5000000,-;mlx5_core 0000:1a:00.0: Port module event: module 0, Cable unplugged",
        ("module-event", "0000:1a:00.0"),
    ),
    ("6,9,5000000,-;mlx5_core 0000:1a:00.0 ens1np0: Link down", ("link-down", "ens1np0")),
    (
        "4,9,5000000,-;mlx5_core 0000:1a:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at",
        ("pcie-limited", "0000:1a:00.0"),
    ),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_line_of_a_nic_driver(line, expected):
    found = kmsg.parse(line + "\n SUBSYSTEM=pci\n")
    assert (found["kind"], found["device"]) == expected
    assert found["seconds"] in (91.0, 5.0)


def test_only_the_matched_part_is_kept():
    found = kmsg.parse("6,9,5000000,-;mlx5_core 0000:1a:00.0: Link down because alice said so")
    assert found["text"] == "Link down"


@pytest.mark.parametrize("line", ["", ";", "6,9", "6,9,x,-;Link down", "6,9,1,-;audit: login of alice"])
def test_other_lines_and_nonsense_are_dropped(line):
    assert kmsg.parse(line) is None
