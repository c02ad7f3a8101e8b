from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def pfc_on_too_many_priorities(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    PFC on priorities outside «lossless_priorities». Priority 0 and that of CNPs are findings of their own.

    ## Why it matters
    Each paused priority takes buffer from the lossless one, and lets one slow receiver stop traffic that needed no
    protection. On a lossy fabric nobody expects pause frames at all.

    ## How to fix
    Switch the others off, on the host and on the switch port alike.
    """
    lossless = wanted(expect.lossless_priorities)
    paused = known(link.pfc_priorities)
    more = paused - lossless - {0, expect.cnp_priority}
    if not more or not lossless <= paused:
        return None
    return Fault(
        saw=f"PFC also on {join(more)}",
        want=f"PFC on {join(lossless)} only",
        fix=link.to_pause(lossless),
    )
