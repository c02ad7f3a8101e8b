"""What is said of a physical link, and above all when nothing is."""

from dataclasses import replace

import pytest
from faults.nic_links import down, fec, over, three_rails
from faults.row import MISSING, Row, changed, put
from nodes import blocks, make
from nodes.optics import module
from test_never_lies import damaged

from fabricdoctor import catalogue
from fabricdoctor.facts import observe
from fabricdoctor.finding import Verdict
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge

CHECKS = catalogue.load([catalogue.builtin()]).checks
_CHANGES = "read /sys/class/net/rail0/carrier_changes"
_DOWNED = "read /sys/class/infiniband/mlx5_0/ports/1/counters/link_downed"


def verdict(check, row, subject="mlx5_0/1 (rail0)"):
    """Return verdict and why of one check of one subject."""
    found = judge([CHECKS[check]], row.observed(), row.expectations())
    return next((f.verdict, f.why) for f in found if f.subject == subject)


OK, ONE_SAMPLE = (Verdict.OK, ""), (Verdict.SKIPPED, "one-sample")
NOT_APPLICABLE, NEEDS_ROOT = (Verdict.SKIPPED, "not-applicable"), (Verdict.SKIPPED, "needs-root")
LOST = {"ethtool.fec rail0": fec(uncorrectable=5000, corrected_bits=10**12)}


@pytest.mark.parametrize("check", ["fec-uncorrectable", "raw-ber-high"])
@pytest.mark.parametrize(
    "came_or_went",
    [{_CHANGES: "3"}, {_CHANGES: "2"}, {_DOWNED: "1"}],
    ids=["went and came", "came", "went, too short for its carrier"],
)
def test_errors_of_a_link_that_trained_say_nothing(check, came_or_went):
    assert verdict(check, Row(LOST | came_or_went, "")) == ONE_SAMPLE


@pytest.mark.parametrize("check", ["fec-uncorrectable", "raw-ber-high"])
def test_errors_in_a_moment_or_of_one_sample_say_nothing(check):
    assert verdict(check, Row(LOST, "", node=over(2.0))) == ONE_SAMPLE
    assert verdict(check, Row(LOST, "", node=lambda: replace(make.two_rails_roce(), before={}))) == ONE_SAMPLE


def test_a_reset_counter_says_nothing():
    assert verdict("raw-ber-high", Row({"ethtool.fec rail0": fec(corrected_bits=5)}, "")) == ONE_SAMPLE


def test_a_few_blocks_in_a_day_are_within_the_standard():
    assert (
        verdict("fec-uncorrectable", Row({"ethtool.fec rail0": fec(uncorrectable=200)}, "", node=over(86_000.0))) == OK
    )
    assert verdict("fec-uncorrectable", Row({"ethtool.fec rail0": fec(uncorrectable=2)}, "")) == OK


def test_blocks_lost_in_one_minute_are_not_lasting():
    row = Row({"ethtool.fec rail0": fec(uncorrectable=5000, corrected_bits=10**10)}, "")
    (fault,) = [f for f in judge([CHECKS["fec-uncorrectable"]], row.observed(), row.expectations()) if f.fault]
    assert fault.severity.value == "warning"


def test_more_bits_than_can_be_corrected_are_no_rate():
    row = Row({"ethtool.fec rail0": fec(uncorrectable=0, corrected_bits=10**15)}, "")
    assert verdict("raw-ber-high", row) == (Verdict.UNKNOWN, "unparsable")


@pytest.mark.parametrize("why", ["unsupported", "missing"])
def test_an_interface_without_error_correction(why):
    absent = {"unknown": why, "detail": ""}
    taken = make.two_rails_roce()
    node = observe(
        Replay({**taken.answers, "ethtool.fec rail0": absent, "ethtool.module rail0": absent}, taken.before, 60)
    )
    link = node.physical_links[0]
    assert {link.uncorrectable.why, link.corrected_bits.why, link.module.why} == {"not-applicable"}


def test_a_user_may_not_read_modules():
    row = Row({}, "")
    answers = changed(make.two_rails_roce().answers, {"ethtool.module rail0": {}})
    answers["ethtool.module rail0"] = {"unknown": "needs-root", "detail": "Operation not permitted"}
    for check in ("transceiver-too-hot", "transceiver-power-low"):
        found = judge([CHECKS[check]], observe(Replay(answers, {}, None)), row.expectations())
        assert {f.why for f in found if f.subject == "mlx5_0/1 (rail0)"} == {"needs-root"}


def test_light_of_a_port_that_is_down_is_not_judged():
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    row = Row({f"read {port}/state": "1: DOWN", "ethtool.module rail0": module(received=0.1)}, "")
    assert verdict("transceiver-power-low", row) == OK


