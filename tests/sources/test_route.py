"""Routes, rules and neighbours: answers of a kernel with two rails, and this machine's own."""

import pytest

from fabricdoctor.sources import route

V4, V6 = 2, 10
NAMES4, NAMES6 = {5: "rail0", 6: "rail1"}, {3: "rail0", 5: "rail1"}
BY_TABLE = "02000000640300011000000008000f006400000008000500c00002010800040005000000"
BLACKHOLE = "02180000650300060000000008000f006500000008000100cb007100"
MULTIPATH = (
    "02000000fe0400011000000008000f00fe00000024000900100010000500000008000500c0000201100010000600000008000500c0000211"
)
CONNECTED = "021c0000fe02fd011000000008000f00fe00000008000100c000020008000700c000020a0800040005000000"
VIA_IPV6 = (
    "02180000fe0300010000000008000f00fe00000008000100c6336400160012000a00fe800000000000000000000000000001"
    "00000800040005000000"
)
BY_NEXTHOP = "02180000fe0300010000000008000f00fe00000008000100c633650008001e0005000000"
IPV6_BY_TABLE = (
    "0a000000640300010000000008000f006400000008000600000400001400050020010db80000000100000000000000010800"
    "04000300000024000c0000000000000000000000000000000000000000000000000000000000000000000500140000000000"
)
IPV6_MULTIPATH = (
    "0a000000fe0300010000000008000f00fe00000008000600000400003c0009001c0000000300000014000500fe8000000000"
    "000000000000000000011c0000000500000014000500fe80000000000000000000000000000124000c000000000000000000"
    "0000000000000000000000000000000000000000000000000500140000000000"
)
TO_MAIN = "02000000fe0000010000000008000f00fe00000008000e00ffffffff050015000200000008000600fe7f0000"
FROM_RAIL = "02002000640000010000000008000f006400000008000e00ffffffff050015000000000008000600e803000008000200c000020a"
MARKED = (
    "02000000660000010000000008000f006600000008000e00ffffffff050015000000000008000600e903000008000a000700"
    "000008001000ffffffff"
)
LEAVING = (
    "02000000650000010000000008000f006500000008000e00ffffffff05001500000000000a0011007261696c3100000008000600ea030000"
)
NOT_FROM = "02001800670000010200000008000f006700000008000e00ffffffff050015000000000008000600eb03000008000200c0000200"
FAILED = "02000000050000002000000108000100c00002010800040000000000140003007a1700000a0000000a00000000000000"
NO_ARP = (
    "0a000000020000004000000514000100ff0200000000000000000000000000020a0002003333000000020000080004000000"
    "000014000300c5180000550100005501000000000000"
)


def answers(kind, *texts):
    return [(kind, bytes.fromhex(text)) for text in texts]


def only(family, text, names):
    (found,) = route.parse_routes(family, answers(24, text), names)
    return found["table"], found["to"], found["type"], found["via"]


@pytest.mark.parametrize(
    ("family", "text", "names", "want"),
    [
        (V4, BY_TABLE, NAMES4, (100, "0.0.0.0/0", "unicast", [["rail0", "192.0.2.1"]])),
        (V4, MULTIPATH, NAMES4, (254, "0.0.0.0/0", "unicast", [["rail0", "192.0.2.1"], ["rail1", "192.0.2.17"]])),
        (V4, CONNECTED, NAMES4, (254, "192.0.2.0/28", "unicast", [["rail0", None]])),
        (V4, VIA_IPV6, NAMES4, (254, "198.51.100.0/24", "unicast", [["rail0", "fe80::1"]])),
        (V4, BLACKHOLE, NAMES4, (101, "203.0.113.0/24", "blackhole", [])),
        (V4, BY_NEXTHOP, NAMES4, (254, "198.51.101.0/24", "unicast", None)),
        (V4, CONNECTED, {}, (254, "192.0.2.0/28", "unicast", [["index 5", None]])),
        (V6, IPV6_BY_TABLE, NAMES6, (100, "::/0", "unicast", [["rail0", "2001:db8:0:1::1"]])),
        (V6, IPV6_MULTIPATH, NAMES6, (254, "::/0", "unicast", [["rail0", "fe80::1"], ["rail1", "fe80::1"]])),
    ],
)
def test_a_route(family, text, names, want):
    assert only(family, text, names) == want


