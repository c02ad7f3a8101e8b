"""AMD Pensando (ionic). No DCB interface: QoS is read and set by `nicctl`. RDMA names come from the firmware.

Interface names: drivers/net/ethernet/pensando/ionic/ionic_stats.c; the time paused is counted in steps of 1 us.
"""

from . import EthNames, RdmaNames

DRIVERS = ("ionic",)
RDMA = RdmaNames(
    out_of_order=("resp_rx_outouf_seq",),
    retransmit=("req_rx_pkt_seq_err", "req_rx_impl_nak_seq_err"),
    timeouts=("tx_rdma_ack_timeout",),
    gave_up=("req_tx_retry_excd_err",),
    flushed=("req_rx_cqe_flush",),
    ecn_marked=("rx_rdma_ecn_pkts",),
    cnp_sent=("tx_rdma_cnp_pkts",),
    cnp_handled=("rx_rdma_cnp_pkts",),
    received=("rx_rdma_ucast_pkts",),
    sent=("tx_rdma_ucast_pkts",),
)
ETH = EthNames(
    pfc_received_us="rx_pripause_{p}_1us_count",
    pfc_sent_us="tx_pripause_{p}_1us_count",
    pause_received_frames="frames_rx_pause",
    pause_sent_frames="frames_tx_pause",
    port_discards="hw_rx_dropped",
    corrupted="frames_rx_bad_fcs",
    dcb=False,
)
