"""What is read out of captured outputs, and that damaged ones are never a fault nor an exception."""

import json

import pytest
from nodes import make, tools
from tools import captured

from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.facts.qos_commands import dscp_command, pfc_command
from fabricdoctor.facts.tools import lldp, mlxlink, mstconfig, niccli, nicctl
from fabricdoctor.finding import Verdict
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge
from fabricdoctor.unknown import Unknown


def test_a_switch_and_its_dcbx():
    found = lldp.parse(captured.LLDPCLI)
    leaf = found["rail0"]
    assert list(found) == ["rail0"]
    assert str(leaf) == "switch leaf1 port Ethernet13/1"
    assert (leaf.port_description, leaf.max_frame_bytes) == ("node01 rail0", 9216)
    assert (leaf.pfc_priorities, leaf.pfc_willing) == ({3}, False)
    assert leaf.priority_by_dscp == {26: 3, 48: 6}
    assert leaf.traffic_class == (0, 0, 0, 3, 0, 0, 6, 0)


def _lldp(edit):
    document = json.loads(captured.LLDPCLI)
    edit(document["lldp"][0]["interface"])
    return lldp.parse(json.dumps(document))


def _tlv(kind, **changes):
    def edit(entries):
        for tlv in entries[0]["unknown-tlvs"][0]["unknown-tlv"]:
            if tlv["subtype"] == kind:
                tlv.update(changes)

    return edit


def test_a_willing_switch_is_told_from_one_that_insists():
    assert _lldp(_tlv("11", value="88,08"))["rail0"].pfc_willing


@pytest.mark.parametrize("changes", [{"value": "08"}, {"len": "3"}, {"oui": "00,12,0F"}, {"subtype": "12"}])
def test_a_tlv_of_another_shape_or_owner_says_nothing_of_pfc(changes):
    assert _lldp(_tlv("11", **changes))["rail0"].pfc_priorities is None


def test_a_tlv_sent_twice_says_nothing():
    def twice(entries):
        tlvs = entries[0]["unknown-tlvs"][0]["unknown-tlv"]
        tlvs.append(dict(tlvs[2], value="08,10"))

    assert _lldp(twice)["rail0"].pfc_priorities is None


def test_of_two_neighbours_the_switch_is_meant_and_of_two_switches_none():
    def station(entries):
        entries.append(json.loads(json.dumps(entries[0])))
        entries[1]["chassis"][0]["capability"] = [{"type": "Station", "enabled": True}]

    assert str(_lldp(station)["rail0"]) == "switch leaf1 port Ethernet13/1"
    assert _lldp(lambda entries: entries.append(entries[0])) == {}


def test_another_protocol_is_no_lldp_and_no_neighbour_is_none():
    assert _lldp(lambda entries: entries[0].update(via="CDPv2")) == {}
    assert lldp.parse('{"lldp": [{}]}') == {}


def test_what_comes_from_the_network_is_one_short_printable_line():
    leaf = _lldp(lambda e: e[0]["chassis"][0].update(name=[{"value": "\x1b[31mleaf\r\n" + "x" * 500}]))["rail0"]
    assert leaf.system.startswith("[31mleaf xxx")
    assert len(leaf.system) == 80
    assert leaf.system.isprintable()


def test_a_port_that_gives_only_its_address_is_called_by_its_description():
    leaf = _lldp(lambda e: e[0]["port"][0].update(id=[{"type": "mac", "value": "02:00:00:00:aa:02"}]))["rail0"]
    assert leaf.port == "node01 rail0"


def test_three_columns_tell_what_waits_and_a_mark_alone_does_not():
    settings = mstconfig.parse(captured.THREE_COLUMNS)
    assert [str(s) for s in settings.values() if s.pending] == ["MEMIC_SIZE_LIMIT _256KB(1), next DISABLED(0)"]
    assert settings["KEEP_IB_LINK_UP_P2"].current == "True(1)"
    assert settings["NUM_OF_VL_P1"].next == "_4_VLs(3)"


def _firmware(text, status=0):
    answers = {"tool mstconfig 0000:03:00.0": {"value": tools.said(text, status)}}
    return mstconfig.firmware(Replay(answers), "mlx5_0", "0000:03:00.0")


def test_one_column_tells_what_is_stored_and_not_what_waits():
    found = _firmware(captured.ONE_COLUMN)
    assert found.settings["CNP_DSCP_P1"].next == "48"
    assert found.pending.why == "not-applicable"


def test_a_bluefield_needs_its_power_to_go():
    assert _firmware(captured.THREE_COLUMNS.replace("ConnectX4", "BlueField3")).needs_power_off
    assert not _firmware(captured.THREE_COLUMNS).needs_power_off


