"""ethtool: answers as a kernel sent them, answers built by hand, and this machine's loopback."""

import contextlib
import errno
import json
import struct

import pytest

from fabricdoctor.sources import ethtool, netlink
from fabricdoctor.sources.netlink import attribute

NESTED = netlink.NESTED
CANNOT = (errno.EOPNOTSUPP, errno.EPROTONOSUPPORT, errno.ENOTTY)


def u8(kind, value):
    return attribute(kind, struct.pack("=B", value))


def u32(kind, value):
    return attribute(kind, struct.pack("=I", value))


def u64s(kind, *values):
    return attribute(kind, struct.pack(f"={len(values)}Q", *values))


def bit(index, name, *, is_set=False):
    value = u32(1, index) + attribute(2, name.encode() + b"\0") + (attribute(3, b"") if is_set else b"")
    return attribute(1 | NESTED, value)


def bitset(kind, *bits, nomask=False):
    value = (attribute(1, b"") if nomask else b"") + u32(2, 125) + attribute(3 | NESTED, b"".join(bits))
    return attribute(kind | NESTED, value)


# Captured: a driver that supports RS and 400G copper and advertises nothing.
CAPTURED_OURS = bytes.fromhex(
    "080002007d0000003c00038014000180080001003200000007000200525300002400018008000100590000001700"
    "0200343030303030626173654352342f46756c6c0000"
)
CAPTURED_FEC_MODES = bytes.fromhex("04000100080002007d000000180003801400018008000100320000000700020052530000")
MODES = (
    u8(2, 1)
    + bitset(3, bit(6, "Autoneg", is_set=True), bit(89, "400000baseCR4/Full", is_set=True), bit(50, "RS"))
    + bitset(4, bit(6, "Autoneg"), nomask=True)
    + u32(5, 400000)
    + u8(6, 1)
    + u32(9, 4)
)
STATE = u8(2, 0) + u8(5, 1) + u8(6, 2) + u32(7, 9)
PAUSE = u8(2, 0) + u8(3, 0) + u8(4, 1) + attribute(5 | NESTED, u64s(2, 2847) + u64s(3, 1523)) + u32(6, 0)
FEC = (
    bitset(2, bit(50, "RS"), nomask=True)
    + u8(3, 0)
    + u32(4, 50)
    + attribute(5 | NESTED, u64s(2, 123, 100, 23) + u64s(3, 4) + u64s(4))
)
NAMES = struct.pack("=III", 0x1B, 1, 2) + b"rx_prio3_pause".ljust(32, b"\0") + b"  tx_discards".ljust(32, b"\0")
VALUES = struct.pack("=IIQQ", 0x1D, 2, 1523, 1 << 63)
DRIVER = struct.pack(
    "=I32s32s32s32s32s12s5I", 3, b"mlx5_core", b"7.2.13", b"28.39.1002 (X)", b"0000:43:00.0", b"", b"", 0, 0, 0, 0, 0
)


def test_link_modes():
    assert ethtool.parse_link_modes(MODES) == {
        "speed_mbps": 400000,
        "lanes": 4,
        "autoneg": True,
        "supported": ["Autoneg", "400000baseCR4/Full", "RS"],
        "advertised": ["Autoneg", "400000baseCR4/Full"],
        "peer": ["Autoneg"],
    }


def test_captured_link_modes():
    found = ethtool.parse_link_modes(u8(2, 1) + attribute(3, CAPTURED_OURS))
    assert found["supported"] == ["RS", "400000baseCR4/Full"]
    assert (found["advertised"], found["peer"], found["lanes"]) == ([], [], None)


@pytest.mark.parametrize("speed", [0, 65535, 4294967295])
def test_unknown_speeds(speed):
    assert ethtool.parse_link_modes(u8(2, 0) + u32(5, speed))["speed_mbps"] is None


def test_compact_bitset_is_refused():
    with pytest.raises(ValueError):
        ethtool.parse_link_modes(u8(2, 0) + attribute(3, u32(2, 32) + u32(4, 1) + u32(5, 1)))


def test_link_state():
    assert ethtool.parse_link_state(STATE) == {
        "link": False,
        "ext_state": "link-training-failure",
        "ext_substate": 2,
        "down_count": 9,
    }


@pytest.mark.parametrize(("code", "name"), [(0, "autoneg"), (4, "no-cable"), (12, "bmc-request"), (77, "unknown-77")])
def test_extended_link_states(code, name):
    assert ethtool.parse_link_state(u8(5, code))["ext_state"] == name


def test_a_driver_that_cannot_tell_its_link():
    assert ethtool.parse_link_state(b"")["link"] is None


def test_pause():
    assert ethtool.parse_pause(PAUSE) == {
        "autoneg": False,
        "rx": False,
        "tx": True,
        "stats": {"tx_frames": 2847, "rx_frames": 1523},
    }


