"""A port's interface: files, addresses and GIDs, QoS, and what its driver reports; bonds above several."""

from __future__ import annotations

import copy
import ipaddress
from typing import Any

from nodes.machine import ARP, IB, NET, Answers, Machine
from nodes.model import Adapter, Port

from fabricdoctor.unknown import Unknown


def ordinal(machine: Machine) -> int:
    """Return how many RDMA devices there are so far."""
    return len(machine.answers.get(f"list {IB}", ()))


def gid(address: str, kind: str, name: str | None) -> dict[str, str | None]:
    digits = f"{int(ipaddress.IPv6Address(address)):032x}"  # as sysfs writes it, IPv4-mapped ones too
    return {"gid": ":".join(digits[at : at + 4] for at in range(0, 32, 4)), "type": kind, "ndev": name}


def gids(adapter: Adapter, addresses: list[str], name: str, first: int = 0) -> Answers:
    """Return a table: each address once per RoCE version, in the order they were added."""
    entries = [gid(address, kind, name) for address in addresses for kind in adapter.gid_types][: adapter.gid_length]
    return {"length": adapter.gid_length, "entries": {str(first + at): entry for at, entry in enumerate(entries)}}


def interface(machine: Machine, adapter: Adapter, port: Port) -> None:
    """Add the port's interface: files, addresses, GIDs, QoS, and what its driver reports."""
    name, local = port.interface, f"fe80::{ordinal(machine):x}"
    own = [f"{local}/64"] if port.admin_up and port.up else []
    files(machine, port)
    machine.answers["addresses"][name] = ([f"{port.ip}/28"] if port.ip else []) + ([] if port.above else own)
    if port.layer == "Ethernet":
        addresses = [local] + ([f"::ffff:{port.ip}"] if port.ip else [])
        table = gids(adapter, addresses, port.above or name, port.first_gid)
        machine.say({f"gids {port.device}/{port.number}": table})
    drivers = machine.answers
    machine.say({f"ethtool.driver {name}": {"driver": adapter.driver, "version": "6.8.0", "firmware": adapter.firmware,
                                            "bus": port.address}})  # fmt: skip
    if port.layer == "InfiniBand":
        drivers[f"ethtool.driver {name}"]["driver"] += "[ib_ipoib]"
    _link(machine, adapter, port)
    ethernet = port.layer == "Ethernet"
    statistics = adapter.statistics if port.used else dict.fromkeys(adapter.statistics, 0)
    machine.say({f"ethtool.stats {name}": dict(statistics)}, adapter.source)
    if adapter.dcb and ethernet and not adapter.vf:
        machine.say({f"dcb {name}": copy.deepcopy(adapter.dcb)}, adapter.source)
    if adapter.pause and ethernet and not adapter.vf:
        frames = {"tx_frames": 0, "rx_frames": 0}
        machine.say({f"ethtool.pause {name}": {"autoneg": False, "rx": False, "tx": False, "stats": frames}})
    if adapter.storm_ms is not None and ethernet and not adapter.vf:
        machine.say({f"ethtool.pfc-storm {name}": adapter.storm_ms})


def files(machine: Machine, port: Port) -> None:
    base, name = f"{NET}/{port.interface}", port.interface
    changes = "1" if port.used else "0"
    machine.add_names("list /sys/class/net", name)
    index = len(machine.answers["list /sys/class/net"]) + 1
    speed: Any = str(port.gbps * 1000) if port.up and port.speed_told else "-1"
    if not port.admin_up:  # the kernel refuses to tell the speed of an interface that is not up
        speed = Unknown(f"read {base}/speed", "unsupported", "Invalid argument")
    above = ["master", f"upper_{port.above}"] if port.above else []
    slot = port.address.rsplit(".", 1)[-1]
    machine.say({
        f"read {base}/mtu": str(port.mtu),
        f"read {base}/speed": speed,
        f"read {base}/flags": "0x1003" if port.admin_up else "0x1002",
        f"read {base}/operstate": "up" if port.up else "down",
        f"read {base}/carrier_up_count": changes,
        f"read {base}/carrier_down_count": changes,
        f"read {base}/carrier_changes": str(2 * int(changes)),
        f"read {base}/dev_port": "0",
        f"read {base}/type": "32" if port.layer == "InfiniBand" else "1",
        f"read {base}/ifindex": str(index),
        f"list {base}": sorted(["carrier", "device", "mtu", "speed", *above]),
        f"link {base}/device": f"../../../{port.address}",
    } | {f"read /proc/sys/net/ipv4/conf/{name}/{key}": value for key, value in ARP.items()})  # fmt: skip
    if port.above:
        machine.say({f"link {base}/master": f"../{port.above}"})
    if port.layer == "Ethernet":
        machine.say({f"read {base}/phys_port_name": f"p{slot}"})
    else:
        refused = Unknown(f"read {base}/phys_port_name", "unsupported", "Operation not supported")
        machine.say({f"read {base}/phys_port_name": refused})


