from fabricdoctor.check import Device, Expect, Fault, Severity, check, known


@check(over=lambda node: node.fabric_devices, severity=Severity.CRITICAL)
def no_userspace_provider(device: Device, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the device has a uverbs node in /dev/infiniband, and whether libibverbs finds a provider for it that
    speaks the kernel driver's ABI. A container that has the nodes of some devices was given these only; how many it
    should have is «devices».

    ## Why it matters
    The kernel shows the device, `ibstat` looks healthy, and yet no program can open it. NCCL then finds no
    device and falls back to TCP without an error: the job runs at a tenth of its speed.

    ## How to fix
    Container: pass /dev/infiniband into it, or use the RDMA device plugin. Host: load ib_uverbs.
    No provider, or "does not support the kernel ABI": install the userspace library of the same release as the
    kernel driver. A container's may differ from the host's: look where the job runs.
    """
    if known(device.uverbs) is None:
        return Fault(
            saw="the kernel has the device, but /dev/infiniband has no uverbs node for it",
            want="a node /dev/infiniband/uverbsN",
            fix="modprobe ib_uverbs; for a container: docker run --device=/dev/infiniband --cap-add=IPC_LOCK ...",
        )
    if known(device.provider):
        return None
    return Fault(
        saw=device.provider_warning or "libibverbs does not list the device: no provider for it is installed",
        want="a provider that fits the kernel driver",
        fix="apt install ibverbs-providers, or the driver vendor's library of the same release; then: ibv_devinfo -d "
        + device.name,
    )
