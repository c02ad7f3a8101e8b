"""Broadcom NetXtreme (bnxt_en with bnxt_re).

Names: drivers/infiniband/hw/bnxt_re/hw_counters.c and drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c. Up to Linux
6.17 bnxt_re had names of its own; from 6.18 on they are mlx5's, but for np_cnp_pkts, which is np_cnp_sent in the
vendor's own driver. rx_discard_packets_cosN counts by hardware queue, not by priority, and says nothing of one.
"""

from . import CcFiles, EthNames, RdmaNames

DRIVERS = ("bnxt_en",)
RDMA = RdmaNames(
    out_of_order=("out_of_sequence", "oos_drop_count"),
    retransmit=("packet_seq_err", "implied_nak_seq_err", "seq_err_naks_rcvd", "missing_resp"),
    timeouts=("local_ack_timeout_err", "to_retransmits"),
    gave_up=("max_retry_exceeded",),
    flushed=("req_cqe_flush_error",),
    discards=("rx_roce_discards",),
    ecn_marked=("np_ecn_marked_roce_packets", "rx_ecn_marked_pkts"),
    cnp_sent=("np_cnp_pkts", "np_cnp_sent", "tx_cnp_pkts"),
    cnp_handled=("rp_cnp_handled", "rx_cnp_pkts"),
    cnp_ignored=("rp_cnp_ignored",),
    received=("rx_pkts",),
    sent=("tx_pkts",),
)
ETH = EthNames(
    pfc_received_us="pfc_pri{p}_rx_duration_us",
    pfc_sent_us="pfc_pri{p}_tx_duration_us",
    pfc_received_frames="rx_pfc_ena_frames_pri{p}",
    pfc_sent_frames="tx_pfc_ena_frames_pri{p}",
    pause_received_frames="rx_pause_frames",
    pause_sent_frames="tx_pause_frames",
    port_discards="rx_stat_discard",
    sent_bytes="tx_bytes",
    corrupted="rx_fcs_err_frames",
    fec_uncorrectable="rx_fec_uncorrectable_blocks",
    firmware_dcb=True,
)

_OWN, _INBOX = "/sys/kernel/config/bnxt_re/{device}/ports/{port}/cc", "/sys/kernel/debug/bnxt_re/{pci}/cc_config"
#: Broadcom's own package shows it where someone made the directory, the kernel's driver for root
#: (drivers/infiniband/hw/bnxt_re/debugfs.c).
CC = (
    CcFiles(
        probe=_OWN + "/ecn_enable",
        enabled=_OWN + "/ecn_enable",
        cnp_dscp=_OWN + "/cnp_dscp",
        cnp_priority=_OWN + "/cnp_prio",
        algorithm="dcqcn",
        turn_on=f"echo 1 > {_OWN}/ecn_enable; echo 1 > {_OWN}/apply",
    ),
    CcFiles(
        probe=_INBOX + "/enable_cc",
        enabled=_INBOX + "/enable_cc",
        cnp_dscp=_INBOX + "/alt_vlan_dscp",
        cnp_priority=_INBOX + "/alt_vlan_pcp",
        algorithm="dcqcn",
        turn_on=f"echo 1 > {_INBOX}/enable_cc",
    ),
)
