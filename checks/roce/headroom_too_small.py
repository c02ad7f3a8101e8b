from fabricdoctor.check import Expect, Fault, Link, Severity, check, join, known, wanted


@check(over=lambda node: node.links, severity=Severity.WARNING)
def headroom_too_small(link: Link, expect: Expect) -> Fault | None:
    """
    ## What it looks at
    The receive buffer of each lossless priority: is it one of its own, and does it hold what still arrives after a
    pause was sent? What is needed follows from cable length, speed and MTU, by the driver's own formula.

    ## Why it matters
    A pause takes time to act. With a buffer that is too small for it packets are dropped in the class that was to
    lose none.

    ## How to fix
    Set the cable's true length and let the driver size the buffers, or set them by hand. Each further lossless
    priority takes from the same memory: have as few as you need.
    """
    lossless = wanted(expect.lossless_priorities) & known(link.pfc_priorities)
    if not lossless:
        return None
    buffers = known(link.buffers)
    ours = {buffers.of_priority[p] for p in lossless}
    shared = {p for p in range(8) if buffers.of_priority[p] in ours} - known(link.pfc_priorities)
    if shared:
        saw, want = f"priority {join(lossless)} shares its receive buffer with {join(shared)}", "a buffer of its own"
        fix = f"dcb buffer set dev {link.netdev} prio-buffer " + " ".join(f"{p}:1" for p in sorted(lossless))
        return Fault(saw, want, fix)
    need, size = known(link.headroom_bytes), min(buffers.size_for(p) for p in lossless)
    if size >= need:
        return None
    return Fault(
        saw=f"{size} bytes of receive buffer for priority {join(lossless)}, with a cable of {known(link.cable_m)} m",
        want=f"at least {need} bytes",
        fix=f"mlnx_qos -i {link.netdev} --cable_len METRES; dcb buffer show dev {link.netdev}",
    )
