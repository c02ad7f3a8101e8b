from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def dscp_not_mapped_to_lossless_priority(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Which priority a packet with the DSCP of RDMA («dscp») gets on each rail that trusts DSCP.

    ## Why it matters
    Mapped to another priority, RDMA arrives in a class that is not protected: PFC never triggers for it, and the
    adapter drops what it cannot take.

    ## How to fix
    Map the DSCP on the host as on the switch. NCCL sends with it when NCCL_IB_TC is four times the DSCP.
    """
    dscp = wanted(expect.dscp)
    lossless = wanted(expect.lossless_priorities)
    if not lossless or known(link.trust) != "dscp":
        return None
    priority = known(link.priority_of(dscp))
    if priority in lossless:
        return None
    return Fault(
        saw=f"DSCP {dscp} gets priority {priority}",
        want=f"priority {join(lossless)}",
        fix=link.to_map(dscp, min(lossless)),
    )
