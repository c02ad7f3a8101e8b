from fabricdoctor.check import Expect, Fault, RailLink, Severity, check, join, known, wanted


@check(over=lambda node: node.nccl_links, severity=Severity.WARNING, explained_by=("qos-chain-broken",))
def traffic_class_unset(rail: RailLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether this job's NCCL is told a traffic class at all (NCCL_IB_TC), where the lossless priority is reached by
    DSCP («dscp»). Judged in a job only. A kernel-wide traffic class does not reach every queue pair.

    ## Why it matters
    Unset, NCCL sends with traffic class 0, and its packets take the default priority, which is not protected.
    Everything else may be right: this is the most common silent fault.

    ## How to fix
    Set NCCL_IB_TC to four times the DSCP for every job: in /etc/nccl.conf, or in the job's environment.
    """
    dscp, lossless = wanted(expect.dscp), wanted(expect.lossless_priorities)
    if not lossless or not known(rail.in_a_job) or known(rail.link.priority_of(0)) in lossless:
        return None
    if any(place.startswith("NCCL") for place, _ in known(rail.classes)):
        return None
    kernel = any(place.startswith("the kernel") for place, _ in known(rail.classes))
    return Fault(
        saw="NCCL_IB_TC is not set" + ("; the kernel's traffic class reaches not all queue pairs" if kernel else ""),
        want=f"DSCP {dscp}, priority {join(lossless)}",
        fix=f"echo NCCL_IB_TC={dscp * 4} >> /etc/nccl.conf; or in the job: export NCCL_IB_TC={dscp * 4}",
    )
