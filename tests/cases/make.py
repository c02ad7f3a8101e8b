"""Make the recordings of reported cases: `python tests/cases/make.py` writes them, one file a case.

Each is a constructed node, changed to what was reported. Every answer says where it comes from: "reported" is a value
that somebody posted (addresses neutral), "constructed" is what such a node would answer. The file's origin has the
source.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from nodes import blocks, make

from fabricdoctor import recording

HERE = Path(__file__).parent
IB = "/sys/class/infiniband"
PORT = f"{IB}/mlx5_0/ports/1"
Answers = dict[str, Any]
Edit = Callable[[Answers], None]


@dataclass(frozen=True, slots=True)
class Case:
    """`must` are the faults that count, as (check, severity, part of what was seen); nothing else may be one."""

    name: str
    source: str
    reported: Edit
    must: tuple[tuple[str, str, str], ...] = ()
    profile: str | None = None
    constructed: Edit = lambda answers: None
    base: Callable[[], Answers] = make.roce
    growth: tuple[tuple[str, int], ...] = ()
    #: what the site wants otherwise than the profile
    expect: tuple[tuple[str, Any], ...] = ()

    @property
    def file(self) -> Path:
        return HERE / f"{self.name}.json"

    def recording(self) -> recording.Recording:
        """Return the case's recording, each answer with its origin."""
        answers = self.base()
        self.constructed(answers)
        before = copy.deepcopy(answers)
        self.reported(answers)
        told = {name for name in answers.keys() | before.keys() if answers.get(name) != before.get(name)}
        made = blocks.record(answers, dict(self.growth) or None)
        tagged = {
            name: dict(answer) | {"origin": "reported" if name in told else "constructed"}
            for name, answer in made.answers.items()
        }
        return replace(made, answers=tagged, origin=f"{self.source}; the rest of the node is constructed")


def gid(address: str, kind: str, interface: str = "rail0") -> dict[str, Any]:
    return blocks.gid_entry(address, kind, interface)


def gids(first: int, *entries: tuple[str, str]) -> Edit:
    """Return an edit that gives mlx5_0 these GIDs, from index `first` on."""

    def edit(answers: Answers) -> None:
        table = {str(first + at): gid(address, kind) for at, (address, kind) in enumerate(entries)}
        answers["gids mlx5_0/1"] = {"length": 255, "entries": table}

    return edit


def environ(**settings: str) -> Edit:
    return lambda answers: answers["environ"].update(settings)


def both(*edits: Edit) -> Edit:
    def edit(answers: Answers) -> None:
        for one in edits:
            one(answers)

    return edit


def answer(name: str, value: Any) -> Edit:
    return lambda answers: answers.__setitem__(name, value)


def gone(*names: str) -> Edit:
    def edit(answers: Answers) -> None:
        for name in names:
            answers.pop(name, None)

    return edit


def mtu(rail: int, interface: str, rdma: int) -> Edit:
    def edit(answers: Answers) -> None:
        answers[f"read /sys/class/net/rail{rail}/mtu"] = interface
        answers[f"verbs.device mlx5_{rail}"]["ports"]["1"]["active_mtu"] = rdma

    return edit


def counters(values: dict[str, str], device: str = "mlx5_0", folder: str = "hw_counters") -> Edit:
    return lambda answers: answers.update({
        f"read {IB}/{device}/ports/1/{folder}/{name}": value for name, value in values.items()
    })  # fmt: skip


def statistics(**values: int) -> Edit:
    return lambda answers: answers["ethtool.stats rail0"].update(values)


def global_pause(duration: int) -> Edit:
    """Return an edit that puts 802.3x pause on; 132 million pause frames are what was reported."""

    def edit(answers: Answers) -> None:
        for rail in (0, 1):
            answers[f"ethtool.pause rail{rail}"] |= {"rx": True, "tx": True}
            frames = {"rx_global_pause": 132_000_000, "tx_global_pause": 0}
            answers[f"ethtool.stats rail{rail}"] |= frames | {"rx_global_pause_duration": duration}

    return edit


def pfc(mask: int, *rails: int) -> Edit:
    def edit(answers: Answers) -> None:
        for rail in rails or (0, 1):
            answers[f"dcb rail{rail}"]["pfc"]["enabled"] = mask

    return edit


