from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, check, known


@check(over=lambda node: node.bonded_links, severity=Severity.WARNING, explained_by=("link-flapping",))
def bond_member_flapped(link: PhysicalLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    How often a member of a bond under a rail lost its link between two samples. The time after boot in which links
    settle is left out («boot_grace_s», half an hour unless set).

    ## Why it matters
    The bond and the RDMA port stay up, so nothing else tells. Queue pairs that were on this member stall or end with a
    retry error, and some software never makes them anew.

    ## How to fix
    As for a rail of its own: read when and why in the kernel log, then reseat and clean the cable at both ends, replace
    the transceiver or cable, move to another switch port.
    """
    if known(link.first_sample_age) < expect.settled_after_s:
        return None
    drops = known(link.drops)
    if not drops:
        return None
    return Fault(
        saw=f"{link.netdev} lost its link {drops} time{'' if drops == 1 else 's'} between the two samples",
        want="a link that stays up",
        fix=f"dmesg -T | grep -iE '{link.netdev}.*link (is )?(up|down)'; ethtool -m {link.netdev}",
    )
