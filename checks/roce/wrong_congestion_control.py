from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def wrong_congestion_control(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Which congestion control the adapter runs, against «congestion_control»; that it is on where the site wants none.

    ## Why it matters
    Senders with different algorithms share a queue unevenly: the one that yields more gets less. One node left on
    DCQCN in a fabric without it is a straggler.

    ## How to fix
    Set the same on all nodes, with the vendor's tool, and compare with the switch's marking.
    """
    want = wanted(expect.congestion_control)
    on = known(link.congestion.on)
    if want == "off" and on:
        fix = f"mlxconfig: ROCE_CC_PRIO_MASK_P1; ls /sys/class/net/{link.netdev}/ecn/roce_rp/enable"
        return Fault(f"congestion control is on for priority {join(on)}", "off", fix)
    if want == "off" or not on or (algorithm := known(link.congestion.algorithm)) == want:
        return None
    return Fault(algorithm.upper(), want.upper(), f"mlxconfig -d {link.netdev} query | grep -E 'CC_ALGO|USER_PROG'")
