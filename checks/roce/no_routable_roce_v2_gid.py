from fabricdoctor.check import Expect, Fault, Netdev, Port, Severity, check, known


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
    `error 12` (retry exceeded) at its first packet.

    ## How to fix
    The kernel makes a GID of each address of the interface. No address: give it one. Address but no GID: set the
    interface down and up once, and look whether RoCE v2 is off in the driver or firmware. In a pod: the interface
    of the rail must be moved into the pod's network namespace.
    """
    if not known(port.active) or known(port.usable_gids):
        return None
    name = port.netdev.name if isinstance(port.netdev, Netdev) else "INTERFACE"
    return Fault(
        saw="GIDs: " + ("; ".join(str(gid) for gid in known(port.gids)[:4]) or "none"),
        want="a RoCE v2 GID with a routable address",
        fix=f"ip address show dev {name}; ip link set dev {name} down; ip link set dev {name} up",
    )
