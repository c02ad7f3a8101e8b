"""Whole healthy nodes are clean, leave nothing unknown, and the right ports are their fabric."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from nodes.machine import Machine
from nodes.whole import KEPT, NODES
from test_never_lies import damaged

from fabricdoctor import catalogue, recording
from fabricdoctor.check import Check
from fabricdoctor.expect import Expect
from fabricdoctor.facts import Node, observe
from fabricdoctor.facts.port import FABRIC
from fabricdoctor.finding import Finding, Verdict
from fabricdoctor.judge import conclude, judge
from fabricdoctor.recording import Recording
from fabricdoctor.redact import redacted
from fabricdoctor.unknown import SKIPS, Unknown, known

BAD = (Verdict.FAULT, Verdict.BROKEN, Verdict.UNKNOWN)


@cache
def machine(name: str) -> Machine:
    return NODES[name].build()


@cache
def taken(name: str) -> Recording:
    return machine(name).recording()


@cache
def node(name: str) -> Node:
    return observe(taken(name).host(), in_job=NODES[name].in_job)


def roles(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for port in known(node(name).all_ports):
        found.setdefault(port.role, set()).add(port.device)
    return found


@cache
def builtin() -> tuple[Check[Any], ...]:
    return tuple(catalogue.load([catalogue.builtin()]).checks.values())


@cache
def findings(name: str, *, expecting: bool = True) -> list[Finding]:
    return judge(builtin(), node(name), NODES[name].expect if expecting else Expect())


@pytest.mark.parametrize("name", NODES)
def test_the_recording_in_the_tree_is_the_one_that_is_made(name):
    kept = recording.load(KEPT / f"{name}.json.gz")
    assert kept.text() == taken(name).text(), "run python tests/nodes/whole.py"


def test_no_recording_is_left_of_a_node_that_is_gone():
    assert {file.name for file in KEPT.iterdir()} == {f"{name}.json.gz" for name in NODES}


@pytest.mark.parametrize("expecting", [True, False])
@pytest.mark.parametrize("name", NODES)
def test_it_is_clean_with_its_profile_and_with_no_expectation(name, expecting):
    found = findings(name, expecting=expecting)
    assert {(f.check, f.subject): f.fault.saw if f.fault else f.reason for f in found if f.verdict in BAD} == {}


@pytest.mark.parametrize("name", NODES)
def test_it_is_ready(name):
    assert conclude(findings(name)).status == NODES[name].status


@pytest.mark.parametrize("name", NODES)
def test_what_is_skipped_has_a_reason(name):
    skipped = [f for f in findings(name) if f.verdict is Verdict.SKIPPED]
    assert {f.why for f in skipped} <= {"no-expectation", "nothing-to-check"} | SKIPS
    assert all(f.reason for f in skipped)


@pytest.mark.parametrize("name", NODES)
def test_its_rails_are_the_fabric_and_the_rest_is_listed_with_the_reason(name):
    found = roles(name)
    assert found.pop(FABRIC, set()) == set(NODES[name].fabric)
    for reason, devices in NODES[name].others.items():
        told = {device for role in found if reason in role for device in found[role]}
        assert told == set(devices), reason
    assert all(found)
    assert set().union(*found.values()) == {device for devices in NODES[name].others.values() for device in devices}


@pytest.mark.parametrize("name", NODES)
def test_every_answer_has_an_origin_and_a_source(name):
    for question, answer in taken(name).answers.items():
        assert answer["origin"] in ("captured", "reported", "constructed"), question
        assert answer["source"], question


@pytest.mark.parametrize("name", ["dgx-roce", "infiniband", "p5-efa"])
def test_a_recording_of_it_is_read_back_as_it_was(name, tmp_path):
    file = tmp_path / "node.json.gz"
    recording.write(file, taken(name).text())
    read = recording.load(file)
    assert read.answers == taken(name).answers
    assert roles(name) == {
        role: {p.device for p in known(observe(read.host()).all_ports) if p.role == role} for role in roles(name)
    }


@pytest.mark.parametrize("rails", [("enp*s0np0",), ("mlx5_0", "mlx5_[3-6]/1", "mlx5_9", "mlx5_1[01]")])
def test_the_sites_own_list_of_rails_chooses_the_same(rails):
    found = observe(taken("dgx-roce").host(), rails)
    told = {port.device: port.role for port in known(found.all_ports)}
    assert {device for device, role in told.items() if role == FABRIC} == set(NODES["dgx-roce"].fabric)
    assert set(told.values()) == {FABRIC, "not among the site's rails"}


def test_a_prolog_tries_as_the_jobs_user_and_has_no_limits_to_judge():
    found = node("in-prolog")
    assert {device.tried_as for device in known(found.fabric_devices)} == {1000}
    assert found.job_limits == ()


@pytest.mark.parametrize(
    ("name", "source"),
    [("infiniband", "imbue-ai/cluster-health"), ("infiniband", "DeepEP/issues/303"), ("lossy", "nccl/issues/394"),
     ("mi300x-thor2", "cloudstack/issues/11701"), ("mi300x-thor2", "ucx/issues/11048"), ("mi300x-pollara", "AINIC"),
     ("soft-roce", "kernel 7.2.13")],
)  # fmt: skip
def test_what_somebody_posted_or_we_captured_is_in_it(name, source):
    assert any(source in a["source"] for a in taken(name).answers.values() if a["origin"] in ("reported", "captured"))


@pytest.mark.parametrize("name", NODES)
def test_what_is_said_of_it_is_the_same_when_names_and_addresses_are_replaced(name):
    hidden = redacted(taken(name))
    node = observe(hidden.host(), in_job=NODES[name].in_job)
    found = judge(builtin(), node, NODES[name].expect)
    assert [(f.check, f.verdict, f.why) for f in found] == [(f.check, f.verdict, f.why) for f in findings(name)]
    assert "node01" not in hidden.text()
    assert "/home/user" not in hidden.text()


def test_what_was_changed_after_it_was_reported_is_constructed_again():
    changed = NODES["infiniband"].build()
    (question,) = [q for q in changed.told if q.endswith("mlx5_0/hca_type")]
    assert changed.recording().answers[question]["origin"] == "reported"
    changed.answers[question] = "MT4131"
    assert changed.recording().answers[question]["origin"] == "constructed"


@pytest.mark.parametrize("name", ["bonded-rails", "vlan-on-bonded-rails"])
def test_the_qos_of_a_bond_or_vlan_is_that_of_the_adapters_below(name):
    links = known(node(name).links)
    assert len(links) == 16
    assert {link.pfc_priorities for link in links} == {frozenset({3})}


def test_the_nodes_have_eight_gpus_where_they_should():
    gpus = {name: len(known(node(name).gpus)) for name in NODES}
    few = {
        "soft-roce": 0,
        "grace": 4,
        "grace-two-planes": 4,
        "grace-infiniband": 4,
        "cpu-only": 0,
        "rails-without-gpus": 0,
        "second-ports-unused-no-gpus": 0,
    }
    assert gpus == {name: few.get(name, 8) for name in NODES}


@pytest.mark.parametrize("name", ["mi300x-thor2", "e810", "p5-efa", "mi300x-pollara"])
def test_a_driver_without_port_counters_has_none_here(name):
    assert not [q for q in machine(name).answers if re.search(r"(bnxt|ionic|rocep|rdmap).*/counters/", q)]


@pytest.mark.parametrize("name", [n for n in NODES if n.startswith("pod-") or n.endswith("-guest")])
def test_a_virtual_function_or_pod_has_no_dcb(name):
    rails = [port.netdev.name for port in known(node(name).roce_ports) if not isinstance(port.netdev, Unknown)]
    assert not [rail for rail in rails if f"dcb {rail}" in machine(name).answers]


def faults(checks, name: str, *edits: Callable[[Machine], None]) -> set[tuple[str, str]]:
    """Return (check, subject) of all faults of a node with these edits, without any expectation."""
    changed = copy.deepcopy(machine(name))
    for edit in edits:
        edit(changed)
    found = judge(checks.values(), observe(changed.recording().host()), Expect())
    return {(f.check, f.subject) for f in found if f.verdict in (Verdict.FAULT, Verdict.BROKEN) and not f.folded_under}


def never_up(device: str, interface: str) -> Callable[[Machine], None]:
    def edit(changed: Machine) -> None:
        base, net = f"/sys/class/infiniband/{device}/ports/1", f"/sys/class/net/{interface}"
        changed.answers |= {f"read {base}/state": "1: DOWN", f"read {base}/phys_state": "2: Polling"}
        changed.answers |= {f"read {base}/counters/{name}": "0" for name in ("port_rcv_data", "link_downed")}
        changed.answers |= {f"read {net}/carrier_up_count": "0", f"read {net}/speed": "-1"}
        changed.answers["addresses"][interface] = []

    return edit


@pytest.mark.parametrize(
    ("name", "device", "interface"),
    [("two-planes", "mlx5_3", "enp64s0f1np1"), ("second-ports-unused", "mlx5_2", "enp64s0f0np0"),
     ("second-ports-unused-no-gpus", "mlx5_2", "enp64s0f0np0"), ("dgx-roce", "mlx5_3", "enp64s0np0")],
)  # fmt: skip
def test_a_port_that_never_came_up_is_missed_when_its_like_are_up(checks, name, device, interface):
    found = faults(checks, name, never_up(device, interface))
    assert found == {("port-not-active", f"{device}/1 ({interface})")}


def test_the_second_function_of_an_adapter_is_missed_where_no_bond_spans_it(checks):
    def unbonded(changed: Machine) -> None:
        changed.answers["list /sys/class/net/bond1"] = ["bonding", "lower_enp64s0f0np0", "mtu", "speed"]

    assert faults(checks, "bonded-rails", unbonded) == {("rdma-device-missing", "0000:40:00.1")}


def test_a_rail_without_rdma_device_is_missed(checks):
    def gone(changed: Machine) -> None:
        changed.answers["list /sys/class/infiniband"].remove("mlx5_3")
        changed.answers["list /sys/bus/pci/devices/0000:40:00.0/infiniband"] = []

    assert faults(checks, "dgx-roce", gone) == {("rdma-device-missing", "0000:40:00.0")}


@pytest.mark.parametrize(("gone", "verdict"), [(True, Verdict.FAULT), (False, Verdict.UNKNOWN)])
def test_a_device_that_the_bus_still_has_may_be_there(checks, gone, verdict):
    changed, bus = copy.deepcopy(machine("azure-guest")), "/sys/bus/pci/devices"
    changed.answers["list /sys/class/infiniband"].remove("mlx5_ib3")
    if gone:
        changed.answers[f"list {bus}"].remove("0104:00:00.0")
    found = judge([checks["fewer-rdma-devices-than-expected"]], observe(changed.host()), NODES["azure-guest"].expect)
    assert [f.verdict for f in found] == [verdict]


_OF_THE_HOST = r"gids mlx5_0/1|(list|read) /sys/class/infiniband/mlx5_0/(ports$|ports/1/link_layer|device/net)"


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("pod-with-functions", _OF_THE_HOST),
        ("switchdev-host", "read .*/dev_port"),
        ("bonded-rails", r"(link /sys/class/infiniband/mlx5_bond_0/device|list /sys/class/infiniband)$"),
    ],
)
def test_what_cannot_be_read_of_ports_without_an_interface_makes_no_fault(checks, name, only):
    for label, how, host in damaged(taken(name), every=False, only=only):
        found = judge(checks.values(), observe(host), NODES[name].expect)
        assert not [f for f in found if f.verdict in (Verdict.FAULT, Verdict.BROKEN)], (label, how)
