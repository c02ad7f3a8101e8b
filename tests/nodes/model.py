"""What an adapter is, as its driver shows it, and a port in its place."""

from __future__ import annotations

from dataclasses import dataclass, field

from nodes.machine import Answers, Source


@dataclass(frozen=True, slots=True)
class Adapter:
    """A model of adapter as its driver shows it; a dictionary that is empty is a directory that is not there."""

    driver: str
    ids: tuple[str, str, str, str]
    files: Answers
    counters: dict[str, str]
    hw_counters: dict[str, str]
    statistics: dict[str, int]
    modes: tuple[str, ...]
    source: Source
    dcb: Answers = field(default_factory=dict)
    gid_types: tuple[str, ...] = ("IB/RoCE v1", "RoCE v2")
    gid_length: int = 255
    firmware: str = ""
    pause: bool = True
    fec: bool = True
    storm_ms: int | None = None
    pci_class: str = "0x020000"
    node_type: str = "1: CA"
    vf: bool = False
    #: the files and counters of which somebody posted the value
    reported: dict[str, Source] = field(default_factory=dict)

    def source_of(self, name: str) -> Source:
        return self.reported.get(name, self.source)


@dataclass(frozen=True, slots=True)
class Port:
    """One adapter port in its place. `up` False: no link; `used` False: it never had one, and has no address."""

    device: str
    interface: str
    address: str
    bridges: tuple[str, ...]
    gbps: int
    ip: str = ""
    layer: str = "Ethernet"
    lid: int = 0
    mtu: int = 9000
    up: bool = True
    used: bool = True
    admin_up: bool = True
    number: int = 1
    first_gid: int = 0
    physfn: str = ""
    speed_told: bool = True
    #: the interface whose name the GIDs bear: a bond or VLAN above the port's own
    above: str = ""
    rate: str = ""
