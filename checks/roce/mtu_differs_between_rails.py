from fabricdoctor.check import Expect, Fault, Rails, Severity, check, known


@check(over=lambda node: node.roce_rails, severity=Severity.WARNING, explained_by=("mtu-below-expected",))
def mtu_differs_between_rails(rails: Rails, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the active RoCE rails of the node have the same RDMA MTU.

    ## Why it matters
    Rail N talks to rail N of other nodes, and sometimes to other rails. Two ends with different MTUs cost
    bandwidth at best; several NCCL releases failed with local length errors or hung.

    ## How to fix
    Set the odd interface to the MTU of the others, in the configuration that is applied at boot: a rail that was
    set by hand loses it with the next reboot.
    """
    odd = known(rails.up.odd(lambda port: port.active_mtu))
    if odd is None:
        return None
    usual, ports = odd
    names = [str(port) for port in ports]
    return Fault(
        saw=f"{', '.join(names)}: RDMA MTU {', '.join(str(known(port.active_mtu)) for port in ports)}",
        want=f"{usual}, as the other rails have",
        fix="; ".join(f"ip link set dev {known(port.netdev)} mtu 9000" for port in ports),
        odd=tuple(names),
    )
