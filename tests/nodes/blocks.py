"""The parts that small nodes are made of: an adapter, its interface, a GPU, and the recording of the whole."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from nodes.optics import module

from fabricdoctor.facts import observe
from fabricdoctor.host import Question, Recorder, name_of
from fabricdoctor.recording import Recording, Take
from fabricdoctor.unknown import Unknown

Answers = dict[str, Any]
SECONDS = 60.0
_UPTIME_S = 864000.0
IB, PCI, NET = "/sys/class/infiniband", "/sys/bus/pci/devices", "/sys/class/net"
CONF = "/proc/sys/net/ipv4/conf"
_MODES = ["100000baseSR4/Full", "200000baseSR4/Full", "400000baseSR4/Full"]
#: Counters that grow between the samples; all others stand still.
GROWTH = {
    "port_rcv_packets": 4_000_000, "port_xmit_packets": 4_000_000, "rx_pkts": 4_000_000, "tx_pkts": 4_000_000,
    "np_ecn_marked_roce_packets": 5_000, "np_cnp_sent": 4_000, "rp_cnp_handled": 3_000,
}  # fmt: skip
STATS = {
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
    earlier = {name: {"value": _before(name, value, growth or GROWTH)} for name, value in answers.items()}
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
    pci = [pci_address("nic", i) for i in range(rails)] + [pci_address("gpu", i) for i in range(rails)]
    return {
        "read /proc/sys/kernel/hostname": "node01",
        "read /proc/uptime": f"{_UPTIME_S:.2f} 6000000.00",
        "read /proc/self/status": "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000",
        "environ": {"HOME": "/home/user", "NCCL_IB_TC": "106"},
        "euid": 1000,
        "limits": {"memlock": None},
        "addresses": {"lo": ["127.0.0.1/8"], "eth0": ["198.51.100.7/24"]},
        f"list {IB}": names,
        "list /sys/class/infiniband_verbs": ["abi_version", *(f"uverbs{i}" for i in range(rails))],
        "list /dev/infiniband": ["rdma_cm", *(f"uverbs{i}" for i in range(rails))],
        "verbs.devices": {"library": "libibverbs.so.1", "devices": list(names), "warnings": []},
        f"list {PCI}": sorted(pci),
        "route.routes inet": [
            {"table": 254, "type": "unicast", "protocol": 2, "to": "198.51.100.0/24", "via": [["eth0", None]]},
            {"table": 254, "type": "unicast", "protocol": 4, "to": "0.0.0.0/0", "via": [["eth0", "198.51.100.1"]]},
        ],
        "route.rules inet": [rule(priority, table) for priority, table in ((0, 255), (32766, 254), (32767, 253))],
        "route.silent inet": [{"interface": "eth0", "address": "198.51.100.99", "state": "failed", "seconds": 9.0}],
        "kmsg": [
            {"seconds": 9.0, "kind": "set-up", "device": pci_address("nic", 0), "text": "firmware version: 28.39.1002"},
            {"seconds": 12.0, "kind": "link-up", "device": "rail0", "text": "Link up"},
        ],
    }


def rule(priority: int, table: int, source: str | None = None) -> dict[str, Any]:
    none = {"iif": None, "oif": None, "l3mdev": False, "some": False}
    return {"priority": priority, "from": source, "table": table, **none}


def pci_address(kind: str, rail: int) -> str:
    return f"0000:{0x20 * rail + (3 if kind == 'nic' else 4):02x}:00.0"


def _path(address: str) -> str:
    bridge = f"{int(address[5:7], 16) & 0xE0 | 1:02x}"
    return f"../../../devices/pci0000:{bridge}/0000:{bridge}:01.0/0000:{bridge}:02.{address[6]}/{address}"


def add_gpu(answers: Answers, rail: int) -> None:
    base = f"{PCI}/{pci_address('gpu', rail)}"
    pci_function(answers, rail, "gpu", {"class": "0x030200", "vendor": "0x10de", "device": "0x2330"}, "nvidia")
    answers[f"link {base}/driver"] = "../../../../bus/pci/drivers/nvidia"


def pci_function(answers: Answers, rail: int, kind: str, files: dict[str, str], driver: str) -> None:
    address = pci_address(kind, rail)
    base = f"{PCI}/{address}"
    ids = {"subsystem_vendor": files["vendor"], "subsystem_device": "0x0001"}
    answers |= {f"read {base}/{field}": value for field, value in (files | ids).items()}
    answers |= {f"link {base}": _path(address), f"link {base}/driver": f"../../../../bus/pci/drivers/{driver}"}


def add_rail(answers: Answers, rail: int, *, layer: str = "Ethernet", driver: str = "mlx5_core") -> None:
    """Add an adapter with one port: PCI, RDMA device, verbs, counters."""
    device, pci = f"mlx5_{rail}", pci_address("nic", rail)
    base, port = f"{IB}/{device}", f"{IB}/{device}/ports/1"
    pci_function(answers, rail, "nic", {"class": "0x020000", "vendor": "0x15b3", "device": "0x1021"}, driver)
    answers |= {
        f"list {PCI}/{pci}/infiniband": [device],
        f"list {PCI}/{pci}/net": [f"rail{rail}"],
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
        f"gids {device}/1": {"length": 16, "entries": {"0": gid_entry("fe80::1", "IB", None)}},
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


def gid_entry(address: str, kind: str, interface: str | None) -> dict[str, str | None]:

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
    answers["route.rules inet"].insert(1 + rail, rule(1000 + rail, table, f"192.0.2.{16 * rail + 10}/32"))


def add_interface(answers: Answers, rail: int, *, first: int = 0, name: str = "", driver: str = "mlx5_core") -> None:
    """Add the rail's network interface, its QoS state and the GIDs made from its addresses, from index `first` on."""
    name = name or f"rail{rail}"
    base, address = f"{NET}/{name}", f"192.0.2.{16 * rail + 10}"
    gids = [(g, kind) for g in (f"fe80::{rail + 1}", f"::ffff:{address}") for kind in ("IB/RoCE v1", "RoCE v2")]
    table = {str(first + i): gid_entry(gid, kind, name) for i, (gid, kind) in enumerate(gids)}
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
        f"ethtool.stats {name}": dict(STATS),
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
