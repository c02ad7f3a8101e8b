from fabricdoctor.check import Expect, Fault, LayerPort, Severity, check, known, wanted


@check(over=lambda node: node.layer_ports, severity=Severity.CRITICAL)
def wrong_link_layer(subject: LayerPort, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The link layer of each rail, InfiniBand or Ethernet, against «link_layer». Also of ports of the rails' board with
    another layer than they, when a rail is missing for them: by «devices», or because they are nearest to a GPU that no
    rail is as near to. Other adapters may have what layer they like.

    ## Why it matters
    Many adapters can be either. One that was replaced, or whose settings were reset, comes up as the other, finds no
    peer that speaks it, and its GPU has no rail.

    ## How to fix
    Set the port's type in the adapter's settings, then reboot. If the port is not meant for this fabric, name the rails
    in `rails`.
    """
    layer = wanted(expect.link_layer)
    seen = known(subject.port.link_layer)
    if seen == layer or seen not in ("InfiniBand", "Ethernet") or not known(subject.belongs(layer, expect.devices)):
        return None
    number = int(subject.pci[-1]) + 1 if subject.pci else subject.port.number
    if subject.driver == "mlx5_core":
        fix = f"mlxconfig -d {subject.pci or subject.port.device} set LINK_TYPE_P{number}="
        fix += f"{'ETH' if layer == 'Ethernet' else 'IB'}; then reboot"
    else:
        fix = "the adapter's own tool sets the type of a port; else it is another adapter than the rails'"
    return Fault(saw=seen, want=layer, fix=fix)
