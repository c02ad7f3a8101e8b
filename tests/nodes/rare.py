"""Whole nodes that are seldom met: other clouds' machines, one rail, bonds in switchdev mode, VLANs on rails."""

from __future__ import annotations

from dataclasses import replace

from nodes import hosts, mlx5, others
from nodes.hosts import gpus, management, rail, rail_ip, switch
from nodes.interfaces import files, vlan
from nodes.machine import IB, NET, PCI, Machine, Source, matching, node
from nodes.model import Adapter, Port
from nodes.parts import add, gpu, plain

_MANA = Adapter(
    driver="mana",
    ids=("0x1414", "0x00ba", "0x1414", "0x0000"),
    files={"fw_ver": ""},
    counters={},
    hw_counters=dict.fromkeys((
        "requester_timeout", "requester_oos_nak", "requester_rnr_nak", "responder_rnr_nak", "responder_oos",
        "responder_dup_request", "requester_implicit_nak", "requester_readresp_psn_mismatch", "nak_inv_req",
        "nak_access_err", "nak_opp_err", "nak_inv_read", "responder_local_len_err", "requester_local_prot_err",
        "requester_rem_access_err", "requester_rem_inv_req", "requester_retries_exceeded", "wqe_decode_err",
    ), "0") | {"rx_packets": "912341123", "tx_packets": "812300011", "lifespan": "10"},
    statistics={"hc_rx_discards_no_wqe": 0, "hc_tx_bytes": 9_120_331_001},
    modes=(),
    source=Source("constructed", "drivers/infiniband/hw/mana/counters.c"),
    gid_types=("RoCE v2",),
    gid_length=16,
    pause=False,
    fec=False,
)  # fmt: skip


def mana_guest(mtu: int = 4200) -> Machine:
    """Return a virtual machine of Azure whose only interface is a MANA function, with RDMA."""
    machine = node(hypervisor=True)
    port = Port("mana_0", "enP30832s1", "7870:00:00.0", (), 100, ip="198.51.100.4", mtu=mtu, speed_told=False)
    add(machine, _MANA, port)
    return machine


def bnxt_guest() -> Machine:
    """Return a virtual machine with eight virtual functions of Thor 2 and GPUs passed through."""
    machine = node(hypervisor=True, NCCL_IB_TC="104")
    vf = replace(
        others.THOR2, ids=("0x14e4", "0x1819", "0x14e4", "0x9131"), vf=True, statistics={"rx_ucast_packets": 12},
        modes=(), dcb={},
    )  # fmt: skip
    for number in range(8):
        gpu(machine, f"0000:{number + 1:02x}:00.0", (f"0000:00:02.{number}",), "mi300x")
        port = Port(
            f"bnxt_re{number}", f"ens{number + 9}", f"0000:{number + 9:02x}:00.0", (f"0000:00:03.{number}",), 400,
            ip=rail_ip(number), speed_told=False,
        )  # fmt: skip
        add(machine, vf, port)
    plain(machine, "eth0", "0000:11:00.0", "203.0.113.7", driver="virtio_net")
    return machine


def efa(devices: int, *, with_gpus: bool) -> Machine:
    """Return an instance with a few EFA devices: p4d has four for eight GPUs, the hpc family two and no GPU."""
    machine = node(hypervisor=True)
    for number in range(8 if with_gpus else 0):
        gpu(machine, f"0000:{0x10 + number:02x}:1c.0", ())
    for number in range(devices):
        bus = 0x10 + 2 * number
        port = Port(f"rdmap{bus}s27", "", f"0000:{bus:02x}:1b.0", (), 100, layer="Unspecified")
        add(machine, others.EFA, port)
    plain(machine, "ens32", "0000:00:05.0", "198.51.100.7", driver="ena")
    return machine


def one_rail() -> Machine:
    machine = node(NCCL_IB_TC="106")
    gpus(machine)
    add(machine, mlx5.CX7, rail(0, "mlx5_0"))
    management(machine)
    return machine


