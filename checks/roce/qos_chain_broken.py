from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, known_or, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def qos_chain_broken(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The way of an RDMA packet into the lossless class, in order: trust, DSCP to priority, PFC on that priority,
    global pause in PFC's place. It names the first broken link; further ones are shown under it.

    ## Why it matters
    The chain is as good as its weakest link: one wrong setting makes RDMA lossy, and nothing fails until many
    nodes send to one.

    ## How to fix
    Repair the link that is named, run again, and go on to the next. Then compare with the switch port.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless:
        return None
    name, dscp = link.netdev, expect.dscp
    if expect.trust is not None and (trust := known(link.trust)) != expect.trust:
        saw = f"first broken link: trust; packets are classified by {trust.upper()}"
        return Fault(saw, f"by {expect.trust.upper()}", f"mlnx_qos -i {name} --trust {expect.trust}")
    if dscp is not None and expect.trust == "dscp" and (priority := known(link.priority_of(dscp))) not in lossless:
        saw = f"first broken link: classification; DSCP {dscp} gets priority {priority}"
        return Fault(saw, f"priority {join(lossless)}", f"dcb app replace dev {name} dscp-prio {dscp}:{min(lossless)}")
    if not lossless <= (paused := known(link.pfc_priorities)):
        on = " ".join(f"{p}:on" for p in sorted(lossless))
        saw = "first broken link: PFC; it is " + (f"on priority {join(paused)}" if paused else "off")
        return Fault(saw, f"PFC on priority {join(lossless)}", f"dcb pfc set dev {name} prio-pfc all:off {on}")
    if known_or(link.globally_paused, default=False):  # global-pause-with-pfc tells when it is not known
        severity = Severity.CRITICAL if link.paused_by_802_3x else Severity.WARNING
        fix = f"ethtool -A {name} autoneg off rx off tx off"
        return Fault("first broken link: 802.3x pause is on in PFC's place", "802.3x pause off", fix, severity)
    return None
