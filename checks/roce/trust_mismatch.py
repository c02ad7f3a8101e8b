from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def trust_mismatch(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    By what each RoCE rail classifies arriving packets, DSCP or the VLAN tag's priority (PCP), against «trust».

    ## Why it matters
    Routed packets carry no VLAN tag: a port that trusts PCP puts them all on priority 0. Everything else may be
    right, and still no packet reaches the lossless class.

    ## How to fix
    On drivers of mlx5 a DSCP entry in the application table switches the port to DSCP; mlnx_qos does it too.
    Persist it: the driver starts with PCP after each reload.
    """
    trust = wanted(expect.trust)
    found = known(link.trust)
    if found == trust:
        return None
    return Fault(
        saw=f"packets are classified by {found.upper()}",
        want=f"by {trust.upper()}",
        fix=f"mlnx_qos -i {link.netdev} --trust {trust}",
    )
