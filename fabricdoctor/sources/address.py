"""Every interface's IPv4 and IPv6 addresses in one answer.

Layouts: include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h.
"""

from __future__ import annotations

import _socket
import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_RTM_NEWLINK = 16
_RTM_GETLINK = 18
_RTM_NEWADDR = 20
_RTM_GETADDR = 22
_IFLA_IFNAME = 3
_IFA_ADDRESS = 1
_IFA_LOCAL = 2

_IFINFOMSG = struct.Struct("=BxHiII")
_IFADDRMSG = struct.Struct("=BBBBI")
_ADDRESS_LENGTH = {_socket.AF_INET: 4, _socket.AF_INET6: 16}


def addresses(_key: str) -> dict[str, list[str]]:
    """List each interface's addresses with their prefix length; an interface without one has an empty list."""
    flags = netlink.REQUEST | netlink.DUMP
    links = netlink.talk(netlink.ROUTE, _RTM_GETLINK, _IFINFOMSG.pack(_socket.AF_UNSPEC, 0, 0, 0, 0), flags)
    found = netlink.talk(netlink.ROUTE, _RTM_GETADDR, _IFADDRMSG.pack(_socket.AF_UNSPEC, 0, 0, 0, 0), flags)
    return parse(links, found)


def parse(links: list[tuple[int, bytes]], found: list[tuple[int, bytes]]) -> dict[str, list[str]]:
    """Join the two dumps. An address of an interface that came between them is left out: it has no name yet."""
    names = dict(_link(body) for kind, body in links if kind == _RTM_NEWLINK)
    result: dict[str, list[str]] = {name: [] for name in names.values()}
    for kind, body in found:
        index, address = _address(body) if kind == _RTM_NEWADDR else (0, None)
        if address is not None and index in names:
            result[names[index]].append(address)
    return result


def _link(body: bytes) -> tuple[int, str]:
    if len(body) < _IFINFOMSG.size:
        raise ValueError("link message cut off")
    found = netlink.nest(body[_IFINFOMSG.size :])
    if _IFLA_IFNAME not in found:
        raise ValueError("link without a name")
    return _IFINFOMSG.unpack_from(body)[2], netlink.text(found[_IFLA_IFNAME])


def _address(body: bytes) -> tuple[int, str | None]:
    """Read one address; other families than the two of IP (they have no RoCE GID) give None."""
    if len(body) < _IFADDRMSG.size:
        raise ValueError("address message cut off")
    family, prefix, _, _, index = _IFADDRMSG.unpack_from(body)
    if family not in _ADDRESS_LENGTH:
        return index, None
    found = netlink.nest(body[_IFADDRMSG.size :])
    # On a point-to-point link IFA_ADDRESS is the other end; the own address is IFA_LOCAL wherever there is one.
    value = found.get(_IFA_LOCAL, found.get(_IFA_ADDRESS, b""))
    if len(value) != _ADDRESS_LENGTH[family]:
        raise ValueError(f"address of {len(value)} bytes in family {family}")
    return index, f"{_socket.inet_ntop(family, value)}/{prefix}"


KINDS: dict[str, Callable[[str], Any]] = {"addresses": addresses}
