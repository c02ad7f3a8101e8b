"""Whole hosts with ConnectX adapters: GPUs each with a rail behind one PCIe switch, storage, management, a bond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nodes import mlx5
from nodes.interfaces import bond, vlan
from nodes.machine import IB, NET, Machine, Source, matching, node
from nodes.model import Adapter, Port
from nodes.parts import add, gpu, plain

#: the host bridges of a DGX H100; behind each a switch with the rail at bus +3 and the GPU at bus +6
_BRIDGES = (0x15, 0x3D, 0x4C, 0x5B, 0x97, 0xBD, 0xCB, 0xD9)
RAILS = (0, 3, 4, 5, 6, 9, 10, 11)
_IMBUE = Source("reported", "https://github.com/imbue-ai/cluster-health/issues/4")


def switch(base: int, downstream: int) -> tuple[str, ...]:
    """Return root port, upstream and downstream port of the switch behind the host bridge with bus `base`."""
    return (f"0000:{base:02x}:01.0", f"0000:{base + 1:02x}:00.0", f"0000:{base + 2:02x}:{downstream:02x}.0")


def rail_ip(rail: int) -> str:
    return f"192.0.2.{16 * rail + 10}"


def rail(number: int, device: str, *, gbps: int = 400, layer: str = "Ethernet") -> Port:
    """Return the port of rail `number` in its slot."""
    base = _BRIDGES[number]
    bus = base + 3
    name = f"enp{bus}s0np0" if layer == "Ethernet" else f"ibp{bus}s0"
    ip, mtu, lid = (rail_ip(number), 9000, 0) if layer == "Ethernet" else ("", 4200, 49 + number)
    place = (f"0000:{bus:02x}:00.0", switch(base, 0))
    return Port(device, name, *place, gbps, ip=ip, layer=layer, lid=lid, mtu=mtu)


def gpus(machine: Machine, buses: Sequence[int] = _BRIDGES, model: str = "h100") -> None:
    for base in buses:
        gpu(machine, f"0000:{base + 6:02x}:00.0", switch(base, 4), model)


def storage(machine: Machine, adapter: Adapter = mlx5.CX7_DUAL) -> None:
    """Add two cards of two ports: the first ports are bonded, the second ones were never cabled."""
    for at, (bus, number) in enumerate(((0x29, 1), (0xAA, 7))):
        for side in (0, 1):
            port = Port(
                f"mlx5_{number + side}", f"enp{bus}s0f{side}np{side}", f"0000:{bus:02x}:00.{side}",
                (f"0000:{bus - 1:02x}:01.0",), 200, ip="198.51.100.26" if not (at or side) else "",
                up=not side, used=not side, above="" if side else "bond0",
            )  # fmt: skip
            add(machine, adapter, port)
    bond(machine, "bond0", ("enp41s0f0np0", "enp170s0f0np0"), "198.51.100.26", 400)


def management(machine: Machine, device: str = "") -> None:
    """Add the management port, on a BlueField when it is to have an RDMA device."""
    if not device:
        plain(machine, "eno3", "0000:02:00.0", "203.0.113.7")
        return
    place = ("0000:82:00.0", ("0000:80:01.0",))
    ports = (
        Port(device, "enp130s0f0np0", *place, 200, ip="203.0.113.7", mtu=1500),
        Port(device[:-1] + str(int(device[-1]) + 1), "enp130s0f1np1", place[0][:-1] + "1", place[1], 200, up=False,
             used=False, mtu=1500),
    )  # fmt: skip
    for port in ports:
        add(machine, mlx5.BF3, port)


def dgx(adapter: Adapter = mlx5.CX7, *, root: bool = False, vendor: bool = False, bluefield: bool = True) -> Machine:
    """Return a DGX H100 style node on RoCE; `vendor`: with the vendor's driver package."""
    machine = node(root=root, NCCL_IB_TC="106", NCCL_IB_HCA="mlx5")
    gpus(machine)
    for number, at in enumerate(RAILS):
        port = rail(number, f"mlx5_{at}")
        add(machine, adapter, port)
        if root:
            mlx5.congestion_control(machine, port)
        if vendor:
            mlx5.ofed(machine, port)
    storage(machine)
    management(machine, "mlx5_12" if bluefield else "")
    return machine


