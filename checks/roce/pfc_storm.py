from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, known_or


@check(over=lambda node: node.links, severity=Severity.WARNING)
def pfc_storm(link: Link, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether this link sent or received pause for 80 % of the time or more between two samples, or the adapter's
    watchdog saw it pause its peer for too long. Critical when this node sends, or the watchdog had to step in.

    ## Why it matters
    A node that pauses all the time stops its switch port, and from there, hop by hop, everyone who sends to it. It
    takes in next to nothing, so the rail is lost to a job, and other jobs suffer. A node that receives such a storm is
    its victim.

    ## How to fix
    Sent: take the node out of service. Look for a hung GPU or adapter (kernel log, PCIe link); reset or power-cycle it.
    Received: find the node behind the same switch that sends. Let watchdogs end storms: `ethtool --set-tunable
    INTERFACE pfc-prevention-tout 65535`, and the switch's PFC watchdog.
    """
    seen = link.counters
    sent, received = seen.most_paused("sent", 0.8), seen.most_paused("received", 0.8)
    stopped, long = known_or(seen.storm_errors, 0), known_or(seen.storm_warnings, 0)
    told = [f"{p[1]} {way} {p[0]:.0%} of the time" for way, p in (("sent", sent), ("received", received))
            if isinstance(p, tuple)]  # fmt: skip
    told += [f"the watchdog stopped pause frames that this node sent, {stopped} times"] if stopped else []
    told += [f"pause frames sent for too long at a stretch, {long} times"] if long and not stopped else []
    if not told:
        known(sent)
        known(received)
        return None
    ours = isinstance(sent, tuple) or stopped
    return Fault(
        saw="; ".join(told),
        want="pause that ends within milliseconds",
        fix="dmesg -T | tail; lspci -vv | grep LnkSta" if ours or long else "on the peers: ethtool -S DEV | grep pause",
        severity=Severity.CRITICAL if ours else None,
    )
