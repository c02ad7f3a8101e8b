from fabricdoctor.check import Expect, Fault, Port, Severity, check, known


@check(
    over=lambda node: node.fabric_ports, severity=Severity.WARNING, explained_by=("port-not-active", "qos-chain-broken")
)
def packet_loss_growing(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Between two samples: packets missing per million (out of sequence, or reported missing by the peer) against
    «max_loss_ppm», 100 unless set, and at least 10 of them; and 10 or more time-outs. On a fabric that
    is lossy by choice, on EFA and on InfiniBand, where packets may be reordered by design, time-outs only.

    ## Why it matters
    RoCE resends everything after a lost packet: one in ten thousand can halve the throughput. Time-outs stall a
    connection for seconds, and the last one ends the job with `error 12`.

    ## How to fix
    Loss here names a path, not this node: compare the peers. Check the QoS chain on both ends, then drops on the
    switches' lossless queues. With adaptive routing out of order is normal: raise `max_loss_ppm`. Time-outs right
    after a killed job mean nothing.
    """
    loss = known(port.loss)
    allowed = 100.0 if expect.max_loss_ppm is None else expect.max_loss_ppm
    ordered = loss.ordered and known(port.is_ethernet)
    lossy = not ordered or (expect.lossless_priorities is not None and not expect.lossless_priorities)
    ppm = loss.lost * 1e6 / max(loss.packets, 1)
    few = 10
    if (lossy or loss.lost < few or ppm <= allowed) and (loss.timeouts or 0) < few:
        return None
    return Fault(
        saw=f"{loss.lost} packets missing ({ppm:.3g} ppm), {loss.timeouts or 0} time-outs in {loss.seconds:.0f} s",
        want="fewer than 10 time-outs" + ("" if lossy else f" and at most {allowed:g} per million missing"),
        fix=f"rdma statistic show link {port.device}/{port.number}; then drop counters of the lossless switch queues",
    )
