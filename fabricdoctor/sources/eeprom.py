"""A pluggable module's own memory: what it is made for, its temperature, its light, and its own limits for them.

Asked by generic netlink (ETHTOOL_MSG_MODULE_EEPROM_GET, include/uapi/linux/ethtool_netlink.h), which needs
CAP_NET_ADMIN. Only the ranges below are read, each in one question of at most 128 bytes that does not cross the middle
of a page: the serial number is in none of them. Layouts: SFF-8636 and OIF CMIS.
"""

from __future__ import annotations

import errno
import os
import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_GET = 31
_OFFSET, _LENGTH, _PAGE, _BANK, _I2C_ADDRESS, _DATA = 2, 3, 4, 5, 6, 7
_MODULE_ADDRESS = 0x50
_HEADER, _DEVICE_NAME = 1, 2

# SFF-8024, table 4-1: which layout a module's memory has.
_SFF_8636 = frozenset({0x0C, 0x0D, 0x11})
_CMIS = frozenset({0x18, 0x19, 0x1B, 0x1E, 0x1F})
# Byte 2 says whether there are pages behind the first; the bit differs.
_FLAT = {True: 0x80, False: 0x04}

_LOWER = (0, 0, 128)
# By name: page, offset, length.
_SFF_RANGES = {"upper": (0, 128, 68), "thresholds": (3, 128, 72)}
_CMIS_RANGES = {"upper": (0, 200, 16), "monitors": (1, 159, 2), "thresholds": (2, 128, 72), "lanes": (0x11, 128, 74)}


def module(ifname: str, read: Callable[[str, int, int, int], bytes] | None = None) -> dict[str, str]:
    """Read what is needed of the memory, as hexadecimal text by range; `read` is replaced in tests.

    A module without pages has only "lower" and "upper", and one of a kind that is not decoded only "lower".
    """
    ask = read or _read
    lower = ask(ifname, *_LOWER)
    if len(lower) != _LOWER[2]:
        raise ValueError(f"{len(lower)} bytes of the module's memory instead of {_LOWER[2]}")
    found = {"lower": lower}
    cmis = lower[0] in _CMIS
    ranges = _CMIS_RANGES if cmis else _SFF_RANGES if lower[0] in _SFF_8636 else {}
    for name, where in ranges.items():
        if name != "upper" and lower[2] & _FLAT[cmis]:
            continue
        data = _optional(ask, ifname, where)
        if data is not None:
            found[name] = data
    return {name: data.hex() for name, data in found.items()}


def _optional(ask: Callable[[str, int, int, int], bytes], ifname: str, where: tuple[int, int, int]) -> bytes | None:
    """Read a range that a module or driver may not have; a part of one is none."""
    try:
        data = ask(ifname, *where)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EIO, errno.EOPNOTSUPP, errno.ENXIO):
            return None
        raise
    return data if len(data) == where[2] else None


def _read(ifname: str, page: int, offset: int, length: int) -> bytes:
    return parse(netlink.generic("ethtool", _GET, request(ifname, page, offset, length)))


def request(ifname: str, page: int, offset: int, length: int) -> bytes:
    header = netlink.attribute(_DEVICE_NAME, netlink.interface_name(ifname))
    return netlink.attribute(_HEADER | netlink.NESTED, header) + b"".join(
        netlink.attribute(kind, struct.pack(layout, value))
        for kind, layout, value in (
            (_OFFSET, "=I", offset), (_LENGTH, "=I", length), (_PAGE, "=B", page), (_BANK, "=B", 0),
            (_I2C_ADDRESS, "=B", _MODULE_ADDRESS),
        )
    )  # fmt: skip


def parse(data: bytes) -> bytes:
    """Take the bytes out of an answer."""
    found = netlink.nest(data)
    if _DATA not in found:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return found[_DATA]


KINDS: dict[str, Callable[[str], dict[str, str]]] = {"ethtool.module": module}
