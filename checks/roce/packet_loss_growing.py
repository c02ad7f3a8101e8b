from fabricdoctor.check import Expect, Fault, Severity, Traffic, check, known, known_or

_CAUSES = (
    "port-not-active", "link-flapped", "qos-chain-broken", "packets-discarded-on-arrival", "loss-without-pause-or-marks"
)  # fmt: skip


@check(over=lambda node: node.traffic, severity=Severity.WARNING, explained_by=_CAUSES)
def packet_loss_growing(traffic: Traffic, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Between two samples: 10 or more packets missing, two a minute, and more per million than «max_loss_ppm» (100 unless
    set), to here or from here; and 10 or more time-outs, one in ten minutes. Only time-outs count, from one a minute,
    where packets may be lost or reordered: a lossy fabric, «adaptive_routing», EFA, InfiniBand. Connections that ended
    make time-outs a note: their peers died.

    ## Why it matters
    RoCE resends everything after a lost packet: one in ten thousand can halve the throughput. Time-outs stall a
    connection for seconds, and the last one ends the job with `error 12`.

    ## How to fix
    Loss names a path, not this node. Missing to here: look at the senders and the switches between. Missing from here:
    at the receivers. Time-outs alone: a peer that is gone, or a path that swallows everything. Check the QoS chain on
    both ends, then drops on the switches' lossless queues.
    """
    lossless = None if expect.lossless_priorities is None else bool(expect.lossless_priorities)
    loss = known(traffic.port.loss)
    late = loss.many_timeouts(lossless=bool(lossless))
    allowed = expect.allowed_loss_ppm
    found = traffic.missing(allowed, lossless=False if expect.adaptive_routing else lossless)
    missing = known_or(found, None) if late else known(found)
    if missing is None and not late:
        return None
    share = f" ({missing[1]:g} per million)" if missing else ""
    died = "; connections ended in that time: peers went away, and this node is a witness" if loss.job_died else ""
    return Fault(
        saw=f"{loss}{share} in {loss.seconds:.0f} s{died}",
        want=f"no path that loses packets (at most {allowed:g} per million missing, fewer than 10 time-outs)",
        fix=f"rdma statistic show link {traffic.port.device}/{traffic.port.number}; then drops of the switches' queues",
        severity=Severity.INFO if died and missing is None else None,
    )
