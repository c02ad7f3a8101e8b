from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, check, known


@check(over=lambda node: node.physical_links, severity=Severity.WARNING, explained_by=("port-not-active",))
def transceiver_power_low(link: PhysicalLink, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The light each lane of an active rail's module receives and sends, against the limit at which the module itself
    warns (SFF-8636 or CMIS memory; reading it needs root). A lane that is dark while the link is up carries none of it,
    and is left out; so are cables without optics, and modules that give no limit.

    ## Why it matters
    Too little light is bit errors, and the first sign of a dirty connector or an ageing laser. It gets worse with
    temperature, and then the link drops under load.

    ## How to fix
    Received: clean both connectors and look for a bend or a bad patch; then suspect the module at the other end. Sent:
    replace the module here.
    """
    if not known(link.active):
        return None
    weak = known(known(link.module).weak)
    if not weak:
        return None
    lanes = ", ".join(f"{power:.1f} dBm {way} on lane {number}" for way, number, power, _ in weak)
    limits = {way: low for way, _, _, low in weak}
    return Fault(
        saw=lanes,
        want=", ".join(f"at least {low:.1f} dBm {way}, where the module itself warns" for way, low in limits.items()),
        fix=f"ethtool -m {link.netdev} | grep -i power",
    )
