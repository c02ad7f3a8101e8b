from fabricdoctor.check import Expect, Fault, RailLink, Severity, check, join, known, wanted


@check(over=lambda node: node.nccl_links, severity=Severity.CRITICAL, explained_by=("qos-chain-broken",))
def traffic_class_misses_lossless_priority(rail: RailLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The traffic class NCCL is told to use (NCCL_IB_TC, environment or NCCL's configuration files): its DSCP is the
    value divided by four. Which priority do such packets get on this rail?

    ## Why it matters
    A traffic class outside the lossless priority is as bad as none: NCCL's packets are dropped under incast though
    host and switch are configured well. Classes that differ between nodes fail in one direction only.

    ## How to fix
    Set NCCL_IB_TC to four times the DSCP of the lossless class, for every job and every node. 106 and 104 both are
    DSCP 26.
    """
    lossless = wanted(expect.lossless_priorities)
    setting = known(rail.nccl).get("NCCL_IB_TC")
    traffic_class = known(known(rail.nccl).number("NCCL_IB_TC", -1))
    if not lossless or setting is None or traffic_class < 0:
        return None
    priority = known(rail.link.priority_of(traffic_class >> 2))
    if priority in lossless:
        return None
    right = f"export NCCL_IB_TC={expect.dscp * 4}" if expect.dscp is not None else "export NCCL_IB_TC=(4 x DSCP)"
    return Fault(
        saw=f"NCCL_IB_TC={setting.value} ({setting.origin}) is DSCP {traffic_class >> 2}, priority {priority}",
        want=f"priority {join(lossless)}",
        fix=right,
    )
