"""More reported cases: what nodes look like in reports of others than those of make.py, with its helpers."""

from __future__ import annotations

from typing import Any

from cases.make import GITHUB, IB, NOT_ROUTABLE, Answers, Case, Edit, answer, both, down, environ, gid
from nodes import blocks, make

NET, PCI = "/sys/class/net", "/sys/bus/pci/devices"
V1, V2 = "IB/RoCE v1", "RoCE v2"
LOCAL = ("fe80::200:ff:fe00:1", "fe80::200:ff:fe00:2")
IPV4 = ("::ffff:192.0.2.10", "::ffff:192.0.2.26")
NO_V2 = "no-routable-roce-v2-gid"
ROCE = "roce-lossless"
SPARK = f"{GITHUB}/tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark/pull/40"
DAY_S = 86400.0


def table(rail: int, **entries: tuple[str, str]) -> Edit:
    """Return an edit that gives a rail these GIDs; `at4` is that at index 4."""
    made = {at.removeprefix("at"): gid(address, kind, f"rail{rail}") for at, (address, kind) in entries.items()}
    return answer(f"gids mlx5_{rail}/1", {"length": 255, "entries": made})


def said(kind: str, text: str, device: str, *seconds_ago: float) -> Edit:
    lines = [{"seconds": 10 * DAY_S - ago, "kind": kind, "device": device, "text": text} for ago in seconds_ago]
    return lambda answers: answers["kmsg"].extend(lines)


def without_way(answers: Answers, rail: int) -> None:
    """Take away the routes and the rule of a rail."""
    routes, rules = answers["route.routes inet"], answers["route.rules inet"]
    answers["route.routes inet"] = [route for route in routes if route["via"][0][0] != f"rail{rail}"]
    answers["route.rules inet"] = [rule for rule in rules if rule["table"] != 100 + rail]


def moved(answers: Answers, rail: int, address: str, kind: str = "nic") -> None:
    """Put an adapter or GPU in another place, behind a bridge of its own."""
    old = blocks.pci_address(kind, rail)
    for name in [name for name in answers if old in name]:
        answers[name.replace(old, address)] = answers.pop(name)
    path = f"../../../devices/pci{address[:7]}/{address[:7]}:01.0/{address}"
    answers[f"link {PCI}/{address}"] = path
    if kind == "nic":
        answers[f"link {IB}/mlx5_{rail}/device"] = path
    answers[f"list {PCI}"] = sorted(address if name == old else name for name in answers[f"list {PCI}"])


def unused(rail: int) -> Edit:
    """Return an edit after which a port never had a link, nor an address."""

    def edit(answers: Answers) -> None:
        down(f"mlx5_{rail}", "3: Disabled")(answers)
        without_way(answers, rail)
        base, name = f"{IB}/mlx5_{rail}/ports/1/counters", f"rail{rail}"
        answers["addresses"][name] = []
        answers |= {f"read {base}/{c}": "0" for c in ("port_rcv_data", "port_rcv_packets", "port_xmit_packets")}
        answers |= {f"read {NET}/{name}/carrier_{c}": "0" for c in ("up_count", "changes")}
        answers |= {f"read {NET}/{name}/speed": "-1", f"gids mlx5_{rail}/1": {"length": 255, "entries": {}}}
        answers[f"ethtool.state {name}"] |= {"link": False}
        answers[f"ethtool.modes {name}"] |= {"speed_mbps": None}

    return edit


def front_end() -> Answers:
    """Two rails, and a card of the same board with two ports for the front end."""
    answers = make.roce(4)
    for rail in (2, 3):
        moved(answers, rail, f"0000:f0:00.{rail - 2}")
        answers[f"list {PCI}"].remove(blocks.pci_address("gpu", rail))
    return answers


def one_adapter_twice() -> Answers:
    """One adapter of two ports, at two places of the PCI bus, and one GPU that is near to neither."""
    answers = make.roce(4)
    for rail, address in enumerate(("0000:01:00.0", "0002:01:00.0", "0000:01:00.1", "0002:01:00.1")):
        moved(answers, rail, address)
        if rail:
            answers[f"list {PCI}"].remove(blocks.pci_address("gpu", rail))
    moved(answers, 0, "000f:01:00.0", "gpu")
    return answers


def infiniband(rails: int = 2) -> Answers:
    answers = blocks.node(rails)
    for rail in range(rails):
        blocks.add_gpu(answers, rail)
        blocks.add_rail(answers, rail, layer="InfiniBand")
    return answers


def efa() -> Answers:
    answers = infiniband()
    for rail in range(2):
        base, pci = f"{IB}/mlx5_{rail}", f"{PCI}/{blocks.pci_address('nic', rail)}"
        answers |= {f"read {base}/ports/1/link_layer": "Unspecified", f"read {base}/node_type": "7: unspecified"}
        answers |= {f"list {base}/device/net": [], f"list {pci}/net": []}
        answers |= dict.fromkeys((f"link {base}/device/driver", f"link {pci}/driver"), "../bus/pci/drivers/efa")
    return answers