def dscp_59_on_5(answers: Answers) -> None:
    """Give DSCP 59 a priority and a class and buffer of its own, as priority 3 has them in the constructed node."""
    for rail in (0, 1):
        dcb = answers[f"dcb rail{rail}"]
        dcb["app"] = [[5, 5 if dscp == 59 else 0, dscp] for dscp in range(64)]
        dcb["ets"] |= {"prio_tc": [0, 0, 0, 0, 0, 5, 6, 0], "tc_tx_bw": [50, 0, 0, 0, 0, 50, 0, 0]}
        dcb["ets"]["tc_tsa"] = [2, 0, 0, 0, 0, 2, 0, 0]
        dcb["buffer"]["prio2buffer"] = [0, 0, 0, 0, 0, 1, 0, 0]
        stats = answers[f"ethtool.stats rail{rail}"]
        stats |= {name.replace("prio3", "prio5"): value for name, value in stats.items() if "prio3" in name}


def _is_ecn_switch(name: str) -> bool:
    return "/ecn/roce_" in name and "/enable/" in name


def rate(rail: int, gbps: int, text: str) -> Edit:
    def edit(answers: Answers) -> None:
        answers[f"read {IB}/mlx5_{rail}/ports/1/rate"] = text
        answers[f"read /sys/class/net/rail{rail}/speed"] = str(gbps * 1000)
        answers[f"ethtool.modes rail{rail}"]["speed_mbps"] = gbps * 1000
        answers[f"verbs.device mlx5_{rail}"]["ports"]["1"]["gbps"] = float(gbps)

    return edit


def slower_card(fastest: str) -> Edit:
    """Return an edit after which the adapters support nothing faster than this link mode."""

    def edit(answers: Answers) -> None:
        for rail in (0, 1):
            answers[f"ethtool.modes rail{rail}"]["supported"] = [fastest]

    return edit


def down(device: str, phys: str) -> Edit:
    base = f"{IB}/{device}/ports/1"
    return both(answer(f"read {base}/state", "1: DOWN"), answer(f"read {base}/phys_state", phys))


LINK_LOCAL = "fe80::200:ff:fe00:1"
MLX5 = (
    (LINK_LOCAL, "IB/RoCE v1"),
    (LINK_LOCAL, "RoCE v2"),
    ("::ffff:192.0.2.10", "IB/RoCE v1"),
    ("::ffff:192.0.2.10", "RoCE v2"),
)
PACKETS = (("port_rcv_packets", 4_000_000), ("port_xmit_packets", 4_000_000))
GITHUB = "https://github.com"
NOT_ROUTABLE = "gid-nccl-would-pick-is-not-routable"


def nine_infiniband_ports() -> Answers:
    answers = blocks.node(9)
    for rail in range(9):
        blocks.add_rail(answers, rail % 9, layer="InfiniBand")
    for rail in range(8):
        blocks.add_gpu(answers, rail)
    answers[f"list {blocks.PCI}"] = sorted(
        [blocks.pci_address("nic", rail) for rail in range(9)] + [blocks.pci_address("gpu", rail) for rail in range(8)]
    )
    return answers


def software_beside_hardware(answers: Answers) -> None:
    answers[f"list {IB}"].append("rxe0")
    base = f"{IB}/rxe0"
    answers |= {
        f"read {base}/node_type": "1: CA", f"read {base}/parent": "eth0", f"list {base}/ports": ["1"],
        f"read {base}/ports/1/state": "1: DOWN", f"read {base}/ports/1/phys_state": "3: Disabled",
        f"read {base}/ports/1/rate": "2.5 Gb/sec (1X SDR)", f"read {base}/ports/1/link_layer": "Ethernet",
    }  # fmt: skip


def irdma_beside_mlx5(answers: Answers) -> None:
    """Add an iWARP device that has neither board_id, hca_type nor counters."""
    answers[f"list {IB}"].insert(0, "irdma0")
    base = f"{IB}/irdma0"
    answers |= {
        f"read {base}/node_type": "4: RNIC", f"link {base}/device": "../../../0000:d8:00.0", f"list {base}/ports": ["1"],
        f"link {base}/device/driver": "../../bus/pci/drivers/ice", f"read {base}/ports/1/state": "4: ACTIVE",
        f"read {base}/ports/1/phys_state": "5: LinkUp", f"read {base}/ports/1/link_layer": "Ethernet",
        f"read {base}/ports/1/rate": "100 Gb/sec (4X EDR)",
    }  # fmt: skip


