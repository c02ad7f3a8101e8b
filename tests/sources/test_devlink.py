"""Health reporters: messages as devlink_nl_health_reporter_fill() in the kernel makes them."""

import errno
import struct

from fabricdoctor.sources import devlink
from fabricdoctor.sources.netlink import attribute

PCI = "0000:03:00.0"


def answer(name, state=0, errors=0, recoveries=0, *, device=PCI, bus="pci", port=None, recovers=True):
    reporter = attribute(115, name.encode() + b"\0") + attribute(116, struct.pack("=B", state))
    reporter += attribute(117, struct.pack("=Q", errors)) + attribute(118, struct.pack("=Q", recoveries))
    if recovers:
        reporter += attribute(120, struct.pack("=Q", 60000)) + attribute(121, b"\1")
    place = attribute(1, bus.encode() + b"\0") + attribute(2, device.encode() + b"\0")
    return place + (attribute(3, struct.pack("=I", port)) if port is not None else b"") + attribute(114, reporter)


def test_reporters_of_the_device_and_of_its_ports():
    found = devlink.parse(PCI, [answer("fw", recovers=False), answer("tx", 1, 5, 4, port=65535)])
    assert found == {
        "fw": {"state": "healthy", "errors": 0, "recoveries": 0, "can_recover": False},
        "65535/tx": {"state": "error", "errors": 5, "recoveries": 4, "can_recover": True},
    }


def test_other_adapters_are_left_out():
    others = [answer("fw", 1, device="0000:03:00.1"), answer("dummy", 1, device="netdevsim1", bus="netdevsim")]
    assert list(devlink.parse(PCI, [*others, answer("fw_fatal")])) == ["fw_fatal"]


def test_a_later_kernels_state_keeps_its_number():
    assert devlink.parse(PCI, [answer("fw", 7)])["fw"]["state"] == "unknown-7"


def test_a_reporter_cut_off_is_refused():
    whole = answer("fw", 0, 1, 1)
    for end in range(1, len(whole)):
        try:
            found = devlink.parse(PCI, [whole[:end]])
        except ValueError:
            continue
        assert found == {}  # cut between two attributes, before the adapter was named


def test_what_this_machine_says():
    try:
        found = devlink.health(PCI)
    except OSError as error:
        assert error.errno in (errno.EOPNOTSUPP, errno.ENODEV, errno.EPROTONOSUPPORT)  # noqa: PT017
    else:
        assert all({"state", "errors", "recoveries", "can_recover"} == set(r) for r in found.values())
