from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def lossless_class_without_bandwidth(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The share of bandwidth (ETS) of the traffic class of each lossless priority: none at all, or less than
    «lossless_bandwidth» percent.

    ## Why it matters
    A class with a share of 0 sends only what all others leave. Under load RDMA then waits for storage or management
    traffic, and looks like a slow network.

    ## How to fix
    Give the class its share, on the host as on the switch: half or more for a fabric that is there for training.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless:
        return None
    share = known(link.classes).least_percent(lossless)
    least = 1 if expect.lossless_bandwidth is None else expect.lossless_bandwidth
    if share is None or share >= least:
        return None
    classes = sorted({known(link.classes).of_priority[p] for p in lossless})
    shares = " ".join(f"{tc}:PERCENT" for tc in classes)
    return Fault(
        saw=f"traffic class {join(classes)} of priority {join(lossless)} has {share} % of the bandwidth",
        want="a share of its own" if expect.lossless_bandwidth is None else f"at least {least} %",
        fix=f"dcb ets set dev {link.netdev} tc-bw {shares} (all add up to 100)",
    )
