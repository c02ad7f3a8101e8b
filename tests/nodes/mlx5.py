"""NVIDIA ConnectX and BlueField, as mlx5_core and mlx5_ib show them."""

from __future__ import annotations

from dataclasses import replace

from nodes.machine import IB, NET, Machine, Source
from nodes.model import Adapter, Port

_NAMES = Source("constructed", "Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst")
_DEEPEP = "https://github.com/deepseek-ai/DeepEP/issues"
_CX7_TYPE = dict.fromkeys(("hca_type", "fw_ver", "hw_rev"), Source("reported", f"{_DEEPEP}/303"))
_CX6DX_TYPE = dict.fromkeys(("hca_type", "fw_ver", "hw_rev", "board_id"), Source("reported", f"{_DEEPEP}/60"))
#: lifetime totals of a node that somebody posted
_LOSSY = {
    "duplicate_request": "0", "implied_nak_seq_err": "0", "lifespan": "10", "local_ack_timeout_err": "91316",
    "np_cnp_sent": "17269947", "np_ecn_marked_roce_packets": "11293938", "out_of_buffer": "0",
    "out_of_sequence": "6140236", "packet_seq_err": "929974", "req_cqe_error": "2", "req_cqe_flush_error": "0",
    "req_remote_access_errors": "0", "req_remote_invalid_request": "0", "resp_cqe_error": "20540",
}  # fmt: skip
_HW_COUNTERS = dict.fromkeys((
    "duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "out_of_buffer", "out_of_sequence",
    "packet_seq_err", "req_cqe_error", "req_cqe_flush_error", "req_remote_access_errors", "req_remote_invalid_request",
    "req_rnr_retries_exceeded", "req_transport_retries_exceeded", "resp_cqe_error", "resp_cqe_flush_error",
    "resp_local_length_error", "resp_remote_access_errors", "rnr_nak_retry_err", "rx_atomic_requests", "rx_dct_connect",
    "rx_read_requests", "rx_write_requests", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart",
    "roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_ignored", "rx_icrc_encapsulated",
), "0") | {
    "lifespan": "10", "rx_write_requests": "917300412", "np_cnp_sent": "4232220",
    "np_ecn_marked_roce_packets": "112641514", "rp_cnp_handled": "4100231",
}  # fmt: skip
_COUNTERS = dict.fromkeys((
    "VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery",
    "local_link_integrity_errors", "multicast_rcv_packets", "multicast_xmit_packets", "port_rcv_constraint_errors",
    "port_rcv_errors", "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors", "port_xmit_discards", "port_xmit_wait", "symbol_error",
), "0") | {
    "port_rcv_data": "88034564921216", "port_rcv_packets": "419873392068", "port_xmit_data": "13906677385186",
    "port_xmit_packets": "40177770079", "unicast_rcv_packets": "419873392068", "unicast_xmit_packets": "40177770079",
}  # fmt: skip


