from fabricdoctor.check import Expect, Fault, Limits, Severity, check, known


@check(over=lambda node: node.job_limits, severity=Severity.CRITICAL)
def memlock_limited(limits: Limits, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The soft limit of locked memory of this process, as a job started here gets it. CAP_IPC_LOCK waives it.
    At least «memlock_bytes» is wanted, 1 GiB unless set.

    ## Why it matters
    RDMA memory is locked memory. With a low limit small tests pass and the job then fails to register its buffers:
    `ibv_reg_mr ... Cannot allocate memory`.

    ## How to fix
    Limits are inherited: /etc/security/limits.conf does not reach a service. Raise the limit of the daemon that
    starts jobs, restart it, and look again from inside a job: `srun bash -c 'ulimit -l'`. Slurm also passes the
    limits of the submitting shell on, unless PropagateResourceLimitsExcept=MEMLOCK is set in slurm.conf.
    """
    memlock = known(limits.memlock)
    least = 1 << 30 if expect.memlock_bytes is None else expect.memlock_bytes
    if memlock is None or (least and memlock >= least) or known(limits.may_lock):
        return None
    return Fault(
        saw=f"at most {memlock / 1024:g} KiB of locked memory",
        want="unlimited locked memory" if not least else f"at least {least / 1024**2:g} MiB, best unlimited",
        fix="systemctl edit slurmd: [Service] LimitMEMLOCK=infinity (sshd too); docker run --ulimit memlock=-1",
    )