def bond() -> Answers:
    return {name: given["value"] for name, given in make.bond().answers.items() if "value" in given}


def in_one_subnet(answers: Answers) -> None:
    """Put both rails in one subnet, with the kernel's own settings for ARP."""
    for rail in range(2):
        without_way(answers, rail)
        answers["addresses"][f"rail{rail}"] = [f"192.0.2.{72 + rail}/24", f"fe80::{rail + 1}/64"]
        way = {"table": 254, "type": "unicast", "protocol": 2, "to": "192.0.2.0/24", "via": [[f"rail{rail}", None]]}
        answers["route.routes inet"].append(way)
    settings = ("arp_ignore", "arp_announce", "arp_filter", "rp_filter")
    answers |= {f"read {blocks.CONF}/{name}/{s}": "0" for name in ("all", "rail0", "rail1") for s in settings}


def no_interface_here(answers: Answers) -> None:
    """Take away the interfaces of all rails, which are in another network namespace, and so their GIDs."""
    for rail in range(2):
        without_way(answers, rail)
        name = f"rail{rail}"
        for question in [q for q in answers if f"{NET}/{name}" in q or q.endswith(f" {name}")]:
            del answers[question]
        del answers["addresses"][name]
        answers |= {f"list {IB}/mlx5_{rail}/device/net": [], f"list {PCI}/{blocks.pci_address('nic', rail)}/net": []}
        answers[f"gids mlx5_{rail}/1"] = {"length": 255, "entries": {}}


def given_one_of_four(answers: Answers) -> None:
    answers |= {"list /dev/infiniband": ["rdma_cm", "uverbs1"]}
    answers["verbs.devices"] = {"library": "libibverbs.so.1", "devices": ["mlx5_1"], "warnings": []}
    for rail in (0, 2, 3):
        del answers[f"verbs.device mlx5_{rail}"], answers[f"verbs.usable mlx5_{rail}"]


def self_given(*rails: int) -> Edit:
    """Return an edit after which these rails have the IPv4 addresses that they gave themselves."""

    def edit(answers: Answers) -> None:
        for rail in rails:
            without_way(answers, rail)
            answers["addresses"][f"rail{rail}"] = [f"169.254.28.{198 + rail}/16", f"fe80::{rail + 1}/64"]
            own = f"::ffff:169.254.28.{198 + rail}"
            table(rail, at0=(LOCAL[0], V1), at1=(LOCAL[0], V2), at2=(own, V1), at3=(own, V2))(answers)

    return edit


def bond_without_partner(answers: Answers) -> None:
    """The members have their links, and the bond has none of them."""
    down("mlx5_0", "3: Disabled")(answers)
    answers |= {f"read {NET}/bond0/speed": "-1"}
    answers["ethtool.state bond0"] = {"link": False, "ext_state": None, "ext_substate": None, "down_count": None}
    for name in ("port0", "port1"):
        slave = f"read {NET}/{name}/bonding_slave"
        answers |= {f"{slave}/ad_actor_oper_port_state": "77", f"{slave}/mii_status": "down"}


def dead_adapter(answers: Answers) -> None:
    """Add a third adapter, of which its driver took away all that it had made of it."""
    blocks.add_gpu(answers, 2)
    address = blocks.pci_address("nic", 2)
    blocks.pci_function(answers, 2, "nic", {"class": "0x020000", "vendor": "0x15b3", "device": "0x1021"}, "mlx5_core")
    answers |= {f"list {PCI}/{address}": ["class", "driver", "resource", "vendor"]}
    answers |= {f"list {PCI}/{address}/{folder}": [] for folder in ("infiniband", "net")}
    for rail in (0, 1):
        parts = [f"mlx5_core.eth.{rail}", f"mlx5_core.rdma.{rail}"]
        answers[f"list {PCI}/{blocks.pci_address('nic', rail)}"] = [
            "class",
            "driver",
            "infiniband",
            *parts,
            "net",
            "vendor",
        ]
    answers[f"list {PCI}"] = sorted([*answers[f"list {PCI}"], address, blocks.pci_address("gpu", 2)])


def answering_marks_on(*priorities: int) -> Edit:
    files = {f"read {NET}/rail{rail}/ecn/roce_np/enable": rail for rail in (0, 1)}
    return lambda answers: answers.update({f"{f}/{p}": str(int(p in priorities)) for f in files for p in range(8)})


def same(_: dict[str, Any]) -> None:
    """Report nothing of the node that is not in the constructed one."""


