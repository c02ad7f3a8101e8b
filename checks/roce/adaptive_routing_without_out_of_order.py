from fabricdoctor.check import Expect, Fault, Firmware, Severity, check, known, wanted


@check(over=lambda node: node.firmware, severity=Severity.WARNING)
def adaptive_routing_without_out_of_order(firmware: Firmware, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Where the fabric's switches spread packets over paths («adaptive_routing»): whether the adapter takes packets out
    of order (its stored setting ROCE_ADAPTIVE_ROUTING_EN, as in force). Asked only with --vendor-tools.

    ## Why it matters
    An adapter that expects order takes each packet that overtook another for a loss, and has the rest sent again: the
    better the switches balance, the slower it gets.

    ## How to fix
    Set it on every adapter of the fabric and restart the adapters, or switch adaptive routing off for RoCE.
    """
    if not wanted(expect.adaptive_routing) or known(firmware.on("ROCE_ADAPTIVE_ROUTING_EN")):
        return None
    return Fault(
        saw="the adapter does not take packets out of order (ROCE_ADAPTIVE_ROUTING_EN is False)",
        want="True, as the switches reorder packets",
        fix=f"mstconfig -d {firmware.pci} set ROCE_ADAPTIVE_ROUTING_EN=1; mstfwreset -d {firmware.pci} reset",
    )
