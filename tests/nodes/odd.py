"""What differs on the nodes of a good site from those of another: edits of whole nodes that leave them healthy."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any

from nodes.interfaces import gid
from nodes.machine import IB, NET, PCI, Machine, matching
from nodes.optics import module
from nodes.pods import elsewhere

from fabricdoctor.unknown import Unknown

Edit = Callable[[Machine], None]


def rails(machine: Machine) -> list[tuple[int, str, str]]:
    """Return number, RDMA device and interface of each port whose interface has an address of the rails' networks."""
    table = machine.answers["addresses"]
    named = [(name, machine.answers[name][0]) for name in matching(machine, f"list {IB}/", "/device/net")]
    pairs = [(name.split("/")[4], nic) for name, nic in named if any(a.startswith("192.0.2.") for a in table[nic])]
    return [(at, device, nic) for at, (device, nic) in enumerate(pairs)]


def each(kind: str, change: Callable[[Any], None]) -> Edit:
    """Change the answer to one kind of question, of every rail's interface."""

    def edit(machine: Machine) -> None:
        for _, _, nic in rails(machine):
            change(machine.answers[f"{kind} {nic}"])

    return edit


def say(pattern: str, value: Any) -> Edit:
    """Set the answer to every question of the rails; {nic}, {device} and {n} are filled in."""

    def edit(machine: Machine) -> None:
        for at, device, nic in rails(machine):
            machine.say({pattern.format(nic=nic, device=device, n=at): value})

    return edit


def on_each(change: Callable[[Machine, str], None]) -> Edit:
    """Call this for the PCI address of each rail."""

    def edit(machine: Machine) -> None:
        for _, device, _ in rails(machine):
            change(machine, machine.answers[f"link {IB}/{device}/device"].rsplit("/", 1)[-1])

    return edit


def environ(**variables: str) -> Edit:
    return lambda machine: machine.answers["environ"].update(variables)


def grow(seconds: float | None = None, **by: int) -> Edit:
    """Let counters grow by so much between the samples, `seconds` apart."""

    def edit(machine: Machine) -> None:
        machine.growth = {**machine.growth, **by}
        for name in matching(machine, "read "):
            counted = name.rsplit("/", 1)[-1]
            if counted in by and str(machine.answers[name]).isdigit():
                machine.answers[name] = str(max(int(machine.answers[name]), by[counted]))
        for name in matching(machine, "ethtool.stats "):
            for counted in by.keys() & machine.answers[name].keys():
                machine.answers[name][counted] = max(machine.answers[name][counted], by[counted])
        if seconds is not None:
            factor = seconds / machine.seconds
            grown = {key: int(value * factor) for key, value in machine.growth.items() if key not in by}
            machine.growth, machine.seconds = {**grown, **by}, seconds

    return edit


# --- classes and buffers


def ets(**changes: Any) -> Edit:
    return each("dcb", lambda dcb: dcb["ets"].update(changes))


def lossless_3_and_4(machine: Machine) -> None:
    def change(dcb: dict[str, Any]) -> None:
        dcb["pfc"]["enabled"] = 0b11000
        dcb["ets"] |= {"prio_tc": [0, 0, 0, 3, 4, 0, 6, 0], "tc_tx_bw": [10, 0, 0, 45, 45, 0, 0, 0]}
        dcb["buffer"]["prio2buffer"] = [0, 0, 0, 1, 1, 0, 0, 0]

    each("dcb", change)(machine)
    for name in matching(machine, "ethtool.stats "):
        stats = machine.answers[name]
        stats |= {key.replace("prio3", "prio4"): value for key, value in stats.items() if "prio3_pause" in key}


def own_trust_table(machine: Machine) -> None:
    each("dcb", lambda dcb: dcb.update(trust=[5], app=[[5, 3, 26], [5, 6, 48]]))(machine)


# --- addresses and names


