from fabricdoctor.check import Device, Expect, Fault, Severity, check, known, known_or


@check(over=lambda node: node.fabric_devices, severity=Severity.CRITICAL, explained_by=("no-userspace-provider",))
def uverbs_not_usable(device: Device, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether a program can open the device and create what every RDMA program needs: protection domain (pd),
    completion queue (cq), queue pair (qp), registered memory (mr). It is tried as the job's user where possible.

    ## Why it matters
    What root can do the job's user may not. NCCL meets the same error at its start and either aborts or, worse,
    continues over TCP.

    ## How to fix
    Permission denied: the uverbs nodes must be readable and writable by everyone (rdma-core's udev rules do that).
    Cannot allocate memory at `mr`: the locked-memory limit is too low. Where that is unlimited, and at `cq` or `qp`:
    the device or the IOMMU ran out of resources; look at `rdma resource` and the kernel log.
    """
    steps = known(device.usable)
    failed = next((step for step, error in steps.items() if error is not None), None)
    if failed is None:
        return None
    error, node = str(steps[failed]), known_or(device.uverbs, None) or "/dev/infiniband/uverbs*"
    fix = f"rdma resource show; dmesg | grep {known_or(device.pci, device.name)}"
    if error.startswith(("errno 13:", "errno 1:")):
        fix = f"chmod 0666 {node} /dev/infiniband/rdma_cm; in a cgroup: allow the device too"
    elif error.startswith("errno 12:") and failed == "mr" and not known_or(device.locks_all, default=False):
        fix = "ulimit -l unlimited; to keep it: LimitMEMLOCK=infinity in slurmd.service"
    return Fault(
        f"{failed} failed for uid {known_or(device.tried_as, '?')}: {error}", "open, pd, cq, qp and mr succeed", fix
    )
