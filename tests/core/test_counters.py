"""Counters of each driver, and what odd ones must not become."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nodes import blocks, make

from fabricdoctor.expect import Expect
from fabricdoctor.facts import Node, observe
from fabricdoctor.facts.vendors import eth_names, rdma_names
from fabricdoctor.finding import Finding, Verdict
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge
from fabricdoctor.unknown import Unknown

DEVICE = "/sys/class/infiniband/mlx5_0"
PORT = f"{DEVICE}/ports/1"
DCQCN = replace(make.LOSSLESS, congestion_control="dcqcn")
COUNTER_CHECKS = (
    "packet-loss-growing", "loss-without-pause-or-marks", "packets-discarded-on-arrival", "pause-time-high",
    "pfc-storm", "ecn-marks-without-cnp", "cnp-ignored",
)  # fmt: skip

#: What these drivers count in a minute of healthy traffic, as (RDMA counters, interface counters).
BUSY = {
    "bnxt_en": (
        {"rx_pkts": 4e6, "tx_pkts": 4e6, "packet_seq_err": 0, "implied_nak_seq_err": 0, "out_of_sequence": 0,
         "local_ack_timeout_err": 0, "max_retry_exceeded": 0, "rx_roce_discards": 0, "np_cnp_pkts": 900,
         "rp_cnp_handled": 800, "np_ecn_marked_roce_packets": 9000},
        {"pfc_pri3_rx_duration_us": 800_000, "pfc_pri3_tx_duration_us": 9_000, "rx_pfc_ena_frames_pri3": 900,
         "tx_pfc_ena_frames_pri3": 9, "rx_discard_packets_cos3": 70, "rx_stat_discard": 70, "rx_fcs_err_frames": 0},
    ),
    "ice": (
        {"ip4InPkts": 4e6, "ip4OutPkts": 4e6, "RxECNMrkd": 9000, "cnpSent": 900, "cnpHandled": 800, "cnpIgnored": 0,
         "RetransSegs": 4000},
        {"rx_priority_3_xoff.nic": 3000, "tx_priority_3_xoff.nic": 0, "link_xoff_rx.nic": 0, "link_xoff_tx.nic": 0},
    ),
    "ionic": (
        {"rx_rdma_ucast_pkts": 4e6, "tx_rdma_ucast_pkts": 4e6, "rx_rdma_ecn_pkts": 9000, "tx_rdma_cnp_pkts": 900,
         "rx_rdma_cnp_pkts": 800, "resp_rx_outouf_seq": 0, "req_rx_pkt_seq_err": 0, "tx_rdma_ack_timeout": 0},
        {f"{way}_pripause_{p}_1us_count": 800_000 * (p == 3) for p in range(8) for way in ("rx", "tx")},
    ),
    "mana": (
        {"rx_packets": 4e6, "tx_packets": 4e6, "responder_oos": 0, "requester_oos_nak": 0, "requester_timeout": 0},
        {},
    ),
}  # fmt: skip


def node(driver: str, more: dict[str, float] | None = None, statistics: dict[str, float] | None = None) -> Node:
    """Return a node with this driver's counters, and `more` growth on the first rail."""
    answers = make.roce()
    counters, table = BUSY[driver]
    growth = {name: int(n) for name, n in (counters | table | (more or {}) | (statistics or {})).items()}
    for rail in range(2):
        port = f"/sys/class/infiniband/mlx5_{rail}/ports/1"
        for name in [q for q in answers if q.startswith((f"read {port}/hw_counters", f"read {port}/counters"))]:
            del answers[name]
        answers[f"link {port.rsplit('/ports', 1)[0]}/device/driver"] = f"../bus/pci/drivers/{driver}"
        answers[f"ethtool.driver rail{rail}"] = {"driver": driver}
        own = counters | ((more or {}) if rail == 0 else {})
        answers |= {f"read {port}/hw_counters/{name}": str(7_000_000 + growth[name]) for name in own}
        own = table | ((statistics or {}) if rail == 0 else {})
        answers[f"ethtool.stats rail{rail}"] = {name: 7_000_000 + growth[name] for name in own}
        if not eth_names(driver).dcb:
            del answers[f"dcb rail{rail}"]
    # on the second rail nothing grows beyond what is healthy
    recorded = blocks.record(answers, growth)
    for name in (more or {}).keys() & counters.keys():
        question = f"read /sys/class/infiniband/mlx5_1/ports/1/hw_counters/{name}"
        recorded.before[question] = {"value": str(7_000_000 + growth[name] - int(counters[name]))}
    return observe(recorded.host())