def test_of_routes_by_one_gateway_the_widest_is_kept_and_of_those_on_the_link_all():
    narrow = bytes.fromhex(BY_TABLE).replace(b"\x02\x00", b"\x02\x18", 1) + bytes.fromhex("08000100c6336400")
    other = CONNECTED.replace("08000100c0000200", "08000100c0000220")
    listed = [(24, narrow), *answers(24, BY_TABLE, CONNECTED, other)]
    found = route.parse_routes(V4, listed, NAMES4)
    assert [r["to"] for r in found] == ["0.0.0.0/0", "192.0.2.0/28", "192.0.2.32/28"]


def test_other_families_copies_and_the_local_table_are_left_out():
    copy = bytearray.fromhex(BY_TABLE)
    copy[9] = 2  # RTM_F_CLONED
    local = bytes.fromhex(BY_TABLE.replace("08000f0064", "08000f00ff"))
    assert route.parse_routes(V4, [(24, bytes(copy)), (24, local), *answers(24, IPV6_BY_TABLE)], NAMES4) == []


def rule(text):
    (found,) = route.parse_rules(V4, answers(32, text))
    return found


def test_rules():
    everything = {"from": None, "iif": None, "oif": None, "l3mdev": False, "some": False}
    assert rule(TO_MAIN) == everything | {"priority": 32766, "table": 254}
    assert rule(FROM_RAIL) == everything | {"priority": 1000, "table": 100, "from": "192.0.2.10/32"}
    assert rule(LEAVING) == everything | {"priority": 1002, "table": 101, "oif": "rail1"}


def test_a_rule_for_some_packets_is_marked():
    assert rule(MARKED)["some"]
    assert (rule(NOT_FROM)["some"], rule(NOT_FROM)["from"]) == (True, None)


def test_a_rule_that_names_no_table_has_none():
    unreachable = bytearray.fromhex(FROM_RAIL)
    unreachable[7] = 7  # FR_ACT_UNREACHABLE
    assert rule(unreachable.hex())["table"] is None


def test_neighbours_that_do_not_answer():
    want = {"interface": "rail0", "address": "192.0.2.1", "state": "failed", "seconds": 0.1}
    assert route.parse_neighbours(V4, answers(28, FAILED), NAMES4) == [want]
    assert route.parse_neighbours(V6, answers(28, NO_ARP), NAMES6) == []


@pytest.mark.parametrize("text", [BY_TABLE, MULTIPATH, VIA_IPV6, IPV6_MULTIPATH])
def test_a_route_cut_off_is_refused_or_without_its_end(text):
    whole = bytes.fromhex(text)
    for end in range(len(whole)):
        try:
            found = route.parse_routes(whole[0], [(24, whole[:end])], NAMES4)
        except ValueError:
            continue
        assert len(found) == 1


def test_cut_off_rules_and_neighbours():
    for parse, kind, text in ((route.parse_rules, 32, FROM_RAIL), (None, 28, FAILED)):
        whole = bytes.fromhex(text)
        for end in range(12):
            with pytest.raises(ValueError):
                parse(V4, [(kind, whole[:end])]) if parse else route.parse_neighbours(V4, [(kind, whole[:end])], {})


def test_no_such_family():
    with pytest.raises(ValueError):
        route.routes("inet7")


@pytest.mark.parametrize("family", ["inet", "inet6"])
def test_this_machine_answers(family):
    try:
        found = route.rules(family)
    except OSError:
        pytest.skip("a kernel without policy routing")
    assert any(r["table"] == 254 for r in found)
    assert all(r["table"] != 255 for r in route.routes(family))
    assert all(n["state"] in ("failed", "incomplete") for n in route.silent_neighbours(family))
