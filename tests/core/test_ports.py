"""Ports that are down and adapters that show nothing: what is said of them, and how to repair it."""

import pytest
from cases import reports
from faults.row import Row
from nodes import blocks, make

from fabricdoctor.facts import observe
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge

_PORT = "/sys/class/infiniband/mlx5_0/ports/1"
_DOWN = {f"read {_PORT}/state": "1: DOWN", f"read {_PORT}/phys_state": "2: Polling"}
_SET_DOWN = {"read /sys/class/net/rail0/flags": "0x1002"}


def fault(checks, changes, node, check="port-not-active"):
    found = judge(checks.values(), Row(changes, "", node=node).observed(), make.LOSSLESS)
    return next(f.fault for f in found if f.check == check and f.fault)


def test_ip_over_infiniband_that_is_set_down_is_not_why_its_port_has_no_link(checks):
    said = fault(checks, _DOWN | _SET_DOWN, make.infiniband)
    assert (said.saw, said.fix) == ("DOWN (physical state Polling)", "mlxlink -d mlx5_0 -m")


def test_an_ethernet_interface_that_is_set_down_is(checks):
    said = fault(checks, _DOWN | _SET_DOWN, make.two_rails_roce)
    assert "(physical state Polling): administratively down" in said.saw


def test_of_a_bond_its_members_are_to_be_looked_at(checks):
    said = fault(checks, _DOWN, make.bond)
    assert said.fix == "cat /proc/net/bonding/bond0; " + "; ".join(
        f"ethtool {name}; ethtool -m {name}" for name in ("port0", "port1")
    )


@pytest.mark.parametrize(
    ("paused", "fix"),
    [
        (0b01001000, "dcb pfc set dev rail0 prio-pfc all:off 3:on"),
        (0b00001000, "echo 48 > /sys/class/net/rail0/ecn/roce_np/cnp_dscp, or with the vendor's tool"),
    ],
)
def test_cnps_get_a_dscp_of_their_own_or_the_pfc_is_taken_off_their_class(checks, paused, fix):
    def dcb(answer):
        answer["pfc"]["enabled"] = paused

    cnp_dscp = {"read /sys/class/net/rail0/ecn/roce_np/cnp_dscp": "48" if paused & 0b01000000 else "26"}
    assert fault(checks, {"dcb rail0": dcb} | cnp_dscp, make.two_rails_roce, "cnp-maps-to-paused-class").fix == fix


@pytest.mark.parametrize(
    "listing",
    [
        {"value": ["class", "driver", "mlx5_core.eth.2", "mlx5_core.rdma.2", "vendor"]},
        {"value": []},
        {"unknown": "missing"},
        {"unknown": "timeout"},
    ],
)
def test_an_adapter_in_another_namespace_is_not_missed_nor_one_that_could_not_be_looked_at(checks, listing):
    answers = make.roce()
    reports.dead_adapter(answers)
    taken = blocks.record(answers)
    seen = taken.answers | {f"list /sys/bus/pci/devices/{blocks.pci_address('nic', 2)}": listing}
    found = judge(checks.values(), observe(Replay(seen, taken.before, taken.seconds)), make.LOSSLESS)
    assert [f for f in found if f.fault] == []
