from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, check, known, known_or


@check(over=lambda node: node.physical_links, severity=Severity.WARNING, explained_by=("port-not-active",))
def fec_uncorrectable(link: PhysicalLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Blocks that the link's forward error correction (FEC) could not repair, between two samples in which the link
    stayed up: 3 and more, at a rate above 10 an hour, which is beyond what the standards allow a good link. A
    warning; critical when it lasts: 100 and more in ten minutes or longer, one every ten seconds, and a raw bit error
    rate above «max_raw_ber» where the adapter counts that, so that one burst does not count.

    ## Why it matters
    A block that is not repaired is lost packets. A lossless fabric has no other cause of loss on a good day, and
    RoCE resends whole windows for each.

    ## How to fix
    Clean the connector and reseat the cable at both ends, then replace the cable or module, then try another switch
    port. Compare the switch's counters for the same link: the side that counts is the side that receives.
    """
    known(link.was_up)
    blocks, seconds = known(link.uncorrectable), known(link.seconds)
    hourly = blocks * 3600 / seconds
    few, allowed_hourly, many, shortest, sustained_hourly = 3, 10.0, 100, 600.0, 360.0
    if blocks < few or hourly <= allowed_hourly:
        return None
    limit = expect.allowed_raw_ber
    lasts = blocks >= many and seconds >= shortest and hourly >= sustained_hourly
    lasts = lasts and known_or(link.raw_ber, limit + 1) > limit
    return Fault(
        saw=f"{blocks} blocks beyond repair in {seconds:.0f} s ({hourly:.0f} an hour)",
        want="none",
        fix=f"ethtool -I --show-fec {link.netdev}; ethtool -m {link.netdev}; mlxlink -d {link.device} -c -e",
        severity=Severity.CRITICAL if lasts else None,
    )