def said(checks, seen: Node, expect: Expect = DCQCN) -> dict[str, Finding]:
    """Return what the checks of counters say of the first rail."""
    found = judge([checks[name] for name in COUNTER_CHECKS], seen, expect)
    return {f.check: f for f in found if f.subject == "mlx5_0/1 (rail0)"}


@pytest.mark.parametrize("driver", BUSY)
def test_each_driver_is_healthy_and_nothing_that_it_has_not_got_is_unknown(checks, driver):
    for expect in (DCQCN, Expect()):
        found = said(checks, node(driver), expect)
        assert {f.verdict for f in found.values()} <= {Verdict.OK, Verdict.SKIPPED}, found


@pytest.mark.parametrize(
    ("driver", "more", "statistics", "check", "saw"),
    [
        ("bnxt_en", {"out_of_sequence": 4000}, {}, "packet-loss-growing", "4000 packets missing on the way here"),
        ("bnxt_en", {"rx_roce_discards": 12}, {}, "packets-discarded-on-arrival", "12 packets"),
        ("bnxt_en", {}, {"pfc_pri3_tx_duration_us": 55e6}, "pfc-storm", "PFC on priority 3 sent 92%"),
        ("bnxt_en", {"np_cnp_pkts": 0}, {}, "ecn-marks-without-cnp", "9000 packets with ECN marks, 0 CNPs"),
        ("ice", {"Rcvd Out of order packets": 4000}, {}, "packet-loss-growing", "4000 packets missing"),
        ("ice", {"cnpIgnored": 2000}, {}, "cnp-ignored", "2000 of 2800"),
        ("ionic", {"tx_rdma_ack_timeout": 60}, {}, "packet-loss-growing", "60 time-outs"),
        ("ionic", {}, {"rx_pripause_5_1us_count": 20e6}, "pause-time-high", "PFC on priority 5 received 33%"),
        ("mana", {"responder_oos": 4000}, {}, "packet-loss-growing", "4000 packets missing on the way here"),
    ],
)
def test_each_drivers_names_are_read(checks, driver, more, statistics, check, saw):
    finding = said(checks, node(driver, more, statistics))[check]
    assert finding.fault is not None, finding
    assert saw in finding.fault.saw


def test_bnxt_had_names_of_its_own(checks):
    old = {"seq_err_naks_rcvd": 4000, "to_retransmits": 0, "oos_drop_count": 0}
    found = said(checks, node("bnxt_en", old))["packet-loss-growing"]
    assert "4000 packets missing on the way from here" in found.fault.saw


def test_pause_frames_prove_innocence_and_never_guilt(checks):
    # 3000 frames at 400 Gb/s pause for a quarter of a second at the most
    assert said(checks, node("ice"))["pause-time-high"].verdict is Verdict.OK
    found = said(checks, node("ice", statistics={"tx_priority_3_xoff.nic": 900_000_000}))
    for check in ("pause-time-high", "pfc-storm"):
        assert (found[check].verdict, found[check].why) == (Verdict.SKIPPED, "not-applicable")


def test_the_second_generation_of_irdma_counts_no_loss(checks):
    found = said(checks, node("ice"))
    assert (found["packet-loss-growing"].verdict, found["packet-loss-growing"].why) == (
        Verdict.SKIPPED,
        "not-applicable",
    )


def test_mana_counts_marks_by_device():
    answers = make.roce()
    answers[f"link {DEVICE}/device/driver"] = "../bus/pci/drivers/mana"
    answers |= {f"read {DEVICE}/hw_counters/received_ecns": "800", f"read {DEVICE}/hw_counters/sent_cnps": "90"}
    notices = observe(blocks.record(answers, {"received_ecns": 500, "sent_cnps": 40}).host()).fabric_ports[0].notices
    assert (notices.marked, notices.cnp_sent) == (500, 40)


