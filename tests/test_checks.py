"""Every check can fire, fires alone, and is silent on healthy nodes."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from faults.row import Row
from nodes import make

from fabricdoctor import recording
from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.finding import Finding, Severity, Verdict
from fabricdoctor.host import Recorder, Replay
from fabricdoctor.judge import judge

MODULES = [
    importlib.import_module(f"faults.{file.stem}")
    for file in sorted((Path(__file__).parent / "faults").glob("*.py"))
    if file.stem != "row"
]
FAULTS: dict[str, list[Row]] = {check: rows for module in MODULES for check, rows in module.FAULTS.items()}
ROWS = [pytest.param(check, row, id=f"{check}-{i}") for check, rows in FAULTS.items() for i, row in enumerate(rows)]
FILES = sorted((Path(__file__).parents[1] / "checks").glob("*/*.py"))


def faults(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that must not be there on a healthy node."""
    return [f for f in findings if f.verdict in (Verdict.FAULT, Verdict.BROKEN)]


def test_every_check_has_a_row(checks):
    assert set(checks) == set(FAULTS), "each check needs a row in tests/faults/, and each row a check"
    assert len(FAULTS) == sum(len(module.FAULTS) for module in MODULES), "a check has rows in two files"


@pytest.mark.parametrize(("check", "row"), ROWS)
def test_a_fault_is_found_and_nothing_else(checks, check, row):
    found = faults(judge(checks.values(), row.observed(), row.expectations()))
    own = next((f for f in found if f.check == check and f.subject == row.subject), None)
    assert own is not None, f"not found; found were {found}"
    assert own.fault is not None, own.reason
    assert row.saw in own.fault.saw
    assert own.severity is Severity(row.severity)
    assert own.fault.want
    assert own.fault.fix
    others = {f.check for f in found if not f.folded_under} - {check}
    assert others == set(row.also) - {check}


@pytest.mark.parametrize(("check", "row"), ROWS)
def test_the_other_rail_stays_clean(checks, check, row):
    sparing = not any("mlx5_1" in q or "rail1" in q or q.startswith(("list ", "environ")) for q in row.answers)
    findings = faults(judge(checks.values(), row.observed(), row.expectations()))
    if row.answers and sparing:
        assert not [f for f in findings if "mlx5_1" in f.subject], check


@pytest.mark.parametrize("name", make.HEALTHY)
def test_healthy_nodes_are_clean(checks, name):
    build, expect = make.HEALTHY[name]
    node = observe(build().host())
    for wanted in (expect, Expect()):
        assert faults(judge(checks.values(), node, wanted)) == []


def test_a_healthy_node_with_its_profile_leaves_nothing_unknown(checks):
    findings = judge(checks.values(), observe(make.two_rails_roce().host()), make.LOSSLESS)
    assert [f for f in findings if f.verdict is Verdict.UNKNOWN] == []


def test_a_node_read_from_its_recording_is_the_one_that_was_observed():
    taken = make.two_rails_roce()
    live = Recorder(taken.host(), taken.before, taken.seconds)
    assert repr(observe(live)) == repr(observe(Replay(live.answers, taken.before, taken.seconds)))


def test_the_recording_in_the_tree_is_the_one_that_is_made():
    kept = Path(__file__).parent / "nodes" / "two-rails-roce.json"
    assert kept.read_text() == make.two_rails_roce().text(), "run `python tests/nodes/make.py`"
    assert recording.load(kept).answers == make.two_rails_roce().answers


def test_a_broken_chain_absorbs_its_links(checks):
    row = Row({"dcb rail0": lambda dcb: dcb["pfc"].update(enabled=0)}, "")
    found = faults(judge(checks.values(), row.observed(), row.expectations()))
    assert {f.check: f.folded_under for f in found} == {"qos-chain-broken": "", "pfc-off": "qos-chain-broken"}


