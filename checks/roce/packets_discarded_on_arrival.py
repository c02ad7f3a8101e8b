from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING, explained_by=("qos-chain-broken",))
def packets_discarded_on_arrival(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Packets of the lossless priorities that the adapter dropped on arrival, for want of buffer, between two samples.

    ## Why it matters
    Nothing may be dropped in a lossless class. If it is, pause frames were sent too late or not obeyed: headroom too
    small for cable and speed, or PFC off on the switch port.

    ## How to fix
    Check that the switch port honours PFC on this priority. Then the receive buffer: the cable length sets the
    headroom (`mlnx_qos -i INTERFACE --cable_len METRES`), and each further lossless priority takes from it.
    """
    lossless = wanted(expect.lossless_priorities)
    lost = {p: n for p, n in known(link.discards).items() if n and p in lossless}
    if not lost:
        return None
    return Fault(
        saw=f"{sum(lost.values())} packets of priority {join(lost)} dropped on arrival",
        want="none",
        fix=f"dcb buffer show dev {link.netdev}; ethtool -S {link.netdev} | grep -E 'discard|pause'",
    )
