from fabricdoctor.check import Expect, Fault, Link, Severity, check, known, wanted


@check(over=lambda node: node.links, severity=Severity.INFO)
def cable_length_not_set(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The cable length from which the driver computes the buffer that a pause needs, against «cable_m».

    ## Why it matters
    Drivers assume a short cable (7 m with mlx5). On a longer one more packets are under way when a pause is sent
    than the buffer was made for.

    ## How to fix
    Set the length, on the switch port too. It is lost on reboot: persist it where PFC is set.
    """
    want = wanted(expect.cable_m)
    if not wanted(expect.lossless_priorities) or known(link.cable_m) >= want:
        return None
    return Fault(
        saw=f"the buffers are sized with a cable of {known(link.cable_m)} m",
        want=f"{want} m",
        fix=f"mlnx_qos -i {link.netdev} --cable_len {want}",
    )
