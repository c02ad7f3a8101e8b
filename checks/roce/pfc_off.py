from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.CRITICAL)
def pfc_off(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether PFC is on for any priority on the interface of each RoCE rail, where the site has a lossless class
    («lossless_priorities»).

    ## Why it matters
    Without PFC the adapter ignores the switch's pause frames, and sends none when its own buffer fills: packets
    are dropped under incast, and RoCE recovers from that slowly.

    ## How to fix
    Set the mask that the switch port has, then persist it in the network manager or with the vendor's tool. Where the
    firmware negotiates it (LLDP, DCBX), it is the switch that has to offer it. A fabric without PFC on purpose:
    use the profile roce-lossy.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless or known(link.pfc_priorities):
        return None
    return Fault(
        saw="PFC on no priority",
        want=f"PFC on {join(lossless)}",
        fix=link.to_pause(lossless),
    )
