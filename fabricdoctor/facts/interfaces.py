"""The physical interfaces under the fabric's ports: a bond's members, a VLAN's parent, else the port's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..host import Host
from ..unknown import known_or
from .netdev import Netdev, netdev
from .nic import Device
from .port import Port
from .rails import FABRIC


@dataclass(frozen=True, slots=True)
class Interface:
    """One physical interface. `sole` is its port's only one; `netdev` is None where none is visible."""

    device: Device
    port: Port
    label: str
    name: str
    netdev: Netdev | None
    sole: bool


def beneath(host: Host, devices: tuple[Device, ...]) -> Iterator[Interface]:
    """Yield the interfaces of all fabric ports; a port without a visible one is yielded too."""
    for device in devices:
        for port in known_or(device.ports, ()):
            if port.role == FABRIC:
                yield from _of_port(host, device, port)


def _of_port(host: Host, device: Device, port: Port) -> Iterator[Interface]:
    if not isinstance(port.netdev, Netdev):
        yield Interface(device, port, str(port), "", None, sole=True)
        return
    lower = known_or(port.netdev.lower, ()) or (port.netdev.name,)
    for name in lower:
        label = str(port) if len(lower) == 1 else f"{device.name}/{port.number} ({name})"
        own = port.netdev if name == port.netdev.name else netdev(host, name)
        yield Interface(device, port, label, name, own, sole=len(lower) == 1)
