"""Amazon EFA: its transport reorders and retransmits by design, and the provider manages its QoS.

Names: drivers/infiniband/hw/efa/efa_verbs.c.
"""

from . import EthNames, RdmaNames

DRIVERS = ("efa", "ena")
RDMA = RdmaNames(
    timeouts=("retrans_timeout_events",),
    gave_up=("unresponsive_remote_events",),
    received=("rx_pkts",),
    sent=("tx_pkts",),
    ordered=False,
)
ETH = EthNames(dcb=False)
