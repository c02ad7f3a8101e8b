from fabricdoctor.check import Expect, Fault, Netdev, Port, Severity, check, known, known_or


@check(over=lambda node: node.fabric_ports, severity=Severity.CRITICAL, explained_by=("wrong-link-layer",))
def port_not_active(port: Port, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The state of each fabric port, with the physical state and the reason the adapter gives. A port that never had
    a link, has no address, is in no list of rails and whose siblings are down too was never put to use: no fault.

    ## Why it matters
    NCCL uses only active ports. A rail that is down takes its GPU's traffic to another rail, or off RDMA
    altogether.

    ## How to fix
    Administratively down: set the interface up. Polling or no signal: cable, transceiver, then the switch port.
    Training that never ends: FEC or speed differ between the two ends.
    InfiniBand in INIT or ARMED: the link is up, but no subnet manager configured it.
    """
    if known(port.active) or (expect.rails is None and not known(port.in_use)):
        return None
    state, phys = known(port.state), known_or(port.phys_state, "unknown")
    fix, reason = f"mlxlink -d {port.device} -m", ""
    if not known_or(port.is_ethernet, default=True):  # what IP over InfiniBand is set to is not the port's state
        if state in ("INIT", "ARMED"):
            fix, reason = "sminfo; systemctl status opensm", "no subnet manager configured it"
    elif isinstance(port.netdev, Netdev) and not known_or(port.netdev.admin_up, default=True):
        fix, reason = f"ip link set dev {port.netdev} up", "administratively down"
    elif isinstance(port.netdev, Netdev):
        under = known_or(port.netdev.lower, ()) or (port.netdev.name,)
        fix, reason = "; ".join(f"ethtool {n}; ethtool -m {n}" for n in under), known_or(port.netdev.why_down, "")
        fix = f"cat /proc/net/bonding/{port.netdev}; {fix}" if len(under) > 1 else fix
    log = known_or(port.kernel_says, "")
    saw = f"{state} (physical state {phys})" + (f": {reason}" if reason else "")
    saw += (f"; kernel log: {log}" if log else "") + (f"; mlxlink says: {says}" if (says := port.firmware_says) else "")
    return Fault(saw + port.at_far_end, "ACTIVE", fix)
