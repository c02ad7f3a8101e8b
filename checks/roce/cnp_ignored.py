from fabricdoctor.check import Expect, Fault, Port, Severity, check, known, wanted


@check(over=lambda node: node.roce_ports, severity=Severity.WARNING, explained_by=("ecn-off-on-lossless-priority",))
def cnp_ignored(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    CNPs that arrived between two samples and did not slow anything down, where the site uses DCQCN
    («congestion_control»): 1000 or more, and more than a tenth of all CNPs.

    ## Why it matters
    A CNP says that this node's packets fill a queue. A sender that ignores it keeps on filling, so that others are
    marked or paused for it.

    ## How to fix
    Switch the reaction point on for the priority of RDMA: in the vendor's driver under
    /sys/class/net/INTERFACE/ecn/roce_rp/enable, in firmware with mlxconfig's ROCE_CC_PRIO_MASK_P1 (takes a reset); with
    niccli or nicctl on other adapters.
    """
    if wanted(expect.congestion_control) != "dcqcn":
        return None
    ignored, handled = known(port.notices.cnp_ignored), known(port.notices.cnp_handled)
    if ignored < max(1000, (ignored + handled) / 10):
        return None
    return Fault(
        saw=f"{ignored} of {ignored + handled} CNPs ignored in {known(port.notices.seconds):.0f} s",
        want="CNPs that slow the sender down",
        fix=f"mlxconfig -d {port.device} set ROCE_CC_PRIO_MASK_P1=255, or niccli, nicctl for other adapters",
    )
