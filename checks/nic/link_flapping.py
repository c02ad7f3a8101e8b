from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, check, known


@check(over=lambda node: node.physical_links, severity=Severity.CRITICAL, explained_by=("port-not-active",))
def link_flapping(link: PhysicalLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the link was lost 3 times or more: in the last hour, by the adapter's messages in the kernel log, or
    between two samples, by the counters, when the log agrees. The time after boot is left out («boot_grace_s», half an
    hour unless set), and so is what all rails had: that was the host, or its operator.

    ## Why it matters
    Each drop stalls the rail for seconds, and a job that survives one does not survive many. The node takes jobs
    all the same, because at most times its link is up.

    ## How to fix
    Take the node out. Reseat and clean the cable at both ends, replace the transceiver or cable, move to another switch
    port. Rails of many nodes on one leaf point at the switch.
    """
    found = known(link.flaps(expect.settled_after_s))
    if found is None:
        return None
    times, when = found
    return Fault(
        saw=f"the link was lost {times} times {when}",
        want="a link that stays up",
        fix=f"dmesg -T | grep -iE 'link (is )?(up|down)'; mlxlink -d {link.device} -c -e",
    )
