"""Nodes of other makers and clouds, virtual machines, hosts with virtual functions, and containers."""

from __future__ import annotations

from dataclasses import replace

from nodes import mlx5, others
from nodes.hosts import RAILS, gpus, management, rail, rail_ip, storage, switch
from nodes.interfaces import files, gid
from nodes.machine import IB, NET, PCI, Machine, Source, matching, node
from nodes.model import Port
from nodes.parts import add, gpu, plain

from fabricdoctor.unknown import Unknown

_BRIDGES = (0x05, 0x15, 0x65, 0x75, 0x85, 0x95, 0xE5, 0xF5)
#: PCI functions of a machine that Hyper-V made: each passed-through one is in a domain of its own
_AZURE_GPUS = (0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB, 0xC)


def mi300x_thor2() -> Machine:
    machine = node(NCCL_IB_TC="104")
    for number, base in enumerate(_BRIDGES):
        gpu(machine, f"0000:{base + 6:02x}:00.0", switch(base, 4), "mi300x")
        port = Port(
            f"bnxt_re{number}", f"ens{base + 3}np0", f"0000:{base + 3:02x}:00.0", switch(base, 0), 400,
            ip=rail_ip(number),
        )  # fmt: skip
        add(machine, others.THOR2, port)
    storage(machine)
    management(machine)
    return machine


def mi300x_pollara() -> Machine:
    """Return a node whose adapters bring a PCIe switch of their own."""
    machine = node(NCCL_IB_TC="96")
    for number, base in enumerate(_BRIDGES):
        gpu(machine, f"0000:{base + 8:02x}:00.0", switch(base, 4), "mi300x")
        own = (f"0000:{base + 3:02x}:00.0", f"0000:{base + 4:02x}:00.0")
        port = Port(
            f"ionic_{number}", f"enp{base + 5}s0", f"0000:{base + 5:02x}:00.0", (*switch(base, 0), *own), 400,
            ip=rail_ip(number),
        )  # fmt: skip
        add(machine, others.POLLARA, port)
    storage(machine)
    management(machine)
    return machine


def e810() -> Machine:
    """Return a node with RoCE on E810, and storage on adapters of the same driver that speak iWARP."""
    machine = node(NCCL_IB_TC="104")
    gpus(machine)
    for number in range(8):
        port = rail(number, "", gbps=100)
        bus = int(port.address[5:7], 16)
        add(machine, others.E810, replace(port, device=f"rocep{bus}s0", interface=f"ens{bus}np0"))
    for side in (0, 1):
        port = Port(
            f"iwp41s0f{side}", f"ens41f{side}", f"0000:29:00.{side}", ("0000:28:01.0",), 25,
            ip=f"198.51.100.{16 * side + 10}", mtu=1500,
        )  # fmt: skip
        add(machine, others.E810_IWARP, port)
    management(machine)
    return machine


def p5() -> Machine:
    """Return an instance with 32 EFA devices, four behind the switch of each GPU, and ENA for all else."""
    machine = node(hypervisor=True, FI_PROVIDER="efa")
    for number in range(8):
        base = 0x4F + 0x11 * number if number < 7 else 0xC9
        domain, bridges = "0000", (f"0000:{base - 2:02x}:00.0", f"0000:{base - 1:02x}:01.0")
        gpu(machine, f"{domain}:{base + 4:02x}:00.0", bridges)
        for at in range(4):
            bus = base + at
            port = Port(f"rdmap{bus}s0", "", f"{domain}:{bus:02x}:00.0", bridges, 100, layer="Unknown")
            add(machine, others.EFA, port)
    plain(machine, "enp71s0", "0000:47:00.0", "198.51.100.7", driver="ena", gbps=0)
    machine.say({f"read {NET}/enp71s0/speed": Unknown("speed", "unsupported", "Invalid argument")})
    return machine


def switchdev_host() -> Machine:
    """Return a host whose adapters are in switchdev mode: a port for each virtual function, and a sub-function."""
    machine = node(NCCL_IB_TC="106")
    gpus(machine)
    source = Source("constructed", "drivers/infiniband/hw/mlx5/ib_rep.c")
    for number, at in enumerate(RAILS):
        port = rail(number, f"mlx5_{at}")
        add(machine, mlx5.CX7, port)
        first, representor = f"{IB}/{port.device}/ports/1", port.interface.replace("np0", "npf0vf0")
        files(machine, replace(port, interface=representor))
        machine.answers["addresses"][representor] = []
        machine.say({
            f"read {NET}/{representor}/phys_port_name": "pf0vf0",
            f"list {IB}/{port.device}/ports": ["1", "2", "3"],
            f"list {IB}/{port.device}/device/net": [port.interface, representor],
            f"list {PCI}/{port.address}/net": [port.interface, representor],
        }, source)  # fmt: skip
        for other in ("2", "3"):
            base = first[:-1] + other
            machine.say({
                f"read {base}/state": "1: DOWN", f"read {base}/phys_state": "3: Disabled",
                f"read {base}/rate": "40 Gb/sec (4X QDR)", f"read {base}/link_layer": "Ethernet",
                f"gids {port.device}/{other}": {"length": 0, "entries": {}},
            }, source)  # fmt: skip
    _sub_function(machine)
    storage(machine)
    management(machine)
    return machine


