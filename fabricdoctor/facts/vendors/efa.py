"""Amazon EFA: its transport reorders and retransmits by design, and the provider manages its QoS."""

from . import EthNames, RdmaNames

DRIVERS = ("efa", "ena")
RDMA = RdmaNames(
    timeouts=("retrans_timeout_events",),
    packets=(("hw_counters", "rx_pkts"), ("hw_counters", "tx_pkts")),
    ordered=False,
)
ETH = EthNames(dcb=False)
