"""Make recordings of healthy nodes: `python tests/nodes/make.py` writes two-rails-roce.json; tests use the variants."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from nodes import tools
from nodes.blocks import (
    CONF,
    GROWTH,
    IB,
    NET,
    PCI,
    Answers,
    add_gpu,
    add_interface,
    add_rail,
    add_way,
    gid_entry,
    node,
    pci_address,
    record,
)

from fabricdoctor.expect import Expect
from fabricdoctor.recording import Recording

#: What a site with a lossless RoCE fabric sets, one that is lossy, and one with InfiniBand.
LOSSLESS = Expect(
    addressed_rails=True, mtu=4096, lossless_priorities=frozenset({3}), trust="dscp", dscp=26, cnp_priority=6,
    congestion_control="dcqcn",
)  # fmt: skip
SPRAYED = replace(LOSSLESS, adaptive_routing=True)
LOSSY = Expect(addressed_rails=False, mtu=4096, lossless_priorities=frozenset(), congestion_control="dcqcn")
INFINIBAND = Expect(mtu=4096)


def two_rails_roce(rails: int = 2) -> Recording:
    answers = roce(rails) | {"tool lldpcli": tools.lldpcli({f"rail{rail}": 1 << 3 for rail in range(rails)})}
    for rail in range(rails):
        answers |= tools.adapter(pci_address("nic", rail))
    return record(answers)


def roce(rails: int = 2, first: int = 0) -> Answers:
    answers = node(rails)
    for rail in range(rails):
        add_gpu(answers, rail)
        add_rail(answers, rail)
        add_interface(answers, rail, first=first)
        add_way(answers, rail)
    return answers


def infiniband() -> Recording:
    answers = node()
    for rail in range(2):
        add_gpu(answers, rail)
        add_rail(answers, rail, layer="InfiniBand")
    return record(answers)


def lossy() -> Recording:
    """Make a node of a fabric without PFC, with some packets resent."""
    answers = roce()
    for rail in range(2):
        answers[f"dcb rail{rail}"]["pfc"]["enabled"] = 0
        for name in ("rx_prio3_pause_duration", "tx_prio3_pause_duration", "rx_prio3_pause", "tx_prio3_pause"):
            del answers[f"ethtool.stats rail{rail}"][name]
        answers[f"read {IB}/mlx5_{rail}/ports/1/hw_counters/out_of_sequence"] = "900000"
    return record(answers, GROWTH | {"out_of_sequence": 200})


def adaptive_routing() -> Recording:
    """Make a node of a fabric that sprays packets: a tenth of them arrives out of order, and none is missing."""
    answers = roce()
    for rail in range(2):
        answers[f"read {IB}/mlx5_{rail}/ports/1/hw_counters/out_of_sequence"] = "900000"
    return record(answers, GROWTH | {"out_of_sequence": 400_000})


def efa() -> Recording:
    """Make a node with EFA: node type unspecified, no interface, transport of its own."""
    answers = node()
    for rail in range(2):
        add_gpu(answers, rail)
        add_rail(answers, rail, layer="Unspecified", driver="efa")
        base = f"{IB}/mlx5_{rail}"
        answers[f"read {base}/node_type"] = "7: unspecified"
        answers[f"list {base}/device/net"] = []
        answers[f"list {PCI}/{pci_address('nic', rail)}/net"] = []
        counters = {"retrans_timeout_events": "2", "rx_pkts": "90000000", "tx_pkts": "90000000", "retrans_pkts": "7000"}
        answers |= {f"read {base}/ports/1/hw_counters/{name}": value for name, value in counters.items()}
    return record(answers)


def virtual() -> Recording:
    """Make a virtual machine with functions passed through: no DCB, no pause, no speed, and no GPU."""
    answers = roce()
    for rail in range(2):
        for kind in ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.state", "ethtool.fec", "ethtool.module"):
            del answers[f"{kind} rail{rail}"]
        answers[f"read {NET}/rail{rail}/speed"] = "-1"
    answers[f"list {PCI}"] = [pci_address("nic", 0), pci_address("nic", 1)]
    answers["read /proc/cpuinfo"] = "processor\t: 0\nflags\t\t: fpu sse2 hypervisor lahf_lm"
    return record(answers)


def bond() -> Recording:
    """Make a node with one RDMA device over a bond of two ports."""
    answers = node(1)
    add_gpu(answers, 0)
    add_rail(answers, 0)
    for name in ("port0", "port1", "bond0"):
        add_interface(answers, 0, name=name)
    answers["addresses"] |= {"port0": [], "port1": []}
    answers[f"list {NET}/bond0"] = ["lower_port0", "lower_port1", "mtu"]
    for name in ("port0", "port1"):
        answers[f"list {NET}/{name}"] = ["bonding_slave", "carrier", "device", "master", "mtu", "speed", "upper_bond0"]
    answers[f"list {IB}/mlx5_0/device/net"] = answers[f"list {PCI}/{pci_address('nic', 0)}/net"] = ["port0"]
    answers["ethtool.driver bond0"] = {"driver": "bonding"}
    for kind in ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.modes", "ethtool.fec", "ethtool.module"):
        del answers[f"{kind} bond0"]
    answers[f"read {NET}/bond0/speed"] = "800000"
    add_way(answers, 0, "bond0")
    answers |= {
        f"read {NET}/bond0/bonding/mode": "802.3ad 4",
        f"read {NET}/bond0/bonding/slaves": "port0 port1",
        f"read {NET}/bond0/bonding/ad_aggregator": "1",
        f"read {NET}/bond0/bonding/ad_partner_mac": "02:00:00:00:00:01",
        "devlink.health 0000:03:00.1": dict(answers["devlink.health 0000:03:00.0"]),
    }
    for number, name in enumerate(("port0", "port1")):
        slave = f"{NET}/{name}/bonding_slave"
        answers |= {
            f"read {NET}/{name}/operstate": "up",
            f"read {slave}/mii_status": "up",
            f"read {slave}/ad_actor_oper_port_state": "61",
            f"read {slave}/ad_aggregator_id": "1",
            f"link {NET}/{name}/device": f"../../../0000:03:00.{number}",
        }
    return record(answers)


def same_subnet() -> Recording:
    """Make a node whose rails share a flat subnet, without gateways, and answer ARP each for itself."""
    answers = node()
    for rail in range(2):
        add_gpu(answers, rail)
        add_rail(answers, rail)
        add_interface(answers, rail)
        name = f"rail{rail}"
        answers["addresses"][name][0] = answers["addresses"][name][0].replace("/28", "/24")
        answers["route.routes inet"].append(
            {"table": 254, "type": "unicast", "protocol": 2, "to": "192.0.2.0/24", "via": [[name, None]]}
        )
        settings = {"arp_ignore": "1", "arp_announce": "2", "arp_filter": "0", "rp_filter": "2"}
        answers |= {f"read {CONF}/{name}/{setting}": value for setting, value in settings.items()}
    answers |= {f"read {CONF}/all/{s}": "0" for s in ("arp_ignore", "arp_announce", "arp_filter", "rp_filter")}
    return record(answers)


def idle() -> Recording:
    """Make a node on which nothing moved between the samples."""
    return record(roce(), {"none": 0})


def ionic() -> Recording:
    """Make a node whose adapters' QoS only their vendor's tool tells."""
    answers = roce()
    del answers["environ"]["NCCL_IB_TC"]
    for rail in range(2):
        device, name = f"mlx5_{rail}", f"rail{rail}"
        answers[f"link {IB}/{device}/device/driver"] = "../../../../bus/pci/drivers/ionic"
        answers[f"link {PCI}/{pci_address('nic', rail)}/driver"] = "../../../../bus/pci/drivers/ionic"
        answers[f"ethtool.driver {name}"]["driver"] = "ionic"
        del answers[f"dcb {name}"]
    return record(answers | tools.nicctl({pci_address("nic", rail): f"mlx5_{rail}" for rail in range(2)}))


def pod() -> Recording:
    """Make a pod that sees only its own GIDs, from index 4 on, and none of the host's interfaces."""
    return record(roce(first=4))


