"""Which way the packets of a rail leave its own subnet, and which rails share one."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial

from ..host import Host
from ..unknown import Unknown, first_unknown, known_or, then
from .counters import count
from .netdev import Netdev, addresses_of, routable
from .pci import names_in
from .port import Port
from .routing import Address, Hop, Routing, routing, silent_neighbours

_IPV4 = 4


@dataclass(frozen=True, slots=True, eq=False)
class RailPath:
    """The way out of one rail. It is judged for IPv4 where the rail has such an address, else for IPv6.

    `ways` are the hops by the rail's own interfaces that lead beyond its subnets, in tables its packets are looked up
    in; `unused_tables` have such hops and no rule that leads there. `silent` are its gateways, with the state they are
    in, when none of them answers. `routed_siblings` is how many other rails with a subnet of this size have a way.
    """

    port: Port
    interface: str
    address: Address | None
    ways: tuple[Hop, ...] | Unknown
    unused_tables: tuple[int, ...]
    silent: tuple[tuple[str, str], ...] | Unknown
    empty_table: int | None
    routed_siblings: int = 0
    siblings: int = 0

    @property
    def ip(self) -> str:
        return str(self.address.ip) if self.address else ""

    @property
    def subnet(self) -> str:
        return str(self.address.network) if self.address else ""

    @property
    def command(self) -> str:
        """Return the `ip` command for its family."""
        return "ip -6" if ":" in self.ip else "ip"

    @property
    def is_odd(self) -> bool | Unknown:
        """Return whether it has no way out although most of its siblings, and at least two, have one."""
        most = self.routed_siblings >= 2 and 2 * self.routed_siblings > self.siblings + 1  # noqa: PLR2004
        return then(self.ways, lambda ways: not ways and most)

    def __str__(self) -> str:
        return str(self.port)


@dataclass(frozen=True, slots=True, eq=False)
class Sharer:
    """A rail in the subnet of another. The settings are those in force: the greater of `all` and the interface's."""

    port: Port
    interface: str
    arp_ignore: int | Unknown
    arp_announce: int | Unknown
    arp_filter: int | Unknown
    rp_filter: int | Unknown
    own_rule: bool | Unknown


@dataclass(frozen=True, slots=True, eq=False)
class SharedSubnet:
    """An IPv4 subnet in which several rails of this node have an address."""

    network: ipaddress.IPv4Network
    rails: tuple[Sharer, ...]

    def __str__(self) -> str:
        return f"rails in {self.network}"


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A rail with its routable addresses, each on an interface of this network namespace."""

    port: Port
    addresses: tuple[tuple[str, Address], ...] | Unknown

    @property
    def judged(self) -> tuple[tuple[str, Address], ...]:
        """Return the IPv4 addresses, else all: only without IPv4 does NCCL take a GID of IPv6."""
        found = known_or(self.addresses, ())
        return tuple((name, a) for name, a in found if a.version == _IPV4) or found


def placed(host: Host, ports: tuple[Port, ...]) -> tuple[Placed, ...]:
    table = host.ask("addresses")
    return tuple(Placed(port, then(table, partial(_routable, port), "addresses")) for port in ports)


def _routable(port: Port, table: dict[str, list[str]]) -> tuple[tuple[str, Address], ...]:
    named = [known_or(gid.netdev, "") for gid in known_or(port.gids, ())]
    own = [port.netdev.name] if isinstance(port.netdev, Netdev) else []
    names = [name for name in dict.fromkeys((*own, *named)) if name]
    return tuple((name, address) for name in names for address in routable(addresses_of(table, name)))


def routings(host: Host, rails: tuple[Placed, ...]) -> dict[int, Routing | Unknown]:
    """Read the routing of the families in which rails are judged."""
    families = {address.version for rail in rails for _, address in rail.judged}
    return {family: routing(host, family) for family in sorted(families)}


def paths(host: Host, rails: tuple[Placed, ...], tables: dict[int, Routing | Unknown]) -> tuple[RailPath, ...]:
    """Return the way out of each rail, compared with its siblings'."""
    found = [_path(host, rail, tables) for rail in rails]
    return tuple(_among(path, found) for path in found)


def _among(path: RailPath, all_paths: list[RailPath]) -> RailPath:
    """Count the siblings that are up and judged for the same family."""
    if path.address is None:
        return path
    version, length = path.address.version, path.address.network.prefixlen
    up = [p for p in all_paths if p is not path and known_or(p.port.active, default=False)]
    alike = [(p, p.address.network.prefixlen) for p in up if p.address and p.address.version == version]
    routed = [p for p, own_length in alike if own_length == length and known_or(p.ways, ())]
    return replace(path, siblings=len(alike), routed_siblings=len(routed))