FLAPPED = {_CHANGES: "9", "kmsg": down(861_000.0, 862_000.0, 863_000.0)}
STILL = {_CHANGES: "9"}
FLAPS = [
    pytest.param(FLAPPED | {"kmsg": down(861_000.0, 862_000.0)}, STILL, OK, id="twice only"),
    pytest.param(FLAPPED | {"kmsg": down(855_000.0, 862_000.0, 863_000.0)}, STILL, OK, id="once more, hours ago"),
    pytest.param(FLAPPED | {"kmsg": down(861e3, 862e3, 863e3, device="0000:99:00.0")}, STILL, OK, id="another adapter"),
    pytest.param({_CHANGES: "8", "kmsg": []}, {}, OK, id="the counters moved and the driver lost no link"),
    pytest.param({_CHANGES: "8", "kmsg": down(863_950.0)}, {}, OK, id="it lost it once"),
    pytest.param({_CHANGES: "5"}, {}, OK, id="too few changes to read the log for"),
]


def test_what_all_rails_had_is_the_hosts_doing():
    both = {f"read /sys/class/net/rail{i}/carrier_changes": "9" for i in range(2)}
    lines = down(861e3, 862e3, 863e3, device="rail0") + down(861e3, 862e3, 863e3, device="rail1")
    assert verdict("link-flapping", Row(both | {"kmsg": lines}, "", before=both)) == OK
    within = [line | {"seconds": line["seconds"] + 2950} for line in lines]
    assert verdict("link-flapping", Row(both | {"kmsg": within}, "")) == OK


@pytest.mark.parametrize(("answers", "before", "said"), FLAPS)
def test_what_is_no_flapping(answers, before, said):
    assert verdict("link-flapping", Row(answers, "", before=before)) == said


def test_flapping_that_other_rails_had_less_of():
    lines = down(861e3, 862e3, 863e3, 863.5e3) + down(861e3, device="rail1")
    row = Row({_CHANGES: "9", "kmsg": lines}, "", before=STILL)
    assert verdict("link-flapping", row)[0] is Verdict.FAULT


@pytest.mark.parametrize(("why", "said"), [("needs-root", NEEDS_ROOT), ("denied", (Verdict.UNKNOWN, "denied"))])
def test_counters_that_the_log_cannot_confirm(why, said):
    """An administrator who takes the link down moves the same counters; that it dropped is link-flapped's to say."""
    taken = make.two_rails_roce()
    answers = changed(taken.answers, {_CHANGES: "8"}) | {"kmsg": {"unknown": why, "detail": ""}}
    found = judge(
        [CHECKS["link-flapping"], CHECKS["link-flapped"]], observe(Replay(answers, taken.before, 60)), make.LOSSLESS
    )
    about = {f.check: (f.verdict, f.why) for f in found if f.subject == "mlx5_0/1 (rail0)"}
    assert about == {"link-flapping": said, "link-flapped": (Verdict.FAULT, "")}


def test_a_log_that_cannot_be_read_is_not_missed_where_nothing_moved():
    taken = make.two_rails_roce()
    answers = changed(taken.answers, STILL) | {"kmsg": {"unknown": "denied", "detail": ""}}
    before = changed(taken.before, STILL)
    found = judge([CHECKS["link-flapping"]], observe(Replay(answers, before, 60)), make.LOSSLESS)
    assert {f.verdict for f in found} == {Verdict.OK}


def test_links_that_settle_after_boot_do_not_flap():
    row = Row(FLAPPED | {"read /proc/uptime": "1000.00 1.00", "kmsg": down(100.0, 200.0, 300.0)}, "", before=STILL)
    assert verdict("link-flapping", row) == OK
    row = Row(FLAPPED | {"read /proc/uptime": "1000.00 1.00", "kmsg": down(100.0, 200.0, 300.0)}, "", before={})
    assert verdict("link-flapping", row) == OK


def test_infiniband_that_settles_after_boot_does_not_flap():
    row = Row({"read /proc/uptime": "600.00 1.00", _DOWNED: "4"}, "", node=make.infiniband)
    assert verdict("link-flapping", row) == OK


def test_flapping_absorbs_flapped():
    row = Row({_CHANGES: "7", "kmsg": down(863_950.0, 863_960.0, 863_970.0)}, "")
    found = {f.check: f.folded_under for f in judge(CHECKS.values(), row.observed(), row.expectations()) if f.fault}
    assert found == {"link-flapping": "", "link-flapped": "link-flapping"}


def test_a_member_of_a_bond_is_found_in_the_log_by_its_own_function():
    answers = {
        "read /sys/class/net/port1/carrier_changes": "9",
        "link /sys/class/net/port1/device": "../../../0000:03:00.1",
        "kmsg": down(861e3, 862e3, 863e3, device="0000:03:00.1"),
    }
    row = Row(answers, "", node=make.bond, before={"read /sys/class/net/port1/carrier_changes": "9"})
    assert verdict("link-flapping", row, "mlx5_0/1 (port1)")[0] is Verdict.FAULT
    assert verdict("link-flapping", row, "mlx5_0/1 (port0)") == OK


