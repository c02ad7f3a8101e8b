from fabricdoctor.check import Expect, Fault, Netdev, Port, Severity, check, known, known_or


@check(
    over=lambda node: node.roce_ports,
    severity=Severity.CRITICAL,
    explained_by=("port-not-active", "no-address-on-rail"),
)
def no_routable_roce_v2_gid(port: Port, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The GID table of each active RoCE port, as this network namespace sees it: is there a RoCE v2 entry whose
    address is neither empty nor link-local?

    ## Why it matters
    RoCE v1 and link-local GIDs reach the own subnet at best. Through a router every connection ends with
    `error 12` (retry exceeded) at its first packet. Where all rails gave themselves an IPv4 address (169.254.0.0/16),
    that may be on purpose, between two nodes or on one switch: information.

    ## How to fix
    The kernel makes a GID of each address of the interface. No address: give it one. Address but no GID: set the
    interface down and up once, and look whether RoCE v2 is off in the driver or firmware. In a pod: the interface
    of the rail must be moved into the pod's network namespace.
    """
    if not known(port.active) or known(port.usable_gids):
        return None
    gids, fix = known(port.gids), "a pod needs the rail's own interface: SR-IOV or macvlan by Multus, or hostNetwork"
    if isinstance(port.netdev, Netdev):
        name = port.netdev.name
        fix = f"ip address show dev {name}; ip link set dev {name} down; ip link set dev {name} up"
        if not known_or(port.netdev.routable_addresses, (name,)):
            fix = f"ip address add ADDRESS/PREFIX dev {name}"
    direct = any(gid.is_direct and known_or(gid.type, "") == "RoCE v2" for gid in gids) and not port.siblings_routable
    return Fault(
        saw="GIDs: " + ("; ".join(str(gid) for gid in gids[:4]) or "none"),
        want="a RoCE v2 GID with a routable address",
        fix=fix,
        severity=Severity.INFO if direct else None,
    )