def _statistics(paused: tuple[int, ...], *, physical: bool = True) -> dict[str, int]:
    """Return `ethtool -S`; the pause counters of a priority are there only while PFC is on for it."""
    values = dict.fromkeys((
        "rx_out_of_buffer", "rx_steer_missed_packets", "rx_vport_rdma_multicast_bytes", "tx_errors", "ch_events",
    ), 0)  # fmt: skip
    values |= {
        "rx_packets": 91_234_112,
        "tx_packets": 81_230_001,
        "rx_bytes": 120_412_000_112,
        "tx_bytes": 9_120_331_001,
    }
    values |= {"rx_vport_rdma_unicast_packets": 419_873_392_068, "rx_vport_rdma_unicast_bytes": 352_138_259_684_864}
    values |= {"tx_vport_rdma_unicast_packets": 40_177_770_079, "tx_vport_rdma_unicast_bytes": 55_626_709_540_744}
    if not physical:
        return values
    values |= dict.fromkeys((
        "rx_discards_phy", "tx_discards_phy", "tx_errors_phy", "rx_crc_errors_phy", "rx_in_range_len_errors_phy",
        "rx_symbol_err_phy", "rx_pcs_symbol_err_phy", "rx_err_lane_0_phy", "rx_err_lane_1_phy", "rx_err_lane_2_phy",
        "rx_err_lane_3_phy", "rx_buffer_passed_thres_phy", "rx_oversize_pkts_phy", "rx_undersize_pkts_phy",
        "tx_pause_storm_warning_events", "tx_pause_storm_error_events", "module_unplug", "module_bus_stuck",
        "module_high_temp", "module_bad_shorted", "rx_pci_signal_integrity", "tx_pci_signal_integrity",
        "outbound_pci_stalled_rd", "outbound_pci_stalled_wr", "outbound_pci_stalled_rd_events",
        "outbound_pci_stalled_wr_events", "outbound_pci_buffer_overflow", "rx_corrected_bits_phy",
    ), 0) | {"link_down_events_phy": 0}  # fmt: skip
    for priority in range(8):
        traffic = (419_873_392_068, 40_177_770_079) if priority == 3 else (91_234, 81_230) if not priority else (0, 0)
        for side, packets in zip(("rx", "tx"), traffic, strict=True):
            values |= {f"{side}_prio{priority}_packets": packets, f"{side}_prio{priority}_bytes": 800 * packets}
        for kind in ("discards", "buf_discard", "cong_discard", "marked"):
            values[f"rx_prio{priority}_{kind}"] = 0
    for name in [f"prio{p}" for p in paused] or ["global"]:
        for side, frames in (("rx", 2847 if paused else 0), ("tx", 41 if paused else 0)):
            values |= {f"{side}_{name}_pause": frames, f"{side}_{name}_pause_duration": 1_000_000 * frames}
        values[f"rx_{name}_pause_transition"] = 1420 if paused else 0
    return values


def _dcb(enabled: int, own_class: int) -> dict[str, object]:
    """Return the DCB state of `mlnx_qos --trust dscp --pfc 0,0,0,1,0,0,0,0` with a class for RDMA and one for CNPs."""
    lossless = [1 if enabled >> p & 1 else 0 for p in range(8)]
    prio_tc = [own_class if p == own_class else 6 if p == 6 else 0 for p in range(8)]
    return {
        "pfc": {
            "cap": 8, "enabled": enabled, "mbc": False, "delay": 7,
            "requests": [41 * x for x in lossless], "indications": [2847 * x for x in lossless],
        },
        "ets": {
            "willing": 0, "cap": 8, "cbs": 0, "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0], "tc_rx_bw": [0] * 8,
            "tc_tsa": [2, 2, 2, 2, 2, 2, 0, 2], "prio_tc": prio_tc,
        },
        "app": [[5, dscp >> 3, dscp] for dscp in reversed(range(64))],
        "maxrate_kbps": [0] * 8,
        "buffer": {
            "prio2buffer": lossless, "total": 1_027_728,
            "size": [245_760, 768_000, 0, 0, 0, 0, 0, 0] if enabled else [1_013_760, 0, 0, 0, 0, 0, 0, 0],
        },
        "dcbx": 9,
    }  # fmt: skip


_400G = ("100000baseSR4/Full", "200000baseCR4/Full", "400000baseCR4/Full", "400000baseSR4/Full")
_200G = ("25000baseCR/Full", "50000baseCR/Full", "100000baseCR4/Full", "200000baseCR4/Full")
_100G = ("10000baseSR/Full", "25000baseCR/Full", "50000baseCR/Full", "100000baseCR4/Full")

