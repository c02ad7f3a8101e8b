"""A node in the making: its answers, where each comes from, and the recording of it.

What the facts ask is recorded, whatever else stands in the answers starts to count when a fact asks for it. Each
answer of the recording carries `origin` (captured, reported or constructed) and `source`; a value that was changed
after it was told is constructed again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabricdoctor.facts import observe
from fabricdoctor.host import Question, Recorder, encode, name_of
from fabricdoctor.recording import Recording, Take
from fabricdoctor.unknown import Unknown

Answers = dict[str, Any]
IB, PCI, NET = "/sys/class/infiniband", "/sys/bus/pci/devices", "/sys/class/net"
_WALL = 1_750_000_000.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where values come from. `origin` is captured, reported or constructed; `where` an address, or a kernel file."""

    origin: str
    where: str


MADE = Source("constructed", "tests/nodes: what the kernel's documentation says such a node answers")
#: Traffic of a training job, in units of each counter between the two samples; all others stand still.
BUSY = {
    "port_rcv_packets": 4_000_000, "port_xmit_packets": 4_000_000, "port_rcv_data": 4_000_000_000,
    "port_xmit_data": 4_000_000_000, "rx_pkts": 4_000_000, "tx_pkts": 4_000_000, "rx_bytes": 16_000_000_000,
    "tx_bytes": 16_000_000_000, "rx_rdma_ucast_pkts": 4_000_000, "tx_rdma_ucast_pkts": 4_000_000,
    "ip4InPkts": 4_000_000, "ip4OutPkts": 4_000_000, "np_ecn_marked_roce_packets": 30_000, "np_cnp_sent": 9_000,
    "rp_cnp_handled": 8_700, "np_cnp_pkts": 9_000, "cnpSent": 9_000, "cnpHandled": 8_700, "RxECNMrkd": 30_000,
    "rx_rdma_ecn_pkts": 30_000, "tx_rdma_cnp_pkts": 9_000, "rx_rdma_cnp_pkts": 8_700,
    "rx_prio3_packets": 4_000_000, "tx_prio3_packets": 4_000_000, "rx_prio3_bytes": 16_000_000_000,
    "tx_prio3_bytes": 16_000_000_000, "rx_prio3_pause": 200, "rx_prio3_pause_duration": 900_000,
    "rx_prio3_pause_transition": 100, "pfc_pri3_rx_duration_us": 900_000, "rx_pfc_ena_frames_pri3": 200,
}  # fmt: skip


