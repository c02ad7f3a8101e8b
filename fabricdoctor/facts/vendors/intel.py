"""Intel E810, E830 (ice with irdma), IPU (idpf with irdma) and X722 (i40e). They count pause frames, not the time.

Names: drivers/infiniband/hw/irdma/verbs.c and drivers/net/ethernet/intel/ice/ice_ethtool.c. Of these, the second
generation of irdma (E810) counts only ECN marks and CNPs; its RetransSegs are iWARP's. What it discards may be
stray packets of connections that are gone.
"""

from . import CcFiles, EthNames, RdmaNames

DRIVERS = ("ice", "i40e", "idpf")
RDMA = RdmaNames(
    out_of_order=("Rcvd Out of order packets",),
    retransmit=("Nak Sequence Error", "Nak Sequence Error Implied"),
    timeouts=("RTO",),
    ecn_marked=("RxECNMrkd",),
    cnp_sent=("cnpSent",),
    cnp_handled=("cnpHandled",),
    cnp_ignored=("cnpIgnored",),
    received=("ip4InPkts", "ip6InPkts"),
    sent=("ip4OutPkts", "ip6OutPkts"),
)
ETH = EthNames(
    pfc_received_frames="rx_priority_{p}_xoff.nic",
    pfc_sent_frames="tx_priority_{p}_xoff.nic",
    pause_received_frames="link_xoff_rx.nic",
    pause_sent_frames="link_xoff_tx.nic",
    port_discards="rx_dropped.nic",
    sent_bytes="tx_bytes.nic",
    corrupted="rx_crc_errors.nic",
    firmware_dcb=True,
)

_OWN = "/sys/kernel/config/irdma/{device}/roce_dcqcn_enable"
#: Intel's own package only, and where someone made the directory; the kernel's driver has no such switch.
CC = (CcFiles(probe=_OWN, enabled=_OWN, algorithm="dcqcn", turn_on=f"echo 1 > {_OWN}"),)
