"""Adapters of other makers, as their drivers show them: Broadcom, Intel, AMD Pensando and Amazon."""

from __future__ import annotations

from dataclasses import replace

from nodes.machine import Source
from nodes.model import Adapter

_BNXT = Source("constructed", "drivers/infiniband/hw/bnxt_re/hw_counters.c and bnxt_ethtool.c")
_IRDMA = Source("constructed", "drivers/infiniband/hw/irdma/verbs.c and ice_ethtool.c")
_EFA = Source("constructed", "drivers/infiniband/hw/efa/efa_verbs.c")
_IONIC = Source("constructed", "drivers/net/ethernet/pensando/ionic and drivers/infiniband/hw/ionic")
_CONGESTED = (
    "tx_rdma_ack_timeout",
    "rx_rdma_ecn_pkts",
    "rx_rdma_cnp_pkts",
    "resp_rx_dup_request",
    "req_rx_dup_response",
)
_THOR2_TYPE = Source("reported", "https://github.com/openucx/ucx/issues/11048")
_DSCP = [[5, 3, 26], [5, 6, 48]]
_ETS = {"willing": 0, "cap": 8, "cbs": 0, "tc_tx_bw": [50, 50, 0, 0, 0, 0, 0, 0], "tc_rx_bw": [0] * 8}
_PFC = {"cap": 8, "enabled": 1 << 3, "mbc": False, "delay": 0, "requests": [0] * 8, "indications": [0] * 8}


def _per_priority(*patterns: str) -> dict[str, int]:
    return {pattern.format(p=p): 0 for p in range(8) for pattern in patterns}


#: Thor 2. The inbox driver names no board; GIDs are RoCE v2 only; no PMA: the port has no `counters`
THOR2 = Adapter(
    driver="bnxt_en",
    ids=("0x14e4", "0x1760", "0x14e4", "0x9131"),
    files={"hca_type": "Broadcom NetXtreme-C/E RoCE Driver HCA", "hw_rev": "0x14e4", "fw_ver": "231.0.154.0"},
    counters={},
    hw_counters=dict.fromkeys((
        "active_qps", "active_rc_qps", "active_cqs", "active_mrs", "active_pds", "recoverable_errors", "tx_roce_errors",
        "rx_roce_errors", "tx_roce_discards", "rx_roce_discards", "local_ack_timeout_err", "packet_seq_err",
        "max_retry_exceeded", "rnr_nak_retry_err", "implied_nak_seq_err", "unrecoverable_err", "bad_resp_err",
        "dup_req", "out_of_sequence", "out_of_buffer", "rx_roce_good_pkts", "rx_roce_good_bytes", "req_cqe_error",
        "resp_cqe_error", "pacing_reschedule", "pacing_complete", "pacing_alerts",
    ), "0") | {
        "lifespan": "10", "rx_pkts": "91234112310", "tx_pkts": "81230001123", "rx_bytes": "120412000112310",
        "tx_bytes": "109120331001000", "np_cnp_pkts": "4232220", "rp_cnp_handled": "4100231",
        "np_ecn_marked_roce_packets": "112641514",
    },
    statistics=_per_priority(
        "rx_pfc_ena_frames_pri{p}", "tx_pfc_ena_frames_pri{p}", "pfc_pri{p}_rx_duration_us",
        "pfc_pri{p}_tx_duration_us", "pfc_pri{p}_rx_transitions", "pfc_pri{p}_tx_transitions",
        "rx_discard_packets_cos{p}", "rx_discard_bytes_cos{p}", "rx_packets_cos{p}", "tx_packets_cos{p}",
    ) | dict.fromkeys((
        "rx_stat_discard", "tx_stat_discard", "rx_pause_frames", "tx_pause_frames", "rx_pfc_frames", "tx_pfc_frames",
        "continuous_pause_events", "continuous_roce_pause_events", "resume_pause_events", "resume_roce_pause_events",
        "rx_fcs_err_frames", "rx_pcs_symbol_err", "rx_fec_corrected_blocks", "rx_fec_uncorrectable_blocks",
        "link_down_events",
    ), 0) | {"pfc_pri3_rx_duration_us": 4_000_000, "rx_pfc_ena_frames_pri3": 2847},
    modes=("100000baseCR4/Full", "200000baseCR4/Full", "400000baseCR8/Full", "400000baseCR4/Full"),
    source=_BNXT,
    dcb={
        "pfc": _PFC, "app": [[5, 3, 26], [5, 7, 48], [3, 3, 4791]], "dcbx": 9,
        "ets": _ETS | {"tc_tsa": [2, 2, 0, 0, 0, 0, 0, 0], "prio_tc": [0, 0, 0, 1, 0, 0, 0, 2]},
    },
    gid_types=("RoCE v2",),
    gid_length=256,
    firmware="231.0.154.0/pkg 231.1.162.1",
    reported=dict.fromkeys(("hca_type", "hw_rev", "fw_ver"), _THOR2_TYPE),
)  # fmt: skip