def test_a_driver_that_is_not_known_is_not_guessed_at(checks):
    answers = make.roce()
    for rail in range(2):
        answers[f"link /sys/class/infiniband/mlx5_{rail}/device/driver"] = "../bus/pci/drivers/newnic"
        answers[f"ethtool.driver rail{rail}"] = {"driver": "newnic"}
    found = said(checks, observe(blocks.record(answers).host()))
    assert {(f.verdict, f.why) for f in found.values()} == {(Verdict.UNKNOWN, "unsupported")}
    assert rdma_names("newnic") is eth_names("newnic") is None


def changed(question: str, now: object, before: object) -> Node:
    """Return the usual node with one answer changed in both samples; `None` takes it away."""
    healthy = make.two_rails_roce()
    parts = []
    for answers, value in ((dict(healthy.answers), now), (dict(healthy.before), before)):
        answers[question] = {"unknown": "missing", "detail": ""} if value is None else {"value": value}
        parts.append(answers)
    return observe(Replay(*parts, healthy.seconds))


@pytest.mark.parametrize(
    ("now", "before", "verdict", "why"),
    [
        ("N/A (no PMA)", "0", Verdict.UNKNOWN, "unparsable"),
        ("5", "4000000000", Verdict.SKIPPED, "one-sample"),  # reset, or 32 bits that wrapped: nobody knows
        (str(2**64 - 1), "0", Verdict.UNKNOWN, "unparsable"),
        (str(2**62), "0", Verdict.UNKNOWN, "unparsable"),  # more than any link carries
        ("90000000", "0", Verdict.UNKNOWN, "unparsable"),  # more than what arrived
        (None, "0", Verdict.OK, ""),  # it went away: the driver does not count it any more
        ("9000", None, Verdict.OK, ""),  # it is new: its total says nothing
    ],
)
def test_an_odd_counter_is_no_loss(checks, now, before, verdict, why):
    found = said(checks, changed(f"read {PORT}/hw_counters/out_of_sequence", now, before))["packet-loss-growing"]
    assert (found.verdict, found.why) == (verdict, why)


def test_packets_that_are_not_counted_give_no_share(checks):
    healthy = make.two_rails_roce()
    answers = dict(healthy.answers)
    answers[f"read {PORT}/hw_counters/out_of_sequence"] = {"value": "4000"}
    answers[f"read {PORT}/counters/port_rcv_packets"] = {"unknown": "missing", "detail": ""}
    found = said(checks, observe(Replay(answers, healthy.before, healthy.seconds)))["packet-loss-growing"]
    assert (found.verdict, found.why) == (Verdict.SKIPPED, "not-applicable")


def statistics(**values: int | None) -> dict[str, int]:
    table = dict(blocks.STATS) | values
    return {name: number for name, number in table.items() if number is not None}


@pytest.mark.parametrize(
    ("now", "before", "verdict", "why"),
    [
        # PFC was switched on between the samples, and off
        (statistics(), statistics(tx_prio3_pause_duration=None), Verdict.SKIPPED, "one-sample"),
        (statistics(tx_prio3_pause_duration=None), statistics(), Verdict.SKIPPED, "not-applicable"),
        # paused for longer than the time that passed
        (statistics(tx_prio3_pause_duration=10**9), statistics(), Verdict.UNKNOWN, "unparsable"),
        (statistics(tx_prio3_pause_duration=2**64 - 1), statistics(), Verdict.UNKNOWN, "unparsable"),
        (statistics(), statistics(tx_prio3_pause_duration=2**32 - 5), Verdict.SKIPPED, "one-sample"),
        # names of queues beside those of the port
        (statistics(rx0_pause=9, rx_queue_0_drops=9), statistics(), Verdict.OK, ""),
    ],
)
def test_an_odd_statistic_is_no_pause(checks, now, before, verdict, why):
    found = said(checks, changed("ethtool.stats rail0", now, before))
    for check in ("pause-time-high", "pfc-storm"):
        assert (found[check].verdict, found[check].why) == (verdict, why)


def test_one_sample_says_nothing(checks):
    healthy = make.two_rails_roce()
    found = said(checks, observe(Replay(healthy.answers)))
    assert {(f.verdict, f.why) for f in found.values()} == {(Verdict.SKIPPED, "one-sample")}


def folded(checks, more: dict[str, object]) -> dict[str, str]:
    healthy = make.two_rails_roce()
    answers = healthy.answers | {name: {"value": value} for name, value in more.items()}
    found = judge(checks.values(), observe(Replay(answers, healthy.before, healthy.seconds)), make.LOSSLESS)
    return {f.check: f.folded_under for f in found if f.fault}


