"""NVIDIA ConnectX and BlueField (mlx5).

Names: drivers/infiniband/hw/mlx5/counters.c and the kernel's
Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. Per-priority names are there while PFC is
on for that priority, those of 802.3x pause otherwise; the vendor's driver has the same ones.
"""

from . import CcFiles, EthNames, RdmaNames

DRIVERS = ("mlx5_core", "mlx5_core.sf")
RDMA = RdmaNames(
    out_of_order=("out_of_sequence",),
    retransmit=("packet_seq_err", "implied_nak_seq_err"),
    timeouts=("local_ack_timeout_err",),
    gave_up=("req_transport_retries_exceeded",),
    flushed=("req_cqe_flush_error",),
    ecn_marked=("np_ecn_marked_roce_packets",),
    cnp_sent=("np_cnp_sent",),
    cnp_handled=("rp_cnp_handled",),
    cnp_ignored=("rp_cnp_ignored",),
)
ETH = EthNames(
    pfc_received_us="rx_prio{p}_pause_duration",
    pfc_sent_us="tx_prio{p}_pause_duration",
    pause_received_us="rx_global_pause_duration",
    pause_sent_us="tx_global_pause_duration",
    pfc_received_frames="rx_prio{p}_pause",
    pfc_sent_frames="tx_prio{p}_pause",
    pause_received_frames="rx_global_pause",
    pause_sent_frames="tx_global_pause",
    storm_warnings="tx_pause_storm_warning_events",
    storm_errors="tx_pause_storm_error_events",
    discards="rx_prio{p}_discards",
    port_discards="rx_discards_phy",
    sent_bytes="tx_bytes_phy",
    corrupted="rx_crc_errors_phy",
    fec_corrected_bits="rx_corrected_bits_phy",
    cable_length=True,
)

_ECN = "/sys/class/net/{netdev}/ecn"
_PARAMETERS = "/sys/kernel/debug/mlx5/{pci}/cc_params"
#: NVIDIA's own packages of the driver, then the kernel's (drivers/infiniband/hw/mlx5/cong.c), which does not show on
#: which priorities it is on: that is in the firmware's settings.
CC = (
    CcFiles(
        probe=_ECN + "/roce_np/cnp_dscp",
        notify=_ECN + "/roce_np/enable/{p}",
        react=_ECN + "/roce_rp/enable/{p}",
        cnp_dscp=_ECN + "/roce_np/cnp_dscp",
        cnp_priority=_ECN + "/roce_np/cnp_802p_prio",
        turn_on="for half in np rp; do echo 1 > " + _ECN + "/roce_$half/enable/{p}; done",
    ),
    CcFiles(
        probe=_PARAMETERS + "/np_cnp_dscp",
        cnp_dscp=_PARAMETERS + "/np_cnp_dscp",
        cnp_priority=_PARAMETERS + "/np_cnp_prio",
    ),
)
