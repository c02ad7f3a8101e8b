"""DCB: an answer as a kernel sent it, whole, shortened and changed."""

import errno
import json
import struct

import pytest

from fabricdoctor.sources import dcb, netlink

ANSWER = bytes.fromhex(
    "001500000a0001007261696c300000002c040d003f0001000008003200003200000000320000320000000002020202020200"
    "0200000003000006000000000000000000000000000000000000000000000000000044000700000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00008c00020008080000070000000000000000000000000000000000000000000000000000001f0b00000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000f305000000000000000000000000000000000000000000000000000000000000000000000000000030000a0000000001"
    "0000000080ff010080ff010000000000000000000000000000000000000000000000000080ff030004020300080001000507"
    "3f000800010005073e000800010005073d000800010005073c000800010005073b000800010005073a000800010005073900"
    "0800010005073800080001000506370008000100050636000800010005063500080001000506340008000100050633000800"
    "010005063200080001000506310008000100050630000800010005052f000800010005052e000800010005052d0008000100"
    "05052c000800010005052b000800010005052a00080001000505290008000100050528000800010005042700080001000504"
    "2600080001000504250008000100050424000800010005042300080001000504220008000100050421000800010005042000"
    "0800010005031f000800010005031e000800010005031d000800010005031c000800010005031b000800010005031a000800"
    "0100050319000800010005031800080001000502170008000100050216000800010005021500080001000502140008000100"
    "050213000800010005021200080001000502110008000100050210000800010005010f000800010005010e00080001000501"
    "0d000800010005010c000800010005010b000800010005010a00080001000501090008000100050108000800010005000700"
    "0800010005000600080001000500050008000100050004000800010005000300080001000500020008000100050001000800"
    "01000500000004000c8014000b80050001000500000005000200ff0000003f00040000080032000032000000003200003200"
    "00000002020202020200020000000300000600000000000000000000000000000000000000000000000000008c0005000808"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000005000e0009000000"
)


def answer(*parts):
    """Make an answer with only these (type, value) in its IEEE part."""
    ieee = b"".join(netlink.attribute(kind, value) for kind, value in parts)
    return b"\0\x15\0\0" + netlink.attribute(13, ieee)


def test_pfc():
    assert dcb.parse(ANSWER)["pfc"] == {
        "cap": 8,
        "enabled": 0x08,
        "mbc": 0,
        "delay": 7,
        "requests": [0, 0, 0, 2847, 0, 0, 0, 0],
        "indications": [0, 0, 0, 1523, 0, 0, 0, 0],
    }


def test_ets():
    assert dcb.parse(ANSWER)["ets"] == {
        "willing": 0,
        "cap": 8,
        "cbs": 0,
        "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0],
        "tc_rx_bw": [50, 0, 0, 50, 0, 0, 0, 0],
        "tc_tsa": [2, 2, 2, 2, 2, 2, 0, 2],
        "prio_tc": [0, 0, 0, 3, 0, 0, 6, 0],
    }


def test_app_table_in_the_kernel_s_order():
    assert dcb.parse(ANSWER)["app"] == [[5, dscp >> 3, dscp] for dscp in range(63, -1, -1)]


def test_trust_order_across_attribute_types():
    assert dcb.parse(ANSWER)["trust"] == [5, 255]


def test_the_rest():
    found = dcb.parse(ANSWER)
    assert found["buffer"] == {
        "prio2buffer": [0, 0, 0, 1, 0, 0, 0, 0],
        "size": [130944, 130944, 0, 0, 0, 0, 0, 0],
        "total": 262016,
    }
    assert found["maxrate_kbps"] == [0] * 8
    assert found["dcbx"] == 0x09
    assert found["peer_pfc"]["enabled"] == 0x08
    assert found["peer_ets"]["prio_tc"] == [0, 0, 0, 3, 0, 0, 6, 0]
    assert "peer_app" not in found
    assert json.loads(json.dumps(found)) == found


def test_what_the_driver_cannot_say_is_absent():
    assert dcb.parse(answer((3, b""))) == {"app": []}


def test_peer_app():
    entry = netlink.attribute(1, struct.pack("=BBH", 3, 3, 4791))
    assert dcb.parse(answer((6, entry))) == {"peer_app": [[3, 3, 4791]]}


def test_a_longer_struct_of_a_later_kernel_is_read():
    longer = struct.pack("=BBBxHxx8Q8Q", 8, 8, 0, 7, *range(16)) + b"later"
    assert dcb.parse(answer((2, longer)))["pfc"]["indications"] == list(range(8, 16))


@pytest.mark.parametrize(("kind", "size"), [(1, 58), (2, 6), (2, 72), (2, 135), (7, 63), (10, 43), (3, 3)])
def test_a_shorter_struct_is_refused(kind, size):
    with pytest.raises(ValueError):
        dcb.parse(answer((kind, b"\1" * size)))


def test_truncation_is_a_value_error():
    whole = dcb.parse(ANSWER)
    for end in range(len(ANSWER)):
        try:
            found = dcb.parse(ANSWER[:end])
        except ValueError:
            continue
        # Only a cut between two attributes goes unnoticed, and loses an answer without changing one.
        assert all(whole[key] == value for key, value in found.items())


def test_loopback_has_no_dcb():
    with pytest.raises(OSError) as caught:
        dcb.dcb("lo")
    assert caught.value.errno == errno.EOPNOTSUPP


def test_unknown_interface():
    with pytest.raises(OSError) as caught:
        dcb.dcb("nosuch0")
    # A kernel built without DCB does not look for the interface.
    assert caught.value.errno in (errno.ENODEV, errno.EOPNOTSUPP)
