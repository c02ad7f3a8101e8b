from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, check, known


@check(over=lambda node: node.physical_links, severity=Severity.WARNING)
def transceiver_too_hot(link: PhysicalLink, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The temperature of each rail's module against the limit at which the module itself warns (SFF-8636 or CMIS
    memory; reading it needs root). Passive cables, and modules that give no limit, are not judged.

    ## Why it matters
    A laser that is too hot makes bit errors first; then the module or the adapter switches it off, and the link drops
    in the middle of a job.

    ## How to fix
    Look at the air: fans, filters, blanking panels, the temperature in front of the rack. One module alone: reseat it,
    check its heat sink, replace it.
    """
    module = known(link.module)
    celsius, limit = known(module.celsius), known(module.hot_c)
    if celsius <= limit:
        return None
    return Fault(
        saw=f"{celsius:.1f} °C in the {module.kind} module",
        want=f"at most {limit:.1f} °C, where the module itself warns",
        fix=f"ethtool -m {link.netdev} | grep -i temperature; ipmitool sdr type Fan",
    )
