"""Broadcom NetXtreme (bnxt_en with bnxt_re).

Names: drivers/infiniband/hw/bnxt_re/hw_counters.c and drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c.
"""

from . import CcFiles, EthNames, RdmaNames

DRIVERS = ("bnxt_en",)
RDMA = RdmaNames(
    out_of_order=("out_of_sequence",),
    retransmit=("packet_seq_err", "implied_nak_seq_err"),
    timeouts=("local_ack_timeout_err",),
    packets=(("hw_counters", "rx_pkts"), ("hw_counters", "tx_pkts")),
)
ETH = EthNames(
    pfc_received_us="pfc_pri{p}_rx_duration_us",
    pfc_sent_us="pfc_pri{p}_tx_duration_us",
    discards="rx_discard_packets_cos{p}",
    port_discards="rx_stat_discard",
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