def mtu(value: int) -> Edit:
    return say(f"read {NET}/{{nic}}/mtu", str(value))


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
    table = {"docker0": ["172.17.0.1/16"], "virbr0": ["192.168.122.1/24"], "veth12ab": ["fe80::42/64"],
             "cni0": ["10.244.3.1/24"], "tunl0": [], "kube-ipvs0": ["10.96.0.1/32"], "wg0": ["10.9.0.2/32"]}  # fmt: skip
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


# --- links


def at_rate(text: str, gbps: int) -> Edit:
    """Let every rail run at another rate; the interface of an Ethernet port says it too."""

    def edit(machine: Machine) -> None:
        for at, device, nic in every_port(machine):
            del at
            machine.say({f"read {IB}/{device}/ports/1/rate": text})
            machine.answers[f"verbs.device {device}"]["ports"]["1"]["gbps"] = float(gbps)
            if machine.answers.get(f"read {NET}/{nic}/type") == "1":
                machine.say({f"read {NET}/{nic}/speed": str(gbps * 1000)})
                machine.answers[f"ethtool.modes {nic}"]["speed_mbps"] = gbps * 1000

    return edit


def every_port(machine: Machine) -> Iterator[tuple[int, str, str]]:
    """Yield the RDMA devices of 400 Gb/s, whatever their link layer."""
    for at, name in enumerate(matching(machine, f"read {IB}/", "/ports/1/rate")):
        device = name.split("/")[4]
        if machine.answers[name].startswith("400"):
            yield at, device, next(iter(machine.answers.get(f"list {IB}/{device}/device/net", [])), "")


def plugged(**changes: Any) -> Edit:
    return say("ethtool.module {nic}", module(**changes))


def passive_copper(machine: Machine) -> None:
    made = module()
    made["lower"] = made["lower"][:170] + "03" + made["lower"][172:]
    say("ethtool.module {nic}", {"lower": made["lower"], "upper": "00" * 16})(machine)


def no_limits(machine: Machine) -> None:
    say("ethtool.module {nic}", module() | {"thresholds": "00" * 72})(machine)


def old_kernel(machine: Machine) -> None:
    """Take away what Linux 5.4 has not: ethtool by netlink, and with it link modes and FEC."""
    for kind in ("modes", "fec"):
        for name in matching(machine, f"ethtool.{kind} "):
            del machine.answers[name]
    for name in matching(machine, "ethtool.pause "):
        machine.answers[name]["stats"] = {}


# --- the kernel log


def log(*lines: tuple[float, str, str]) -> Edit:
    """Let the kernel say something of each rail, seconds ago."""

    def edit(machine: Machine) -> None:
        said = machine.answers.setdefault("kmsg", [])
        for _, device, nic in rails(machine):
            pci = machine.answers[f"link {IB}/{device}/device"].rsplit("/", 1)[-1]
            said += [
                {"seconds": machine.uptime_s - ago, "kind": kind, "device": nic if "link" in kind else pci, "text": t}
                for ago, kind, t in lines
            ]
        said.sort(key=lambda line: line["seconds"])

    return edit


def history(machine: Machine) -> None:
    """Give every counter a long life behind it."""
    quiet = ("lifespan", "port_rcv", "port_xmit", "unicast", "multicast")
    for name in (*matching(machine, "/hw_counters/"), *matching(machine, "/counters/")):
        if name.startswith("read ") and not any(q in name for q in quiet):
            machine.answers[name] = "40" if name.endswith("link_downed") else str(int(machine.answers[name]) + 10**9)
    for name in matching(machine, "ethtool.stats "):
        machine.answers[name] = {key: value + 10**10 for key, value in machine.answers[name].items()}
    for name in (*matching(machine, "/carrier_changes"), *matching(machine, "/carrier_up_count")):
        machine.answers[name] = str(82 if name.endswith("changes") else 41) if machine.answers[name] != "0" else "0"
    for name in matching(machine, "ethtool.fec "):
        if machine.answers[name]["stats"]:
            machine.answers[name]["stats"] = {"corrected": 10**15, "uncorrectable": 10**6}
