"""Make recordings of healthy nodes: `python tests/nodes/make.py` writes two-rails-roce.json; tests use the variants."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from nodes import tools
from nodes.optics import module

from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.host import Question, Recorder, name_of
from fabricdoctor.recording import Recording, Take
from fabricdoctor.unknown import Unknown

Answers = dict[str, Any]
#: What a site with a lossless RoCE fabric sets, one that is lossy, and one with InfiniBand.
LOSSLESS = Expect(
    addressed_rails=True, mtu=4096, lossless_priorities=frozenset({3}), trust="dscp", dscp=26, cnp_priority=6,
    congestion_control="dcqcn",
)  # fmt: skip
SPRAYED = replace(LOSSLESS, adaptive_routing=True)
LOSSY = Expect(addressed_rails=False, mtu=4096, lossless_priorities=frozenset(), congestion_control="dcqcn")
INFINIBAND = Expect(mtu=4096)
SECONDS = 60.0
_UPTIME_S = 864000.0
_IB, _PCI, _NET = "/sys/class/infiniband", "/sys/bus/pci/devices", "/sys/class/net"
_CONF = "/proc/sys/net/ipv4/conf"
_MODES = ["100000baseSR4/Full", "200000baseSR4/Full", "400000baseSR4/Full"]
#: Counters that grow between the samples; all others stand still.
_GROWTH = {
    "port_rcv_packets": 4_000_000, "port_xmit_packets": 4_000_000, "rx_pkts": 4_000_000, "tx_pkts": 4_000_000,
    "np_ecn_marked_roce_packets": 5_000, "np_cnp_sent": 4_000, "rp_cnp_handled": 3_000,
}  # fmt: skip
_STATS = {
    "rx_prio3_pause_duration": 900_000, "tx_prio3_pause_duration": 12_000, "rx_prio3_discards": 0,
    "rx_prio3_pause": 4_000, "tx_prio3_pause": 60, "rx_crc_errors_phy": 0, "rx_discards_phy": 0,
    "rx_global_pause_duration": 0, "tx_global_pause_duration": 0,
    "tx_pause_storm_warning_events": 0, "tx_pause_storm_error_events": 0,
    "tx_bytes_phy": 90_000_000_000,
}  # fmt: skip
_FEC = {"corrected": 90_000_000, "uncorrectable": 0, "corrected_bits": 120_000_000}


class _Given:
    """A machine made of a dictionary; whatever it has not got is missing there."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        return [self.answers.get(n, Unknown(n, "missing", "no such file")) for n in (name_of(*q) for q in questions)]


def record(answers: Answers, growth: dict[str, int] | None = None) -> Recording:
    """Return a recording with everything that facts ask for, and the sample before it."""
    earlier = {name: {"value": _before(name, value, growth or _GROWTH)} for name, value in answers.items()}
    host = Recorder(_Given(answers), earlier, SECONDS)
    observe(host)
    missing = {"unknown": "missing", "detail": "no such file"}
    before = {name: earlier.get(name, missing) for name in sorted(host.counters)}
    takes = [Take(1_750_000_000.0 + t, _UPTIME_S - SECONDS + t, "constructed") for t in (0.0, SECONDS)]
    origin = "constructed: a healthy node, made by tests/nodes/make.py"
    return Recording(host.answers, takes[1], before, takes[0], origin=origin)


def _before(name: str, value: Any, growth: dict[str, int]) -> Any:
    if name.startswith("ethtool.stats "):
        return {statistic: number - growth.get(statistic, 0) for statistic, number in value.items()}
    grown = growth.get(name.rsplit("/", 1)[-1], 0)
    return str(int(value) - grown) if grown else value


