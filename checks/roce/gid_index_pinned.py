from fabricdoctor.check import Expect, Fault, NcclRails, Severity, check, known


@check(over=lambda node: node.nccl_rails, severity=Severity.INFO, explained_by=("gid-nccl-would-pick-is-not-routable",))
def gid_index_pinned(rails: NcclRails, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether NCCL_IB_GID_INDEX is set, in the environment or in NCCL's configuration files, although NCCL would choose
    by itself: an information where the index is routable on every active RoCE rail, a warning where it is not.

    ## Why it matters
    The right index changes with the driver, in pods, and with each address that comes or goes. A value that is right
    today fails one rail or one node later, with `error 12`. NCCL 2.21 and later find it by themselves.

    ## How to fix
    Remove it from images, job scripts and /etc/nccl.conf. With an older NCCL it has to stay: say so with
    «nccl_version».
    """
    pinned = known(rails.pinned)
    if pinned is None:
        return None
    index, setting = pinned
    wrong = tuple(port for port, usable in known(rails.usable_indexes).items() if index not in usable)
    if not wrong and not rails.nccl_chooses(expect.nccl_version):
        return None
    in_file = f"sed -i /NCCL_IB_GID_INDEX/d {setting.origin}"
    return Fault(
        saw=f"NCCL_IB_GID_INDEX={setting.value} ({setting.origin})"
        + (f", wrong on {', '.join(wrong)}" if wrong else ""),
        want="not set: NCCL 2.21 and later choose the index",
        fix="unset NCCL_IB_GID_INDEX" if setting.origin == "environment" else in_file,
        severity=Severity.WARNING if wrong else None,
        odd=wrong,
    )
