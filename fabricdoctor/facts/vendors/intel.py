"""Intel E810, E830 (ice with irdma) and X722 (i40e). They count pause frames, not the time spent paused.

Names: drivers/infiniband/hw/irdma/verbs.c and drivers/net/ethernet/intel/ice/ice_ethtool.c.
"""

from . import CcFiles, EthNames, RdmaNames

DRIVERS = ("ice", "i40e")
RDMA = RdmaNames(
    out_of_order=("Rcvd Out of order packets",),
    retransmit=("Nak Sequence Error",),
    timeouts=("RTO",),
    packets=(("hw_counters", "ip4InPkts"), ("hw_counters", "ip4OutPkts")),
)
ETH = EthNames(port_discards="rx_dropped.nic", firmware_dcb=True)

_OWN = "/sys/kernel/config/irdma/{device}/roce_dcqcn_enable"
#: Intel's own package only, and where someone made the directory; the kernel's driver has no such switch.
CC = (CcFiles(probe=_OWN, enabled=_OWN, algorithm="dcqcn", turn_on=f"echo 1 > {_OWN}"),)