def test_pause_without_statistics():
    assert ethtool.parse_pause(u8(2, 1) + u8(3, 1) + u8(4, 1))["stats"] == {}


@pytest.fixture
def old_kernel(monkeypatch):
    """Stand in for a kernel whose netlink has no ethtool, with pause on arrival and a link."""

    def refuse(*_: object) -> bytes:
        raise OSError(errno.EOPNOTSUPP, "this kernel has no netlink family ethtool")

    answers = {0x12: (0x12, 1, 1, 0), 0x0A: (0x0A, 1)}

    def ioctl(_: str, request: bytes, __: int = 0) -> bytes:
        values = answers[struct.unpack_from("=I", request)[0]]
        return struct.pack(f"={len(values)}I", *values)

    monkeypatch.setattr(ethtool, "_ask", refuse)
    monkeypatch.setattr(ethtool, "_ioctl", ioctl)


@pytest.mark.usefixtures("old_kernel")
def test_pause_and_link_of_a_kernel_without_ethtool_by_netlink():
    assert ethtool.pause("rail0") == {"autoneg": True, "rx": True, "tx": False, "stats": {}}
    assert ethtool.link_state("rail0") == {"link": True, "ext_state": None, "ext_substate": None, "down_count": None}


def test_another_failure_is_not_taken_for_an_old_kernel(monkeypatch):
    def refuse(*_: object) -> bytes:
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(ethtool, "_ask", refuse)
    for kind in ("pause", "state"):
        with pytest.raises(OSError, match="No such device"):
            ethtool.KINDS[f"ethtool.{kind}"]("rail0")


def test_fec_totals_and_unsupported_counters():
    assert ethtool.parse_fec(FEC) == {
        "configured": ["RS"],
        "auto": False,
        "active": "RS",
        "stats": {"corrected": 123, "uncorrectable": 4},
    }


def test_captured_fec():
    found = ethtool.parse_fec(attribute(2, CAPTURED_FEC_MODES) + u8(3, 0) + attribute(5, u64s(2) + u64s(3) + u64s(4)))
    assert found == {"configured": ["RS"], "auto": False, "active": None, "stats": {}}


@pytest.mark.parametrize(("mode", "name"), [(49, "None"), (51, "BASER"), (74, "LLRS"), (99, "unknown-99")])
def test_active_fec(mode, name):
    assert ethtool.parse_fec(u8(3, 1) + u32(4, mode))["active"] == name


def test_statistics():
    assert ethtool.parse_statistics(NAMES, VALUES) == {"rx_prio3_pause": 1523, "tx_discards": 1 << 63}


def test_no_statistics():
    with pytest.raises(OSError) as caught:
        ethtool.parse_count(struct.pack("=IIQI", 0x37, 0, 0, 0))
    assert caught.value.errno == errno.EOPNOTSUPP
    assert ethtool.parse_count(struct.pack("=IIQI", 0x37, 0, 2, 16)) == 16


def test_driver():
    assert ethtool.parse_driver(DRIVER) == {
        "driver": "mlx5_core",
        "version": "7.2.13",
        "firmware": "28.39.1002 (X)",
        "bus": "0000:43:00.0",
    }


@pytest.mark.parametrize(
    ("parse", "whole"),
    [
        (ethtool.parse_link_modes, MODES),
        (ethtool.parse_link_state, STATE),
        (ethtool.parse_pause, PAUSE),
        (ethtool.parse_fec, FEC),
        (ethtool.parse_driver, DRIVER),
        (ethtool.parse_count, struct.pack("=IIQI", 0x37, 0, 2, 16)),
        (lambda part: ethtool.parse_statistics(part, VALUES), NAMES),
        (lambda part: ethtool.parse_statistics(NAMES, part), VALUES),
    ],
)
def test_truncation_is_nothing_but_a_value_error(parse, whole):
    taken = 0
    for end in range(len(whole)):
        with contextlib.suppress(ValueError, OSError):
            json.dumps(parse(whole[:end]))
            taken += 1
    assert taken < len(whole), "no truncation was noticed"


@pytest.mark.parametrize("kind", sorted(ethtool.KINDS))
def test_unknown_interface(kind):
    with pytest.raises(OSError) as caught:
        ethtool.KINDS[kind]("nosuch0")
    # A kernel or sandbox without ethtool netlink does not look for the interface.
    assert caught.value.errno in (errno.ENODEV, *CANNOT)


@pytest.mark.parametrize("kind", sorted(ethtool.KINDS))
def test_loopback_answers_or_says_it_cannot(kind):
    try:
        told = json.loads(json.dumps(ethtool.KINDS[kind]("lo")))
    except OSError as error:
        told = error.errno in CANNOT
    assert told is True or (isinstance(told, (dict, int)) and not isinstance(told, bool))