def test_a_damaged_log_makes_no_flapping():
    """Two drops in the last hour and one while the link settled after boot."""
    taken = make.two_rails_roce()
    log = down(100.0, 862_000.0, 863_000.0)
    answers = changed(taken.answers, STILL | {"kmsg": log})
    node = replace(taken, answers=answers, before=changed(taken.before, STILL))
    checks = {"link-flapping": CHECKS["link-flapping"]}
    assert [
        label
        for label, how, host in damaged(node, every=True, only="kmsg|read /proc/uptime|.*carrier_changes")
        if any(f.fault for f in judge(checks.values(), observe(host), make.LOSSLESS))
    ] == []


_LAYER = "read /sys/class/infiniband/mlx5_0/ports/1/link_layer"
ETHERNET = {"link_layer": "Ethernet"}


def layers(row):
    found = judge([CHECKS["wrong-link-layer"]], row.observed(), row.expectations())
    return {f.subject: f.verdict for f in found}


def test_another_adapter_may_be_infiniband():
    other = {"read /sys/class/infiniband/mlx5_0/board_id": "MT_0000000001", _LAYER: "InfiniBand"}
    assert "mlx5_0/1 (rail0)" not in layers(Row(other, "", expect=ETHERNET, node=three_rails))


def test_the_same_adapter_for_something_else_may_be_infiniband():
    """Its GPU has a rail as near: on the same switch."""
    taken = three_rails()
    near = taken.answers["link /sys/bus/pci/devices/0000:23:00.0"]["value"].rsplit("/", 1)[0] + "/0000:03:00.0"
    gone = [
        name for name in taken.answers["list /sys/bus/pci/devices"]["value"] if name != blocks.pci_address("gpu", 0)
    ]
    row = Row(
        {
            _LAYER: "InfiniBand",
            "link /sys/class/infiniband/mlx5_0/device": near,
            "link /sys/bus/pci/devices/0000:03:00.0": near,
            "list /sys/bus/pci/devices": gone,
        },
        "",
        expect=ETHERNET,
        node=three_rails,
    )
    assert set(layers(row).values()) == {Verdict.OK}


def test_rails_that_may_be_another_boards_are_not_judged():
    """The group that was found may be a storage adapter's: as many ports of another board have the wanted layer."""
    answers = {f"read /sys/class/infiniband/mlx5_{i}/ports/1/link_layer": "InfiniBand" for i in range(2)}
    answers |= {f"read /sys/class/infiniband/mlx5_{i}/board_id": "MT_0000000999" for i in range(2)}
    found = layers(Row(answers, "", expect=ETHERNET, node=lambda: make.two_rails_roce(4)))
    assert found == {"mlx5_0/1 (rail0)": Verdict.SKIPPED, "mlx5_1/1 (rail1)": Verdict.SKIPPED}


def test_efa_has_no_link_layer_to_be_wrong():
    assert set(layers(Row({}, "", expect=ETHERNET, node=make.efa)).values()) == {Verdict.OK}


def test_the_setting_of_mlx5_is_named_for_mlx5_only():
    row = Row({_LAYER: "InfiniBand"}, "", expect=ETHERNET, node=three_rails)
    fault = next(f.fault for f in judge([CHECKS["wrong-link-layer"]], row.observed(), row.expectations()) if f.fault)
    assert fault.fix == "mlxconfig -d 0000:03:00.0 set LINK_TYPE_P1=ETH; then reboot"
    other = {f"link /sys/class/infiniband/mlx5_{i}/device/driver": "../bus/pci/drivers/other" for i in range(3)}
    row = replace(row, answers=row.answers | other)
    fault = next(f.fault for f in judge([CHECKS["wrong-link-layer"]], row.observed(), row.expectations()) if f.fault)
    assert "mlxconfig" not in fault.fix


def test_firmware_of_other_boards_may_differ():
    base = "/sys/class/infiniband/mlx5_0"
    other = {f"read {base}/board_id": "MT_0000000001", f"read {base}/fw_ver": "28.39.1002"}
    node = Row(other, "").observed()
    assert node.boards == ()
    unnamed = {
        f"read /sys/class/infiniband/mlx5_{i}/{name}": MISSING for i in range(2) for name in ("board_id", "hca_type")
    }
    assert Row(unnamed | {f"read {base}/fw_ver": "28.39.1002"}, "").observed().boards == ()


def test_a_driver_that_names_no_firmware():
    row = Row({f"read /sys/class/infiniband/mlx5_{i}/fw_ver": "" for i in range(2)}, "")
    assert verdict("firmware-differs", row, "board MT4129 MT_0000000838") == NOT_APPLICABLE


def test_a_slow_port_whose_limit_nothing_names():
    row = Row({"read /sys/class/net/rail0/speed": "200000", "ethtool.modes rail0": put("advertised", value=[])}, "")
    found = judge([CHECKS["port-below-rate"]], row.observed(), row.expectations())
    assert [f.fault.saw for f in found if f.fault] == ["200 Gb/s on 4 lanes"]
