from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def pfc_on_wrong_priority(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The priorities on which each RoCE rail honours and sends PFC pause frames, against «lossless_priorities».

    ## Why it matters
    PFC is on, so the configuration looks done, but the priority that carries RDMA is not among them: it loses
    packets under incast while another class is paused for nothing.

    ## How to fix
    Make the host's mask the same as the switch port's, then persist it in the network manager or with the vendor's
    tool.
    """
    lossless = wanted(expect.lossless_priorities)
    paused = known(link.pfc_priorities)
    if not paused or lossless <= paused:
        return None  # pfc-off and pfc-on-too-many-priorities are findings of their own
    return Fault(
        saw=f"PFC on {join(paused)}",
        want=f"PFC on {join(lossless)}",
        fix=link.to_pause(lossless),
    )
