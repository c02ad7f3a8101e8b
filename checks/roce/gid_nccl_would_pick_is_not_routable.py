from fabricdoctor.check import Expect, Fault, RailPort, Severity, check, known


@check(
    over=lambda node: node.nccl_ports,
    severity=Severity.CRITICAL,
    explained_by=("no-routable-roce-v2-gid", "no-address-on-rail", "port-not-active"),
)
def gid_nccl_would_pick_is_not_routable(rail: RailPort, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Which GID index NCCL would use on each active RoCE port: NCCL_IB_GID_INDEX where it is set (environment or NCCL's
    configuration files), else the choice of NCCL 2.21 and later, or index 0 where «nccl_version» is older. Outside of a
    job, what a job's own settings may mend is left out.

    ## Why it matters
    Indexes differ between nodes, pods and drivers, and move when interfaces come and go. One that points at RoCE v1,
    at a link-local address or at an empty slot fails with `error 12`, or with `Invalid argument`. In a pod that
    shares the adapter, NCCL 2.21 to 2.25 stop at the first index of another namespace (a warning).

    ## How to fix
    NCCL 2.21 and later: unset NCCL_IB_GID_INDEX everywhere, also in /etc/nccl.conf and in the image. IPv6 fabrics
    need NCCL_IB_ADDR_FAMILY=AF_INET6. Before 2.21 NCCL uses index 0 unless told: set the index named below.
    """
    if not known(rail.port.active):
        return None
    index = known(rail.gid_index(expect.nccl_version))
    gids = {gid.index: gid for gid in known(rail.port.gids)}
    if index in gids and known(gids[index].usable):
        if not (hidden := known(rail.hidden_gids(expect.nccl_version))):
            return None
        saw = f"NCCL {expect.nccl_version} may abort at GID indexes 0 to {hidden - 1}: of another network namespace"
        return Fault(saw, "NCCL 2.26 or later", f"export NCCL_IB_GID_INDEX={index}", Severity.WARNING)
    usable = sorted(known(rail.port.usable_gids), key=lambda gid: (gid.ip.version, gid.index))
    fix = "ip address add ADDRESS/PREFIX dev INTERFACE"
    if usable:
        family = "; export NCCL_IB_ADDR_FAMILY=AF_INET6" if usable[0].ip.version != 4 else ""  # noqa: PLR2004
        fix = f"unset NCCL_IB_GID_INDEX{family}; before NCCL 2.21: export NCCL_IB_GID_INDEX={usable[0].index}"
    saw = f"NCCL would use {gids.get(index, f'index {index}, which is empty')}"
    return Fault(saw, str(usable[0]) if usable else "a RoCE v2 GID with a routable address", fix)