def node(rails: int = 2) -> Answers:
    """Return the answers every node has."""
    names = [f"mlx5_{i}" for i in range(rails)]
    pci = [_address("nic", i) for i in range(rails)] + [_address("gpu", i) for i in range(rails)]
    return {
        "read /proc/sys/kernel/hostname": "node01",
        "read /proc/uptime": f"{_UPTIME_S:.2f} 6000000.00",
        "read /proc/self/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000",
        "environ": {"HOME": "/home/user", "NCCL_IB_TC": "106"},
        "euid": 1000,
        "limits": {"memlock": None},
        "addresses": {"lo": ["127.0.0.1/8"], "eth0": ["198.51.100.7/24"]},
        f"list {_IB}": names,
        "list /sys/class/infiniband_verbs": ["abi_version", *(f"uverbs{i}" for i in range(rails))],
        "list /dev/infiniband": ["rdma_cm", *(f"uverbs{i}" for i in range(rails))],
        "verbs.devices": {"library": "libibverbs.so.1", "devices": list(names), "warnings": []},
        f"list {_PCI}": sorted(pci),
        "route.routes inet": [
            {"table": 254, "type": "unicast", "protocol": 2, "to": "198.51.100.0/24", "via": [["eth0", None]]},
            {"table": 254, "type": "unicast", "protocol": 4, "to": "0.0.0.0/0", "via": [["eth0", "198.51.100.1"]]},
        ],
        "route.rules inet": [_rule(priority, table) for priority, table in ((0, 255), (32766, 254), (32767, 253))],
        "route.silent inet": [{"interface": "eth0", "address": "198.51.100.99", "state": "failed", "seconds": 9.0}],
        "kmsg": [
            {"seconds": 9.0, "kind": "set-up", "device": _address("nic", 0), "text": "firmware version: 28.39.1002"},
            {"seconds": 12.0, "kind": "link-up", "device": "rail0", "text": "Link up"},
        ],
    }


def _rule(priority: int, table: int, source: str | None = None) -> dict[str, Any]:
    none = {"iif": None, "oif": None, "l3mdev": False, "some": False}
    return {"priority": priority, "from": source, "table": table, **none}


def _address(kind: str, rail: int) -> str:
    return f"0000:{0x20 * rail + (3 if kind == 'nic' else 4):02x}:00.0"


def _path(address: str) -> str:
    bridge = f"{int(address[5:7], 16) & 0xE0 | 1:02x}"
    return f"../../../devices/pci0000:{bridge}/0000:{bridge}:01.0/0000:{bridge}:02.{address[6]}/{address}"


def add_gpu(answers: Answers, rail: int) -> None:
    base = f"{_PCI}/{_address('gpu', rail)}"
    _function(answers, rail, "gpu", {"class": "0x030200", "vendor": "0x10de", "device": "0x2330"}, "nvidia")
    answers[f"link {base}/driver"] = "../../../../bus/pci/drivers/nvidia"


def _function(answers: Answers, rail: int, kind: str, files: dict[str, str], driver: str) -> None:
    address = _address(kind, rail)
    base = f"{_PCI}/{address}"
    ids = {"subsystem_vendor": files["vendor"], "subsystem_device": "0x0001"}
    answers |= {f"read {base}/{field}": value for field, value in (files | ids).items()}
    answers |= {f"link {base}": _path(address), f"link {base}/driver": f"../../../../bus/pci/drivers/{driver}"}


def add_rail(answers: Answers, rail: int, *, layer: str = "Ethernet", driver: str = "mlx5_core") -> None:
    """Add an adapter with one port: PCI, RDMA device, verbs, counters."""
    device, pci = f"mlx5_{rail}", _address("nic", rail)
    base, port = f"{_IB}/{device}", f"{_IB}/{device}/ports/1"
    _function(answers, rail, "nic", {"class": "0x020000", "vendor": "0x15b3", "device": "0x1021"}, driver)
    answers |= {
        f"list {_PCI}/{pci}/infiniband": [device],
        f"list {_PCI}/{pci}/net": [f"rail{rail}"],
        f"read {base}/node_type": "1: CA",
        f"read {base}/board_id": "MT_0000000838",
        f"read {base}/hca_type": "MT4129",
        f"read {base}/fw_ver": "28.43.2566",
        f"link {base}/device": _path(pci),
        f"link {base}/device/driver": f"../../../../bus/pci/drivers/{driver}",
        f"list {base}/device/net": [f"rail{rail}"],
        f"list {base}/ports": ["1"],
        f"read {port}/state": "4: ACTIVE",
        f"read {port}/phys_state": "5: LinkUp",
        f"read {port}/rate": "400 Gb/sec (4X NDR)",
        f"read {port}/link_layer": layer,
        f"read /sys/class/infiniband_verbs/uverbs{rail}/ibdev": device,
        f"verbs.device {device}": {
            "ports": {"1": {"state": "ACTIVE", "phys_state": "LinkUp", "active_mtu": 4096, "gbps": 400.0}}
        },
        f"verbs.usable {device}": {"uid": 1000, "steps": dict.fromkeys(("open", "pd", "cq", "qp", "mr"))},
        f"gids {device}/1": {"length": 16, "entries": {"0": _gid("fe80::1", "IB", None)}},
    }
    zero = (
        "out_of_sequence", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "rp_cnp_ignored",
        "req_transport_retries_exceeded", "req_cqe_flush_error",
    )  # fmt: skip
    answers |= {f"read {port}/hw_counters/{name}": "0" for name in zero}
    notices = {"np_ecn_marked_roce_packets": "50000", "np_cnp_sent": "40000", "rp_cnp_handled": "30000"}
    answers |= {f"read {port}/hw_counters/{name}": value for name, value in notices.items()}
    answers[f"devlink.health {pci}"] = {
        "fw": {"state": "healthy", "errors": 0, "recoveries": 0, "can_recover": False},
        "fw_fatal": {"state": "healthy", "errors": 0, "recoveries": 0, "can_recover": True},
        "65535/tx": {"state": "healthy", "errors": 3, "recoveries": 3, "can_recover": True},
    }
    counters = {"port_rcv_packets": "90000000", "port_xmit_packets": "90000000", "port_rcv_data": "9000000000"}
    answers |= {f"read {port}/counters/{name}": value for name, value in (counters | {"link_downed": "0"}).items()}


