"""Routes, policy rules and neighbours that do not answer, of one family in this network namespace."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..host import Host
from ..unknown import Unknown, then

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
#: Who made a route (RTPROT_*): the kernel for an address, and a router's announcement of what is on the link.
_ON_LINK = (2, 9)
#: main, and default, which is empty on most machines
_ALWAYS = frozenset({254, 253})
_BUILT_IN = frozenset({0, 253, 254, 255})
#: A neighbour stays "failed" until somebody wants it again, be that days: only what failed just now says anything.
_RECENT_S = 120.0
#: The first request is repeated after a second, and a second time after two.
_UNANSWERED_S = 2.0
_FAMILY = {4: "inet", 6: "inet6"}


@dataclass(frozen=True, slots=True, eq=False)
class Hop:
    """One way of a route. `gateway` is None where the destination is on the link itself."""

    table: int
    to: Network
    interface: str
    gateway: str | None
    protocol: int

    def leads_out(self, own: Iterable[Network]) -> bool:
        """Return whether it leads further than the subnets the interface is in."""
        if self.gateway is not None:
            return True
        local = self.to.is_link_local or self.to.is_multicast
        return self.protocol not in _ON_LINK and not local and self.to not in set(own)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A policy rule. `some`: it asks for more than source and interface; `table` is None where it names none."""

    source: Network | None
    arriving: str | None
    leaving: str | None
    table: int | None
    vrf: bool
    some: bool

    def fits(self, address: Address, interface: str) -> bool:
        """Return whether packets of this address and interface may come under it."""
        by_interface = self.arriving in (None, "lo", interface) and self.leaving in (None, interface)
        return by_interface and (self.source is None or address.ip in self.source)

    def is_for(self, address: Address, interface: str) -> bool:
        """Return whether it is there for what this address or interface alone sends."""
        if self.some or self.vrf or self.table is None or self.arriving not in (None, "lo"):
            return False
        if not self.fits(address, interface):
            return False
        return self.leaving is not None or (self.source is not None and _inside(self.source, address.network))


@dataclass(frozen=True, slots=True, eq=False)
class Routing:
    """`silent` are the interface and address of neighbours that were asked just now and did not answer, with how.

    `hidden` are tables with routes that the kernel gives only by the number of a nexthop object.
    """

    hops: tuple[Hop, ...]
    tables: frozenset[int]
    hidden: frozenset[int]
    rules: tuple[Rule, ...]
    silent: Mapping[tuple[str, str], str] | Unknown

    def tables_of(self, address: Address, interface: str, *, enslaved: bool) -> frozenset[int]:
        """Return the tables that packets of this address on this interface may be looked up in."""
        fitting = [rule for rule in self.rules if rule.fits(address, interface)]
        if enslaved and any(rule.vrf for rule in fitting):
            return self.tables | _ALWAYS
        return _ALWAYS | {rule.table for rule in fitting if rule.table is not None}

    def has_own_rule(self, address: Address, interface: str) -> bool:
        return any(rule.is_for(address, interface) for rule in self.rules)

    def empty_table(self, address: Address, interface: str) -> int | None:
        """Return the first table without any route that a rule for this address or interface leads to."""
        own = (rule.table for rule in self.rules if rule.is_for(address, interface))
        return next((t for t in own if t is not None and t not in self.tables | _BUILT_IN), None)


def routing(host: Host, version: int) -> Routing | Unknown:
    """Read the routing of IPv4 or IPv6."""
    key = _FAMILY[version]
    routes, rules, _ = host.ask_all([("route.routes", key), ("route.rules", key), ("route.silent", key)])
    if routes == [] if not isinstance(routes, Unknown) else routes.why in ("missing", "unsupported"):
        # where an interface is up with an address there is at least the route to its own subnet
        return Unknown(f"route.routes {key}", "not-applicable", "the kernel lists no routes here")
    if isinstance(rules, Unknown) and rules.why in ("missing", "unsupported"):
        rules = []  # a kernel without policy routing (CONFIG_IP_MULTIPLE_TABLES)
    parsed = then(rules, lambda found: tuple(_rule(r) for r in found), f"route.rules {key}")
    if isinstance(parsed, Unknown):
        return parsed
    silent = silent_neighbours(host, version)
    return then(routes, lambda found: _routing(found, parsed, silent), f"route.routes {key}")


def silent_neighbours(host: Host, version: int) -> Mapping[tuple[str, str], str] | Unknown:
    """Return interface and address of the neighbours of a family that just now did not answer, with their state."""
    key = _FAMILY[version]
    return then(host.ask("route.silent", key), _silent, f"route.silent {key}")


def _routing(
    routes: list[dict[str, Any]], rules: tuple[Rule, ...], silent: Mapping[tuple[str, str], str] | Unknown
) -> Routing:
    hops = [hop for route in routes for hop in _hops(route)]
    return Routing(
        hops=tuple(hops),
        tables=frozenset(_table(route["table"]) for route in routes),
        hidden=frozenset(_table(route["table"]) for route in routes if route["via"] is None),
        rules=rules,
        silent=silent,
    )


def _hops(route: dict[str, Any]) -> list[Hop]:
    to = ipaddress.ip_network(_text(route["to"]), strict=False)
    table, protocol = _table(route["table"]), _table(route["protocol"])
    if route["via"] is None or _text(route["type"]) != "unicast":
        return []
    return [Hop(table, to, _text(interface), _gateway(gateway), protocol) for interface, gateway in _list(route["via"])]


def _gateway(value: Any) -> str | None:
    return None if value is None else str(ipaddress.ip_address(_text(value)))


def _rule(rule: dict[str, Any]) -> Rule:
    iif, oif = (None if rule[field] is None else _text(rule[field]) for field in ("iif", "oif"))
    source = None if rule["from"] is None else ipaddress.ip_network(_text(rule["from"]), strict=False)
    table = None if rule["table"] is None else _table(rule["table"])
    return Rule(source, iif, oif, table, _flag(rule["l3mdev"]), _flag(rule["some"]))


def _silent(found: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """Return the neighbours that were asked just now, for long enough to have answered."""
    result = {}
    for neighbour in found:
        seconds, state = neighbour["seconds"], _text(neighbour["state"])
        place = (_text(neighbour["interface"]), str(ipaddress.ip_address(_text(neighbour["address"]))))
        if seconds is None:
            continue
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
            raise TypeError("not a time")
        least = {"failed": 0.0, "incomplete": _UNANSWERED_S}[state]
        if least <= seconds <= _RECENT_S:
            result[place] = state
    return result


def _inside(one: Network, other: Network) -> bool:
    """Return whether one network lies within another of the same family."""
    return one.version == other.version and one.prefixlen >= other.prefixlen and one.network_address in other


def _table(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 0xFFFFFFFF:  # noqa: PLR2004
        raise ValueError("not a number of 32 bits")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("not a text")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value
