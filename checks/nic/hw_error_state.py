from fabricdoctor.check import Adapter, Expect, Fault, Severity, check, known, known_or


@check(over=lambda node: node.adapters, severity=Severity.CRITICAL)
def hw_error_state(adapter: Adapter, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The health reporters of each fabric adapter's driver (devlink): one in state error is critical, one that counted
    new errors between two samples a warning. A reporter that cannot recover keeps its state after one error,
    however long ago: that is information. What was counted before is history.

    ## Why it matters
    In state error the driver gave up: a queue, the firmware or the whole function stays dead until somebody
    recovers it. Errors that keep coming announce a failing adapter.

    ## How to fix
    Diagnose, save what the reporter says for the vendor, then recover. If it fails again: firmware update, reset,
    replacement.
    """
    reporters = known(adapter.reporters)
    failed = [r for r in reporters if r.state == "error"]
    erring = [r for r in reporters if known_or(r.new_errors, 0)]
    lasting = [r for r in failed if r.can_recover]
    if not failed and not erring:
        return None
    states = f"health reporter in state error: {', '.join(r.name for r in failed)}" if failed else ""
    counts = ", ".join(f"{known_or(r.new_errors, 0)} new errors of {r.name}" for r in erring)
    port, _slash, name = (lasting or erring or failed)[0].name.rpartition("/")
    place = f"pci/{known(adapter.pci)}{'/' + port if port else ''} reporter {name}"
    return Fault(
        saw="; ".join(text for text in (states, counts) if text),
        want="every health reporter healthy, and no new errors",
        fix=f"devlink health diagnose {place}; devlink health {'recover' if lasting else 'dump show'} {place}",
        severity=None if lasting else Severity.WARNING if erring else Severity.INFO,
    )
