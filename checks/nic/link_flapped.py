from fabricdoctor.check import Expect, Fault, RatedPort, Severity, check, known


@check(over=lambda node: node.rated_ports, severity=Severity.WARNING, explained_by=("port-not-active", "link-flapping"))
def link_flapped(rated: RatedPort, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    How often the link went down between two samples: the interface's carrier changes, or the port's link_downed.
    The time after boot in which links settle is left out («boot_grace_s», half an hour unless set), and so are drops
    that all rails had: those were the host, its operator, or maintenance of the fabric.

    ## Why it matters
    Each drop stalls the traffic of the rail for seconds and often ends the job with a retry error. A link that
    dropped once under load mostly drops again.

    ## How to fix
    Read when and why in the kernel log. Then, in this order: reseat and clean the cable at both ends, replace the
    transceiver or cable, move to another switch port. Many ports of one leaf at the same time point at the switch.
    """
    port = rated.port
    if known(port.first_sample_age) < expect.settled_after_s:
        return None
    drops = known(rated.drops_alone)
    if not drops:
        return None
    return Fault(
        saw=f"the link went down {drops} time{'' if drops == 1 else 's'} between the two samples{port.at_far_end}",
        want="a link that stays up",
        fix=f"dmesg -T | grep -iE 'link (up|down)'; mlxlink -d {port.device} -c -e",
    )
