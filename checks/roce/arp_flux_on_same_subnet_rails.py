from fabricdoctor.check import Expect, Fault, Severity, SharedSubnet, check, known


@check(over=lambda node: node.shared_subnets, severity=Severity.WARNING)
def arp_flux_on_same_subnet_rails(subnet: SharedSubnet, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Rails of this node in one IPv4 subnet: arp_ignore, arp_announce, arp_filter and rp_filter in force on each (the
    greater of `all` and the interface's own value). A policy rule for the rail's address settles it too.

    ## Why it matters
    By default Linux answers ARP for any of its addresses on any interface. A peer then learns the wrong rail's MAC
    and sends all traffic there, or a queue pair does not connect. With strict reverse path filtering a rail does
    not answer at all, since the route back leads over another.

    ## How to fix
    Set the values on each rail and keep them in /etc/sysctl.d, or give each rail a subnet of its own.
    """
    odd, said, settings = [], [], []
    for rail in subnet.rails:
        name = rail.interface.replace(".", "/")
        if known(rail.own_rule):
            continue
        ignore, announce = known(rail.arp_ignore), known(rail.arp_announce)
        if not (ignore and announce) and not known(rail.arp_filter):
            said.append(f"{rail.interface} arp_ignore {ignore}, arp_announce {announce}")
            settings.append(f"net.ipv4.conf.{name}.arp_ignore=1 net.ipv4.conf.{name}.arp_announce=2")
            odd.append(str(rail.port))
        if known(rail.rp_filter) == 1:
            said.append(f"{rail.interface} rp_filter 1")
            settings.append(f"net.ipv4.conf.{name}.rp_filter=2")
            odd.append(str(rail.port))
    if not said:
        return None
    want = "arp_ignore 1, arp_announce 2, rp_filter not 1"
    return Fault("; ".join(said), want, f"sysctl -w {' '.join(settings)}", odd=tuple(dict.fromkeys(odd)))