def _gid(address: str, kind: str, interface: str | None) -> dict[str, str | None]:
    import ipaddress

    digits = f"{int(ipaddress.IPv6Address(address)):032x}"  # as sysfs writes it, IPv4-mapped ones too
    return {"gid": ":".join(digits[at : at + 4] for at in range(0, 32, 4)), "type": kind, "ndev": interface}


def add_way(answers: Answers, rail: int, name: str = "") -> None:
    """Give a rail its own table, with a default route, and the rule that leads there."""
    name, table = name or f"rail{rail}", 100 + rail
    subnet, gateway = f"192.0.2.{16 * rail}/28", f"192.0.2.{16 * rail + 1}"
    answers["route.routes inet"] += [
        {"table": 254, "type": "unicast", "protocol": 2, "to": subnet, "via": [[name, None]]},
        {"table": table, "type": "unicast", "protocol": 4, "to": subnet, "via": [[name, None]]},
        {"table": table, "type": "unicast", "protocol": 4, "to": "0.0.0.0/0", "via": [[name, gateway]]},
    ]
    answers["route.rules inet"].insert(1 + rail, _rule(1000 + rail, table, f"192.0.2.{16 * rail + 10}/32"))


def add_interface(answers: Answers, rail: int, *, first: int = 0, name: str = "", driver: str = "mlx5_core") -> None:
    """Add the rail's network interface, its QoS state and the GIDs made from its addresses, from index `first` on."""
    name = name or f"rail{rail}"
    base, address = f"{_NET}/{name}", f"192.0.2.{16 * rail + 10}"
    gids = [(g, kind) for g in (f"fe80::{rail + 1}", f"::ffff:{address}") for kind in ("IB/RoCE v1", "RoCE v2")]
    table = {str(first + i): _gid(gid, kind, name) for i, (gid, kind) in enumerate(gids)}
    answers["addresses"][name] = [f"{address}/28", f"fe80::{rail + 1}/64"]
    answers |= {
        f"gids mlx5_{rail}/1": {"length": 255, "entries": table},
        f"read {base}/mtu": "9000",
        f"read {base}/speed": "400000",
        f"read {base}/flags": "0x1003",
        f"read {base}/carrier_up_count": "1",
        f"read {base}/carrier_changes": "1",
        f"read {base}/phys_port_name": "p0",
        f"read {base}/dev_port": "0",
        f"read {base}/ifindex": str(rail + 3),
        f"list {base}": ["carrier", "device", "mtu", "speed"],
        f"ethtool.driver {name}": {"driver": driver, "version": "", "firmware": ""},
        f"ethtool.modes {name}": {
            "speed_mbps": 400000, "lanes": 4, "supported": list(_MODES), "advertised": list(_MODES), "peer": [],
            "autoneg": True,
        },
        f"ethtool.state {name}": {"link": True, "ext_state": None, "ext_substate": None, "down_count": 0},
        f"ethtool.fec {name}": {"configured": ["RS"], "auto": False, "active": "RS", "stats": dict(_FEC)},
        f"ethtool.module {name}": module(),
        f"ethtool.pause {name}": {"autoneg": False, "rx": False, "tx": False, "stats": {}},
        f"ethtool.stats {name}": dict(_STATS),
        f"dcb {name}": {
            "pfc": {"cap": 8, "enabled": 1 << 3, "mbc": False, "delay": 7, "requests": [0] * 8, "indications": [0] * 8},
            "ets": {
                "willing": 0, "cap": 8, "cbs": 0, "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0], "tc_rx_bw": [0] * 8,
                "tc_tsa": [2, 0, 0, 2, 0, 0, 0, 0], "prio_tc": [0, 0, 0, 3, 0, 0, 6, 0],
            },
            "app": [[5, dscp >> 3, dscp] for dscp in range(64)],
            "maxrate_kbps": [0] * 8,
            "buffer": {
                "prio2buffer": [0, 0, 0, 1, 0, 0, 0, 0], "size": [130944, 200064, 0, 0, 0, 0, 0, 0], "total": 331008,
            },
            "dcbx": 9,
        },
        f"ethtool.pfc-storm {name}": 100,
    }  # fmt: skip
    answers |= {f"read {base}/ecn/roce_{half}/enable/{p}": "1" for half in ("np", "rp") for p in range(8)}
    answers |= {f"read {base}/ecn/roce_np/cnp_dscp": "48", f"read {base}/ecn/roce_np/cnp_802p_prio": "6"}


