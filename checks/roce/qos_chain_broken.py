from fabricdoctor.check import Severity, chain


@chain(
    over=lambda node: node.links,
    severity=Severity.CRITICAL,
    links=(
        "trust-mismatch",
        "dscp-not-mapped-to-lossless-priority",
        "traffic-class-misses-lossless-priority",
        "pfc-off",
        "pfc-on-wrong-priority",
        "global-pause-with-pfc",
        "pfc-on-too-many-priorities",
        "pfc-on-default-priority",
        "dcbx-owned-by-firmware",
        "lossless-priority-shares-traffic-class",
        "lossless-class-without-bandwidth",
        "rate-limit-on-lossless-class",
        "cable-length-not-set",
        "headroom-too-small",
        "ecn-off-on-lossless-priority",
        "wrong-congestion-control",
        "pfc-on-cnp-priority",
        "cnp-maps-to-paused-class",
    ),
)
def qos_chain_broken() -> None:
    """
    ## What it looks at
    The way of an RDMA packet through the lossless class, in order: trust, DSCP to priority, NCCL's traffic class, PFC
    on that priority and no other, traffic class, bandwidth, buffer, congestion control. It names the first broken
    link; further ones are shown under it.

    ## Why it matters
    The chain is as good as its weakest link: one wrong setting makes RDMA lossy, and nothing fails until many
    nodes send to one.

    ## How to fix
    Repair the link that is named, run again, and go on to the next. Then compare with the switch port.
    """
