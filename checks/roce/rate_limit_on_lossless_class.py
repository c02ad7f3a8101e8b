from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, known_or, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def rate_limit_on_lossless_class(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the adapter limits the rate of a lossless priority's traffic class to less than the link's.

    ## Why it matters
    A limit left from a test or from another use of the node caps RDMA at its value, and no error counter moves.

    ## How to fix
    Take the limit away. Where it is on purpose, leave this check out for these nodes.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless:
        return None
    limits = known(link.rate_limits)
    classes = {known(link.classes).of_priority[p] for p in lossless}
    limited = {tc: rate for tc in sorted(classes) if (rate := limits[tc]) and rate < known(link.gbps)}
    if not limited:
        return None
    return Fault(
        saw="; ".join(f"traffic class {tc} is limited to {rate:g} Gb/s" for tc, rate in limited.items())
        + f" on a link of {known_or(link.gbps, 0):g} Gb/s",
        want=f"no limit for priority {join(lossless)}",
        fix=f"dcb maxrate set dev {link.netdev} tc-maxrate " + " ".join(f"{tc}:0" for tc in limited),
    )
