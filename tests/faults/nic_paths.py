"""Faults of the area nic: ways out, shared subnets, bonds, and the adapters' health."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from faults.row import Row, put
from nodes import make

_NET, _CONF = "/sys/class/net", "read /proc/sys/net/ipv4/conf"
_PCI = "0000:03:00.0"
_ROUTES, _RULES, _SILENT = "route.routes inet", "route.rules inet", "route.silent inet"


def four_rails() -> Any:
    return make.two_rails_roce(4)


def drop(**what: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Return a function that takes out of a table what has these values."""

    def edit(table: list[dict[str, Any]]) -> None:
        table[:] = [row for row in table if any(row[key] != value for key, value in what.items())]

    return edit


def silent(state: str, seconds: float, gateway: str = "192.0.2.1", interface: str = "rail0") -> dict[str, Any]:
    return {_SILENT: [{"interface": interface, "address": gateway, "state": state, "seconds": seconds}]}


def by_ipv6(table: list[dict[str, Any]]) -> None:
    for route in table:
        route["via"] = [[name, "fe80::1" if name == "rail0" and gateway else gateway] for name, gateway in route["via"]]


_SILENT_IPV6 = {
    _ROUTES: by_ipv6,
    "route.silent inet6": [{"interface": "rail0", "address": "fe80::1", "state": "failed", "seconds": 20.0}],
}

_SAME_SUBNET = {
    "addresses": lambda table: table.update(rail0=["192.0.2.10/24"], rail1=["192.0.2.26/24"]),
    _RULES: drop(table=100),
}


def settings(**own: str) -> dict[str, Any]:
    values = {"arp_ignore": "1", "arp_announce": "2", "arp_filter": "0", "rp_filter": "2"} | own
    return {
        f"{_CONF}/{name}/{s}": v if name == "rail0" else "0" for s, v in values.items() for name in ("all", "rail0")
    }


#: what the kernel and the driver say of one transmit timeout
_TWICE_SAID = {
    "kmsg": [
        {"seconds": 863000.1, "kind": "transmit-timeout", "device": _PCI, "text": "TX timeout detected"},
        {"seconds": 863000.2, "kind": "transmit-timeout", "device": _PCI, "text": "NETDEV WATCHDOG: CPU: 3"},
    ]
}


def said(kind: str, text: str, hours_ago: float = 1.0, device: str = _PCI, times: int = 1) -> dict[str, Any]:
    line = {"seconds": 864000.0 - 3600 * hours_ago, "kind": kind, "device": device, "text": text}
    return {"kmsg": [dict(line, seconds=line["seconds"] - n) for n in reversed(range(times))]}


_SLAVE = f"read {_NET}/port1/bonding_slave"
_BOND = {"subject": "mlx5_0/1 (bond0)", "node": make.bond}
_BYTES = 90_000_000_000


def sent(port0: float, port1: float) -> dict[str, Any]:
    """Return the bytes each member sent, given its Gb/s over the minute between the samples."""
    rates = {"port0": port0, "port1": port1}
    return {f"ethtool.stats {n}": put("tx_bytes_phy", value=_BYTES + int(g * 60e9 / 8)) for n, g in rates.items()}