def test_settings_that_cannot_be_read_are_not_known():
    assert _firmware("-E- Failed to open the device\n", 3).pending.why == "unparsable"
    assert _firmware("", 0).pending.why == "unparsable"


@pytest.mark.parametrize(
    ("now", "after"),
    [("True(1)", "N/A"), ("True(1)", "Tru(1)"), ("True(1)", "True(0)"), ("48", "4x"), ("1", "True(1)"), ("0x1", "1")],
)
def test_values_that_differ_as_no_two_values_do_are_no_change(now, after):
    table = f"Configurations:  Default  Current  Next Boot\n*        A_SETTING   0   {now}   {after}\n"
    assert not mstconfig.parse(table)["A_SETTING"].pending


def test_a_link_with_nothing_wrong_and_its_cable():
    found = mlxlink.parse(captured.MLXLINK)
    assert (found.opcode, found.advice) == (0, "")
    assert (found.raw_ber, found.effective_ber) == (1e-8, 15e-255)
    assert found.cable == "EXAMPLE EX-400-DAC"


def test_advice_is_given_with_an_opcode():
    text = captured.MLXLINK.replace('"0"\n', '"1024"\n', 1).replace("No issue was observed", "Cable is unplugged.")
    assert mlxlink.parse(text).advice == "Cable is unplugged"


def test_what_the_firmware_does_not_say_is_none():
    found = mlxlink.parse('{"result": {"output": {"Operational Info": {"State": "Down"}}}, "status": {"code": 1}}')
    assert (found.opcode, found.raw_ber, found.cable, found.advice) == (None, None, "", "")
    with pytest.raises(ValueError, match="nothing about the link"):
        mlxlink.parse('{"result": {"output": {}}, "status": {"code": 1, "message": "no such device"}}')


def test_qos_of_nicctl():
    found = nicctl.parse(captured.NICCTL_QOS + captured.NICCTL_QOS_NEW)
    assert list(found) == ["0000:f6:00.0", "0000:06:00.0"]
    set_up, new = found.values()
    assert (set_up.pfc_priorities, set_up.trust) == ({3}, "dscp")
    assert {d: p for d, p in set_up.priority_by_dscp.items() if p} == {24: 3, 46: 6}
    assert (new.pfc_priorities, set(new.priority_by_dscp.values())) == (set(), {0})


def test_an_adapter_with_two_ports_is_left_out():
    assert nicctl.parse(captured.NICCTL_QOS.replace("  PFC :\n", "Port : 00000000\n  PFC :\n")) == {}


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("0x8", "0x18", "pfc_priorities"),
        (": 24 ==>", ": 25 ==>", "priority_by_dscp"),
        ("==> priority : 6", "==> priority : 9", "priority_by_dscp"),
        (": DSCP\n", ": 802.1p\n", "trust"),
    ],
)
def test_two_lists_that_differ_are_not_understood(old, new, field):
    (found,) = nicctl.parse(captured.NICCTL_QOS.replace(old, new)).values()
    assert getattr(found, field).why == "unparsable"


def test_rate_control_of_nicctl():
    found = nicctl.dcqcn(captured.NICCTL_DCQCN)
    assert (found["ionic_7"].enabled, found["ionic_7"].cnp_dscp) == (True, 46)
    assert found["ionic_0"].enabled is False
    assert isinstance(found["ionic_0"].cnp_dscp, Unknown)


def test_qos_of_niccli():
    found = niccli.parse(captured.NICCLI_QOS)
    assert (found.pfc_priorities, found.trust, found.priority_by_dscp) == ({3}, "dscp", {48: 7, 26: 3})
    assert found.classes.of_priority == (0, 0, 0, 1, 0, 0, 0, 2)
    assert found.classes.percent == (50, 50, None, None, None, None, None, None)


def test_pfc_of_niccli_is_a_list_and_a_lone_0_is_not_understood():
    def pfc(text):
        return niccli.parse(captured.NICCLI_QOS.replace("enabled: 3", f"enabled: {text}")).pfc_priorities

    assert (pfc("3 4"), pfc("none")) == ({3, 4}, set())
    assert {pfc(text).why for text in ("0", "8", "3 3", "", "x")} == {"unparsable"}


def test_qos_by_tool_stands_in_where_the_driver_has_no_dcb(checks):
    node = observe(make.ionic().host())
    assert [link.pfc_priorities for link in node.links] == [{3}, {3}]
    answers = dict(make.ionic().answers)
    text = answers["tool nicctl qos"]["value"]["output"]
    off = text.replace(": 0x8", ": 0x0").replace("priorities    : 3", "priorities    :")
    answers["tool nicctl qos"] = {"value": tools.said(off)}
    found = judge(checks.values(), observe(Replay(answers)), make.LOSSLESS)
    assert {f.check for f in found if f.fault and not f.folded_under} == {"qos-chain-broken"}
    (fix,) = {f.fault.fix for f in found if f.check == "pfc-off"}
    assert fix == "nicctl update qos pfc --priority 3 --no-drop enable"