CASES = (
    Case(
        "R01-second-port-of-the-front-end", f"{GITHUB}/NVIDIA/NVSentinel/issues/1361", unused(3), (), ROCE,
        base=front_end,
    ),
    Case(
        "R02-half-the-ports-are-spare", f"{GITHUB}/geerlingguy/sbc-reviews/issues/92", both(unused(2), unused(3)),
        base=one_adapter_twice,
    ),
    Case(
        "R03-insufficient-power-is-information", f"{GITHUB}/NVIDIA/dgx-spark-playbooks/pull/108",
        said("insufficient-power", "Detected insufficient power on the PCIe slot (27W)", "0000:03:00.0", 3600.0),
        (("kernel-log-nic-fault", "info", "(27W)"),), ROCE,
    ),
    Case(
        "R04-roce-v1-only", f"{GITHUB}/tensorflow/tensorflow/issues/22077",
        table(0, at0=(LOCAL[0], V1), at1=(IPV4[0], V1), at2=("::ffff:192.0.2.130", V1)),
        ((NO_V2, "critical", "index 1 (192.0.2.10, RoCE v1)"),), ROCE,
    ),
    Case(
        "R05-all-rails-in-one-subnet", f"{GITHUB}/NVIDIA/nccl/issues/1131", environ(NCCL_IB_GID_INDEX="3"),
        (("arp-flux-on-same-subnet-rails", "warning", "rail1 arp_ignore 0"),), ROCE, constructed=in_one_subnet,
        expect=(("nccl_version", "2.19.3"),),
    ),
    Case(
        "R06-index-moved-on-one-rail", SPARK,
        both(
            table(1, at0=(LOCAL[1], V1), at1=(LOCAL[1], V2), at2=(IPV4[1], V1), at4=(IPV4[1], V2)),
            environ(NCCL_IB_GID_INDEX="3"),
        ),
        ((NOT_ROUTABLE, "critical", "index 3, which is empty"),),
    ),
    Case("R07-index-set-to-nothing", SPARK, environ(NCCL_IB_GID_INDEX=""), (), ROCE),
    Case(
        "R08-pod-without-the-rails-interfaces", f"{GITHUB}/Mellanox/k8s-rdma-sriov-dev-plugin/issues/30",
        no_interface_here, ((NO_V2, "critical", "GIDs: none"),), ROCE,
    ),
    Case(
        "R09-pod-given-one-of-four", f"{GITHUB}/Mellanox/k8s-rdma-shared-dev-plugin/issues/93", given_one_of_four, (),
        "infiniband", base=lambda: infiniband(4),
    ),
    Case(
        "R10-container-without-efa", f"{GITHUB}/aws/aws-ofi-nccl/issues/1020", answer("list /dev/infiniband", []),
        (("no-userspace-provider", "critical", "no uverbs node"),), "aws-efa", base=efa,
    ),
    Case(
        "R11-bond-down-members-up", f"{GITHUB}/dbarboza/test-checkboxes-md/issues/39", bond_without_partner,
        (("port-not-active", "critical", "DOWN"),), ROCE, base=bond,
    ),
    Case(
        "R12-bond-member-flapped", f"{GITHUB}/kvcache-ai/Mooncake/issues/3596", same,
        (("bond-member-flapped", "warning", "port1 lost its link 1 time"),), ROCE,
        constructed=answer(f"read {NET}/port1/carrier_changes", "3"), base=bond, growth=(("carrier_changes", 2),),
    ),
    Case(
        "R13-one-rail-gave-itself-an-address", f"{GITHUB}/getainode/ainode/pull/89", self_given(1),
        ((NO_V2, "critical", "index 3 (169.254.28.199, RoCE v2)"),),
    ),
    Case(
        "R14-all-rails-gave-themselves-addresses", f"{GITHUB}/mark-ramsey-ri/vllm-dgx-spark/issues/1", self_given(0, 1),
        ((NO_V2, "info", "index 3 (169.254.28.19"),),
    ),
    Case(
        "R15-two-link-local-addresses", f"{GITHUB}/IBM/SpectrumScale_NETWORK_READINESS/pull/4",
        table(
            0, at0=(LOCAL[0], V1), at1=(LOCAL[0], V2), at2=(LOCAL[1], V1), at3=(LOCAL[1], V2), at4=(IPV4[0], V1),
            at5=(IPV4[0], V2),
        ), (), ROCE,
    ),
    Case(
        "R16-adapter-torn-down", f"{GITHUB}/scitix/sichek/pull/115", dead_adapter,
        (("rdma-device-missing", "critical", "driver mlx5_core is bound to it and made nothing of it"),), ROCE,
    ),
    Case("R17-marks-are-answered-for-the-port", f"{GITHUB}/ROCm/mori/pull/658", answering_marks_on(0), (), ROCE),
    Case(
        "R18-flapped-while-the-fabric-settled", f"{GITHUB}/leptonai/gpud/pull/1247",
        both(
            said("link-down", "Link down", "rail0", *(5 * DAY_S + 60 * n for n in range(6))),
            answer(f"read {NET}/rail0/carrier_changes", "13"),
        ), (), ROCE,
    ),
)  # fmt: skip
