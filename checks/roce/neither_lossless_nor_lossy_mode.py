from fabricdoctor.check import Expect, Fault, Link, Severity, check, known


@check(over=lambda node: node.links, severity=Severity.WARNING)
def neither_lossless_nor_lossy_mode(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether RDMA on this rail has anything to live with a full switch queue: PFC, or congestion control. Where the
    site says what it wants («lossless_priorities» or «congestion_control»), the checks of these tell.

    ## Why it matters
    With neither, every incast drops packets, and RoCE then resends from the first one that is missing: the same job
    is slower than over TCP.

    ## How to fix
    Choose one mode for the whole fabric, lossless (PFC and ECN) or lossy (ECN and the adapter's selective
    retransmission), and say so: `fabricdoctor check --profile roce-lossless` or `roce-lossy`.
    """
    if expect.lossless_priorities or expect.congestion_control == "off":
        return None
    if known(link.pfc_priorities) or known(link.congestion.on):
        return None
    if known(link.globally_paused):
        return None
    return Fault(
        saw="neither PFC nor 802.3x pause nor congestion control is on",
        want="a lossless class, or congestion control",
        fix=link.congestion.turn_on.replace("{p}", "0") or f"dcb pfc set dev {link.netdev} prio-pfc all:off 3:on",
    )
