"""Hosts that share their adapters with containers, and what such a container sees."""

from __future__ import annotations

from dataclasses import replace

from nodes import mlx5
from nodes.hosts import RAILS, gpus, management, rail, rail_ip, storage
from nodes.machine import IB, NET, PCI, Machine, matching, node
from nodes.parts import add


def sriov_host() -> Machine:
    """Return a host that gives one virtual function of each rail to guests: it keeps no driver for RDMA on them."""
    machine = node(NCCL_IB_TC="106")
    gpus(machine)
    for number, at in enumerate(RAILS):
        port = rail(number, f"mlx5_{at}")
        add(machine, mlx5.CX7, port)
        vf = replace(
            port, device=f"mlx5_{14 + number}", interface=port.interface.replace("np0", "v0"),
            address=port.address.replace("00.0", "00.1"),
            ip="", physfn=port.address, used=False, speed_told=False,
        )  # fmt: skip
        add(machine, mlx5.CX7_VF, vf)
    storage(machine)
    management(machine)
    return machine


def _container(machine: Machine) -> None:
    """Take away what only the host's network namespace has: counters of RDMA ports, and debugfs altogether."""
    for folder in ("counters", "hw_counters"):
        for name in (*matching(machine, IB, f"/{folder}/"), *matching(machine, f"list {IB}", f"/{folder}")):
            del machine.answers[name]
    machine.refused["kmsg"] = ("missing", "No such file or directory")


def elsewhere(machine: Machine, device: str, interface: str) -> None:
    """Take away the interface and the GIDs of a device that is in another network namespace."""
    for name in matching(machine, f"{NET}/{interface}"):
        del machine.answers[name]
    for kind in ("dcb", "ethtool.driver", "ethtool.modes", "ethtool.state", "ethtool.pause", "ethtool.stats",
                 "ethtool.fec", "ethtool.pfc-storm"):  # fmt: skip
        machine.answers.pop(f"{kind} {interface}", None)
    machine.answers["addresses"].pop(interface, None)
    for name in (*matching(machine, f"list {IB}/{device}/", "/net"), *matching(machine, f"list {PCI}/", "/net")):
        if machine.answers[name] == [interface]:
            machine.answers[name] = []
    for name in matching(machine, f"gids {device}/"):
        machine.answers[name] = {"length": 255, "entries": {}}


def pod_with_functions() -> Machine:
    """Return a pod that was given a virtual function of each rail; it sees every device, and its own interfaces."""
    machine = sriov_host()
    own = [f"mlx5_{14 + number}" for number in range(8)]
    for number, device in enumerate(own):
        interface = machine.answers[f"list {IB}/{device}/device/net"][0]
        _renamed(machine, interface, f"net{number + 1}")
        ip, name = rail_ip(number), f"net{number + 1}"
        machine.answers["addresses"][name] = [f"{ip}/28", f"fe80::{number + 1}/64"]
        for file, value in (("carrier_up_count", "1"), ("carrier_changes", "2")):
            machine.answers[f"read {NET}/{name}/{file}"] = value
        entries = machine.answers[f"gids {device}/1"]["entries"]
        for index, kind in ((2, "IB/RoCE v1"), (3, "RoCE v2")):
            digits = "".join(f"{int(part):02x}" for part in ip.split("."))
            address = f"0000:0000:0000:0000:0000:ffff:{digits[:4]}:{digits[4:]}"
            entries[str(index)] = {"gid": address, "type": kind, "ndev": name}
    for device in machine.answers[f"list {IB}"]:
        if device not in own:
            elsewhere(machine, device, machine.answers[f"list {IB}/{device}/device/net"][0])
    _only_nodes_of(machine, own)
    _container(machine)
    return machine


def _renamed(machine: Machine, old: str, new: str) -> None:
    for name in matching(machine, old):
        value = machine.answers.pop(name)
        machine.answers[name.replace(old, new)] = value
    machine.answers["addresses"][new] = machine.answers["addresses"].pop(old, [])
    for name in (*matching(machine, f"list {IB}/", "/net"), *matching(machine, f"list {PCI}/", "/net")):
        machine.answers[name] = [new if interface == old else interface for interface in machine.answers[name]]
    for name in matching(machine, "gids "):
        for entry in machine.answers[name]["entries"].values():
            entry["ndev"] = new if entry["ndev"] == old else entry["ndev"]


def _only_nodes_of(machine: Machine, devices: list[str]) -> None:
    """Leave only these devices' nodes in /dev/infiniband, and only them to libibverbs, which opens what it lists."""
    owners = matching(machine, "read /sys/class/infiniband_verbs/", "/ibdev")
    kept = [name.split("/")[-2] for name in owners if machine.answers[name] in devices]
    machine.answers["list /dev/infiniband"] = ["rdma_cm", *sorted(kept)]
    machine.answers["verbs.devices"] = machine.answers["verbs.devices"] | {"devices": list(devices)}


def pod_of_its_own() -> Machine:
    """Return a pod where RDMA devices belong to one network namespace: it sees its functions and no others."""
    machine = pod_with_functions()
    own = machine.answers["verbs.devices"]["devices"]
    machine.answers[f"list {IB}"] = list(own)
    machine.answers["list /sys/class/infiniband_verbs"] = ["abi_version", *machine.answers["list /dev/infiniband"][1:]]
    for name in matching(machine, f"list {PCI}/", "/infiniband"):
        machine.answers[name] = [device for device in machine.answers[name] if device in own]
    return machine


def pod_on_shared_adapters() -> Machine:
    """Return a pod with a macvlan interface on each of the host's adapters, and the GIDs of those only."""
    machine = node(NCCL_IB_TC="106")
    gpus(machine)
    for number in range(8):
        port = replace(rail(number, f"mlx5_{number}"), interface=f"net{number + 1}", first_gid=4)
        add(machine, mlx5.CX7, port)
        for name in (f"list {IB}/{port.device}/device/net", f"list {PCI}/{port.address}/net"):
            machine.answers[name] = []
        for kind in ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.fec", "ethtool.pfc-storm"):
            machine.answers.pop(f"{kind} {port.interface}", None)
        base = f"{NET}/{port.interface}"
        # the lower interface is in the host's namespace: macvlan shows a link to it without a name that exists here
        machine.answers[f"list {base}"] = ["carrier", "mtu", "speed"]
        machine.answers.pop(f"link {base}/device", None)
        machine.answers[f"ethtool.driver {port.interface}"] = {"driver": "macvlan", "version": "0.1", "firmware": ""}
    _container(machine)
    return machine
