from fabricdoctor.check import Adapter, Expect, Fault, Severity, check, known


@check(over=lambda node: node.adapters, severity=Severity.CRITICAL, explained_by=("hw-error-state",))
def kernel_log_nic_fault(adapter: Adapter, _: Expect) -> Fault | None:
    """
    ## What it looks at
    What the kernel log says of each fabric adapter, in the last 24 hours and since it was last set up. Critical:
    health compromised, a command that timed out. Warning: transmit timeout, high temperature, module error.
    Information: insufficient power, unless all adapters say so: many servers do not tell what their slots give.

    ## Why it matters
    The firmware or a module failed, also where the port came back: the job that meets it next ends with it.

    ## How to fix
    Read what stands around the message. Firmware: update it, reset the adapter, power cycle the node; replace what
    does it again. Temperature: fans, airflow and dust. Module: reseat, clean, replace.
    """
    said = known(adapter.said)
    if not said:
        return None
    worst, pci = said[0], known(adapter.pci)
    interface = next(iter(adapter.interfaces), "")
    module = f"ethtool -m {interface}" if interface else f"mlxlink -d {pci} -m"
    levels = {"health-compromised": Severity.CRITICAL, "command-timeout": Severity.CRITICAL}
    fixes = {"high-temperature": module, "module-error": module, "insufficient-power": f"lspci -vvs {pci}"}
    level = Severity.INFO if worst.kind == "insufficient-power" else levels.get(worst.kind, Severity.WARNING)
    times = f"{worst.times} time{'' if worst.times == 1 else 's'}, last {worst.seconds_ago / 3600:.1f} hours ago"
    more = "".join(f"; {s.text} ({s.times})" for s in said[1:])
    return Fault(
        saw=f"{worst.text}: {times}{more}",
        want="no such message",
        fix=f"dmesg -T | grep {pci}; " + fixes.get(worst.kind, f"devlink health show pci/{pci}"),
        severity=level,
    )
