"""Microsoft Azure mana: the provider manages its QoS, and ECN marks and CNPs are counted by device, not by port.

Names: drivers/infiniband/hw/mana/counters.c.
"""

from . import EthNames, RdmaNames

DRIVERS = ("mana",)
RDMA = RdmaNames(
    out_of_order=("responder_oos",),
    retransmit=("requester_oos_nak", "requester_implicit_nak"),
    timeouts=("requester_timeout",),
    gave_up=("requester_retries_exceeded",),
    ecn_marked=("device/received_ecns",),
    cnp_sent=("device/sent_cnps",),
    cnp_handled=("device/received_cnp_count",),
    received=("rx_packets",),
    sent=("tx_packets",),
)
ETH = EthNames(dcb=False)
