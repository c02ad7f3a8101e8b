from fabricdoctor.check import Expect, Fault, PeerLink, Severity, check, join, known


@check(over=lambda node: node.peer_links, severity=Severity.WARNING, explained_by=("port-not-active",))
def switch_pfc_differs(link: PeerLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the switch port pauses the priorities that this rail pauses and the site wants lossless
    («lossless_priorities»; unset: all that the rail pauses, as a warning). The switch tells it by LLDP, in the PFC
    TLV of DCBX. One that sends no such TLV, or is willing to take the host's, is skipped.

    ## Why it matters
    PFC works only where both ends have the priority: otherwise the host's pause frames are ignored and the switch
    drops what it should have held back.

    ## How to fix
    Enable PFC on that priority on the switch port, with a lossless queue and headroom. What this node lacks itself
    is the matter of qos-chain-broken.
    """
    lossless = expect.lossless_priorities
    if lossless is not None and not lossless:
        return None
    switch, own = known(link.switch_pfc), known(link.link.pfc_priorities)
    missing = (own if lossless is None else own & lossless) - switch
    if not missing:
        return None
    return Fault(
        saw=f"{link.neighbour} has PFC " + (f"on {join(switch)}" if switch else "off") + f", this rail on {join(own)}",
        want=f"PFC on {join(missing)} at both ends",
        fix=f"on {link.neighbour}: enable PFC on priority {join(missing)}",
        severity=None if lossless is None else Severity.CRITICAL,  # an LLDP daemon that is silent is no reason to stop
    )
