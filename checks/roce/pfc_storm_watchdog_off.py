from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def pfc_storm_watchdog_off(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the adapter ends a pause that it sends for too long (PFC storm prevention), where the site has a lossless
    class and the driver such a setting.

    ## Why it matters
    A node whose driver or host hangs goes on pausing its switch port. Without the watchdog it stops the fabric
    around it, for as long as it hangs.

    ## How to fix
    Set it to 65535, which is the driver's default. The switch has a watchdog of its own: have both.
    """
    if not wanted(expect.lossless_priorities) or not known(link.pfc_priorities) or known(link.storm_timeout_ms):
        return None
    return Fault(
        saw="PFC storm prevention is off",
        want="on",
        fix=f"ethtool --set-tunable {link.netdev} pfc-prevention-tout 65535",
    )