def test_loss_is_shown_under_its_cause(checks):
    lost = {f"read {PORT}/hw_counters/out_of_sequence": "4000"}
    quiet = {
        f"read {PORT}/hw_counters/{n}": v
        for n, v in (("np_ecn_marked_roce_packets", "45000"), ("rp_cnp_handled", "27000"))
    }
    assert folded(checks, lost | quiet) == {
        "packet-loss-growing": "loss-without-pause-or-marks",
        "loss-without-pause-or-marks": "",
    }
    assert folded(checks, lost | quiet | {"ethtool.stats rail0": statistics(rx_prio3_discards=9)}) == {
        "packet-loss-growing": "packets-discarded-on-arrival",
        "packets-discarded-on-arrival": "",
    }
    assert folded(checks, lost | {"read /sys/class/net/rail0/carrier_changes": "3"}) == {
        "packet-loss-growing": "link-flapped",
        "link-flapped": "",
    }


@pytest.mark.parametrize("sign", ["rx_prio3_pause", "rx_discards_phy", "rx_crc_errors_phy"])
def test_any_sign_of_congestion_or_of_the_own_link_clears_the_switch_queue(checks, sign):
    lost = {f"read {PORT}/hw_counters/out_of_sequence": "4000"}
    quiet = {
        f"read {PORT}/hw_counters/{n}": v
        for n, v in (("np_ecn_marked_roce_packets", "45000"), ("rp_cnp_handled", "27000"))
    }
    told = folded(checks, lost | quiet | {"ethtool.stats rail0": statistics(**{sign: blocks.STATS[sign] + 1})})
    assert told == {"packet-loss-growing": ""}


def test_a_lossy_site_and_one_that_says_nothing_may_resend(checks):
    healthy = make.lossy()
    answers = dict(healthy.answers)
    for name in ("packet_seq_err", "out_of_sequence"):
        answers[f"read {PORT}/hw_counters/{name}"] = {"value": "2900000"}
    before = healthy.before | {f"read {PORT}/hw_counters/packet_seq_err": {"value": "2800000"}}
    seen = observe(Replay(answers, before, healthy.seconds))
    for expect in (make.LOSSY, Expect()):
        assert said(checks, seen, expect)["packet-loss-growing"].verdict is Verdict.OK


def test_a_day_of_few_timeouts_on_a_lossy_fabric_is_no_fault():
    loss = make.lossy()
    port = observe(Replay(loss.answers, loss.before, 86400.0)).fabric_ports[0]
    assert not isinstance(port.loss, Unknown)
    few = replace(port.loss, timeouts=200)
    assert not few.many_timeouts(lossless=False)
    assert few.many_timeouts(lossless=True)


def test_a_bond_is_one_port_and_its_members_count_together(checks):
    bond = make.bond()
    answers = bond.answers | {"ethtool.stats port1": {"value": statistics(rx_prio3_discards=9)}}
    found = judge([checks["packets-discarded-on-arrival"]], observe(Replay(answers, bond.before, bond.seconds)), DCQCN)
    assert [(f.subject, f.fault.saw) for f in found] == [
        ("mlx5_0/1 (bond0)", "9 packets of priority 3 dropped on arrival")
    ]


def test_where_the_interface_is_not_seen_nothing_is_said_of_pause(checks):
    healthy = make.two_rails_roce()
    answers = healthy.answers | {
        "gids mlx5_0/1": {"unknown": "missing", "detail": ""},
        f"list {DEVICE}/device/net": {"value": []},
        f"read {PORT}/hw_counters/out_of_sequence": {"value": "4000"},
        f"read {PORT}/hw_counters/np_ecn_marked_roce_packets": {"value": "45000"},
        f"read {PORT}/hw_counters/rp_cnp_handled": {"value": "27000"},
    }
    found = judge(checks.values(), observe(Replay(answers, healthy.before, healthy.seconds)), make.LOSSLESS)
    told = {f.check: (f.verdict, f.why) for f in found if f.subject == "mlx5_0/1"}
    assert told["packet-loss-growing"][0] is Verdict.FAULT
    assert told["loss-without-pause-or-marks"] == (Verdict.SKIPPED, "not-applicable")
