from fabricdoctor.check import Expect, Fault, Netdev, Port, Severity, check, known, wanted


@check(over=lambda node: node.roce_ports, severity=Severity.CRITICAL, explained_by=("port-not-active",))
def no_address_on_rail(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether each active RoCE rail has an IP address that a router would carry, on its interface or on a VLAN or
    bond above it, where the site gives each rail an address of its own («addressed_rails»).

    ## Why it matters
    RoCE v2 packets carry IP addresses: the GIDs are made from the interface's addresses. Without one only a
    link-local GID remains, and it does not leave the leaf switch.

    ## How to fix
    Give the interface its address in the network manager's configuration, so that it is there after a reboot.
    If the address is there but belongs to another interface, names have moved: pin them by MAC or PCI path.
    """
    if not wanted(expect.addressed_rails) or not known(port.active):
        return None
    if known(port.usable_gids):
        return None
    if known(known(port.netdev).routable_addresses):
        return None
    name = port.netdev.name if isinstance(port.netdev, Netdev) else port.device
    return Fault(
        saw="no routable address",
        want="an address of its own on each rail",
        fix=f"ip address add ADDRESS/PREFIX dev {name}",
    )
