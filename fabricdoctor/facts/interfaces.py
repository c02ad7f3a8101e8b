"""The physical interfaces under the fabric's ports: a bond's members, a VLAN's parent, else the port's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..host import Host
from ..unknown import known_or
from .netdev import Netdev, netdev
from .nic import Device
from .port import Port


@dataclass(frozen=True, slots=True, eq=False)
class Interface:
    """One physical interface. `sole` is its port's only one; `netdev` is None where none is visible."""

    device: Device
    port: Port
    label: str
    name: str
    netdev: Netdev | None
    sole: bool

    @property
    def is_virtual(self) -> bool:
        """Return whether it is no adapter's own port: a virtual function, or a container's macvlan or veth."""
        return self.device.is_vf or (self.netdev is not None and not known_or(self.netdev.is_physical, default=True))


def beneath(host: Host, devices: tuple[Device, ...]) -> Iterator[Interface]:
    """Yield the interfaces of all fabric ports; a port without a visible one is yielded too."""
    for device in devices:
        for port in known_or(device.ports, ()):
            if port.is_fabric:
                yield from _of_port(host, device, port)


def _of_port(host: Host, device: Device, port: Port) -> Iterator[Interface]:
    if not isinstance(port.netdev, Netdev):
        yield Interface(device, port, str(port), "", None, sole=True)
        return
    lowest = _lowest(host, port.netdev)
    for own in lowest:
        label = str(port) if len(lowest) == 1 else f"{device.name}/{port.number} ({own.name})"
        yield Interface(device, port, label, own.name, own, sole=len(lowest) == 1)


def _lowest(host: Host, interface: Netdev, levels: int = 3) -> tuple[Netdev, ...]:
    """Return what carries an interface in the end: a VLAN may lie on a bond, and that on adapters."""
    below = known_or(interface.lower, ()) if levels else ()
    if not below:
        return (interface,)
    return tuple(found for name in below for found in _lowest(host, netdev(host, name), levels - 1))
