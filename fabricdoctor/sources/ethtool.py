"""A network interface's counters, driver, pause, link and error correction.

Counters, driver and the storm timeout come by ioctl (layouts: include/uapi/linux/ethtool.h), the rest by generic
netlink (include/uapi/linux/ethtool_netlink.h); on kernels before 5.8 pause and link by ioctl too. What a driver does
not report is absent, null or an empty list.
An ioctl has no timeout: it returns when the driver does.
"""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SIOCETHTOOL = 0x8946
_GDRVINFO = 0x03
_GLINK = 0x0A
_GPAUSEPARAM = 0x12
_GSTRINGS = 0x1B
_GSTATS = 0x1D
_GSSET_INFO = 0x37
_GTUNABLE = 0x48
_STATISTICS_SET = 1
_PFC_PREVENTION_TIMEOUT, _TUNABLE_U16 = 3, 2

_IFREQ = struct.Struct("@16sP16x")
_SET_INFO = struct.Struct("=IIQI")
_STRINGS_HEADER = struct.Struct("=III")
_VALUES_HEADER = struct.Struct("=II")
_DRIVER = struct.Struct("=I32s32s32s32s32s12s5I")
_TUNABLE = struct.Struct("=IIIIH")
_PAUSE = struct.Struct("=IIII")
_VALUE = struct.Struct("=II")
_STRING_BYTES = 32
_VALUE_BYTES = 8
# Older kernels write as many values as there are now, not as many as were asked for: leave room for a NIC that gains
# queues between two questions.
_SLACK = 4096
_STATISTICS_TRIES = 3

_HEADER = 1
_DEVICE_NAME, _FLAGS = 2, 3
_WITH_STATISTICS = 4
_LINKMODES_GET, _LINKSTATE_GET, _PAUSE_GET, _FEC_GET = 4, 6, 21, 29

_BITSET_NOMASK, _BITSET_BITS, _BITSET_VALUE = 1, 3, 4
_BIT_INDEX, _BIT_NAME, _BIT_VALUE = 1, 2, 3

_UNKNOWN_SPEEDS = (0, 0xFFFF, 0xFFFFFFFF)
_FEC_NAMES = {49: "None", 50: "RS", 51: "BASER", 74: "LLRS"}
_FEC_STATISTICS = {2: "corrected", 3: "uncorrectable", 4: "corrected_bits"}
_PAUSE_STATISTICS = {2: "tx_frames", 3: "rx_frames"}
_EXT_STATES = (
    "autoneg",
    "link-training-failure",
    "link-logical-mismatch",
    "bad-signal-integrity",
    "no-cable",
    "cable-issue",
    "eeprom-issue",
    "calibration-failure",
    "power-budget-exceeded",
    "overheat",
    "module",
    "otp",
    "bmc-request",
)


def _ioctl(ifname: str, request: bytes, room: int = 0) -> bytes:
    """Let the kernel overwrite the request in place; room is what it may write behind it."""
    from array import array  # noqa: PLC0415 - costs more than the rest of this file, and only an ioctl needs it

    buffer = array("B", request + bytes(room))
    address, _ = buffer.buffer_info()
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM | _socket.SOCK_CLOEXEC)
    try:
        fcntl.ioctl(connection.fileno(), _SIOCETHTOOL, _IFREQ.pack(netlink.interface_name(ifname), address))
    finally:
        connection.close()
    return buffer.tobytes()


def statistics(ifname: str) -> dict[str, int]:
    """Read the driver's own counters by name; a driver without any is OSError(EOPNOTSUPP)."""
    for _ in range(_STATISTICS_TRIES):
        count = parse_count(_ioctl(ifname, _SET_INFO.pack(_GSSET_INFO, 0, 1 << _STATISTICS_SET, 0)))
        names = _ioctl(ifname, _STRINGS_HEADER.pack(_GSTRINGS, _STATISTICS_SET, count), _room(count, _STRING_BYTES))
        values = _ioctl(ifname, _VALUES_HEADER.pack(_GSTATS, count), _room(count, _VALUE_BYTES))
        if _STRINGS_HEADER.unpack_from(names)[2] == _VALUES_HEADER.unpack_from(values)[1] == count:
            return parse_statistics(names, values)
    raise ValueError("the number of counters kept changing")