def no_switches() -> Machine:
    """Return a node whose GPUs and adapters are each under a root port of their own: none is nearer than another."""
    machine = node(NCCL_IB_TC="106")
    for number in range(4):
        gpu(machine, f"0000:{0x10 + number:02x}:00.0", (f"0000:00:01.{number}",))
        port = replace(
            rail(number, f"mlx5_{hosts.RAILS[number]}"), address=f"0000:{0x20 + number:02x}:00.0",
            bridges=(f"0000:00:03.{number}",),
        )  # fmt: skip
        add(machine, mlx5.CX7, port)
    hosts.storage(machine)
    management(machine)
    return machine


def bonds_in_switchdev_mode() -> Machine:
    """Return a node whose bonded adapters offload virtual functions: the bond's device has a port for each."""
    machine = hosts.two_ports(second="bonded")
    for number in range(8):
        device, name = f"mlx5_bond_{number}", f"bond{number}vf0"
        files(machine, Port("", name, "0000:00:00.0", (), 400))
        machine.answers["addresses"][name] = []
        base = f"{IB}/{device}"
        first = machine.answers[f"list {base}/device/net"][0]
        machine.say({
            f"read {NET}/{name}/phys_port_name": "pf0vf0", f"list {base}/ports": ["1", "2"],
            f"list {base}/device/net": [first, name], f"read {base}/ports/2/state": "1: DOWN",
            f"read {base}/ports/2/phys_state": "3: Disabled", f"read {base}/ports/2/rate": "40 Gb/sec (4X QDR)",
            f"read {base}/ports/2/link_layer": "Ethernet", f"gids {device}/2": {"length": 0, "entries": {}},
        })  # fmt: skip
    return machine


def vlans() -> Machine:
    """Return a node whose rails have their addresses on a VLAN each."""
    machine = hosts.dgx()
    for number, at in enumerate(hosts.RAILS):
        device = f"mlx5_{at}"
        lower = machine.answers[f"list {IB}/{device}/device/net"][0]
        name = f"{lower}.100"
        vlan(machine, name, lower)
        machine.answers["addresses"][name] = [f"{rail_ip(number)}/28"]
        machine.answers["addresses"][lower] = [f"fe80::{number + 1}/64"]
        for entry in machine.answers[f"gids {device}/1"]["entries"].values():
            if "ffff" in entry["gid"]:
                entry["ndev"] = name
    return machine


def partitioned() -> Machine:
    """Return an InfiniBand node with addresses on IP over InfiniBand, in a partition of its own."""
    machine = hosts.infiniband()
    for number, name in enumerate(matching(machine, f"list {IB}/", "/device/net")):
        lower = machine.answers[name][0]
        if lower.startswith("ibp"):
            machine.answers["addresses"][lower] = [f"192.0.2.{number + 1}/24"]
            machine.answers["addresses"][f"{lower}.8001"] = [f"198.51.100.{number + 1}/24"]
            machine.answers[name] = [lower, f"{lower}.8001"]
            pci = machine.answers[f"link {name.removeprefix('list ').removesuffix('/net')}"].rsplit("/", 1)[-1]
            machine.answers[f"list {PCI}/{pci}/net"] = [lower, f"{lower}.8001"]
    return machine


def many_gpus_on_one_switch() -> Machine:
    """Return a node with four GPUs and two rails behind each of two switches, and storage of the rails' model."""
    machine = node(NCCL_IB_TC="106")
    for half, base in enumerate((0x15, 0x97)):
        for at in range(4):
            gpu(machine, f"0000:{base + 6 + at:02x}:00.0", switch(base, 4 + at))
        for at in range(2):
            number = 2 * half + at
            port = replace(
                rail(number, f"mlx5_{number}"), address=f"0000:{base + 3 + at:02x}:00.0", bridges=switch(base, at),
                interface=f"ens{base + at}np0",
            )  # fmt: skip
            add(machine, mlx5.CX7, port)
    port = Port("mlx5_4", "enp225s0np0", "0000:e1:00.0", ("0000:e0:01.0",), 400, ip="198.51.100.10", mtu=1500)
    add(machine, mlx5.CX7, port)
    management(machine)
    return machine
