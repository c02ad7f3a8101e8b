"""Replies of the kernel, byte for byte, and cut off at every byte."""

import struct

import pytest

from fabricdoctor.sources import address, dcb, ethtool, netlink
from fabricdoctor.sources.netlink import attribute as attr
from fabricdoctor.sources.netlink import nest

HEADER = bytes.fromhex("08000100040000000a0002007261696c30000000")
# captured from a 400 Gb/s interface with RS FEC, `ethtool` generic netlink, kernel 7.2
OURS = bytes.fromhex(
    "080002007d0000003c000380140001800800010032000000070002005253000024000180080001005900000017000200"
    "343030303030626173654352342f46756c6c0000"
)
MODES = (
    attr(1 | netlink.NESTED, HEADER) + attr(2, b"\x01") + attr(3 | netlink.NESTED, OURS) + attr(5, b"\x80\x1a\x06\x00")
)
FEC_MODES = bytes.fromhex("04000100080002007d000000180003801400018008000100320000000700020052530000")
FEC = (
    attr(2 | netlink.NESTED, FEC_MODES)
    + attr(3, b"\0")
    + attr(4, struct.pack("=I", 50))
    + attr(5 | netlink.NESTED, attr(2, struct.pack("=2Q", 123, 7)) + attr(3, struct.pack("=Q", 4)) + attr(4, b""))
)
PAUSE = attr(2, b"\0") + attr(3, b"\x01") + attr(4, b"\0") + attr(5, attr(2, struct.pack("=Q", 2847)))
DOWN = attr(2, b"\0") + attr(5, b"\x04") + attr(6, b"\x01") + attr(7, struct.pack("=I", 3))


def test_link_modes():
    found = ethtool.parse_link_modes(nest(MODES))
    assert (found["speed_mbps"], found["autoneg"]) == (400000, True)
    assert found["supported"] == ["RS", "400000baseCR4/Full"]


@pytest.mark.parametrize("speed", [0, 0xFFFF, 0xFFFFFFFF])
def test_a_speed_the_driver_does_not_know_is_none(speed):
    assert ethtool.parse_link_modes(nest(attr(5, struct.pack("=I", speed))))["speed_mbps"] is None


def test_fec_counts_totals_and_leaves_out_what_is_not_supported():
    found = ethtool.parse_fec(nest(FEC))
    assert found["active"] == "RS"
    assert found["stats"] == {"corrected": 123, "uncorrectable": 4}


def test_pause():
    assert ethtool.parse_pause(nest(PAUSE)) == {"autoneg": False, "rx": True, "tx": False, "stats": {"tx_frames": 2847}}


def test_why_a_link_is_down():
    assert ethtool.parse_link_state(nest(DOWN)) == {
        "link": False, "ext_state": "no-cable", "ext_substate": 1, "down_count": 3,
    }  # fmt: skip
    assert ethtool.parse_link_state(nest(attr(2, b"\0") + attr(5, b"\x63")))["ext_state"] == "state-99"


def test_statistics():
    names = struct.pack("=III", 0x1B, 1, 2) + b"rx_prio3_pause".ljust(32, b"\0") + b"tx".ljust(32, b"\0")
    values = struct.pack("=II2Q", 0x1D, 2, 5, 1 << 63)
    assert ethtool.parse_statistics(names, values) == {"rx_prio3_pause": 5, "tx": 1 << 63}
    with pytest.raises(ValueError, match="do not fit"):
        ethtool.parse_statistics(names, values[:-8])
    with pytest.raises(ValueError, match="do not fit"):
        ethtool.parse_statistics(names, struct.pack("=II3Q", 0x1D, 3, 5, 6, 7))


@pytest.mark.parametrize(
    ("data", "parse"),
    [
        (MODES, ethtool.parse_link_modes),
        (FEC, ethtool.parse_fec),
        (PAUSE, ethtool.parse_pause),
        (DOWN, ethtool.parse_link_state),
    ],
)
def test_a_reply_that_was_cut_off_is_an_error_or_a_shorter_answer(data, parse):
    for end in range(len(data)):
        try:
            parse(nest(data[:end]))
        except (ValueError, KeyError):
            continue


def pfc(**wanted):
    values = {"cap": 8, "enabled": 8, "mbc": 0, "delay": 7} | wanted
    frames = [0, 0, 0, 2847, 0, 0, 0, 0] + [0, 0, 0, 1523, 0, 0, 0, 0]
    return struct.pack("=BBBxHxx8Q8Q", values["cap"], values["enabled"], values["mbc"], values["delay"], *frames)


def reply(*parts):
    return struct.pack("=BBH", 0, 21, 0) + attr(1, b"rail0\0") + attr(13, b"".join(parts)) + attr(14, b"\x09")


def test_dcb_reply():
    app = attr(1, struct.pack("=BBH", 5, 3, 26)) + attr(2, struct.pack("=BBH", 255, 1, 4))
    trust = attr(1, b"\x05") + attr(2, b"\xff")
    found = dcb.parse(reply(attr(2, pfc()), attr(3, app), attr(11 | netlink.NESTED, trust)))
    assert found["pfc"]["enabled"] == 8
    assert (found["pfc"]["requests"][3], found["pfc"]["indications"][3], found["pfc"]["delay"]) == (2847, 1523, 7)
    assert found["app"] == [[5, 3, 26], [255, 1, 4]]
    assert (found["trust"], found["dcbx"]) == ([5, 255], 9)
    assert "ets" not in found


def test_a_dcb_reply_that_was_cut_off_never_crashes():
    whole = reply(attr(2, pfc()), attr(3, attr(1, struct.pack("=BBH", 5, 3, 26))))
    for end in range(len(whole)):
        try:
            dcb.parse(whole[:end])
        except ValueError:
            continue
    with pytest.raises(ValueError, match="DCB struct of 100 bytes where 136 belong"):
        dcb.parse(reply(attr(2, pfc()[:100])))


def test_the_machine_itself_answers():
    assert "127.0.0.1/8" in address.addresses("")["lo"]
    with pytest.raises(OSError, match="not supported"):
        dcb.dcb("lo")
    for ask in (dcb.dcb, ethtool.link_state, ethtool.statistics):
        with pytest.raises(OSError, match="No such device"):
            ask("nosuchdevice0")
    assert ethtool.link_state("lo")["link"] is True


def test_an_error_message_is_its_errno():
    header = struct.pack("=IHHII", 36, 2, 0, 1, 0)
    with pytest.raises(OSError, match="not supported") as error:
        netlink.Conversation(1).feed(header + struct.pack("=i", -95) + bytes(16))
    assert error.value.errno == 95