CX7 = Adapter(
    driver="mlx5_core",
    ids=("0x15b3", "0x1021", "0x15b3", "0x0041"),
    files={"board_id": "MT_0000000838", "hca_type": "MT4129", "hw_rev": "0x0", "fw_ver": "28.43.2026"},
    counters=_COUNTERS,
    hw_counters=_HW_COUNTERS,
    statistics=_statistics((3,)),
    modes=_400G,
    source=_NAMES,
    dcb=_dcb(1 << 3, 3),
    firmware="28.43.2026 (MT_0000000838)",
    storm_ms=8000,
    reported=_CX7_TYPE,
)
#: the same adapter, made for two ports of 200 Gb/s
CX7_DUAL = replace(
    CX7,
    ids=("0x15b3", "0x1021", "0x15b3", "0x0023"),
    files=CX7.files | {"board_id": "MT_0000000892"},
    modes=_200G,
)
#: one of the two ports of half the adapter's rate
CX8 = replace(
    CX7,
    ids=("0x15b3", "0x1023", "0x15b3", "0x0061"),
    files=CX7.files | {"board_id": "MT_0000001245", "hca_type": "MT4131", "fw_ver": "40.45.1200"},
    modes=_400G,
    reported={},
)
CX6DX = replace(
    CX7,
    ids=("0x15b3", "0x101d", "0x15b3", "0x0016"),
    files={"board_id": "MT_0000000436", "hca_type": "MT4125", "hw_rev": "0x0", "fw_ver": "22.38.1900"},
    modes=_100G,
    firmware="22.38.1900 (MT_0000000436)",
    reported=_CX6DX_TYPE,
)
CX6_HDR = replace(
    CX7,
    ids=("0x15b3", "0x101b", "0x15b3", "0x0007"),
    files={"board_id": "MT_0000000223", "hca_type": "MT4123", "hw_rev": "0x0", "fw_ver": "20.39.1002"},
    pci_class="0x020700",
    reported={},
)
CX7_IB = replace(CX7, pci_class="0x020700")
BF3 = replace(
    CX7,
    ids=("0x15b3", "0xa2dc", "0x15b3", "0x0031"),
    files={"board_id": "MT_0000000884", "hca_type": "MT41692", "hw_rev": "0x1", "fw_ver": "32.43.2026"},
    modes=_200G,
    firmware="32.43.2026 (MT_0000000884)",
    reported={},
)
#: PFC off; the adapters retransmit, and did so a lot in their life
CX7_LOSSY = replace(
    CX7,
    dcb=_dcb(0, 3),
    statistics=_statistics(()),
    hw_counters=_HW_COUNTERS | _LOSSY,
    reported=_CX7_TYPE | dict.fromkeys(_LOSSY, Source("reported", "https://github.com/NVIDIA/nccl/issues/394")),
)
#: a virtual function: no port of its own, so neither DCB nor pause nor FEC, and no counter of the wire
CX7_VF = replace(
    CX7,
    ids=("0x15b3", "0x101e", "0x15b3", "0x0041"),
    files=CX7.files | {"hca_type": "MT4126"},
    reported={},
    statistics=_statistics((), physical=False),
    vf=True,
    storm_ms=None,
)
_CC = {
    "np_cnp_dscp": "48", "np_cnp_prio_mode": "1", "np_cnp_prio": "6", "np_min_time_between_cnps": "4",
    "rp_clamp_tgt_rate": "0", "rp_clamp_tgt_rate_ati": "1", "rp_time_reset": "300", "rp_byte_reset": "32767",
    "rp_threshold": "1", "rp_ai_rate": "5", "rp_max_rate": "0", "rp_hai_rate": "50", "rp_min_dec_fac": "50",
    "rp_min_rate": "1", "rp_rate_to_set_on_first_cnp": "0", "rp_dce_tcp_g": "1019", "rp_dce_tcp_rtt": "1",
    "rp_rate_reduce_monitor_period": "4", "rp_initial_alpha_value": "1023", "rp_gd": "11",
}  # fmt: skip


def congestion_control(machine: Machine, port: Port) -> None:
    """Add the inbox driver's debugfs files; only root can read them."""
    base = f"/sys/kernel/debug/mlx5/{port.address}/cc_params"
    source = Source("constructed", "drivers/infiniband/hw/mlx5/cong.c, defaults of the DCQCN parameters")
    machine.say({f"list {base}": sorted(_CC)} | {f"read {base}/{name}": value for name, value in _CC.items()}, source)


def ofed(machine: Machine, port: Port) -> None:
    """Add the files that only the vendor's driver package has."""
    source = Source("constructed", "https://github.com/Mellanox/mlnx-tools")
    net = f"{NET}/{port.interface}"
    values = {f"{net}/ecn/{side}/enable/{p}": "1" for side in ("roce_np", "roce_rp") for p in range(8)}
    values |= {
        f"{net}/ecn/roce_np/cnp_dscp": "48", f"{net}/ecn/roce_np/cnp_802p_prio": "6",
        f"{net}/ecn/roce_np/min_time_between_cnps": "4", f"{net}/qos/trust": "dscp",
        f"{IB}/{port.device}/tc/1/traffic_class": "Global tclass=106", "/sys/module/mlx5_core/version": "24.10-1.1.4",
    }  # fmt: skip
    machine.say({f"read {name}": value for name, value in values.items()}, source)
    machine.say({f"list {net}/ecn": ["roce_np", "roce_rp"]}, source)
