from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def pfc_on_default_priority(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether priority 0, where everything unclassified goes, is paused by PFC although it is not to be lossless.

    ## Why it matters
    ssh, storage, metrics and the scheduler then stop whenever some receiver is slow, and their packets fill the
    buffers that were meant for RDMA.

    ## How to fix
    Switch PFC off on priority 0. If RDMA runs there because nothing classifies it, classify it first (DSCP to
    priority), on host and switch.
    """
    lossless = wanted(expect.lossless_priorities)
    if 0 in lossless or 0 not in known(link.pfc_priorities):
        return None
    return Fault(
        saw="PFC on 0, the default priority",
        want="PFC off on 0",
        fix=link.to_pause(lossless),
    )
