from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, known_or, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def cnp_maps_to_paused_class(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The DSCP with which the adapter sends congestion notification packets, and the priority and traffic class such
    packets get here: are they paused by PFC? Only where the site wants congestion control.

    ## Why it matters
    A CNP that waits behind the congestion it reports comes too late: senders go on, and pausing spreads.

    ## How to fix
    Send CNPs with a DSCP of their own (48 is usual), mapped to a priority without PFC that the switch serves first.
    """
    lossless = wanted(expect.lossless_priorities)
    if wanted(expect.congestion_control) == "off" or not lossless:
        return None
    dscp, paused = known(link.congestion.cnp_dscp), known(link.pfc_priorities)
    priority = known(link.priority_of(dscp))
    if known(link.trust) != "dscp":
        return None  # trust-mismatch tells
    beside = frozenset() if priority in paused else paused & known(link.classes).beside({priority})
    if priority not in paused and not beside:
        return None
    where = "which is paused" if priority in paused else f"in the traffic class of {join(beside)}, which is paused"
    free = expect.cnp_priority if expect.cnp_priority is not None else known_or(link.congestion.cnp_priority, 6)
    fix = link.to_map(dscp, free)
    if dscp == expect.dscp:  # RDMA's own: it has to stay where it is
        fix = f"echo 48 > /sys/class/net/{link.netdev}/ecn/roce_np/cnp_dscp, or with the vendor's tool"
    elif free in paused - lossless:
        fix = link.to_pause(lossless)
    elif free == priority:
        fix = f"dcb ets set dev {link.netdev} prio-tc {priority}:CLASS"
    return Fault(
        saw=f"CNPs are sent with DSCP {dscp}: priority {priority}, {where}",
        want="a priority and class without PFC",
        fix=fix,
    )