def two_rails_roce(rails: int = 2) -> Recording:
    answers = _roce(rails) | {"tool lldpcli": tools.lldpcli({f"rail{rail}": 1 << 3 for rail in range(rails)})}
    for rail in range(rails):
        answers |= tools.adapter(_address("nic", rail))
    return record(answers)


def _roce(rails: int = 2, first: int = 0) -> Answers:
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
    answers = _roce()
    for rail in range(2):
        answers[f"dcb rail{rail}"]["pfc"]["enabled"] = 0
        for name in ("rx_prio3_pause_duration", "tx_prio3_pause_duration", "rx_prio3_pause", "tx_prio3_pause"):
            del answers[f"ethtool.stats rail{rail}"][name]
        answers[f"read {_IB}/mlx5_{rail}/ports/1/hw_counters/out_of_sequence"] = "900000"
    return record(answers, _GROWTH | {"out_of_sequence": 200})


def adaptive_routing() -> Recording:
    """Make a node of a fabric that sprays packets: a tenth of them arrives out of order, and none is missing."""
    answers = _roce()
    for rail in range(2):
        answers[f"read {_IB}/mlx5_{rail}/ports/1/hw_counters/out_of_sequence"] = "900000"
    return record(answers, _GROWTH | {"out_of_sequence": 400_000})


def efa() -> Recording:
    """Make a node with EFA: node type unspecified, no interface, transport of its own."""
    answers = node()
    for rail in range(2):
        add_gpu(answers, rail)
        add_rail(answers, rail, layer="Unspecified", driver="efa")
        base = f"{_IB}/mlx5_{rail}"
        answers[f"read {base}/node_type"] = "7: unspecified"
        answers[f"list {base}/device/net"] = []
        answers[f"list {_PCI}/{_address('nic', rail)}/net"] = []
        counters = {"retrans_timeout_events": "2", "rx_pkts": "90000000", "tx_pkts": "90000000", "retrans_pkts": "7000"}
        answers |= {f"read {base}/ports/1/hw_counters/{name}": value for name, value in counters.items()}
    return record(answers)


