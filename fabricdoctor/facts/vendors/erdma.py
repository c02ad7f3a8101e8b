"""Alibaba Cloud erdma: it counts packets and bytes, and no loss (drivers/infiniband/hw/erdma/erdma_verbs.c)."""

from . import RdmaNames

DRIVERS = ("erdma",)
RDMA = RdmaNames(
    received=("rx_packets_cnt", "hw_rx_packets_cnt"), sent=("tx_packets_cnt", "hw_tx_packets_cnt"), ordered=False
)
