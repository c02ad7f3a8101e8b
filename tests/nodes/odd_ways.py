"""Addresses, ways and names that a good site gives its rails, as edits of a whole node."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from nodes.interfaces import gid
from nodes.machine import IB, NET, Machine
from nodes.odd import Edit, rails
from nodes.pods import elsewhere


def addressed(*patterns: str, gateway: bool = False) -> Edit:
    """Give each rail other addresses; {n} is its number and {m} twice that."""

    def edit(machine: Machine) -> None:
        for at, device, nic in rails(machine):
            found = [pattern.format(n=at, m=2 * at, k=16 * at) for pattern in patterns]
            machine.answers["addresses"][nic] = [*found, f"fe80::{at + 1}/64"]
            addresses = [f"fe80::{at + 1}", *(_mapped(a) for a in found)]
            table = [gid(a, kind, nic) for a in addresses for kind in ("IB/RoCE v1", "RoCE v2")]
            machine.answers[f"gids {device}/1"]["entries"] = {str(i): entry for i, entry in enumerate(table)}
            if gateway:
                _routed(machine, at, nic, found[0])

    return edit


def _mapped(address: str) -> str:
    ip = ipaddress.ip_interface(address).ip
    return f"::ffff:{ip}" if ip.version == 4 else str(ip)


def _route(to: str, nic: str, gateway: str | None = None, table: int = 254, protocol: int = 2) -> dict[str, Any]:
    return {"table": table, "type": "unicast", "protocol": protocol, "to": to, "via": [[nic, gateway]]}


def _rule(priority: int, table: int | None, source: str | None = None, **more: Any) -> dict[str, Any]:
    return {"priority": priority, "from": source, "table": table, "iif": None, "oif": None, "l3mdev": False,
            "some": False} | more  # fmt: skip


def base_routes(machine: Machine, family: str = "inet") -> None:
    if f"route.routes {family}" not in machine.answers:
        machine.say({
            f"route.routes {family}": [_route("203.0.113.0/24" if family == "inet" else "2001:db8:ff::/64", "eno3")],
            f"route.rules {family}": [_rule(at, table) for at, table in ((0, 255), (32766, 254), (32767, 253))],
            f"route.silent {family}": [],
        })  # fmt: skip


def _routed(machine: Machine, at: int, nic: str, address: str) -> None:
    """Add the subnet's route, a table of the rail's own with a gateway, and the rule that leads there."""
    own = ipaddress.ip_interface(address)
    family = "inet" if own.version == 4 else "inet6"
    base_routes(machine, family)
    gateway = str(own.network[1] if own.network[1] != own.ip else own.network[0])
    machine.answers[f"route.routes {family}"] += [
        _route(str(own.network), nic),
        _route("0.0.0.0/0" if own.version == 4 else "::/0", nic, gateway, 100 + at, 4),
    ]
    machine.answers[f"route.rules {family}"].insert(1, _rule(1000 + at, 100 + at, f"{own.ip}/{own.max_prefixlen}"))


def own_tables(machine: Machine) -> None:
    for at, _, nic in rails(machine):
        _routed(machine, at, nic, machine.answers["addresses"][nic][0])


def default_by_first_rail(machine: Machine) -> None:
    """Let the first rail carry the node's default route: it is its management port as well."""
    base_routes(machine)
    for _, _, nic in rails(machine):
        address = ipaddress.ip_interface(machine.answers["addresses"][nic][0])
        machine.answers["route.routes inet"].append(_route(str(address.network), nic))
    _, _, first = rails(machine)[0]
    machine.answers["route.routes inet"].append(_route("0.0.0.0/0", first, "192.0.2.1", protocol=16))


def in_vrfs(machine: Machine) -> None:
    """Put each rail into a VRF of its own."""
    base_routes(machine)
    for at, _, nic in rails(machine):
        own = ipaddress.ip_interface(machine.answers["addresses"][nic][0])
        machine.answers[f"list {NET}/{nic}"] = [*machine.answers[f"list {NET}/{nic}"], "master", f"upper_vrf{at}"]
        machine.answers["route.routes inet"] += [
            _route(str(own.network), nic, table=1000 + at),
            _route("0.0.0.0/0", nic, str(own.network[1]), 1000 + at, 186),
        ]
    machine.answers["route.rules inet"].insert(1, _rule(1000, None, l3mdev=True))


def by_bgp(machine: Machine) -> None:
    """Give each rail a static route to all rails of its number, by a gateway, in the main table."""
    base_routes(machine)
    for at, _, nic in rails(machine):
        own = ipaddress.ip_interface(machine.answers["addresses"][nic][0])
        machine.answers["route.routes inet"] += [
            _route(str(own.network), nic),
            _route(f"10.{at}.0.0/16", nic, str(own.network[1]), protocol=186),
        ]


def other_interfaces(machine: Machine) -> None:
    """Add what containers and virtual machines bring along."""
    table = {
        "docker0": ["172.17.0.1/16"], "virbr0": ["192.168.122.1/24"], "veth12ab": ["fe80::42/64"], "tunl0": [],
        "cni0": ["10.244.3.1/24"], "kube-ipvs0": ["10.96.0.1/32"], "wg0": ["10.9.0.2/32"],
    }  # fmt: skip
    machine.answers["addresses"] |= table
    machine.add_names("list /sys/class/net", *table)


def some_in_pods(machine: Machine) -> None:
    """Give the first two rails to containers: their interfaces and GIDs are in other network namespaces."""
    for _, device, nic in rails(machine)[:2]:
        elsewhere(machine, device, nic)


def renamed(pattern: str, device: str = "") -> Edit:
    """Give the rails' interfaces, and RDMA devices, other names."""

    def edit(machine: Machine) -> None:
        for at, old_device, old in rails(machine):
            bus = int(machine.answers[f"link {IB}/{old_device}/device"].rsplit(":", 2)[-2], 16)
            _rename(machine, old, pattern.format(n=at, bus=bus))
            if device:
                _rename(machine, old_device, device.format(n=at, bus=bus))

    return edit


def _rename(machine: Machine, old: str, new: str) -> None:
    word = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")

    def through(value: Any) -> Any:
        if isinstance(value, str):
            return word.sub(new, value)
        if isinstance(value, list):
            return [through(member) for member in value]
        return {through(k): through(v) for k, v in value.items()} if isinstance(value, dict) else value

    machine.answers = {word.sub(new, name): through(value) for name, value in machine.answers.items()}
