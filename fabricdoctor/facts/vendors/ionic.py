"""AMD Pensando (ionic). No DCB interface: QoS is read and set by `nicctl`. Names come from the firmware."""

from . import EthNames, RdmaNames

DRIVERS = ("ionic",)
RDMA = RdmaNames(
    out_of_order=("resp_rx_outouf_seq",),
    retransmit=("req_rx_pkt_seq_err", "req_rx_impl_nak_seq_err"),
    timeouts=("tx_rdma_ack_timeout",),
    packets=(("hw_counters", "rx_rdma_ucast_pkts"), ("hw_counters", "tx_rdma_ucast_pkts")),
)
ETH = EthNames(port_discards="hw_rx_dropped", dcb=False)