FAULTS = {
    "rail-without-route": [
        Row({_ROUTES: drop(table=100)}, "the rule for 192.0.2.10 leads to table 100, which is empty"),
        Row({_RULES: drop(table=100)}, "table 100 has one, but no rule leads there; 3", node=four_rails),
        Row(
            {_RULES: drop(table=100), _ROUTES: drop(table=100)},
            "no route beyond 192.0.2.0/28; 3 of its siblings",
            node=four_rails,
        ),
        Row(
            {_ROUTES: drop(table=100, to="0.0.0.0/0")},
            "no route beyond 192.0.2.0/28; 3 of its siblings",
            node=four_rails,
        ),
        Row(silent("failed", 20.0), "no answer from gateway 192.0.2.1 (failed)"),
        Row(silent("incomplete", 2.5), "no answer from gateway 192.0.2.1 (incomplete)"),
        Row(_SILENT_IPV6, "no answer from gateway fe80::1 (failed)"),
    ],
    "arp-flux-on-same-subnet-rails": [
        Row(
            _SAME_SUBNET | settings(arp_ignore="0"),
            "rail0 arp_ignore 0, arp_announce 2",
            "warning",
            subject="rails in 192.0.2.0/24",
        ),
        Row(_SAME_SUBNET | settings(rp_filter="1"), "rail0 rp_filter 1", "warning", subject="rails in 192.0.2.0/24"),
    ],
    "bond-member-down": [
        Row({f"{_SLAVE}/mii_status": "down"}, "port1 of bond0 (802.3ad): no link", **_BOND),
        Row({f"read {_NET}/port1/operstate": "down"}, "port1 of bond0 (802.3ad): no link", **_BOND),
        Row({f"{_SLAVE}/ad_actor_oper_port_state": "69"}, "port1 of bond0 (802.3ad): no LACP partner", **_BOND),
        Row({f"read {_NET}/bond0/bonding/ad_partner_mac": "00:00:00:00:00:00"}, "no LACP partner", **_BOND),
        Row({f"{_SLAVE}/ad_aggregator_id": "2"}, "in another aggregator than the bond uses", **_BOND),
        Row(
            {f"read {_NET}/bond0/bonding/mode": "active-backup 1", f"{_SLAVE}/mii_status": "down"},
            "port1 of bond0 (active-backup): no link",
            "warning",
            **_BOND,
        ),
    ],
    "bond-member-flapped": [
        Row(
            {f"read {_NET}/port1/carrier_changes": "3"},
            "port1 lost its link 1 time",
            "warning",
            subject="mlx5_0/1 (port1)",
            before={f"read {_NET}/port1/carrier_changes": "1"},
            node=make.bond,
        ),
    ],
    "bond-one-member-carries-all": [
        Row(sent(300.0, 1.0), "port0 sent 100% of the bond's traffic, at 300 Gb/s", "warning", **_BOND),
    ],
    "kernel-log-nic-fault": [
        Row(
            said("command-timeout", "ACCESS_REG(0x805) timeout. Will cause a leak of a command resource", times=3),
            "3 times, last 1.0 hours ago",
            subject="mlx5_0",
        ),
        Row(said("health-compromised", "device's health compromised"), "device's health compromised", subject="mlx5_0"),
        Row(said("high-temperature", "High temperature"), "High temperature: 1 time", "warning", subject="mlx5_0"),
        Row(
            said("transmit-timeout", "NETDEV WATCHDOG: CPU: 3: transmit queue 5 timed out", device="rail0"),
            "NETDEV WATCHDOG",
            "warning",
            subject="mlx5_0",
        ),
        Row(
            said("transmit-timeout", "TX timeout detected", times=2),
            "TX timeout detected: 2 times",
            "warning",
            subject="mlx5_0",
        ),
        Row(_TWICE_SAID, "TX timeout detected: 1 time,", "warning", subject="mlx5_0"),
        Row(said("module-error", "Cable error, Bad or shorted cable/module"), "Cable", "warning", subject="mlx5_0"),
        Row(said("insufficient-power", "Detected insufficient power"), "insufficient", "info", subject="mlx5_0"),
        Row(
            said("health-compromised", "device's health compromised", device="0000:03:00.1"),
            "health compromised",
            subject="mlx5_0 (port1)",
            node=make.bond,
        ),
    ],
    "hw-error-state": [
        Row(
            {f"devlink.health {_PCI}": put("fw_fatal", "state", value="error")},
            "health reporter in state error: fw_fatal",
            subject="mlx5_0",
        ),
        Row(
            {f"devlink.health {_PCI}": put("fw", "state", value="error")},
            "health reporter in state error: fw",
            "info",
            subject="mlx5_0",
        ),
        Row(
            {f"devlink.health {_PCI}": put("65535/tx", "errors", value=5)},
            "2 new errors of 65535/tx",
            "warning",
            subject="mlx5_0",
        ),
        Row(
            {"devlink.health 0000:03:00.1": put("fw_fatal", "state", value="error")},
            "health reporter in state error: fw_fatal",
            subject="mlx5_0 (port1)",
            node=make.bond,
        ),
    ],
}
