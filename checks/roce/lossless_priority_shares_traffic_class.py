from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def lossless_priority_shares_traffic_class(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether a priority that is not lossless is in the traffic class (queue) of one that is («lossless_priorities»).

    ## Why it matters
    Pausing stops the queue, not the priority: ordinary traffic in it stops too, and fills the buffer that was meant
    for RDMA.

    ## How to fix
    Give the lossless priority a traffic class of its own, on the host as on the switch.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless or not (beside := known(link.classes).beside(lossless)):
        return None
    classes = known(link.classes).of_priority
    free = next((tc for tc in sorted(lossless) if tc not in {classes[p] for p in range(8) if p not in lossless}), None)
    to = " ".join(f"{p}:{free}" for p in sorted(lossless)) if free is not None else "PRIORITY:CLASS ..."
    return Fault(
        saw=f"priority {join(lossless)} shares its traffic class with {join(beside)}",
        want=f"a traffic class for {join(lossless)} alone",
        fix=f"dcb ets set dev {link.netdev} prio-tc {to}",
    )
