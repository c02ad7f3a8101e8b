from fabricdoctor.check import Expect, Fault, Port, Severity, check, known, wanted


@check(
    over=lambda node: node.roce_ports,
    severity=Severity.WARNING,
    explained_by=("qos-chain-broken", "ecn-off-on-lossless-priority"),
)
def ecn_marks_without_cnp(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Packets that arrived with an ECN mark between two samples, and the CNPs sent for them, where the site uses DCQCN
    («congestion_control»): 1000 marks or more, and less than one CNP for 10,000 of them.

    ## Why it matters
    Switches mark packets as a queue fills, and the receiver tells the sender to slow down. A receiver that does not
    leaves the queue to fill until PFC pauses it: congestion spreads instead of ending at its source.

    ## How to fix
    Switch the notification point on for the priority of RDMA: in the vendor's driver under
    /sys/class/net/INTERFACE/ecn/roce_np/enable, in firmware with mlxconfig's ROCE_CC_PRIO_MASK_P1 (takes a reset); with
    niccli or nicctl on other adapters. Then compare: all receivers need the same.
    """
    if wanted(expect.congestion_control) != "dcqcn":
        return None
    marked, sent = known(port.notices.marked), known(port.notices.cnp_sent)
    if marked < max(1000, 10_000 * sent):
        return None
    return Fault(
        saw=f"{marked} packets with ECN marks, {sent} CNPs sent in {known(port.notices.seconds):.0f} s",
        want="a CNP for marked packets, at least one in some hundred",
        fix=f"mlxconfig -d {port.device} set ROCE_CC_PRIO_MASK_P1=255, or niccli, nicctl for other adapters",
    )
