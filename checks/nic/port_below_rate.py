from fabricdoctor.check import Expect, Fault, Netdev, RatedPort, Severity, check, known, known_or


@check(over=lambda node: node.rated_ports, severity=Severity.CRITICAL)
def port_below_rate(rated: RatedPort, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The rate of each active fabric port, against «rate», else against its sibling rails, else against what the adapter
    supports: half of that or less is a warning, or an information where all rails are alike and neither cable nor
    lanes are why. It names what limits the rate where something tells: lanes lost, a cable or module made for less
    (read as root), the other end's offer, a speed that was set.

    ## Why it matters
    A collective advances at the speed of its slowest rail. A port that lost lanes, or that negotiated down with a
    cable or a switch port of an older kind, looks healthy in every other respect.

    ## How to fix
    Reseat and clean the cable; swap it with a sibling's to see whether the fault follows. Compare the speed set on
    the switch port, and the cable's own capability (`ethtool -m`). A breakout or a slower switch on purpose: set
    `rate_gbps` to the rate you have.
    """
    port = rated.port
    if not known(port.active):
        return None
    rate, peers, interface = known(port.rate_gbps), None, port.netdev
    if expect.rate_gbps is None:
        peers = known(port.siblings_rate_gbps)
    want = expect.rate_gbps or peers or rate
    lanes = f" on {lanes} lane{'' if lanes == 1 else 's'}" if (lanes := known_or(port.lanes, 0)) and rate < want else ""
    saw, name = f"{rate:g} Gb/s{lanes}", interface.name if isinstance(interface, Netdev) else port.device
    if rate < want:
        of, why = "" if expect.rate_gbps else ", as its siblings have", rated.limit(rate, want)
        fix = f"ethtool {name}; ethtool -m {name}; mlxlink -d {port.device} -c"
        return Fault(saw + (f": {why}" if why else ""), f"{want:g} Gb/s{of}", fix)
    if expect.rate_gbps is not None or not isinstance(interface, Netdev):
        return None
    can = known_or(interface.supported_gbps, 0) if peers else known(interface.supported_gbps)
    if 2 * rate > can:
        return None
    why, fix = rated.limit(rate, can), f"ethtool -m {name}; or set rate_gbps = {rate:g} under [expect]"
    saw += f": {why}" if why else ""
    by_cable = not peers or why.startswith("its cable") or known_or(port.lanes, 0) in (1, 2)
    severity = Severity.WARNING if by_cable else Severity.INFO  # all alike on all lanes: mostly what the switches are
    return Fault(saw, f"{can:g} Gb/s, which the adapter supports", fix, severity)
