"""The kernel's software RoCE (drivers/infiniband/sw/rxe/rxe_hw_counters.c)."""

from . import RdmaNames

DRIVERS = ("rxe",)
RDMA = RdmaNames(
    out_of_order=("out_of_seq_request",),
    retransmit=("rcvd_seq_err",),
    timeouts=("completer_retry_err",),
    packets=(("hw_counters", "rcvd_pkts"), ("hw_counters", "sent_pkts")),
)
