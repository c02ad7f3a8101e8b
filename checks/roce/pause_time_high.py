from fabricdoctor.check import Expect, Fault, Link, Severity, check, known


@check(over=lambda node: node.links, severity=Severity.WARNING, explained_by=("pfc-storm",))
def pause_time_high(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The share of time between two samples in which this link was paused, received and sent apart, for each PFC
    priority and for 802.3x pause; against «max_pause_share», a tenth unless set. Where the adapter counts pause frames
    and not the time, they can show that it was little, and never that it was much.

    ## Why it matters
    Received: the fabric or a slow peer holds this node back, and the cause lies elsewhere. Sent: this node cannot
    take what arrives, and slows down everyone who sends to it. Both: the counters do not tell which came first.

    ## How to fix
    Sent: look for a PCIe link below its width or speed, an IOMMU that translates, memory on the wrong NUMA node,
    ACS between GPU and adapter. Received: find the node that sends pause; it is on the same switch or behind it.
    ECN that marks too late shows as pause on many nodes.
    """
    allowed = 0.1 if expect.max_pause_share is None else expect.max_pause_share
    seen = {"sent": link.counters.most_paused("sent", allowed)}
    seen["received"] = link.counters.most_paused("received", allowed)
    high = {way: pause for way, pause in seen.items() if isinstance(pause, tuple)}
    if not high:
        known(seen["sent"])
        known(seen["received"])
        return None
    means = "our own receive path is slow" if "sent" in high else "the fabric or a peer throttles us"
    means = "this node holds others back and is held back" if len(high) > 1 else means
    look = f"lspci -vv | grep LnkSta; dmesg | grep -i iommu; ethtool -S {link.netdev} | grep pci"
    return Fault(
        saw=", ".join(f"{cause} {way} {share:.0%} of the time" for way, (share, cause) in high.items()) + f": {means}",
        want=f"at most {allowed:.0%}",
        fix=look if "sent" in high else f"ethtool -S {link.netdev} | grep pause, on the peers: who sends?",
    )
