"""A port's GID table, and which entry NCCL would take."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from ..host import Host
from ..unknown import Unknown, known_or, then

#: as the kernel names them (drivers/infiniband/core/cache.c, gid_type_str) and had named them before RoCE v2
_TYPES = ("IB", "IB/RoCE v1", "RoCE v1", "RoCE v2")


@dataclass(frozen=True, slots=True, eq=False)
class Gid:
    """One entry. `type` is "IB", "RoCE v1" or "RoCE v2"; `netdev` the interface it belongs to."""

    index: int
    address: ipaddress.IPv6Address
    type: str | Unknown
    netdev: str | Unknown

    @property
    def family(self) -> str:
        return "AF_INET" if self.address.ipv4_mapped else "AF_INET6"

    @property
    def ip(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
        return self.address.ipv4_mapped or self.address

    @property
    def routable(self) -> bool:
        """Return whether a router would carry packets to this address."""
        return not (self.ip.is_link_local or self.ip.is_unspecified or self.ip.is_multicast or self.ip.is_loopback)

    @property
    def is_direct(self) -> bool:
        """Return whether it is an IPv4 address that interfaces give themselves, good for the own link (RFC 3927)."""
        return self.ip.version == 4 and self.ip.is_link_local  # noqa: PLR2004

    @property
    def is_valid(self) -> bool:
        """Return whether NCCL takes the address for one: not empty, and not fe80::/64 (src/transport/net_ib/gid.cc)."""
        return self.routable or self.is_direct

    @property
    def usable(self) -> bool | Unknown:
        """Return whether it is a RoCE v2 GID with a routable address."""
        return then(self.type, lambda kind: self.routable and kind == "RoCE v2")

    def __str__(self) -> str:
        return f"index {self.index} ({self.ip}, {known_or(self.type, 'type unknown')})"


def gid_table(host: Host, device: str, number: int) -> tuple[Gid, ...] | Unknown:
    """Return the visible entries. Slots of other network namespaces read as empty and are not among them."""
    source = f"gids {device}/{number}"
    return then(host.ask("gids", f"{device}/{number}"), lambda table: tuple(_entries(table)), source)


def _entries(table: dict[str, Any]) -> list[Gid]:
    return sorted((_gid(int(index), entry) for index, entry in table["entries"].items()), key=lambda gid: gid.index)


def _gid(index: int, entry: dict[str, Any]) -> Gid:
    def text(field: str) -> str | Unknown:
        value = entry.get(field)
        if value is None:
            return Unknown(f"gid_attrs {field} {index}", "missing")
        if not isinstance(value, str):
            raise TypeError(f"{field} is not a text")
        if not value or (field == "type" and value not in _TYPES):
            raise ValueError(f"no such {field}")
        return "RoCE v1" if value == "IB/RoCE v1" else value

    return Gid(index, ipaddress.IPv6Address(str(entry["gid"])), text("type"), text("ndev"))


def nccl_choice(
    gids: tuple[Gid, ...], family: str = "AF_INET", version: str = "RoCE v2", prefix: str = ""
) -> int | Unknown:
    """Return the index NCCL 2.21 and later takes on a RoCE port when NCCL_IB_GID_INDEX is not set.

    The rule is NCCL's own (src/transport/net_ib/gid.cc): walk the table from index 1; a change to the wanted address
    family wins at once, whatever its version; otherwise a valid address of the wanted family and version replaces a
    current one that is of another version or not valid.
    """
    try:
        network = ipaddress.ip_network(prefix, strict=False) if prefix else None
    except ValueError as error:
        return Unknown("NCCL_IB_ADDR_RANGE", "unparsable", str(error))
    table = {gid.index: gid for gid in gids}
    chosen = 0
    for index in sorted(index for index in table if index > 0):  # not range(): an index may be any number
        candidate, current = table[index], table.get(chosen)
        if candidate.family != family or not _inside(candidate, network):
            continue
        if (current.family if current else "AF_INET6") != family:
            chosen = index
            continue
        if isinstance(candidate.type, Unknown):
            return candidate.type
        if not candidate.is_valid or candidate.type != version:
            continue
        if current is None or not current.is_valid:
            chosen = index
        elif isinstance(current.type, Unknown):
            return current.type
        elif current.type != candidate.type:
            chosen = index
    return chosen


def _inside(gid: Gid, network: ipaddress.IPv4Network | ipaddress.IPv6Network | None) -> bool:
    return network is None or (gid.ip.version == network.version and gid.ip in network)
