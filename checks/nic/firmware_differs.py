from fabricdoctor.check import Board, Expect, Fault, Severity, check, known, known_or


@check(over=lambda node: node.boards, severity=Severity.WARNING)
def firmware_differs(board: Board, _: Expect) -> Fault | None:
    """
    ## What it looks at
    Whether the rails' adapters of one model and board run the same firmware.

    ## Why it matters
    Link training, congestion control and adaptive routing live in the firmware, and their defaults change with it. A
    rail that behaves unlike its siblings is then looked for in cables and switches; it is mostly the adapter that was
    replaced, or that was left out of an update.

    ## How to fix
    Bring the odd adapter to the firmware of the others, and reset it or reboot.
    """
    odd = known(board.odd)
    if odd is None:
        return None
    usual, devices = odd
    same = sum(known_or(device.firmware, "") == usual for device in board.devices)
    return Fault(
        saw=", ".join(f"{device}: firmware {known(device.firmware)}" for device in devices),
        want=f"{usual}, as {same} of {len(board.devices)} have",
        fix="; ".join(f"devlink dev flash pci/{known_or(device.pci, '?')} file IMAGE" for device in devices),
        odd=tuple(str(device) for device in devices),
    )
