from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known


@check(over=lambda node: node.links, severity=Severity.WARNING)
def global_pause_with_pfc(link: Link, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether 802.3x (global) pause is on together with PFC. It is critical while such pauses are being counted.

    ## Why it matters
    Global pause stops the whole port, management and congestion notifications included. Many adapters honour only
    one of the two: with global pause on, PFC may not act at all.

    ## How to fix
    Switch global pause off on the host and on the switch port.
    """
    paused = known(link.pfc_priorities)
    if not paused or not known(link.globally_paused):
        return None
    return Fault(
        saw=f"802.3x pause is on beside PFC on {join(paused)}",
        want="802.3x pause off",
        fix=f"ethtool -A {link.netdev} autoneg off rx off tx off",
        severity=Severity.CRITICAL if link.paused_by_802_3x else None,
    )