def test_links_break_in_order(checks):
    row = Row({"dcb rail0": lambda dcb: dcb.update(app=[], pfc=dcb["pfc"] | {"enabled": 0})}, "")
    found = {f.check: f for f in faults(judge(checks.values(), row.observed(), row.expectations()))}
    assert "trust" in found["qos-chain-broken"].fault.saw
    assert found["trust-mismatch"].folded_under == found["pfc-off"].folded_under == "qos-chain-broken"


def test_a_port_that_is_down_absorbs_what_follows(checks):
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    row = Row({f"read {port}/state": "1: DOWN", f"read {port}/counters/link_downed": "3"}, "")
    found = faults(judge(checks.values(), row.observed(), row.expectations()))
    assert {f.check: f.folded_under for f in found} == {"port-not-active": "", "link-flapped": "port-not-active"}


def test_links_settle_after_boot(checks):
    row = Row({"read /proc/uptime": "600.00 1.00", "read /sys/class/net/rail0/carrier_changes": "9"}, "")
    assert faults(judge(checks.values(), row.observed(), row.expectations())) == []


def test_an_unset_expectation_skips_the_check(checks):
    findings = judge(checks.values(), observe(make.two_rails_roce().host()), Expect())
    skipped = {f.check for f in findings if f.why == "no-expectation"}
    assert {"pfc-off", "trust-mismatch", "qos-chain-broken", "no-address-on-rail"} <= skipped


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_check_file_imports_only_the_public_api(file):
    for statement in ast.walk(ast.parse(file.read_text())):
        assert not isinstance(statement, ast.Import)
        if isinstance(statement, ast.ImportFrom):
            assert (statement.module, statement.level) == ("fabricdoctor.check", 0)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_check_explains_itself(file):
    tree = ast.parse(file.read_text())
    (function,) = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    assert function.name == file.stem
    doc = ast.get_docstring(function) or ""
    assert re.findall(r"^## .*$", doc, re.MULTILINE) == ["## What it looks at", "## Why it matters", "## How to fix"]
    assert len(doc.splitlines()) <= 25
    assert len(file.read_text().splitlines()) <= 45


def test_causes_exist(checks):
    for check in checks.values():
        assert set(check.explained_by) <= set(checks) - {check.id}
        assert set(check.links) <= set(checks) - {check.id}


def test_a_virtual_function_in_a_guest_has_no_dcb_and_is_not_unknown_for_it(checks):
    found = judge(checks.values(), observe(make.virtual().host()), make.LOSSLESS)
    chain = [f for f in found if f.check == "qos-chain-broken"]
    assert [(f.verdict.value, f.why) for f in chain] == [("skipped", "not-applicable")] * 2


@pytest.mark.parametrize(("memlock", "advice"), [(None, "rdma resource show"), (65536, "ulimit -l unlimited")])
def test_a_limit_is_blamed_only_where_there_is_one(checks, memlock, advice):
    refused = {"errno": 12, "detail": "Cannot allocate memory"}
    row = Row({"verbs.usable mlx5_0": lambda a: a["steps"].update(mr=refused), "limits": {"memlock": memlock}}, "")
    found = judge([checks["uverbs-not-usable"]], row.observed(), row.expectations())
    assert next(f.fault.fix for f in found if f.fault).startswith(advice)


def test_fixes_of_a_chain_do_not_undo_each_other(checks):
    """PFC on all priorities breaks four links; the command of each sets the same: their order does not matter."""
    row = Row({"dcb rail0": lambda dcb: dcb["pfc"].update(enabled=0xFF)}, "")
    found = faults(judge(checks.values(), row.observed(), row.expectations()))
    assert {f.check for f in found if f.folded_under} == {
        "pfc-on-too-many-priorities", "pfc-on-default-priority", "pfc-on-cnp-priority", "cnp-maps-to-paused-class"
    }  # fmt: skip
    assert {f.fault.fix for f in found} == {"dcb pfc set dev rail0 prio-pfc all:off 3:on"}