def infiniband() -> Machine:
    """Return a node with names and cabling as reported: IB rails, storage behind the same switches, one port spare."""
    machine = node()
    buses = (26, 60, 77, 94, 156, 188, 204, 220)
    for at, (bus, number) in enumerate(zip(buses, (0, 3, 4, 5, 6, 9, 10, 11), strict=True)):
        gpu(machine, f"0000:{bus + 3:02x}:00.0", switch(bus - 3, 4))
        port = Port(
            f"mlx5_{number}", f"ibp{bus}s0", f"0000:{bus:02x}:00.0", switch(bus - 3, 0), 400, layer="InfiniBand",
            lid=49 + at, mtu=4200, admin_up=False,
        )  # fmt: skip
        add(machine, mlx5.CX7_IB, port)
    for bus, number in ((27, 1), (157, 7)):
        for side in (0, 1):
            up = (bus, side) != (157, 1)
            port = Port(
                f"mlx5_{number + side}", f"enp{bus}s0f{side}np{side}", f"0000:{bus:02x}:00.{side}",
                switch(bus - 4, 1), 100, ip=f"198.51.100.{bus + side}" if up else "", up=up, used=up, mtu=1500,
            )  # fmt: skip
            add(machine, mlx5.CX6DX, port)
    for name in (*matching(machine, f"list {IB}/", "device/net"), f"list {IB}"):
        machine.told[name] = (machine.answers[name], _IMBUE)
    management(machine)
    return machine


def infiniband_storage() -> Machine:
    """Return a RoCE node whose storage is on InfiniBand."""
    machine = dgx(bluefield=False)
    for at, bus in enumerate((0x2C, 0xAC)):
        port = Port(
            f"mlx5_{12 + at}", f"ibp{bus}s0", f"0000:{bus:02x}:00.0", (f"0000:{bus - 1:02x}:03.0",), 200,
            layer="InfiniBand", lid=7 + at, mtu=4200,
        )  # fmt: skip
        add(machine, mlx5.CX6_HDR, port)
    return machine


def lossy() -> Machine:
    machine = dgx(mlx5.CX7_LOSSY)
    machine.growth = {k: v for k, v in machine.growth.items() if "pause" not in k} | {"out_of_sequence": 200}
    del machine.answers["environ"]["NCCL_IB_TC"]
    return machine


def two_ports(*, second: str, with_gpus: bool = True) -> Machine:
    """Return a node of dual-port rails. `second`: "unused" ports, a second "plane", or "bonded" with the first."""
    machine = node(NCCL_IB_TC="106")
    if with_gpus:
        gpus(machine)
    for number, base in enumerate(_BRIDGES):
        bus = base + 3
        for side in (0, 1):
            used = not side or second != "unused"
            port = Port(
                f"mlx5_{2 * number + side}", f"enp{bus}s0f{side}np{side}", f"0000:{bus:02x}:00.{side}", switch(base, 0),
                200, ip=f"192.0.2.{16 * number + 8 * side + 2}" if used else "", up=used, used=used,
            )  # fmt: skip
            if second != "bonded":
                add(machine, mlx5.CX7_DUAL, port)
        if second == "bonded":
            _bonded(machine, number, port)
    management(machine)
    return machine


def _bonded(machine: Machine, number: int, second: Port) -> None:
    """Add one RDMA device over both ports of an adapter; the second function has an interface and no RDMA device."""
    name, bus = f"bond{number}", second.address[:-1]
    first = replace(
        second, device=f"mlx5_bond_{number}", interface=second.interface.replace("f1np1", "f0np0"), address=f"{bus}0",
        ip=rail_ip(number), above=name, rate="400 Gb/sec (4X NDR)",
    )  # fmt: skip
    add(machine, mlx5.CX7_DUAL, first)
    spare = replace(second, ip="", above=name)
    before = dict(machine.answers)
    rdma = (f"list {IB}", "list /sys/class/infiniband_verbs", "list /dev/infiniband", "verbs.devices")
    add(machine, mlx5.CX7_DUAL, spare)
    for question in list(machine.answers):
        if question in rdma:
            machine.say({question: before[question]})
        elif question not in before and (spare.device in question or question.endswith(f"{spare.address}/infiniband")):
            del machine.answers[question]
    bond(machine, name, (first.interface, spare.interface), rail_ip(number), 400)
    machine.say({f"read {NET}/{name}/address": "02:00:00:00:00:01"})


def four_rails() -> Machine:
    """Return a node with one rail of 400 Gb/s for each two GPUs."""
    machine = node(NCCL_IB_TC="106")
    for number, base in enumerate(_BRIDGES[::2]):
        for side, bus in ((4, base + 6), (5, base + 7)):
            gpu(machine, f"0000:{bus:02x}:00.0", switch(base, side))
        add(machine, mlx5.CX7, rail(2 * number, f"mlx5_{RAILS[number]}"))
    storage(machine)
    management(machine)
    return machine


