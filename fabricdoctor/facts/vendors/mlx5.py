"""NVIDIA ConnectX and BlueField (mlx5).

Names: the kernel's Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst.
"""

from . import EthNames, RdmaNames

DRIVERS = ("mlx5_core",)
RDMA = RdmaNames(
    out_of_order=("out_of_sequence",),
    retransmit=("packet_seq_err", "implied_nak_seq_err"),
    timeouts=("local_ack_timeout_err",),
)
ETH = EthNames(
    pfc_received_us="rx_prio{p}_pause_duration",
    pfc_sent_us="tx_prio{p}_pause_duration",
    pause_received_us="rx_global_pause_duration",
    pause_sent_us="tx_global_pause_duration",
    discards="rx_prio{p}_discards",
    port_discards="rx_discards_phy",
)