def test_congestion_control_by_tool():
    first, second = (link.congestion for link in observe(make.ionic().host()).links)
    assert (first.on, first.algorithm, first.cnp_dscp) == (frozenset(range(8)), "dcqcn", 46)
    assert second.turn_on == "nicctl update dcqcn -r mlx5_1 -i 1"


@pytest.mark.parametrize(
    ("tool", "pfc", "dscp"),
    [
        ("", "dcb pfc set dev rail0 prio-pfc all:off 3:on", "dcb app replace dev rail0 dscp-prio 26:3"),
        (
            "nicctl",
            "nicctl update qos pfc --priority 4 --no-drop disable; nicctl update qos pfc --priority 3 --no-drop enable",
            "nicctl update qos dscp-to-priority --dscp 26 --priority 3",
        ),
        ("niccli --dev X", "niccli --dev X qos --pfc --enable 3", "niccli --dev X qos --apptlv --add --app 3,5,26"),
    ],
)
def test_the_fix_is_a_command_of_the_tool_that_sets_it(tool, pfc, dscp):
    assert pfc_command("rail0", tool, frozenset({3}), frozenset({4})) == pfc
    assert dscp_command("rail0", tool, 26, 3) == dscp


def test_qos_that_was_not_asked_for_is_skipped_with_the_options_name(checks):
    answers = dict(make.ionic().answers)
    answers["tool nicctl qos"] = {"unknown": "not-applicable", "detail": "not asked: run with --vendor-tools"}
    found = judge([checks["pfc-off"]], observe(Replay(answers)), make.LOSSLESS)
    assert {f.reason for f in found} == {"tool nicctl qos: not asked: run with --vendor-tools"}


def test_what_was_not_asked_is_skipped_and_the_reason_names_the_option(checks):
    unasked = {"unknown": "not-applicable", "detail": "not asked: run with --vendor-tools"}
    answers = {n: unasked if n.startswith("tool mst") else a for n, a in make.two_rails_roce().answers.items()}
    found = judge([checks["firmware-change-pending"]], observe(Replay(answers)), Expect())
    assert {(f.verdict, f.reason) for f in found} == {
        (Verdict.SKIPPED, f"tool mstconfig {pci}: not asked: run with --vendor-tools")
        for pci in ("0000:03:00.0", "0000:23:00.0")
    }


@pytest.mark.parametrize("why", ["missing", "not-recorded", "unsupported", "needs-root"])
def test_a_node_without_lldpd_is_none_the_worse(checks, why):
    answers = dict(make.two_rails_roce().answers)
    answers["tool lldpcli"] = {"unknown": why, "detail": ""}
    found = judge([checks["switch-pfc-differs"]], observe(Replay(answers)), make.LOSSLESS)
    assert {f.verdict for f in found} == {Verdict.SKIPPED}


@pytest.mark.parametrize("heard", [{"rail0": None, "rail1": None}, {}])
def test_a_switch_that_sends_no_pfc_tlv_or_no_switch_is_skipped(checks, heard):
    answers = dict(make.two_rails_roce().answers)
    answers["tool lldpcli"] = {"value": tools.lldpcli(heard)}
    found = judge([checks["switch-pfc-differs"]], observe(Replay(answers)), make.LOSSLESS)
    assert {f.verdict for f in found} == {Verdict.SKIPPED}


def test_a_switch_that_takes_our_priorities_is_no_fault(checks):
    answers = dict(make.two_rails_roce().answers)
    answers["tool lldpcli"] = {"value": tools.lldpcli({"rail0": 0, "rail1": 0}, willing=True)}
    assert not [f for f in judge(checks.values(), observe(Replay(answers)), make.LOSSLESS) if f.fault]


def test_nested_beyond_measure_is_not_understood():
    answers = dict(make.two_rails_roce().answers)
    answers["tool lldpcli"] = {"value": tools.said('{"lldp":' + "[" * 200_000)}
    assert observe(Replay(answers)).neighbours.why == "unparsable"


def test_a_bond_has_a_far_end_for_each_of_its_interfaces():
    answers = dict(make.bond().answers)
    answers["tool lldpcli"] = {"value": tools.lldpcli({"port0": 8, "port1": 8})}
    (port,) = observe(Replay(answers)).all_ports
    assert port.far_end == "switch leaf-port0 port Ethernet1/3 and switch leaf-port1 port Ethernet1/3"
