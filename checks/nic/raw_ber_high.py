from fabricdoctor.check import Expect, Fault, PhysicalLink, Severity, Unknown, check, known


@check(
    over=lambda node: node.physical_links,
    severity=Severity.WARNING,
    explained_by=("port-not-active", "transceiver-power-low", "transceiver-too-hot"),
)
def raw_ber_high(link: PhysicalLink, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The raw bit error rate: bits that error correction repaired, per bit the link carries, between two samples in
    which it stayed up; against «max_raw_ber», 1e-5 unless set. RS(544,514) fails at about 2.4e-4.

    ## Why it matters
    Repaired bits cost nothing yet. The rate rises for days before a link loses blocks and then drops, so this is the
    time to change a cable without losing a job.

    ## How to fix
    Only this rail: clean and reseat its cable, then replace it or its module. All rails alike: look at what they
    share, which is a batch of cables, the temperature, or firmware. A longer copper cable may be at its limit by
    design: set `max_raw_ber` to what your links show when they are good.
    """
    limit = expect.allowed_raw_ber
    rate = known(link.raw_ber)
    if rate <= limit:
        return None
    others = [ber for s in link.siblings if not isinstance(ber := s.raw_ber, Unknown)]
    worse = sum(ber > limit for ber in others)
    rails = f"{len(others)} other rail{'' if len(others) == 1 else 's'}"
    alone = f", on this rail only (1 of {len(others) + 1})" if not worse else f", and on {worse} of {rails}"
    return Fault(
        saw=f"{rate:.1e} of all bits needed repair" + (alone if others else ""),
        want=f"at most {limit:.0e}",
        fix=f"ethtool -I --show-fec {link.netdev}; ethtool -m {link.netdev}; mlxlink -d {link.device} -c",
    )