def _fields(layout: struct.Struct, answer: bytes) -> tuple[Any, ...]:
    if len(answer) < layout.size:
        raise ValueError("ethtool answer cut off")
    return layout.unpack_from(answer)


def _room(count: int, size: int) -> int:
    return (count + _SLACK) * size


def parse_count(answer: bytes) -> int:
    """Read how many counters there are; the kernel clears the set's bit when there is no such set."""
    _, _, mask, count = _fields(_SET_INFO, answer)
    if not mask:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return int(count)


def parse_statistics(names: bytes, values: bytes) -> dict[str, int]:
    """Join struct ethtool_gstrings and struct ethtool_stats."""
    count = _fields(_VALUES_HEADER, values)[1]
    if (
        len(names) < _STRINGS_HEADER.size + count * _STRING_BYTES
        or len(values) < _VALUES_HEADER.size + count * _VALUE_BYTES
    ):
        raise ValueError("fewer counters than announced")
    numbers = struct.unpack_from(f"={count}Q", values, _VALUES_HEADER.size)
    starts = range(_STRINGS_HEADER.size, _STRINGS_HEADER.size + count * _STRING_BYTES, _STRING_BYTES)
    keys = [netlink.text(names[start : start + _STRING_BYTES]).strip() for start in starts]
    return dict(zip(keys, numbers, strict=True))


def driver(ifname: str) -> dict[str, str]:
    return parse_driver(_ioctl(ifname, _DRIVER.pack(_GDRVINFO, *[b""] * 6, *[0] * 5)))


def parse_driver(answer: bytes) -> dict[str, str]:
    """Decode struct ethtool_drvinfo."""
    fields = _fields(_DRIVER, answer)
    return dict(
        zip(("driver", "version", "firmware", "bus"), [netlink.text(f).strip() for f in fields[1:5]], strict=True)
    )


def pfc_storm_timeout_ms(ifname: str) -> int:
    """Read after how long a paused port is released: 0 is never, 65535 is the driver's own choice."""
    request = _TUNABLE.pack(_GTUNABLE, _PFC_PREVENTION_TIMEOUT, _TUNABLE_U16, 2, 0)
    return int(_TUNABLE.unpack(_ioctl(ifname, request))[4])


def _ask(command: int, ifname: str, flags: int = 0) -> bytes:
    header = netlink.attribute(_DEVICE_NAME, netlink.interface_name(ifname))
    if flags:
        header += netlink.attribute(_FLAGS, struct.pack("=I", flags))
    return netlink.generic("ethtool", command, netlink.attribute(_HEADER | netlink.NESTED, header))


def pause(ifname: str) -> dict[str, Any]:
    try:
        return parse_pause(_ask(_PAUSE_GET, ifname, _WITH_STATISTICS))
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
    _, autoneg, rx, tx = _fields(_PAUSE, _ioctl(ifname, _PAUSE.pack(_GPAUSEPARAM, 0, 0, 0)))
    return {"autoneg": bool(autoneg), "rx": bool(rx), "tx": bool(tx), "stats": {}}


def parse_pause(data: bytes) -> dict[str, Any]:
    """Decode ETHTOOL_A_PAUSE_*."""
    found = netlink.nest(data)
    return {
        "autoneg": _flag(found, 2),
        "rx": _flag(found, 3),
        "tx": _flag(found, 4),
        "stats": _counters(found.get(5, b""), _PAUSE_STATISTICS),
    }


def link_modes(ifname: str) -> dict[str, Any]:
    return parse_link_modes(_ask(_LINKMODES_GET, ifname))


