from fabricdoctor.check import Expect, Fault, Severity, Traffic, check, join, known, wanted


@check(
    over=lambda node: node.traffic,
    severity=Severity.WARNING,
    explained_by=("port-not-active", "link-flapped", "qos-chain-broken"),
)
def loss_without_pause_or_marks(traffic: Traffic, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Packets missing between two samples, as in packet-loss-growing, on a lossless fabric («lossless_priorities») while
    this link saw no sign of congestion: not one pause frame, ECN mark or CNP, no drop and no broken frame on arrival.

    ## Why it matters
    A switch queue of the lossless class pauses or marks before it drops. One that only drops is outside the class, or
    drops at a lower level than it pauses at. Nothing that is set on this node can mend that.

    ## How to fix
    Send it to the network team, with the counters: which queue does the path use for this DSCP, is PFC on there on
    arrival and departure, and does WRED drop below the pause threshold? If no queue drops, look for bit errors on
    the links between the switches. A fabric that reorders packets is no case of this: set `adaptive_routing`.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless or expect.adaptive_routing or not lossless & known(traffic.paused_priorities):
        return None
    allowed = expect.allowed_loss_ppm
    missing = known(traffic.missing(allowed, lossless=True))
    if missing is None or known(traffic.signs):
        return None
    return Fault(
        saw=f"{known(traffic.port.loss)} ({missing[1]:g} per million), and no pause, no ECN mark, no drop here",
        want=f"pause or marks before loss, in the switch queues of priority {join(lossless)}",
        fix=f"to the network team: rdma statistic show link {traffic.port.device}/{traffic.port.number}; "
        f"ethtool -S {traffic.interfaces} | grep -E 'pause|discard|crc'",
    )
