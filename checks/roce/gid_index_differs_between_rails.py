from fabricdoctor.check import Expect, Fault, NcclRails, Severity, check, join, known


@check(
    over=lambda node: node.nccl_rails,
    severity=Severity.WARNING,
    explained_by=("gid-nccl-would-pick-is-not-routable",),
)
def gid_index_differs_between_rails(rails: NcclRails, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Where NCCL uses one GID index for all rails (NCCL_IB_GID_INDEX is set, or «nccl_version» is before 2.21): whether
    there is an index that is routable RoCE v2 on every active RoCE rail. Where NCCL chooses for each rail, different
    indexes are harmless.

    ## Why it matters
    No value of NCCL_IB_GID_INDEX is then right: some rails fail with `error 12` or `Invalid argument` whatever is
    set. Pods get a table of their own on each rail, and an address or VLAN more on one interface moves its indexes.

    ## How to fix
    NCCL 2.21 or later, and NCCL_IB_GID_INDEX unset everywhere. Else give the interfaces the same kinds of addresses,
    in the same order.
    """
    one = known(rails.one_index(expect.nccl_version))
    if one is None:
        return None
    routable = {port: indexes for port, indexes in known(rails.usable_indexes).items() if indexes}
    if not routable or frozenset.intersection(*routable.values()):
        return None
    return Fault(
        saw="no index is routable on every rail: " + "; ".join(f"{p} has {join(i)}" for p, i in routable.items()),
        want="NCCL 2.21 or later, which chooses for each rail",
        fix="unset NCCL_IB_GID_INDEX",
        odd=tuple(port for port, indexes in routable.items() if one not in indexes),
    )