def parse_link_modes(data: bytes) -> dict[str, Any]:
    """Decode ETHTOOL_A_LINKMODES_*. The kernel leaves the peer out when it has said nothing."""
    found = netlink.nest(data)
    ours = _bits(found.get(3, b""))
    speed = _optional(found, 5)
    return {
        "speed_mbps": None if speed in _UNKNOWN_SPEEDS else speed,
        "lanes": _optional(found, 9) or None,
        "autoneg": _flag(found, 2),
        "supported": [name for name, _ in ours],
        "advertised": _set(ours),
        "peer": _set(_bits(found.get(4, b""))),
    }


def link_state(ifname: str) -> dict[str, Any]:
    try:
        return parse_link_state(_ask(_LINKSTATE_GET, ifname))
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
    _, link = _fields(_VALUE, _ioctl(ifname, _VALUE.pack(_GLINK, 0)))
    return {"link": bool(link), "ext_state": None, "ext_substate": None, "down_count": None}


def parse_link_state(data: bytes) -> dict[str, Any]:
    """Decode ETHTOOL_A_LINKSTATE_*. A driver that cannot tell whether there is a link has null, not false."""
    found = netlink.nest(data)
    link, state = _optional(found, 2), _optional(found, 5)
    return {
        "link": None if link is None else bool(link),
        "ext_state": None if state is None else _named(state, dict(enumerate(_EXT_STATES))),
        "ext_substate": _optional(found, 6),
        "down_count": _optional(found, 7),
    }


def fec(ifname: str) -> dict[str, Any]:
    return parse_fec(_ask(_FEC_GET, ifname, _WITH_STATISTICS))


def parse_fec(data: bytes) -> dict[str, Any]:
    """Decode ETHTOOL_A_FEC_*. The active one is a link mode's bit; the string "None" is "off", null is "not said"."""
    found = netlink.nest(data)
    active = _optional(found, 4)
    return {
        "configured": _set(_bits(found.get(2, b""))),
        "auto": _flag(found, 3),
        "active": None if active is None else _named(active, _FEC_NAMES),
        "stats": _counters(found.get(5, b""), _FEC_STATISTICS),
    }


def _named(value: int, names: dict[int, str]) -> str:
    """Name a value; one from a later kernel keeps its number."""
    return names.get(value, f"unknown-{value}")


def _optional(found: dict[int, bytes], kind: int) -> int | None:
    return netlink.number(found[kind]) if kind in found else None


def _flag(found: dict[int, bytes], kind: int) -> bool:
    """Read a truth value the kernel always sends."""
    if kind not in found:
        raise ValueError(f"ethtool answer without attribute {kind}")
    return netlink.number(found[kind]) != 0


def _counters(data: bytes, names: dict[int, str]) -> dict[str, int]:
    """Read counters, each an array of the total and then one per lane; an empty one is not supported."""
    found = netlink.nest(data)
    return {
        name: netlink.number(found[kind][:_VALUE_BYTES]) for kind, name in names.items() if found.get(kind, b"") != b""
    }


def _bits(data: bytes) -> list[tuple[str, bool]]:
    """Read a bitset in its verbose form: each listed bit's name, and whether it is set."""
    found = netlink.nest(data)
    # Without a mask the list holds exactly the set bits and carries no values.
    listed_is_set = _BITSET_NOMASK in found
    if _BITSET_VALUE in found:
        raise ValueError("bitset in the compact form, which was not asked for")
    return [_bit(value, listed_is_set) for _, value in netlink.attributes(found.get(_BITSET_BITS, b""))]


def _bit(data: bytes, listed_is_set: bool) -> tuple[str, bool]:
    found = netlink.nest(data)
    name = netlink.text(found[_BIT_NAME]) if _BIT_NAME in found else f"bit-{_optional(found, _BIT_INDEX)}"
    return name, listed_is_set or _BIT_VALUE in found


def _set(bits: list[tuple[str, bool]]) -> list[str]:
    return [name for name, is_set in bits if is_set]


KINDS: dict[str, Callable[[str], Any]] = {
    "ethtool.stats": statistics,
    "ethtool.driver": driver,
    "ethtool.pfc-storm": pfc_storm_timeout_ms,
    "ethtool.pause": pause,
    "ethtool.modes": link_modes,
    "ethtool.state": link_state,
    "ethtool.fec": fec,
}