def _path(host: Host, rail: Placed, tables: dict[int, Routing | Unknown]) -> RailPath:
    if isinstance(rail.addresses, Unknown) or not rail.judged:
        nothing = Unknown(
            f"addresses of {rail.port}", "not-applicable", "no routable address on an interface seen here"
        )
        why = rail.addresses if isinstance(rail.addresses, Unknown) else nothing
        return RailPath(rail.port, "", None, why, (), why, None)
    interface, address = rail.judged[0]
    table = tables[address.version]
    if isinstance(table, Unknown):
        return RailPath(rail.port, interface, address, table, (), table, None)
    own = {a.network for _, a in known_or(rail.addresses, ())}
    names = {name for name, _ in rail.judged}
    hops = [hop for hop in table.hops if hop.interface in names and hop.leads_out(own)]
    used = frozenset().union(
        *(
            table.tables_of(a, name, enslaved=_is_enslaved(host, name))
            for name, a in rail.judged
            if a.version == address.version
        )
    )
    ways = tuple(hop for hop in hops if hop.table in used)
    return RailPath(
        rail.port,
        interface,
        address,
        ways if ways or not used & table.hidden else _hidden(address),
        tuple(sorted({hop.table for hop in hops} - used)),
        _silent(host, ways, table),
        table.empty_table(address, interface) if not ways else None,
    )


def _hidden(address: Address) -> Unknown:
    source = f"route.routes inet{'6' if address.version != _IPV4 else ''}"
    return Unknown(source, "not-applicable", "the kernel gives routes by the numbers of nexthop objects")


def _is_enslaved(host: Host, interface: str) -> bool:
    """Return whether another interface, such as a VRF's, is its master."""
    names = known_or(names_in(host, f"/sys/class/net/{interface}"), ())
    return "master" in names


def _silent(host: Host, ways: tuple[Hop, ...], table: Routing) -> tuple[tuple[str, str], ...] | Unknown:
    """Return the gateways and their state when every way goes by one that does not answer."""
    gateways = dict.fromkeys((hop.interface, hop.gateway) for hop in ways)
    if not gateways or any(gateway is None for _, gateway in gateways):
        return ()
    silent = table.silent
    if any(":" in str(gateway) for _, gateway in gateways):  # an IPv4 route may go by an IPv6 neighbour
        by_ipv6 = silent_neighbours(host, 6)
        silent = by_ipv6 if isinstance(by_ipv6, Unknown) else then(silent, lambda s: {**s, **by_ipv6})
    if isinstance(silent, Unknown):
        return silent
    states = [(str(gateway), silent.get((name, str(gateway)), "")) for name, gateway in gateways]
    return tuple(states) if all(state for _, state in states) else ()


def shared_subnets(
    host: Host, rails: tuple[Placed, ...], tables: dict[int, Routing | Unknown]
) -> tuple[SharedSubnet, ...] | Unknown:
    """Return the IPv4 subnets that several rails are in. IPv6 neighbours are answered by the right interface alone."""
    inside: dict[ipaddress.IPv4Network, dict[str, tuple[Port, Address]]] = defaultdict(dict)
    for rail in rails:
        if isinstance(rail.addresses, Unknown):
            return rail.addresses
        for interface, address in rail.addresses if known_or(rail.port.active, default=True) else ():
            if isinstance(address, ipaddress.IPv4Interface) and not _is_enslaved(host, interface):
                inside[address.network].setdefault(interface, (rail.port, address))
    table = tables.get(_IPV4, Unknown("route.rules inet", "missing"))
    return tuple(
        SharedSubnet(network, tuple(_sharer(host, port, name, a, table) for name, (port, a) in members.items()))
        for network, members in sorted(inside.items())
        if len({str(port) for port, _ in members.values()}) > 1
    )


def _sharer(host: Host, port: Port, interface: str, address: Address, table: Routing | Unknown) -> Sharer:
    ignore, announce, by_route, strict = (
        _in_force(host, interface, s) for s in ("arp_ignore", "arp_announce", "arp_filter", "rp_filter")
    )
    own_rule = then(table, lambda t: t.has_own_rule(address, interface))
    return Sharer(port, interface, ignore, announce, by_route, strict, own_rule)


def _in_force(host: Host, interface: str, setting: str) -> int | Unknown:
    """Return the greater of the two values, which is what counts for these settings (IN_DEV_MAXCONF in the kernel)."""
    files = [f"/proc/sys/net/ipv4/conf/{name}/{setting}" for name in ("all", interface)]
    answers = host.ask_all([("read", file) for file in files])
    values = [then(answer, _setting, f"read {file}") for answer, file in zip(answers, files, strict=True)]
    unread = first_unknown(values)
    if unread is not None:
        absent = unread.why == "missing"
        return Unknown(unread.source, "not-applicable", "no such setting here") if absent else unread
    return max(v for v in values if not isinstance(v, Unknown))


def _setting(text: str) -> int:
    value = count(text)
    if value > 8:  # noqa: PLR2004  the greatest value there is: arp_ignore 8, "answer nobody"
        raise ValueError("no such setting")
    return value