@dataclass(slots=True)
class Machine:
    """One node. `refused` are beginnings of questions that this process may not ask, with the reason."""

    answers: Answers = field(default_factory=dict)
    told: dict[str, tuple[Any, Source]] = field(default_factory=dict)
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)
    growth: Mapping[str, int] = field(default_factory=lambda: dict(BUSY))
    uptime_s: float = 864_000.0
    seconds: float = 60.0

    def say(self, answers: Answers, source: Source = MADE) -> None:
        self.answers |= answers
        self.told |= {name: (copy.deepcopy(value), source) for name, value in answers.items()}

    def add_names(self, question: str, *names: str) -> None:
        """Add names to a listing, in the order of the directory."""
        self.say({question: sorted({*self.answers.get(question, []), *names}, key=_natural)})

    def ask_all(self, questions: Sequence[Question]) -> list[Any]:
        return [self._answer(kind, name_of(kind, key)) for kind, key in questions]

    def _answer(self, kind: str, name: str) -> Any:
        if name in self.answers:
            return self.answers[name]
        for start, (why, detail) in self.refused.items():
            if name.startswith(start):
                return Unknown(name, why, detail)  # type: ignore[arg-type]
        if kind == "dcb" or kind.startswith("ethtool."):  # the kernel says so of an interface that is there
            interface = name.split(maxsplit=1)[1]
            if interface in self.answers.get("addresses", {}):
                return Unknown(name, "unsupported", "Operation not supported")
            return Unknown(name, "missing", "No such device")
        return Unknown(name, "missing", "No such file or directory")

    def host(self) -> Recorder:
        """Return a host that answers as this node, with the sample before."""
        self.say({"read /proc/uptime": f"{self.uptime_s:.2f} {self.uptime_s * 7:.2f}"})
        return Recorder(self, self._earlier(), self.seconds)

    def _earlier(self) -> dict[str, dict[str, Any]]:
        return {name: encode(self._before(name, value)) for name, value in self.answers.items()}

    def recording(self) -> Recording:
        """Return all that the facts ask for, and the sample before it."""
        host, earlier = self.host(), self._earlier()
        observe(host)
        missing = encode(Unknown("", "missing", "No such file or directory"))
        before = {name: earlier.get(name, missing) for name in sorted(host.counters)}
        start = self.uptime_s - self.seconds
        takes = [Take(_WALL + t, start + t, "constructed") for t in (0.0, self.seconds)]
        made = Recording(host.answers, takes[1], before, takes[0], origin="a whole node; see each answer's origin")
        return replace(made, answers={name: self._marked(name, answer) for name, answer in made.answers.items()})

    def _before(self, name: str, value: Any) -> Any:
        if isinstance(value, dict) and name.startswith("ethtool.stats "):
            return {key: max(0, number - self.growth.get(key, 0)) for key, number in value.items()}
        grown = self.growth.get(name.rsplit("/", 1)[-1], 0) if isinstance(value, str) else 0
        return str(max(0, int(value) - grown)) if grown and value.isdigit() else value

    def _marked(self, name: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        value, source = self.told.get(name, (None, MADE))
        if name not in self.answers:
            source = Source("constructed", "not there on such a node, or refused")
        elif self.answers[name] != value:
            source = MADE
        return dict(answer) | {"origin": source.origin, "source": source.where}


def _natural(name: str) -> list[Any]:
    digits = ""
    parts: list[Any] = []
    for character in name + "\0":
        if character.isdigit():
            digits += character
            continue
        if digits:
            parts.append((1, int(digits), ""))
            digits = ""
        parts.append((0, 0, character))
    return parts


def node(*, root: bool = False, hypervisor: bool = False, **environment: str) -> Machine:
    """Return a node without adapters. An ordinary user may neither read the kernel log nor debugfs."""
    machine = Machine()
    flags = "fpu vme sse2 avx512f" + (" hypervisor" if hypervisor else "")
    uid, capabilities = (0, "000001ffffffffff") if root else (1000, "0000000000000000")
    machine.say({
        "read /proc/sys/kernel/hostname": "node01",
        "read /proc/sys/kernel/osrelease": "6.8.0-60-generic",
        "read /proc/self/status": f"Name:\tpython3\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nCapEff:\t{capabilities}",
        "read /proc/cpuinfo": f"processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: {flags}",
        "read /proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro iommu=pt",
        "environ": {"HOME": "/root" if root else "/home/user"} | environment,
        "euid": uid,
        "limits": {"memlock": None},
        "addresses": {"lo": ["127.0.0.1/8", "::1/128"]},
        f"list {PCI}": [],
        "list /sys/class/net": ["lo"],
    } | {f"read /proc/sys/net/ipv4/conf/all/{name}": value for name, value in ARP.items()})  # fmt: skip
    if root:
        machine.say({"kmsg": []})
    else:
        for start in ("read /sys/kernel/debug", "list /sys/kernel/debug", "read /sys/kernel/config", "kmsg"):
            machine.refused[start] = ("needs-root", "Permission denied")
    return machine


#: what keeps several interfaces of one subnet apart; harmless where each has its own
ARP = {"arp_ignore": "1", "arp_announce": "2", "arp_filter": "0", "rp_filter": "2"}


def edited(build: Callable[[], Machine], *edits: Callable[[Machine], None]) -> Machine:
    machine = build()
    for edit in edits:
        edit(machine)
    return machine


def matching(machine: Machine, *parts: str) -> Iterator[str]:
    """Yield the questions that contain all these parts."""
    yield from (name for name in list(machine.answers) if all(part in name for part in parts))
