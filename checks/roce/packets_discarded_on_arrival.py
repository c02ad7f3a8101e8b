from fabricdoctor.check import Expect, Fault, Severity, Traffic, check, join, known, wanted


@check(over=lambda node: node.traffic, severity=Severity.WARNING, explained_by=("qos-chain-broken", "pfc-storm"))
def packets_discarded_on_arrival(traffic: Traffic, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Packets of the lossless priorities that the adapter dropped on arrival, for want of buffer, between two samples, one
    an hour or more; RDMA packets, where the adapter counts those apart.

    ## Why it matters
    Nothing may be dropped in a lossless class. If it is, pause frames were sent too late or not obeyed: headroom too
    small for cable and speed, or PFC off on the switch port.

    ## How to fix
    Check that the switch port honours PFC on this priority. Then the receive buffer: the cable length sets the
    headroom (`mlnx_qos -i INTERFACE --cable_len METRES`), and each further lossless priority takes from it.
    """
    lossless = wanted(expect.lossless_priorities)
    lost = known(traffic.dropped(lossless)) if lossless else 0
    if not lost or lost * 3600 < known(traffic.port.notices.seconds):
        return None
    return Fault(
        saw=f"{lost} packets of priority {join(lossless)} dropped on arrival",
        want="none",
        fix=f"dcb buffer show dev {traffic.interfaces}; ethtool -S {traffic.interfaces} | grep -E 'discard|pause'",
    )
