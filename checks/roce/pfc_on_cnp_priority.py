from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def pfc_on_cnp_priority(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the priority of congestion notification packets («cnp_priority») is paused by PFC.

    ## Why it matters
    CNPs tell a sender to slow down. In a paused class they wait behind the congestion they report, so senders slow
    down too late and pausing spreads through the fabric.

    ## How to fix
    Switch PFC off on that priority, on the host and on the switch; the switch serves it with strict priority
    instead.
    """
    cnp = wanted(expect.cnp_priority)
    lossless = wanted(expect.lossless_priorities)
    if cnp in lossless or cnp not in known(link.pfc_priorities):
        return None
    return Fault(
        saw=f"PFC on {cnp}, the priority of CNPs",
        want=f"PFC off on {cnp}",
        fix=link.to_pause(lossless),
    )
