from fabricdoctor.check import Expect, Fault, RailLink, Severity, check, join, known, wanted


@check(over=lambda node: node.nccl_links, severity=Severity.CRITICAL)
def traffic_class_misses_lossless_priority(rail: RailLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The traffic classes that are set: NCCL_IB_TC (environment or NCCL's configuration files), the kernel's for all
    queue pairs, rdma_cm's default. The DSCP is the value divided by four. Which priority do such packets get?

    ## Why it matters
    A traffic class outside the lossless priority is as bad as none: packets are dropped under incast though host and
    switch are configured well. Classes that differ between nodes fail in one direction only.

    ## How to fix
    Set it to four times the DSCP of the lossless class, for every job and every node. 106 and 104 both are DSCP 26.
    """
    lossless = wanted(expect.lossless_priorities)
    for place, value in known(rail.classes) if lossless else ():
        dscp = value >> 2
        if dscp == expect.dscp or (priority := known(rail.link.priority_of(dscp))) in lossless:
            continue  # the right DSCP on a wrong priority is the classification's fault
        right = "(4 x DSCP)" if expect.dscp is None else str(expect.dscp * 4)
        device = rail.link.device
        fix = f"echo {right} > /sys/class/infiniband/{device}/tc/1/traffic_class; cma_roce_tos -d {device} -t {right}"
        fix = f"export NCCL_IB_TC={right}" if place.startswith("NCCL") else fix
        saw = f"{place} is {value}: DSCP {dscp}, priority {priority}"
        return Fault(saw, f"priority {join(lossless)}", fix)
    return None
