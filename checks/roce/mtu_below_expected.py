from fabricdoctor.check import Expect, Fault, Netdev, Port, Severity, check, known


@check(over=lambda node: node.fabric_ports, severity=Severity.CRITICAL, explained_by=("port-not-active",))
def mtu_below_expected(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The RDMA MTU (active_mtu) of each active fabric port, against «mtu». Unset: 1024 or less on RoCE of 100 Gb/s and
    more is a warning.

    ## Why it matters
    RoCE derives its MTU from the interface's: 1500 gives 1024, and four times as many packets as 4096. A node
    whose MTU differs from its peers' can hang or fail with `error 12`, because libraries assume the same on both ends.

    ## How to fix
    Interface MTU 9000 (4200 at least) for an RDMA MTU of 4096, in the network manager's configuration; for a VLAN
    or bond its parents too. Switch ports need some more: 9216 is usual. InfiniBand: the partition's MTU in the
    subnet manager's partitions.conf.
    """
    if not known(port.active):
        return None
    mtu, severity = known(port.active_mtu), None
    if expect.mtu is None:
        if mtu > 1024 or not known(port.is_ethernet) or known(port.rate_gbps) < 100:  # noqa: PLR2004  usual values
            return None
        severity = Severity.WARNING
    elif mtu >= expect.mtu:
        return None
    of = f" (MTU {port.netdev.mtu} on {port.netdev.name})" if isinstance(port.netdev, Netdev) else ""
    fix = f"ip link set dev {port.netdev.name} mtu 9000" if isinstance(port.netdev, Netdev) else "opensm: mtu=5"
    return Fault(f"RDMA MTU {mtu}{of}{port.at_far_end}", f"RDMA MTU {expect.mtu or 4096}", fix, severity)