def virtual() -> Recording:
    """Make a virtual machine with functions passed through: no DCB, no pause, no speed, and no GPU."""
    answers = _roce()
    for rail in range(2):
        for kind in ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.state", "ethtool.fec", "ethtool.module"):
            del answers[f"{kind} rail{rail}"]
        answers[f"read {_NET}/rail{rail}/speed"] = "-1"
    answers[f"list {_PCI}"] = [_address("nic", 0), _address("nic", 1)]
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
    answers[f"list {_NET}/bond0"] = ["lower_port0", "lower_port1", "mtu"]
    for name in ("port0", "port1"):
        answers[f"list {_NET}/{name}"] = ["bonding_slave", "carrier", "device", "master", "mtu", "speed", "upper_bond0"]
    answers[f"list {_IB}/mlx5_0/device/net"] = answers[f"list {_PCI}/{_address('nic', 0)}/net"] = ["port0"]
    answers["ethtool.driver bond0"] = {"driver": "bonding"}
    for kind in ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.modes", "ethtool.fec", "ethtool.module"):
        del answers[f"{kind} bond0"]
    answers[f"read {_NET}/bond0/speed"] = "800000"
    add_way(answers, 0, "bond0")
    answers |= {
        f"read {_NET}/bond0/bonding/mode": "802.3ad 4",
        f"read {_NET}/bond0/bonding/slaves": "port0 port1",
        f"read {_NET}/bond0/bonding/ad_aggregator": "1",
        f"read {_NET}/bond0/bonding/ad_partner_mac": "02:00:00:00:00:01",
        "devlink.health 0000:03:00.1": dict(answers["devlink.health 0000:03:00.0"]),
    }
    for number, name in enumerate(("port0", "port1")):
        slave = f"{_NET}/{name}/bonding_slave"
        answers |= {
            f"read {_NET}/{name}/operstate": "up",
            f"read {slave}/mii_status": "up",
            f"read {slave}/ad_actor_oper_port_state": "61",
            f"read {slave}/ad_aggregator_id": "1",
            f"link {_NET}/{name}/device": f"../../../0000:03:00.{number}",
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
        answers |= {f"read {_CONF}/{name}/{setting}": value for setting, value in settings.items()}
    answers |= {f"read {_CONF}/all/{s}": "0" for s in ("arp_ignore", "arp_announce", "arp_filter", "rp_filter")}
    return record(answers)


def idle() -> Recording:
    """Make a node on which nothing moved between the samples."""
    return record(_roce(), {"none": 0})


def ionic() -> Recording:
    """Make a node whose adapters' QoS only their vendor's tool tells."""
    answers = _roce()
    del answers["environ"]["NCCL_IB_TC"]
    for rail in range(2):
        device, name = f"mlx5_{rail}", f"rail{rail}"
        answers[f"link {_IB}/{device}/device/driver"] = "../../../../bus/pci/drivers/ionic"
        answers[f"link {_PCI}/{_address('nic', rail)}/driver"] = "../../../../bus/pci/drivers/ionic"
        answers[f"ethtool.driver {name}"]["driver"] = "ionic"
        del answers[f"dcb {name}"]
    return record(answers | tools.nicctl({_address("nic", rail): f"mlx5_{rail}" for rail in range(2)}))


def pod() -> Recording:
    """Make a pod that sees only its own GIDs, from index 4 on, and none of the host's interfaces."""
    return record(_roce(first=4))


def spare_port() -> Recording:
    """Make a node whose third port was never cabled, given an address, or set up in any other way."""
    answers = _roce(3)
    port = f"{_IB}/mlx5_2/ports/1"
    answers["addresses"]["rail2"] = []
    answers["gids mlx5_2/1"] = {"length": 255, "entries": {"0": _gid("fe80::3", "RoCE v2", "rail2")}}
    answers |= {f"read {port}/state": "1: DOWN", f"read {port}/phys_state": "3: Disabled"}
    answers |= {f"read {port}/counters/{name}": "0" for name in ("port_rcv_data", "port_rcv_packets")}
    answers[f"read {port}/counters/link_downed"] = "2"  # rxe counts what comes down, whether it was up or not
    answers |= {f"read {_NET}/rail2/carrier_up_count": "0", f"read {_NET}/rail2/speed": "-1"}
    answers["dcb rail2"] |= {"app": [], "pfc": answers["dcb rail2"]["pfc"] | {"enabled": 0}}
    answers[f"read {_NET}/rail2/mtu"] = "1500"
    answers["ethtool.pause rail2"] |= {"rx": True, "tx": True}
    gpu = _address("gpu", 2)
    answers[f"list {_PCI}"] = [name for name in answers[f"list {_PCI}"] if name != gpu]
    return record(answers, {"none": 0})


def grace() -> Recording:
    """Make a node whose GPUs and adapters sit under root ports of their own, with four-digit domains."""
    answers = _roce()
    for rail in range(2):
        for kind, domain in (("gpu", f"{8 * rail + 9:04x}"), ("nic", f"{8 * rail:04x}")):
            address = _address(kind, rail)
            path = f"../../../devices/pci{domain}:00/{domain}:00:00.0/{address}"
            answers[f"link {_PCI}/{address}"] = path
            if kind == "nic":
                answers[f"link {_IB}/mlx5_{rail}/device"] = path
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
