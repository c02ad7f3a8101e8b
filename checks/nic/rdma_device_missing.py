from fabricdoctor.check import Expect, Fault, MissingDevice, Severity, check, known, known_or


@check(over=lambda node: node.missing_devices, severity=Severity.CRITICAL)
def rdma_device_missing(device: MissingDevice, _: Expect) -> Fault | None:
    """
    ## What it looks at
    PCI adapters of the same model as the rails' that offer no RDMA device. Virtual functions, adapters given to
    a virtual machine (vfio) and adapters in another network namespace are left out; the latter still have the parts
    that a driver makes of an adapter (auxiliary devices), one whose firmware failed has not.

    ## Why it matters
    Each GPU expects its own rail. NCCL takes the RDMA devices it finds and says nothing of the one that is not
    there, so the job runs on fewer rails, and every node waits for this one.

    ## How to fix
    No driver bound: read why in the kernel log, then bind it again. A reset or power cycle helps where the firmware
    did not answer. Driver bound but no RDMA device: load the driver's RDMA module, and see that RoCE is not
    switched off (`devlink dev param show pci/ADDRESS name enable_roce`).
    """
    driver = known(device.driver)
    if driver is None:
        return Fault(
            saw="no driver is bound to it",
            want=f"an RDMA device, as {device.siblings} of the same model have",
            fix=f"dmesg | grep {device}; echo {device} > /sys/bus/pci/drivers_probe",
        )
    if not known_or(device.netdevs, ("?",)):
        return Fault(
            saw=f"driver {driver} is bound to it and made nothing of it, neither an interface nor an RDMA device",
            want=f"an RDMA device, as {device.siblings} of the same model have",
            fix=f"dmesg | grep {device}; devlink dev reload pci/{device}; if that fails, a power cycle",
        )
    return Fault(
        saw=f"driver {driver} offers {', '.join(known_or(device.netdevs, ()))} but no RDMA device",
        want=f"an RDMA device, as {device.siblings} of the same model have",
        fix=f"modprobe {device.rdma_module or 'the RDMA module of ' + driver}; dmesg | grep {device}",
    )