def one_model() -> Machine:
    """Return a node whose storage is on adapters of the rails' own model and rate, in slots of the processors."""
    machine = node(NCCL_IB_TC="106")
    gpus(machine)
    for number, at in enumerate(RAILS):
        add(machine, mlx5.CX7, rail(number, f"mlx5_{at}"))
    for at, bus in enumerate((0x29, 0xAA)):
        port = Port(
            f"mlx5_{1 + 6 * at}", f"enp{bus}s0np0", f"0000:{bus:02x}:00.0", (f"0000:{bus - 1:02x}:01.0",), 400,
            ip=f"198.51.100.{16 * at + 10}", mtu=1500,
        )  # fmt: skip
        add(machine, mlx5.CX7, port)
    management(machine)
    return machine


def without_gpus() -> Machine:
    machine = node(NCCL_IB_TC="106")
    for number in range(8):
        add(machine, mlx5.CX7, rail(number, f"mlx5_{RAILS[number]}"))
    storage(machine)
    management(machine)
    return machine


def cpu_only() -> Machine:
    """Return a node without any RDMA: neither adapter nor subsystem nor device node."""
    machine = node()
    plain(machine, "eno1", "0000:0b:00.0", "203.0.113.7", driver="igb", gbps=1)
    return machine


def grace(*, layer: str = "Ethernet") -> Machine:
    """Return a GB200 tray: GPUs, adapters and BlueFields under root ports of their own, in domains of their own."""
    machine = node(NCCL_IB_TC="106")
    machine.say({"read /proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f"})
    for domain in (0x8, 0x9, 0x18, 0x19):
        gpu(machine, f"{domain:04x}:01:00.0", (f"{domain:04x}:00:00.0",), "gb200")
    for at, domain in enumerate((0x0, 0x2, 0x10, 0x12)):
        prefix = "" if not domain else f"P{domain}"
        name = f"en{prefix or ''}p3s0np0" if layer == "Ethernet" else f"ib{prefix}p3s0"
        port = Port(
            f"mlx5_{at}", name, f"{domain:04x}:03:00.0", (f"{domain:04x}:00:00.0", f"{domain:04x}:01:00.0"), 400,
            ip=rail_ip(at) if layer == "Ethernet" else "", layer=layer, lid=11 + at if layer != "Ethernet" else 0,
            mtu=9000 if layer == "Ethernet" else 4200,
        )  # fmt: skip
        add(machine, mlx5.CX7 if layer == "Ethernet" else mlx5.CX7_IB, port)
    for at, domain in enumerate((0x6, 0x16)):
        for side in (0, 1):
            port = Port(
                f"mlx5_{4 + 2 * at + side}", f"enP{domain}p1s0f{side}np{side}", f"{domain:04x}:01:00.{side}",
                (f"{domain:04x}:00:00.0",), 200, ip=f"198.51.100.{16 * (2 * at + side) + 10}",
            )  # fmt: skip
            add(machine, mlx5.BF3, port)
    return machine


def grace_planes() -> Machine:
    """Return a GB300 tray: each GPU behind the switch of its own ConnectX-8, which is two devices of half its rate."""
    machine = node(NCCL_IB_TC="106")
    machine.say({"read /proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f"})
    for at, domain in enumerate((0x0, 0x2, 0x10, 0x12)):
        root, inner = f"{domain:04x}:00:00.0", f"{domain:04x}:01:00.0"
        gpu(machine, f"{domain:04x}:05:00.0", (root, inner, f"{domain:04x}:02:01.0"), "gb200")
        for side in (0, 1):
            prefix = f"P{domain}" if domain else ""
            port = Port(
                f"mlx5_{2 * at + side}", f"en{prefix}p3s0f{side}np{side}", f"{domain:04x}:03:00.{side}",
                (root, inner, f"{domain:04x}:02:00.0"), 400, ip=f"192.0.2.{16 * at + 8 * side + 2}",
            )  # fmt: skip
            add(machine, mlx5.CX8, port)
    return machine


def in_prolog() -> Machine:
    """Return a node as Slurm's prolog sees it: root, with the job's user and none of the job's environment."""
    machine = dgx(root=True)
    machine.answers["environ"] = {"SLURM_JOB_ID": "4711", "SLURM_JOB_UID": "1000", "SLURM_JOB_USER": "user"}
    for name in matching(machine, "verbs.usable "):
        machine.say({f"{name} 1000": machine.answers.pop(name) | {"uid": 1000}})
    return machine


def vlan_on_bond() -> Machine:
    """Return a node whose rails' addresses are on a VLAN over each bond."""
    machine = two_ports(second="bonded")
    for number in range(8):
        name, bonded = f"bond{number}.100", f"bond{number}"
        vlan(machine, name, bonded)
        addresses = machine.answers["addresses"]
        addresses[name], addresses[bonded] = addresses[bonded], ["fe80::b0/64"]
        for entry in machine.answers[f"gids mlx5_bond_{number}/1"]["entries"].values():
            if "ffff" in entry["gid"]:
                entry["ndev"] = name
    return machine
