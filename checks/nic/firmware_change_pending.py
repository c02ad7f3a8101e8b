from fabricdoctor.check import Expect, Fault, Firmware, Severity, check, known


@check(over=lambda node: node.firmware, severity=Severity.WARNING)
def firmware_change_pending(firmware: Firmware, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The settings stored in each fabric adapter, those in force against those of the next start (mstconfig). Asked
    only with --vendor-tools.

    ## Why it matters
    Somebody changed a setting and the adapter still runs with the old one. The node behaves differently from its
    siblings now, or will after the next reboot, when nobody expects it.

    ## How to fix
    Drain the node and restart the adapter's firmware: reset it, or reboot. A BlueField keeps running over a reboot of
    its host and needs the power to go. If the change is not wanted, set the old value again (mstconfig set).
    """
    pending = known(firmware.pending)
    if not pending:
        return None
    named = "; ".join(str(setting) for setting in pending[:3])
    more = f"; and {len(pending) - 3} more" if len(pending) > 3 else ""  # noqa: PLR2004
    fix = "ipmitool chassis power cycle" if firmware.needs_power_off else f"mstfwreset -d {firmware.pci} reset"
    return Fault(f"settings that wait for a restart of the adapter: {named}{more}", "the settings in force", fix)
