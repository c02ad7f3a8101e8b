"""The kernel's software RoCE (drivers/infiniband/sw/rxe/rxe_hw_counters.c) and the software interfaces it runs on.

completer_retry_err counts every retry, those for a peer's NAK among them: there is no count of time-outs alone.
"""

from . import EthNames, RdmaNames

DRIVERS = ("rxe",)
RDMA = RdmaNames(
    out_of_order=("out_of_seq_request",),
    retransmit=("rcvd_seq_err",),
    timeouts=("completer_retry_err",),
    gave_up=("retry_exceeded_err",),
    received=("rcvd_pkts",),
    sent=("sent_pkts",),
)
INTERFACES = ("veth", "virtio_net", "dummy", "bridge")
ETH = EthNames()