def _sub_function(machine: Machine) -> None:
    """Add a sub-function of the first adapter: its parent is no PCI function of its own."""
    parent = rail(0, "mlx5_14")
    before = dict(machine.answers)
    add(machine, mlx5.CX7_VF, replace(parent, interface="enp24s0f0s88", ip="192.0.2.200"))
    for question in matching(machine, f"{PCI}/{parent.address}"):
        machine.say({question: before[question]})
    base = f"{IB}/{parent.device}"
    machine.say({
        f"link {base}/device": f"{machine.answers[f'link {base}/device']}/mlx5_core.sf.4",
        f"link {base}/device/driver": "../../../../../../bus/auxiliary/drivers/mlx5_core.sf",
        f"list {PCI}/{parent.address}/infiniband": ["mlx5_0"],
        f"read {NET}/enp24s0f0s88/phys_port_name": "p0",
    })  # fmt: skip
    machine.answers["ethtool.driver enp24s0f0s88"]["driver"] = "mlx5_core.sf"


def kvm_guest() -> Machine:
    """Return a virtual machine with eight virtual functions and GPUs passed through, all on one flat bus."""
    machine = node(hypervisor=True, NCCL_IB_TC="106")
    for number in range(8):
        gpu(machine, f"0000:{number + 1:02x}:00.0", (f"0000:00:02.{number}",))
        port = Port(
            f"mlx5_{number}", f"enp{number + 9}s0", f"0000:{number + 9:02x}:00.0", (f"0000:00:03.{number}",), 400,
            ip=rail_ip(number), speed_told=False,
        )  # fmt: skip
        add(machine, mlx5.CX7_VF, port)
    plain(machine, "eth0", "0000:11:00.0", "203.0.113.7", driver="virtio_net")
    return machine


def azure_guest() -> Machine:
    """Return a virtual machine with InfiniBand functions, and accelerated Ethernet beside them."""
    machine = node(hypervisor=True)
    for domain in _AZURE_GPUS:
        gpu(machine, f"{domain:04x}:00:00.0", ())
    infiniband = replace(mlx5.CX7_IB, ids=mlx5.CX7_VF.ids, files=mlx5.CX7_VF.files, statistics={})
    for number in range(8):
        port = Port(
            f"mlx5_ib{number}", f"ib{number}", f"{0x101 + number:04x}:00:00.0", (), 400, layer="InfiniBand",
            lid=600 + number, mtu=4200,
        )  # fmt: skip
        add(machine, infiniband, port)
    ethernet = Port("mlx5_an0", "enP5342s1", "14de:00:02.0", (), 100, mtu=1500, above="eth0")
    add(machine, replace(mlx5.CX7_VF, ids=("0x15b3", "0x1016", "0x15b3", "0x0190")), ethernet)
    return machine


_CAPTURED = Source("captured", "a virtual machine with kernel 7.2.13, rdma_rxe over veth")
_RXE_COUNTERS = (
    "ack_deferred", "completer_retry_err", "duplicate_request", "link_downed", "out_of_seq_request", "rcvd_bytes",
    "rcvd_pkts", "rcvd_rnr_err", "rcvd_seq_err", "rdma_recvs", "rdma_sends", "retry_exceeded_err",
    "retry_rnr_exceeded_err", "send_err", "send_rnr_err", "sent_bytes", "sent_pkts",
)  # fmt: skip


def soft_roce() -> Machine:
    """Return a machine with the kernel's software RoCE on one end of a veth pair."""
    machine = node(hypervisor=True)
    base, port = f"{IB}/rxe0", f"{IB}/rxe0/ports/1"
    machine.add_names(f"list {IB}", "rxe0")
    machine.add_names("list /sys/class/infiniband_verbs", "abi_version", "uverbs0")
    machine.add_names("list /dev/infiniband", "rdma_cm", "uverbs0")
    files(machine, Port("rxe0", "rail0", "0000:00:00.0", (), 400, mtu=4200))
    for gone in (f"link {NET}/rail0/device", f"read {NET}/rail0/phys_port_name"):
        machine.answers.pop(gone)
    machine.answers[f"list {NET}/rail0"] = ["carrier", "mtu", "speed"]
    machine.answers["addresses"]["rail0"] = ["192.0.2.10/24", "fe80::2458:8fff:fe9b:17f7/64"]
    entries = [gid(address, "RoCE v2", "rail0") for address in ("fe80::2458:8fff:fe9b:17f7", "::ffff:192.0.2.10")]
    machine.say({
        "ethtool.driver rail0": {"driver": "veth", "version": "1.0", "firmware": "", "bus": ""},
        "verbs.devices": {"library": "libibverbs.so.1", "devices": ["rxe0"], "warnings": []},
        "verbs.usable rxe0": {"uid": 1000, "steps": dict.fromkeys(("open", "pd", "cq", "qp", "mr"))},
        "verbs.device rxe0": {
            "ports": {"1": {"state": "ACTIVE", "phys_state": "LinkUp", "active_mtu": 4096, "gbps": 400.0}}
        },
        "read /sys/class/infiniband_verbs/uverbs0/ibdev": "rxe0",
        "gids rxe0/1": {"length": 1024, "entries": {str(at): entry for at, entry in enumerate(entries)}},
        f"read {base}/parent": "rail0",
        f"list {base}/ports": ["1"],
    })  # fmt: skip
    machine.say({
        f"read {base}/node_type": "1: CA", f"read {base}/fw_ver": "", f"read {port}/state": "4: ACTIVE",
        f"read {port}/phys_state": "5: LinkUp", f"read {port}/rate": "400 Gb/sec (4X NDR)",
        f"read {port}/link_layer": "Ethernet", f"read {port}/lid": "0x0", f"read {port}/hw_counters/lifespan": "10",
    } | {f"read {port}/hw_counters/{name}": "0" for name in _RXE_COUNTERS}, _CAPTURED)  # fmt: skip
    machine.say({f"read {port}/counters/{name}": "0" for name in ("link_downed", "port_rcv_data", "port_rcv_packets")})
    return machine
