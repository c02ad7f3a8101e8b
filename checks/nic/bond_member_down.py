from fabricdoctor.check import Bond, Expect, Fault, Severity, check, known


@check(over=lambda node: node.bonds, severity=Severity.CRITICAL, explained_by=("port-not-active",))
def bond_member_down(bond: Bond, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The members of the bond under each active RoCE rail: has each a link, and with LACP (802.3ad) does each hear its
    partner and belong to the aggregator in use. In mode active-backup, where members wait, it is a warning.

    ## Why it matters
    The RDMA port stays ACTIVE as long as one member is up: the rail runs at half its rate, and nothing else says so.

    ## How to fix
    No link: cable, transceiver, then the switch port. No LACP partner: the switch port is not in a port channel, or
    LACP is not running there. Another aggregator: the members end in different port channels (or switches that are
    no MLAG pair), or their speeds differ.
    """
    if not known(bond.port.active):
        return None
    lost = known(bond.lost)
    if not lost:
        return None
    mode = known(bond.mode)
    return Fault(
        saw="; ".join(f"{name} of {bond.name} ({mode}): {why}" for name, why in lost),
        want=f"every member of {bond.name} in use",
        fix=f"cat /proc/net/bonding/{bond.name}; " + "; ".join(f"ethtool {name}" for name, _ in lost),
        severity=Severity.WARNING if known(bond.is_spare) else None,
    )
