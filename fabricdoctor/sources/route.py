"""Which way packets leave: routes of all tables, policy rules, and the neighbours that do not answer.

The key is the family, "inet" or "inet6". Layouts: include/uapi/linux/rtnetlink.h, fib_rules.h and neighbour.h.
"""

from __future__ import annotations

import _socket
import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_FAMILIES = {"inet": int(_socket.AF_INET), "inet6": int(_socket.AF_INET6)}
_LENGTHS = {int(_socket.AF_INET): 4, int(_socket.AF_INET6): 16}
_RTM_NEWROUTE, _RTM_GETROUTE = 24, 26
_RTM_NEWNEIGH, _RTM_GETNEIGH = 28, 30
_RTM_NEWRULE, _RTM_GETRULE = 32, 34

_RTMSG = struct.Struct("=BBBBBBBBI")
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_MULTIPATH, _RTA_TABLE, _RTA_VIA, _RTA_NH_ID = 1, 4, 5, 9, 15, 18, 30
_NEXTHOP = struct.Struct("=HBBi")
_LOCAL_TABLE = 255
# A copy of a route with what was learned of one destination; a dump lists them too.
_CLONED = 0x200
_TYPES = {
    1: "unicast", 2: "local", 3: "broadcast", 4: "anycast", 5: "multicast", 6: "blackhole", 7: "unreachable",
    8: "prohibit", 9: "throw",
}  # fmt: skip

_FRA_SRC, _FRA_IIF, _FRA_PRIORITY, _FRA_TABLE, _FRA_OIF, _FRA_L3MDEV = 2, 3, 6, 15, 17, 19
# Destination, mark, tunnel, user, protocol, ports, and what later kernels add: such a rule is for some packets only.
_PLAIN_ATTRIBUTES = frozenset({2, 3, 4, 6, 11, 13, 14, 15, 16, 17, 18, 19, 21})
_INVERT, _TO_TABLE = 2, 1

_NDMSG = struct.Struct("=BxxxiHBB")
_NDA_DST, _NDA_CACHEINFO = 1, 3
_CACHEINFO = struct.Struct("=IIII")
_SILENT = {0x01: "incomplete", 0x20: "failed"}
# Ages are in clock ticks for user space (USER_HZ), of which every architecture has 100 a second.
_TICKS = 100


def _dump(kind: int, header: bytes) -> list[tuple[int, bytes]]:
    return netlink.talk(netlink.ROUTE, kind, header, netlink.REQUEST | netlink.DUMP)


def routes(key: str) -> list[dict[str, Any]]:
    """List the routes of one family, without those to this node itself; see parse_routes()."""
    family = _family(key)
    return parse_routes(family, _dump(_RTM_GETROUTE, _RTMSG.pack(family, *[0] * 8)), dict(_socket.if_nameindex()))


def rules(key: str) -> list[dict[str, Any]]:
    family = _family(key)
    return parse_rules(family, _dump(_RTM_GETRULE, _RTMSG.pack(family, *[0] * 8)))


def silent_neighbours(key: str) -> list[dict[str, Any]]:
    """List the neighbours whose address could not be resolved, and since how long."""
    family = _family(key)
    return parse_neighbours(family, _dump(_RTM_GETNEIGH, _NDMSG.pack(family, 0, 0, 0, 0)), dict(_socket.if_nameindex()))


def _family(key: str) -> int:
    if key not in _FAMILIES:
        raise ValueError(f"no such family: {key}")
    return _FAMILIES[key]


def _fields(layout: struct.Struct, body: bytes) -> tuple[tuple[Any, ...], dict[int, bytes]]:
    if len(body) < layout.size:
        raise ValueError("message cut off")
    return layout.unpack_from(body), netlink.nest(body[layout.size :])


def parse_routes(family: int, messages: list[tuple[int, bytes]], names: dict[int, str]) -> list[dict[str, Any]]:
    """Decode RTM_NEWROUTE. Of the routes of a table by the same gateways only the first is kept, its widest.

    `via` are (interface, gateway) pairs, the gateway None where the destination is on the link itself. It is null
    where the kernel names only a nexthop object (net.ipv4.nexthop_compat_mode=0).
    """
    found: dict[Any, dict[str, Any]] = {}
    for route, _ in sorted(_routes(family, messages, names), key=lambda item: item[1]):
        gateways = None if route["via"] is None else tuple(map(tuple, route["via"]))
        on_link = gateways is not None and any(gateway is None for _, gateway in gateways)
        found.setdefault((route["table"], route["type"], gateways, route["to"] if on_link else ""), route)
    return list(found.values())


def _routes(
    family: int, messages: list[tuple[int, bytes]], names: dict[int, str]
) -> Iterator[tuple[dict[str, Any], int]]:
    for kind, body in messages:
        fields, found = _fields(_RTMSG, body) if kind == _RTM_NEWROUTE else ((), {})
        # A kernel without this family answers with all others.
        if not fields or fields[0] != family or fields[8] & _CLONED or fields[7] not in _TYPES:
            continue
        table = _number(found, _RTA_TABLE, fields[4])
        if table != _LOCAL_TABLE:
            to = _prefix(family, found.get(_RTA_DST), fields[1])
            via = _via(family, found, names)
            yield {"table": table, "type": _TYPES[fields[7]], "protocol": fields[5], "to": to, "via": via}, fields[1]


