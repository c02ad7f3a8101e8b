"""Bonds, kernel messages and health reporters: what is no fault, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from faults.nic_paths import said, sent
from faults.row import MISSING, Row, put
from nodes import make

from fabricdoctor.finding import Finding, Verdict
from fabricdoctor.judge import judge

NET, PCI = "/sys/class/net", "0000:03:00.0"
MODE, SLAVE = f"read {NET}/bond0/bonding/mode", f"{NET}/port1/bonding_slave"
DENIED = {"unknown": "denied"}


def found(checks: Any, check: str, changes: dict[str, Any], node: Any = make.two_rails_roce, **more: Any) -> Finding:
    row = Row(changes, "", node=node, **more)
    return judge([checks[check]], row.observed(), row.expectations())[0]


@pytest.mark.parametrize(
    "changes",
    [
        {MODE: "active-backup 1", f"read {SLAVE}/ad_aggregator_id": "N/A"},
        {MODE: "balance-xor 2", f"read {NET}/bond0/bonding/ad_aggregator": "N/A"},
        {f"read {NET}/bond0/bonding/ad_partner_mac": ""},  # a user without CAP_NET_ADMIN
        {f"read {SLAVE}/mii_status": "going back"},
        {f"read {SLAVE}/mii_status": MISSING},
        {f"read {NET}/port1/operstate": "unknown"},
        {"read /sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN", f"read {SLAVE}/mii_status": "down"},
    ],
)  # fmt: skip
def test_a_bond_that_is_not_at_fault(checks, changes):
    assert found(checks, "bond-member-down", changes, make.bond).verdict is Verdict.OK


def test_a_vlan_on_a_bond_is_judged_by_the_bond(checks):
    gids = make.bond().answers["gids mlx5_0/1"]["value"]
    vlan = {
        "gids mlx5_0/1": gids | {"entries": {i: e | {"ndev": "bond0.7"} for i, e in gids["entries"].items()}},
        f"list {NET}/bond0.7": ["lower_bond0", "mtu"],
        f"read {NET}/bond0.7/bonding/mode": MISSING,
        f"read {SLAVE}/mii_status": "down",
    }
    assert "port1 of bond0 (802.3ad): no link" in found(checks, "bond-member-down", vlan, make.bond).fault.saw


def test_members_whose_state_is_not_told_are_no_pass(checks):
    for file in ("mii_status", "ad_actor_oper_port_state", "ad_aggregator_id"):
        changes = {
            f"read {SLAVE}/{file}": {"unknown": "timeout"},
            f"read {NET}/port1/operstate": {"unknown": "timeout"},
        }
        assert found(checks, "bond-member-down", changes, make.bond).verdict is Verdict.UNKNOWN


def test_a_rail_without_a_bond_has_nothing_to_check(checks):
    assert found(checks, "bond-member-down", {}).why == "nothing-to-check"


@pytest.mark.parametrize(
    "changes",
    [
        sent(300.0, 200.0),
        sent(60.0, 0.0),  # a single connection at ease
        sent(300.0, 1.0) | {MODE: "active-backup 1"},
        sent(300.0, 1.0) | {MODE: "balance-rr 0"},
        sent(300.0, 1.0) | {f"read {SLAVE}/mii_status": "down"},  # has its own finding
        sent(0.0, 0.0),
    ],
)
def test_a_bond_that_spreads_or_need_not(checks, changes):
    assert found(checks, "bond-one-member-carries-all", changes, make.bond).verdict is Verdict.OK


def test_without_the_ports_own_counters_the_spread_is_not_judged(checks):
    foreign = sent(300.0, 1.0) | {f"ethtool.driver {p}": put("driver", value="tg3") for p in ("port0", "port1")}
    virtual = {f"ethtool.stats {p}": {"rx_discards_phy": 0} for p in ("port0", "port1")}
    absent = {f"ethtool.stats {p}": MISSING for p in ("port0", "port1")}
    for changes in (foreign, virtual, absent):
        assert found(checks, "bond-one-member-carries-all", changes, make.bond).why == "not-applicable"


COMPROMISED = said("health-compromised", "device's health compromised", 2.0)["kmsg"]


def later(kind: str, hours_ago: float) -> list[dict[str, Any]]:
    return said(kind, kind, hours_ago)["kmsg"]


@pytest.mark.parametrize(
    "log",
    [
        said("health-compromised", "device's health compromised", 30.0)["kmsg"],
        said("health-compromised", "device's health compromised", device="0000:99:00.0")["kmsg"],
        said("transmit-timeout", "NETDEV WATCHDOG", device="eth0")["kmsg"],
        said("transmit-timeout", "NETDEV WATCHDOG", device=None)["kmsg"],
        # the host's management interface, of which a pod's rail has the name
        said("transmit-timeout", "NETDEV WATCHDOG: rail0 (tg3): transmit queue 3 timed out", device="rail0")["kmsg"],
        COMPROMISED + later("set-up", 1.0),
        said("module-error", "Cable error, Bad or shorted cable/module", 3.0)["kmsg"] + later("module-plugged", 1.0),
        later("link-down", 1.0) + later("module-unplugged", 1.0) + later("pcie-bandwidth", 1.0),
    ],
)
def test_messages_that_are_no_fault(checks, log):
    assert found(checks, "kernel-log-nic-fault", {"kmsg": log}).verdict is Verdict.OK


def test_what_is_said_after_a_recovery_counts(checks):
    log = [*later("set-up", 3.0), *COMPROMISED, *later("module-plugged", 1.0)]
    fault = found(checks, "kernel-log-nic-fault", {"kmsg": log}).fault
    assert fault.saw == "device's health compromised: 1 time, last 2.0 hours ago"
    assert PCI in fault.fix


def test_the_worst_message_is_named_first_and_the_others_with_it(checks):
    log = [*COMPROMISED, *said("high-temperature", "High temperature", 0.5, times=4)["kmsg"]]
    finding = found(checks, "kernel-log-nic-fault", {"kmsg": log})
    assert finding.fault.saw == "device's health compromised: 1 time, last 2.0 hours ago; High temperature (4)"
    assert finding.severity.value == "critical"


def test_a_kernel_log_that_may_not_be_read_is_skipped(checks):
    for answer, why in ((DENIED, "needs-root"), ({"unknown": "needs-root"}, "needs-root"), (MISSING, "not-applicable")):
        finding = found(checks, "kernel-log-nic-fault", {"kmsg": answer})
        assert (finding.verdict, finding.why) == (Verdict.SKIPPED, why)


def test_a_message_of_another_boot_makes_the_log_unknown(checks):
    log = [COMPROMISED[0] | {"seconds": 9e5}]
    assert found(checks, "kernel-log-nic-fault", {"kmsg": log}).verdict is Verdict.UNKNOWN


def test_errors_that_reporters_counted_before_are_history(checks):
    history = {f"devlink.health {PCI}": put("fw", "errors", value=7)}
    before = {f"devlink.health {PCI}": put("fw", "errors", value=7)}
    assert found(checks, "hw-error-state", history, before=before).verdict is Verdict.OK
    assert found(checks, "hw-error-state", history, before={f"devlink.health {PCI}": MISSING}).verdict is Verdict.OK


def test_a_driver_that_was_loaded_again_counts_from_zero(checks):
    before = {f"devlink.health {PCI}": put("65535/tx", "errors", value=900)}
    assert found(checks, "hw-error-state", {}, before=before).verdict is Verdict.OK


def test_no_health_reporters_is_nothing_to_judge(checks):
    for answer in (MISSING, {"unknown": "unsupported"}, {}):
        finding = found(checks, "hw-error-state", {f"devlink.health {PCI}": answer})
        assert (finding.verdict, finding.why) == (Verdict.SKIPPED, "not-applicable")


def test_the_reporter_of_a_port_is_named_as_devlink_wants_it(checks):
    fault = found(checks, "hw-error-state", {f"devlink.health {PCI}": put("65535/tx", "state", value="error")}).fault
    assert fault.fix.startswith(f"devlink health diagnose pci/{PCI}/65535 reporter tx; devlink health recover ")
