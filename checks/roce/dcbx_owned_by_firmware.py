from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.INFO)
def dcbx_owned_by_firmware(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the adapter's firmware negotiates PFC and ETS with the switch, so that the switch's word replaces what
    the host sets. It is a warning where PFC is not on the lossless priorities, and no news where a driver always
    works so.

    ## Why it matters
    A switch port that offers no PFC then takes it from the host without a word, after a reboot or a cable change.

    ## How to fix
    Decide for one owner. The host: switch the firmware's LLDP agent off and set PFC yourself. The firmware: let the
    switch offer it on every port.
    """
    lossless = wanted(expect.lossless_priorities)
    if not lossless or not known(link.firmware_owns_dcb):
        return None
    right = lossless <= known(link.pfc_priorities)
    if right and link.firmware_usually_does:
        return None
    return Fault(
        saw=f"the firmware negotiates with the switch, and PFC is on {join(known(link.pfc_priorities))}",
        want="the host as owner, or a switch that offers PFC on " + join(lossless),
        fix=f"mlnx_qos -i {link.netdev} -d os; mlxconfig: LLDP_NB_DCBX_P1=0, DCBX_WILLING_P1=0; ice: "
        f"ethtool --set-priv-flags {link.netdev} fw-lldp-agent off",
        severity=None if right else Severity.WARNING,
    )
