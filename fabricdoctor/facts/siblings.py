"""Rails compared with what should be like them: firmware of one board, the link layer, and why a port is slow."""

from __future__ import annotations

import math
import re
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass

from ..unknown import Unknown, first_unknown, known_or, then
from .netdev import Netdev
from .nic import Device
from .pci import PciFunction, hops_shared
from .physical import PhysicalLink
from .port import Port
from .rails import OTHER_GROUP


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The rails' adapters of one model and board."""

    name: str
    devices: tuple[Device, ...]

    @property
    def odd(self) -> tuple[str, tuple[Device, ...]] | None | Unknown:
        """Return the firmware most have, the newest among equals, and the devices that have another."""
        told = [(device, device.firmware) for device in self.devices if not isinstance(device.firmware, Unknown)]
        tally = Tally(version for _, version in told)
        if len(tally) > 1:
            usual = max(tally, key=lambda version: (tally[version], _numbers(version)))
            return usual, tuple(device for device, version in told if version != usual)
        return first_unknown(d.firmware for d in self.devices)

    def __str__(self) -> str:
        return f"board {self.name}"


def boards(devices: tuple[Device, ...]) -> tuple[Board, ...]:
    """Return the groups of two and more; where a driver names neither model nor board, likeness is not known."""
    groups: dict[str, list[Device]] = {}
    for device in devices:
        name = next((port.board for port in known_or(device.ports, ())), "")
        if name and "+" in device.board_seen and "?" not in device.board_seen:
            groups.setdefault(name, []).append(device)
    return tuple(Board(name, tuple(members)) for name, members in groups.items() if len(members) > 1)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


@dataclass(frozen=True, slots=True, eq=False)
class LayerPort:
    """A port whose link layer is judged: a rail, or a port of the rails' board that has another layer than they.

    `alone_near_gpu`: it is nearest to a GPU that no rail is as near to, so the rail of that GPU is missing. `rails` is
    how many devices the fabric has, `doubtful` how many more it may have; `rivals` how many ports other boards have, by
    their link layer.
    """

    port: Port
    driver: str
    pci: str
    is_rail: bool
    alone_near_gpu: bool | Unknown
    rails: int
    doubtful: int
    rivals: Mapping[str, int]

    def belongs(self, layer: str, devices: int | None) -> bool | Unknown:
        """Return whether this port is meant for the fabric, where the site wants `layer` and so many `devices`."""
        if not self.is_rail:
            if devices is None or devices <= self.rails:
                return self.alone_near_gpu
            if devices > self.rails + self.doubtful:
                return True
            return Unknown(str(self.port), "unparsable", "which devices are the fabric's could not be read")
        if self.rivals.get(layer, 0) < self.rails:
            return True
        return Unknown(str(self.port), "not-applicable", f"other boards have {layer}: name the rails to have it judged")

    def __str__(self) -> str:
        return str(self.port)


def layer_ports(
    devices: tuple[Device, ...], gpus: tuple[PciFunction, ...] | Unknown, doubtful: int
) -> tuple[LayerPort, ...]:
    ports = [(device, port) for device in devices for port in known_or(device.ports, ())]
    rails = [(device, port) for device, port in ports if port.is_fabric]
    models = {port.board for device, port in rails if "+" in device.board_seen and "?" not in device.board_seen}
    others = [(device, port) for device, port in ports if port.role.startswith(OTHER_GROUP)]
    rivals = Tally(known_or(port.link_layer, "?") for _, port in others if port.board not in models)
    strays = [(d, p) for d, p in others if p.board in models and "?" not in d.board_seen]
    near = {d.name: then(gpus, lambda found, d=d: _alone(d, rails, found)) for d, _ in strays}  # type: ignore[misc]
    return tuple(
        LayerPort(
            port,
            known_or(device.driver, ""),
            known_or(device.pci, ""),
            port.is_fabric,
            near.get(device.name, False),
            len({d.name for d, _ in rails}),
            doubtful,
            rivals,
        )
        for device, port in rails + strays
    )


def _alone(device: Device, rails: list[tuple[Device, Port]], gpus: tuple[PciFunction, ...]) -> bool:
    """Return whether some GPU has this device nearer than any rail."""
    return any(
        hops_shared(gpu.path, device.path) > max((hops_shared(gpu.path, d.path) for d, _ in rails), default=0)
        for gpu in gpus
    )


@dataclass(frozen=True, slots=True, eq=False)
class RatedPort:
    """A fabric port with the links under it and the other rails."""

    port: Port
    links: tuple[PhysicalLink, ...]
    siblings: tuple[Port, ...]

    @property
    def drops_alone(self) -> int | Unknown:
        """Return how often the link went down between two samples, without what every other rail had as well.

        That was the host, its operator, or maintenance of the fabric.
        """
        others = [p.link_drops for p in self.siblings if known_or(p.active, default=False)]
        common = min((drops for drops in others if not isinstance(drops, Unknown)), default=0)
        return then(self.port.link_drops, lambda own: max(0, own - common))

    def limit(self, rate: float, want: float) -> str:
        """Return what keeps the port below `want`, where something says so; else ""."""
        lanes, all_lanes = known_or(self.port.lanes, 0), self._lanes_at(want)
        if lanes < all_lanes and math.isclose(rate / want, lanes / all_lanes, rel_tol=0.01):
            return f"{all_lanes - lanes} of {all_lanes} lanes lost"
        ends = {"its cable or module is made for": self._made_for}
        if isinstance(self.port.netdev, Netdev):
            ends |= {"the other end offers at most": self.port.netdev.peer_gbps}
            ends |= {"it is set to at most": self.port.netdev.advertised_gbps}
        told = ((why, gbps) for why, gbps in ends.items() if not isinstance(gbps, Unknown) and gbps <= rate)
        return next((f"{why} {gbps:g} Gb/s" for why, gbps in told), "")

    @property
    def _made_for(self) -> float | Unknown:
        module = self.links[0].module if len(self.links) == 1 else Unknown("module", "not-applicable", "a bond")
        return module if isinstance(module, Unknown) else module.gbps

    def _lanes_at(self, rate: float) -> int:
        """Return on how many lanes all siblings of that rate run; 0 when they differ or none is known."""
        lanes = {known_or(port.lanes, 0) for port in self.siblings if known_or(port.rate_gbps, 0.0) == rate}
        return lanes.pop() if len(lanes) == 1 else 0

    def __str__(self) -> str:
        return str(self.port)


def rated_ports(ports: tuple[Port, ...], links: tuple[PhysicalLink, ...]) -> tuple[RatedPort, ...]:
    def under(port: Port) -> tuple[PhysicalLink, ...]:
        label = f"{port.device}/{port.number} "
        return tuple(link for link in links if f"{link.port} ".startswith(label))

    return tuple(RatedPort(port, under(port), tuple(p for p in ports if p is not port)) for port in ports)