#: E810. Neither model nor board is named, no port counters; loss is not counted before the third generation
E810 = Adapter(
    driver="ice",
    ids=("0x8086", "0x1592", "0x8086", "0x0002"),
    files={"fw_ver": "1.71"},
    counters={},
    hw_counters=dict.fromkeys((
        "ip4InDiscards", "ip4InTrunc", "ip4InReasmFrags", "ip4OutNoRoutes", "ip6InDiscards", "ip6OutNoRoutes",
        "tcpRetransSegs", "tcpInOptErrors", "tcpInProtoErrors", "iwInRdmaReads", "iwInRdmaSends", "rxVlanErrors",
        "cnpIgnored",
    ), "0") | {
        "lifespan": "10", "ip4InPkts": "91234112310", "ip4OutPkts": "81230001123", "ip4InOctets": "120412000112310",
        "ip4OutOctets": "109120331001000", "RxECNMrkd": "112641514", "cnpHandled": "4100231", "cnpSent": "4232220",
    },
    statistics=_per_priority(
        "tx_priority_{p}_xoff.nic", "tx_priority_{p}_xon.nic", "rx_priority_{p}_xoff.nic", "rx_priority_{p}_xon.nic",
    ) | dict.fromkeys((
        "rx_dropped.nic", "tx_dropped_link_down.nic", "rx_crc_errors.nic", "rx_illegal_bytes.nic",
        "mac_local_faults.nic", "mac_remote_faults.nic", "link_xon_rx.nic", "link_xoff_rx.nic",
        "link_xon_tx.nic", "link_xoff_tx.nic",
        "rx_oversize.nic", "rx_undersize.nic", "rx_length_errors.nic",
    ), 0) | {"rx_bytes.nic": 120_412_000_112_310, "tx_bytes.nic": 109_120_331_001_000},
    modes=("25000baseCR/Full", "50000baseCR2/Full", "100000baseCR4/Full", "100000baseSR4/Full"),
    source=_IRDMA,
    dcb={
        "pfc": _PFC, "app": _DSCP, "dcbx": 9,
        "ets": _ETS | {"tc_tsa": [2, 2, 2, 2, 2, 2, 2, 2], "prio_tc": [0, 0, 0, 1, 0, 0, 0, 0]},
    },
    gid_types=("RoCE v2",),
    gid_length=32,
    firmware="4.60 0x8001d8b8 1.3682.0",
)  # fmt: skip
#: its sibling for storage, which the driver leaves at iWARP: the default of irdma
E810_IWARP = replace(
    E810,
    ids=("0x8086", "0x159b", "0x8086", "0x0003"),
    node_type="4: RNIC",
    gid_types=("IB",),
    gid_length=1,
    modes=("10000baseSR/Full", "25000baseCR/Full"),
)

#: Pollara. QoS and congestion control are the vendor tool's; pause time is counted in steps of a microsecond
POLLARA = Adapter(
    driver="ionic",
    ids=("0x1dd8", "0x1002", "0x1dd8", "0x5201"),
    files={"hca_type": "ionic", "hw_rev": "0x0", "fw_ver": "1.110.0-a-79"},
    counters={},
    hw_counters=dict.fromkeys((
        "rx_rdma_mtu_discard_pkts", "req_rx_pkt_seq_err", "req_rx_rnr_retry_err", "req_tx_retry_excd_err",
        "req_rx_impl_nak_seq_err", "resp_rx_outof_buf", "resp_rx_outouf_seq", "tx_rdma_retx_bytes", "tx_rdma_retx_pkts",
    ), "0") | {
        "lifespan": "10", "tx_rdma_ucast_pkts": "91234112310", "rx_rdma_ucast_pkts": "81230001123",
        "tx_rdma_ucast_bytes": "120412000112310", "rx_rdma_ucast_bytes": "109120331001000",
        "tx_rdma_cnp_pkts": "17954001", "rx_rdma_ecn_pkts": "924933861", "rx_rdma_cnp_pkts": "17954708",
        "tx_rdma_ack_timeout": "16218",
        "resp_rx_dup_request": "15077283", "req_rx_dup_response": "410349",
    },
    statistics=_per_priority("frames_rx_pri_{p}", "frames_tx_pri_{p}", "rx_pripause_{p}_1us_count",
                             "tx_pripause_{p}_1us_count")
    | dict.fromkeys((
        "frames_rx_pripause", "frames_tx_pripause", "frames_rx_pause", "frames_tx_pause", "hw_rx_dropped",
        "hw_tx_dropped", "frames_rx_bad_fcs", "frames_rx_dropped", "hw_rx_over_errors", "rx_pause_1us_count",
    ), 0),
    modes=("100000baseCR4/Full", "200000baseCR4/Full", "400000baseCR4/Full"),
    source=_IONIC,
    gid_types=("RoCE v2",),
    gid_length=1024,
    firmware="1.110.0-a-79",
    reported=dict.fromkeys(_CONGESTED, Source("reported", "a public write-up on tuning AMD AINIC")),
)  # fmt: skip

#: EFA of a p5 instance: neither interface nor Ethernet, a transport that reorders by design
EFA = Adapter(
    driver="efa",
    ids=("0x1d0f", "0xefa2", "0x1d0f", "0xefa2"),
    files={"fw_ver": "0.0.0.0"},  # noqa: S104  a version, not an address
    counters={},
    hw_counters=dict.fromkeys((
        "rx_drops", "send_bytes", "send_wrs", "recv_bytes", "recv_wrs", "rdma_read_wrs", "rdma_read_bytes",
        "rdma_read_wr_err", "rdma_read_resp_bytes", "rdma_write_wr_err", "rdma_write_recv_bytes",
        "unresponsive_remote_events", "impaired_remote_conn_events",
    ), "0") | {
        "lifespan": "12", "tx_bytes": "120412000112310", "rx_bytes": "109120331001000", "tx_pkts": "91234112310",
        "rx_pkts": "81230001123", "rdma_write_wrs": "112641514", "rdma_write_bytes": "109120331001000",
        "retrans_bytes": "812300", "retrans_pkts": "7000", "retrans_timeout_events": "2",
    },
    statistics={},
    modes=(),
    source=_EFA,
    gid_length=1,
    node_type="7: unspecified",
    pci_class="0x020000",
)  # fmt: skip
