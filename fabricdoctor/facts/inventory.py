"""How many RDMA devices the fabric has, and which more may be its own, of which too little could be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..unknown import Unknown, known_or
from .nic import Device
from .pci import PciFunction
from .rails import AWAY, FAR, OTHER_GROUP


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """The fabric's devices by name, and the `doubtful`: names of those that may belong to it."""

    devices: tuple[str, ...] | Unknown
    doubtful: tuple[str, ...] = ()

    def fewer_than(self, expected: int) -> bool | Unknown:
        """Return whether there are fewer; Unknown where those in doubt would be enough."""
        if isinstance(self.devices, Unknown):
            return self.devices
        if len(self.devices) >= expected or len(self.devices) + len(self.doubtful) < expected:
            return len(self.devices) < expected
        return Unknown(
            "inventory", "unparsable", f"whether {', '.join(self.doubtful)} belongs to the fabric could not be read"
        )

    def __str__(self) -> str:
        return "node"


def inventory(devices: tuple[Device, ...] | Unknown, pci: tuple[PciFunction, ...] | Unknown) -> Inventory:
    """Count the rails' devices, and those of their model whose interface a container has: they are not gone."""
    if isinstance(devices, Unknown):
        return Inventory(devices)
    rails = tuple(d for d in devices if d.is_fabric)
    others = [d for d in devices if d not in rails]
    names = tuple(d.name for d in rails)
    if isinstance(pci, Unknown):  # then neither models nor GPUs are known, by which the rails were chosen
        return Inventory(names, tuple(d.name for d in others))
    models = {f.address: f.model for f in pci}
    wanted = {models.get(known_or(d.pci, "")) for d in rails} | {None}
    layers = {known_or(p.link_layer, "?") for d in rails for p in known_or(d.ports, ())}
    alike = [d for d in others if models.get(known_or(d.pci, "")) in wanted and not d.is_software]
    away = tuple(d.name for d in alike if any(p.role == AWAY for p in known_or(d.ports, ())))
    doubtful = [d.name for d in alike if d.name not in away and _in_doubt(d, layers)]
    return Inventory(names + away, (*doubtful, *_not_listed(pci, {d.name for d in devices})))


def _in_doubt(device: Device, layers: set[str]) -> bool:
    """Return whether a device of the rails' model is none of them for what could not be read, or reads otherwise.

    One that is nearest to no GPU may be a rail whose GPU is gone.
    """
    ports = known_or(device.ports, ())
    return not ports or any(
        isinstance(p.link_layer, Unknown) or (p.link_layer in layers and p.role.startswith((OTHER_GROUP, FAR)))
        for p in ports
    )


def _not_listed(pci: tuple[PciFunction, ...], listed: set[str]) -> Iterator[str]:
    """Yield the RDMA devices that the PCI bus has, and the list of RDMA devices has not."""
    for function in pci:
        names = known_or(function.rdma, (str(function),)) if function.kind == "network" else ()
        yield from (name for name in names if name not in listed)