def _via(family: int, found: dict[int, bytes], names: dict[int, str]) -> list[list[str | None]] | None:
    if _RTA_MULTIPATH in found:
        return [_hop(family, index, hop, names) for index, hop in _hops(found[_RTA_MULTIPATH])]
    if _RTA_OIF in found:
        return [_hop(family, netlink.number(found[_RTA_OIF]), found, names)]
    return None if _RTA_NH_ID in found else []


def _hops(data: bytes) -> Iterator[tuple[int, dict[int, bytes]]]:
    """Walk the struct rtnexthop of a route with several ways."""
    while data:
        if len(data) < _NEXTHOP.size:
            raise ValueError("nexthop cut off")
        length, _, _, index = _NEXTHOP.unpack_from(data)
        if not _NEXTHOP.size <= length <= len(data):
            raise ValueError("nexthop of an impossible length")
        yield index, netlink.nest(data[_NEXTHOP.size : length])
        data = data[(length + 3) & ~3 :]


def _hop(family: int, index: int, found: dict[int, bytes], names: dict[int, str]) -> list[str | None]:
    """Name one hop; the gateway of an IPv4 route may be an IPv6 address (struct rtvia)."""
    gateway = None
    if _RTA_GATEWAY in found:
        gateway = _address(family, found[_RTA_GATEWAY])
    elif _RTA_VIA in found:
        gateway = _address(netlink.number(found[_RTA_VIA][:2]), found[_RTA_VIA][2:])
    return [names.get(index, f"index {index}"), gateway]


def _address(family: int, value: bytes) -> str:
    if len(value) != _LENGTHS.get(family):
        raise ValueError(f"address of {len(value)} bytes in family {family}")
    return str(_socket.inet_ntop(family, value))


def _prefix(family: int, value: bytes | None, bits: int) -> str:
    return f"{_address(family, bytes(_LENGTHS[family]) if value is None else value)}/{bits}"


def parse_rules(family: int, messages: list[tuple[int, bytes]]) -> list[dict[str, Any]]:
    """Decode RTM_NEWRULE. `some` is true for a rule that asks for more than a packet's source and interface."""
    result = []
    for kind, body in messages:
        fields, found = _fields(_RTMSG, body) if kind == _RTM_NEWRULE else ((), {})
        if fields and fields[0] == family:
            result.append(_rule(family, fields, found))
    return result


def _rule(family: int, fields: tuple[Any, ...], found: dict[int, bytes]) -> dict[str, Any]:
    """Decode struct fib_rule_hdr, which is a struct rtmsg with other names."""
    _, to_bits, from_bits, tos, table, _, _, action, flags = fields
    # "not from X": what it leaves out is no reason to believe that it is for others
    selectors = {} if flags & _INVERT else found
    return {
        "priority": _number(found, _FRA_PRIORITY, 0),
        "from": _prefix(family, selectors[_FRA_SRC], from_bits) if _FRA_SRC in selectors and from_bits else None,
        "iif": netlink.text(selectors[_FRA_IIF]) if _FRA_IIF in selectors else None,
        "oif": netlink.text(selectors[_FRA_OIF]) if _FRA_OIF in selectors else None,
        "table": _number(found, _FRA_TABLE, table) if action == _TO_TABLE else None,
        "l3mdev": _number(found, _FRA_L3MDEV, 0) != 0,
        "some": bool(to_bits or tos or flags & _INVERT or set(found) - _PLAIN_ATTRIBUTES),
    }


def _number(found: dict[int, bytes], kind: int, absent: int) -> int:
    return netlink.number(found[kind]) if kind in found else absent


def parse_neighbours(family: int, messages: list[tuple[int, bytes]], names: dict[int, str]) -> list[dict[str, Any]]:
    """Decode RTM_NEWNEIGH; `seconds` since the neighbour came into this state."""
    result = []
    for kind, body in messages:
        fields, found = _fields(_NDMSG, body) if kind == _RTM_NEWNEIGH else ((), {})
        if not fields or fields[0] != family or fields[2] not in _SILENT or _NDA_DST not in found:
            continue
        cache = found.get(_NDA_CACHEINFO, b"")
        seconds = _CACHEINFO.unpack_from(cache)[2] / _TICKS if len(cache) >= _CACHEINFO.size else None
        result.append({
            "interface": names.get(fields[1], f"index {fields[1]}"),
            "address": _address(family, found[_NDA_DST]),
            "state": _SILENT[fields[2]],
            "seconds": seconds,
        })  # fmt: skip
    return result


KINDS: dict[str, Callable[[str], Any]] = {
    "route.routes": routes,
    "route.rules": rules,
    "route.silent": silent_neighbours,
}