CASES = (
    Case(
        "C01-default-gid-index", f"{GITHUB}/NVIDIA/nccl/issues/426", both(gids(0, *MLX5), environ(NCCL_IB_GID_INDEX="0")),
        ((NOT_ROUTABLE, "critical", "fe80"),), "roce-lossless",
    ),
    Case("C01-unset-is-fine", f"{GITHUB}/NVIDIA/nccl/issues/426", gids(0, *MLX5), (), "roce-lossless"),
    Case(
        "C02-link-local-although-v2", f"{GITHUB}/NVIDIA/nccl/issues/769",
        both(gids(0, *MLX5), environ(NCCL_IB_GID_INDEX="1")), ((NOT_ROUTABLE, "critical", "fe80"),), "roce-lossless",
    ),
    Case("C04-pod-sees-its-own-gids", f"{GITHUB}/NVIDIA/nccl/issues/1573", gids(4, *MLX5), (), "roce-lossless"),
    Case(
        "C04-pod-with-the-hosts-index", f"{GITHUB}/NVIDIA/nccl/issues/1573",
        both(gids(4, *MLX5), environ(NCCL_IB_GID_INDEX="3")), ((NOT_ROUTABLE, "critical", "3"),), "roce-lossless",
    ),
    Case(
        "C05-one-mtu-differs", f"{GITHUB}/NVIDIA/nccl/issues/1524", mtu(0, "1500", 1024),
        (("mtu-below-expected", "critical", "1024"),), "roce-lossless",
    ),
    Case(
        "C06-mtu-1500-at-400g", f"{GITHUB}/NVIDIA/nccl/issues/1957", both(mtu(0, "1500", 1024), mtu(1, "1500", 1024)),
        (("mtu-below-expected", "warning", "1024"),),
    ),
    Case(
        "C07-one-dscp-is-lossless", f"{GITHUB}/NVIDIA/nccl/issues/2383",
        both(
            *(answer(f"read {IB}/mlx5_{rail}/tc/1/traffic_class", "Global tclass=236") for rail in (0, 1)), pfc(1 << 5),
            lambda answers: answers["environ"].pop("NCCL_IB_TC"), environ(NCCL_DEBUG="INFO"), dscp_59_on_5,
        ),
        (("traffic-class-unset", "warning", "the kernel's traffic class reaches not all queue pairs"),),
        expect=(("lossless_priorities", frozenset({5})), ("dscp", 59), ("trust", "dscp")),
    ),
    Case(
        "C08-everything-on-priority-0", f"{GITHUB}/bytedance/byteps/issues/179",
        both(pfc(0), counters({
            "local_ack_timeout_err": "2705", "duplicate_request": "0", "np_cnp_sent": "1333",
            "np_ecn_marked_roce_packets": "0",
        })),
        (("qos-chain-broken", "critical", "PFC"),), "roce-lossless",
        constructed=counters({"local_ack_timeout_err": "800"}, "mlx5_1"),
        growth=(*PACKETS, ("local_ack_timeout_err", 40)),
    ),
    Case(
        "C10-lifetime-totals-are-no-loss", f"{GITHUB}/NVIDIA/nccl/issues/394",
        counters({"local_ack_timeout_err": "91316", "out_of_sequence": "6140236", "packet_seq_err": "929974"}),
        (), "roce-lossless",
    ),
    Case(
        "C10-loss-that-grows", f"{GITHUB}/NVIDIA/nccl/issues/394",
        counters({"local_ack_timeout_err": "91316", "out_of_sequence": "6140236", "packet_seq_err": "929974"}),
        (("packet-loss-growing", "warning", "40000 packets missing on the way here"),), "roce-lossless",
        growth=(*PACKETS, ("out_of_sequence", 40_000), ("np_ecn_marked_roce_packets", 9_000), ("np_cnp_sent", 9_000)),
        constructed=counters({"out_of_sequence": "50000"}, "mlx5_1"),
    ),
    Case(
        "C11-memlock-8-mib", f"{GITHUB}/NVIDIA/nccl-tests/issues/206", answer("limits", {"memlock": 8192 * 1024}),
        (("memlock-limited", "critical", "8"),), "roce-lossless",
    ),
    Case(
        "C16-no-device-node-in-the-container", f"{GITHUB}/NVIDIA/nccl/issues/451", answer("list /dev/infiniband", []),
        (("no-userspace-provider", "critical", ""),), "roce-lossless",
    ),
    Case(
        "C18-kernel-abi", f"{GITHUB}/sgl-project/sglang/issues/16242",
        answer("verbs.devices", {"library": None, "devices": ["mlx5_1"], "warnings": [
            "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) "
            f"for device {IB}/mlx5_0"]}),
        (("no-userspace-provider", "critical", "ABI"),), "roce-lossless",
    ),
    Case(
        "C19-ipv6-only", f"{GITHUB}/uccl-project/uccl/pull/803",
        gids(0, (LINK_LOCAL, "RoCE v2"), ("fd93:16d3:59b6::1", "RoCE v2")),
        ((NOT_ROUTABLE, "critical", "fe80"),), "roce-lossless",
    ),
    Case(
        "C22-port-down-with-a-nominal-rate", f"{GITHUB}/NVIDIA/nccl/issues/622",
        down("mlx5_0", "3: Disabled"),
        (("port-not-active", "critical", "Disabled"),), "roce-lossless",
    ),
    Case(
        "C24-lid-0-is-normal-on-ethernet", f"{GITHUB}/microsoft/mscclpp/issues/431",
        both(answer(f"read {PORT}/lid", "0x0"), answer(f"read {PORT}/sm_lid", "0x0")), (), "roce-lossless",
    ),
    Case(
        "C28-a-ninth-infiniband-port", f"{GITHUB}/dsx-ai-factory/infra-controller/issues/3624",
        both(down("mlx5_8", "2: Polling"), counters({"port_rcv_data": "0", "link_downed": "0"}, "mlx5_8", "counters")),
        (), "infiniband", base=nine_infiniband_ports,
    ),
    Case("C29-ethernet-ports-only", f"{GITHUB}/leptonai/gpud/pull/295", lambda answers: None),
    Case(
        "C55-loss-without-pause-or-marks", f"{GITHUB}/sonic-net/sonic-buildimage/issues/27606",
        counters({"out_of_sequence": "90000", "packet_seq_err": "90000"}),
        (("loss-without-pause-or-marks", "warning", "4000 packets missing on the way here"),), "roce-lossless",
        growth=(*PACKETS, ("out_of_sequence", 4_000)), constructed=counters({"out_of_sequence": "50000"}, "mlx5_1"),
    ),
    Case(
        "C56-paused-by-802.3x", f"{GITHUB}/NVIDIA/daqiri/issues/250",
        both(pfc(0), global_pause(duration=528_000_000)),
        (("pause-time-high", "warning", "802.3x pause received 22% of the time"),),
        growth=(*PACKETS, ("rx_global_pause_duration", 13_020_000), ("rx_global_pause", 3_000_000)),
    ),
    Case(
        "C56-lifetime-pauses-are-no-throttle", f"{GITHUB}/NVIDIA/daqiri/issues/250",
        both(pfc(0), global_pause(duration=528_000_000)), (), growth=PACKETS,
    ),
    Case(
        "C75-hdr-card-on-a-100g-cable", f"{GITHUB}/NVIDIA/nccl/issues/307",
        both(rate(0, 100, "100 Gb/sec (2X HDR)"), rate(1, 100, "100 Gb/sec (2X HDR)")),
        (("port-below-rate", "warning", "100"),),
    ),
    Case(
        "C90-neither-lossless-nor-lossy", f"{GITHUB}/openucx/ucx/issues/6000",
        both(pfc(0), lambda answers: answers.update(dict.fromkeys(filter(_is_ecn_switch, answers), "0"))),
        (("neither-lossless-nor-lossy-mode", "warning", "neither PFC"),),
    ),
    Case(
        "X01-no-pma", f"{GITHUB}/prometheus/node_exporter/issues/966",
        counters(dict.fromkeys(("port_rcv_data", "port_rcv_packets", "link_downed"), "N/A (no PMA)"), folder="counters"),
        (), "roce-lossless", growth=(("none", 0),),
    ),
    Case("X03-irdma-without-files", f"{GITHUB}/prometheus/node_exporter/issues/2846", irdma_beside_mlx5, (), "roce-lossless"),
    Case(
        "X05-speed-minus-1", f"{GITHUB}/prometheus/node_exporter/issues/1967",
        answer("read /sys/class/net/rail0/speed", "-1"), (), "roce-lossless",
    ),
    Case(
        "X09-25-gb-ethernet-is-healthy",
        f"{GITHUB}/torvalds/linux/blob/0147ebcf8927f09e1923114092f6b14c1de75a95/drivers/infiniband/core/sysfs.c",
        both(rate(0, 25, "25 Gb/sec (1X EDR)"), rate(1, 25, "25 Gb/sec (1X EDR)")), (), "roce-lossless",
        constructed=slower_card("25000baseCR/Full"),
    ),
    Case(
        "X09-sdr-is-an-unknown-speed",
        f"{GITHUB}/torvalds/linux/blob/0147ebcf8927f09e1923114092f6b14c1de75a95/drivers/infiniband/core/sysfs.c",
        answer(f"read {PORT}/rate", "10 Gb/sec (4X SDR)"), (), "roce-lossless",
    ),
    Case("X11-software-device-beside-hardware", f"{GITHUB}/openucx/ucx/issues/5045", software_beside_hardware, (), "roce-lossless"),
)  # fmt: skip


if __name__ == "__main__":
    from cases import reports

    for case in (*CASES, *reports.CASES):
        recording.write(case.file, case.recording().text())
