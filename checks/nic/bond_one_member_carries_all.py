from fabricdoctor.check import Bond, Expect, Fault, Severity, check, known


@check(over=lambda node: node.bonds, severity=Severity.WARNING, explained_by=("port-not-active", "bond-member-down"))
def bond_one_member_carries_all(bond: Bond, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Between two samples, how what was sent spread over the members of a bond that hashes (802.3ad, balance-xor), by
    the ports' own byte counters. Only when one member sent more than 95 % and ran at a quarter of its speed or more.

    ## Why it matters
    The rail ends at the speed of one member, while the other idles.

    ## How to fix
    Let the hash see ports: `layer3+4`, since all RoCE traffic between two nodes has the same addresses. On adapters
    that bond RDMA in hardware see how queue pairs are assigned to ports. Few connections cannot spread: raise
    NCCL_IB_QPS_PER_CONNECTION.
    """
    if not known(bond.port.active) or not known(bond.spreads):
        return None
    member, share, bytes_per_second = known(bond.busiest)
    nearly_all, much = 0.95, 0.25
    gbps = bytes_per_second * 8 / 1e9
    if share <= nearly_all or gbps < much * known(member.speed_gbps):
        return None
    return Fault(
        saw=f"{member.name} sent {share:.0%} of the bond's traffic, at {gbps:.0f} Gb/s",
        want=f"what {bond.name} sends spread over its members",
        fix=f"ip link set dev {bond.name} type bond xmit_hash_policy layer3+4",
    )
