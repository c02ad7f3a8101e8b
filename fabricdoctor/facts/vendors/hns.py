"""HiSilicon (hns3 with hns_roce). It counts CNPs and pause frames, but no packet out of order and no time-out.

Names: drivers/infiniband/hw/hns/hns_roce_main.c and drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c.
"""

from . import EthNames, RdmaNames

DRIVERS = ("hns3",)
RDMA = RdmaNames(cnp_sent=("tx_cnp_pkt",), cnp_handled=("rx_cnp_pkt",), received=("rx_pkt",), sent=("tx_pkt",))
ETH = EthNames(
    pfc_received_frames="mac_rx_pfc_pri{p}_pkt_num",
    pfc_sent_frames="mac_tx_pfc_pri{p}_pkt_num",
)