def spare_port() -> Recording:
    """Make a node whose third port was never cabled, given an address, or set up in any other way."""
    answers = roce(3)
    port = f"{IB}/mlx5_2/ports/1"
    answers["addresses"]["rail2"] = []
    answers["gids mlx5_2/1"] = {"length": 255, "entries": {"0": gid_entry("fe80::3", "RoCE v2", "rail2")}}
    answers |= {f"read {port}/state": "1: DOWN", f"read {port}/phys_state": "3: Disabled"}
    answers |= {f"read {port}/counters/{name}": "0" for name in ("port_rcv_data", "port_rcv_packets")}
    answers[f"read {port}/counters/link_downed"] = "2"  # rxe counts what comes down, whether it was up or not
    answers |= {f"read {NET}/rail2/carrier_up_count": "0", f"read {NET}/rail2/speed": "-1"}
    answers["dcb rail2"] |= {"app": [], "pfc": answers["dcb rail2"]["pfc"] | {"enabled": 0}}
    answers[f"read {NET}/rail2/mtu"] = "1500"
    answers["ethtool.pause rail2"] |= {"rx": True, "tx": True}
    gpu = pci_address("gpu", 2)
    answers[f"list {PCI}"] = [name for name in answers[f"list {PCI}"] if name != gpu]
    return record(answers, {"none": 0})


def grace() -> Recording:
    """Make a node whose GPUs and adapters sit under root ports of their own, with four-digit domains."""
    answers = roce()
    for rail in range(2):
        for kind, domain in (("gpu", f"{8 * rail + 9:04x}"), ("nic", f"{8 * rail:04x}")):
            address = pci_address(kind, rail)
            path = f"../../../devices/pci{domain}:00/{domain}:00:00.0/{address}"
            answers[f"link {PCI}/{address}"] = path
            if kind == "nic":
                answers[f"link {IB}/mlx5_{rail}/device"] = path
    return record(answers)


#: Healthy nodes, each with the expectations of its site. All of them must be clean with these and with none.
HEALTHY: dict[str, tuple[Callable[[], Recording], Expect]] = {
    "two-rails-roce": (two_rails_roce, LOSSLESS),
    "infiniband": (infiniband, INFINIBAND),
    "lossy": (lossy, LOSSY),
    "adaptive-routing": (adaptive_routing, SPRAYED),
    "efa": (efa, LOSSY),
    "virtual": (virtual, LOSSLESS),
    "bond": (bond, LOSSLESS),
    "same-subnet": (same_subnet, LOSSLESS),
    "idle": (idle, LOSSLESS),
    "ionic": (ionic, LOSSLESS),
    "pod": (pod, LOSSLESS),
    "spare-port": (spare_port, LOSSLESS),
    "grace": (grace, LOSSLESS),
}

if __name__ == "__main__":
    (Path(__file__).parent / "two-rails-roce.json").write_text(two_rails_roce().text())
