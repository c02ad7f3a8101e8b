from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def ecn_off_on_lossless_priority(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether congestion control is on for each lossless priority: marked packets are answered with CNPs, and CNPs slow
    the sender. Only where the site wants any («congestion_control»).

    ## Why it matters
    Without it only pause frames hold traffic back. They stop whole links, and under incast the stop spreads from
    switch to switch.

    ## How to fix
    Switch both halves on, for the lossless priority, on every node: a node that does not answer marks slows nobody
    down. The switch must mark (ECN, WRED) on the same queue.
    """
    if wanted(expect.congestion_control) == "off":
        return None
    lossless = wanted(expect.lossless_priorities)
    off = lossless - known(link.congestion.on)
    if not off:
        return None
    halves = {
        "answering marks with CNPs": off - known(link.congestion.notify),
        "slowing down on CNPs": off - known(link.congestion.react),
    }
    return Fault(
        saw="; ".join(f"{half} is off on priority {join(p)}" for half, p in halves.items() if p),
        want=f"both on for priority {join(lossless)}",
        fix="; ".join(link.congestion.turn_on.replace("{p}", str(p)) for p in sorted(off)),
    )
