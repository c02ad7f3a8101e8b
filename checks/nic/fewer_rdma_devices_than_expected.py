from fabricdoctor.check import Expect, Fault, Inventory, Severity, check, known, wanted


@check(over=lambda node: node.inventory, severity=Severity.CRITICAL)
def fewer_rdma_devices_than_expected(inventory: Inventory, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The number of RDMA devices of the training fabric, against the number the site expects («devices»).

    ## Why it matters
    An adapter that fell off the bus leaves nothing behind to compare with: only the expected number shows it.
    A job that starts anyway runs at the speed of the rails that are left.

    ## How to fix
    Find the adapter that is not listed and look for its PCI address in the kernel log. A device that is gone from
    `lspci` needs a rescan or a power cycle, then a look at slot and riser. If the number is wrong for this group of
    nodes, set `devices` in [expect.group] instead.
    """
    expected = wanted(expect.devices)
    if not known(inventory.fewer_than(expected)):
        return None
    found = known(inventory.devices)
    return Fault(
        saw=f"{len(found)} RDMA devices of the fabric: {', '.join(found) or 'none'}",
        want=f"{expected} RDMA devices",
        fix="lspci -d ::0200; lspci -d ::0207; rdma dev show; dmesg | grep -iE 'pcieport|mlx5|bnxt|irdma|ionic'",
    )
