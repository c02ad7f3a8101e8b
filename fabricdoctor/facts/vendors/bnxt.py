"""Broadcom NetXtreme (bnxt_en with bnxt_re).

Names: drivers/infiniband/hw/bnxt_re/hw_counters.c and drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c.
"""

from . import EthNames, RdmaNames

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
)