def _link(machine: Machine, adapter: Adapter, port: Port) -> None:
    name, ethernet = port.interface, port.layer == "Ethernet"
    modes = list(adapter.modes) if ethernet else []
    mode = {
        "speed_mbps": port.gbps * 1000 if port.up and port.speed_told else None,
        "lanes": (1 if port.gbps < 40 else 4) if port.up and ethernet else None,
        "supported": modes, "advertised": modes, "peer": [], "autoneg": bool(modes),
    }  # fmt: skip
    reason = None if port.up or not port.admin_up else "no-cable"
    machine.say({
        f"ethtool.modes {name}": mode,
        f"ethtool.state {name}": {"link": port.up, "ext_state": reason, "ext_substate": None, "down_count": None},
    })  # fmt: skip
    if adapter.fec and ethernet and not adapter.vf:
        stats = {"corrected": 41_000, "uncorrectable": 0}
        machine.say({f"ethtool.fec {name}": {"configured": [], "auto": True, "active": "RS" if port.up else None,
                                             "stats": stats if port.up else {}}})  # fmt: skip


def bond(machine: Machine, name: str, members: tuple[str, ...], ip: str, gbps: int, mtu: int = 9000) -> None:
    """Add the master of these interfaces. It has neither link modes nor QoS of its own."""
    files(machine, Port("", name, "0000:00:00.0", (), gbps, mtu=mtu))
    machine.answers["addresses"][name] = [f"{ip}/28", "fe80::b0/64"]
    machine.answers["addresses"] |= {member: [] for member in members}
    machine.say({
        f"list {NET}/{name}": sorted(["bonding", "mtu", "speed", *(f"lower_{member}" for member in members)]),
        f"ethtool.driver {name}": {"driver": "bonding", "version": "6.8.0", "firmware": "2", "bus": ""},
        f"read {NET}/{name}/bonding/slaves": " ".join(members),
        f"read {NET}/{name}/bonding/mode": "802.3ad 4",
        f"read {NET}/{name}/bonding/ad_aggregator": "1",
        f"read {NET}/{name}/bonding/ad_partner_mac": "02:00:00:00:00:01",
    })  # fmt: skip
    for member in members:
        machine.add_names(f"list {NET}/{member}", "bonding_slave")
        slave = f"read {NET}/{member}/bonding_slave"
        machine.say({f"{slave}/mii_status": "up", f"{slave}/ad_actor_oper_port_state": "61",
                     f"{slave}/ad_aggregator_id": "1", f"read {NET}/{member}/operstate": "up"})  # fmt: skip
    for gone in ("link {}/device", "read {}/phys_port_name"):
        machine.answers.pop(gone.format(f"{NET}/{name}"), None)


def vlan(machine: Machine, name: str, lower: str) -> None:
    """Add a VLAN over an interface."""
    files(machine, Port("", name, "0000:00:00.0", (), 400))
    for gone in (f"link {NET}/{name}/device", f"read {NET}/{name}/phys_port_name"):
        machine.answers.pop(gone)
    machine.say({
        f"list {NET}/{name}": [f"lower_{lower}", "mtu", "speed"],
        f"ethtool.driver {name}": {"driver": "802.1Q VLAN Support", "version": "1.8", "firmware": "N/A", "bus": ""},
    })  # fmt: skip
