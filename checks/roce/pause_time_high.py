from fabricdoctor.check import Expect, Fault, Link, Severity, check, known


@check(over=lambda node: node.links, severity=Severity.WARNING)
def pause_time_high(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The share of time between two samples in which this link was paused, received and sent apart, for each PFC
    priority and for 802.3x pause; against «max_pause_share», a tenth unless set.

    ## Why it matters
    Received: the fabric or a slow peer holds this node back, and the cause lies elsewhere. Sent: this node cannot
    take what arrives, and slows down everyone who sends to it.

    ## How to fix
    Sent: look for a PCIe link below its width or speed, an IOMMU that translates, memory on the wrong NUMA node,
    ACS between GPU and adapter. Received: find the node that sends pause; it is on the same switch or behind it.
    ECN that marks too late shows as pause on many nodes.
    """
    allowed = 0.1 if expect.max_pause_share is None else expect.max_pause_share
    pauses = known(link.pauses)
    told = [(p.cause, way, s) for p in pauses for way, s in (("received", p.received), ("sent", p.sent))]
    shares = [(s, cause, way) for cause, way, s in told if isinstance(s, (int, float))]
    if not shares or max(shares)[0] <= allowed:
        for _, _, share in told:
            known(share)
        return None
    share, cause, way = max(shares)
    means = "the fabric or a peer throttles us" if way == "received" else "our own receive path is slow"
    look = f"lspci -vv | grep LnkSta; dmesg | grep -i iommu; ethtool -S {link.netdev} | grep pci"
    return Fault(
        saw=f"{cause} {way} {share:.0%} of the time: {means}",
        want=f"at most {allowed:.0%}",
        fix=look if way == "sent" else f"ethtool -S {link.netdev} | grep pause, on the peers: who sends?",
    )
