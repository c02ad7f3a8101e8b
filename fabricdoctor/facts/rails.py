"""Which ports are the training fabric's rails. Only those are judged; the others are listed with the reason."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from ..unknown import Unknown, first_unknown, known_or
from .netdev import Netdev
from .nic import Device
from .pci import PciFunction, hops_shared
from .port import FABRIC, Port

V = TypeVar("V", int, float, str)
OTHER_GROUP = "not the rails' group"
AWAY = "no interface in this network namespace"
FAR = "nearest to no GPU, its siblings are"


@dataclass(frozen=True, slots=True, eq=False)
class Rails:
    """The fabric ports of a node, as one group."""

    ports: tuple[Port, ...]

    def odd(self, value: Callable[[Port], V | Unknown]) -> tuple[V, tuple[Port, ...]] | None | Unknown:
        """Return the most common value and the ports that have another; None when all agree.

        A port whose value is not known makes the comparison unknown only when the known ones agree.
        """
        values = [(port, value(port)) for port in self.ports]
        told = [(port, v) for port, v in values if not isinstance(v, Unknown)]
        tally = Tally(v for _, v in told)
        if len(tally) > 1:
            usual = _usual(tally)
            return usual, tuple(port for port, v in told if v != usual)
        return first_unknown(v for _, v in values)

    @property
    def up(self) -> Rails:
        """Return those that are not known to be down."""
        return Rails(tuple(p for p in self.ports if known_or(p.active, default=True)))

    def __str__(self) -> str:
        return "rails"


def _usual(tally: Tally[V]) -> V:
    """Return the most common value, the greatest of equals."""
    return max(tally, key=lambda value: (tally[value], value))


def assign_roles(
    devices: Iterable[Device], pci: tuple[PciFunction, ...] | Unknown, rails: tuple[str, ...] | None
) -> tuple[Device, ...]:
    """Return the devices with each port's role set; `rails` are glob patterns of the site, or None to find them."""
    found = tuple(devices)
    gpus = tuple(function for function in known_or(pci, ()) if function.kind == "gpu")
    ports = [(device, port) for device in found for port in known_or(device.ports, ())]
    role = _named(ports, rails) if rails is not None else _nearest(ports, gpus)
    chosen = [(device, port) for device, port in ports if role[str(port)] == FABRIC]
    sure = _agree(pci, found) and (rails is not None or _groups_are_sure(found))
    return tuple(
        replace(d, ports=tuple(_with_role(d, p, role[str(p)], chosen, len(gpus), sure=sure) for p in d.ports))
        if not isinstance(d.ports, Unknown)
        else d
        for d in found
    )


def _agree(pci: tuple[PciFunction, ...] | Unknown, devices: tuple[Device, ...]) -> bool:
    """Return whether the PCI bus and the RDMA devices tell one story, which makes GPUs and siblings known.

    Each device's function is listed, each function's devices exist and have ports, and one model is one board.
    """
    if isinstance(pci, Unknown):
        return False
    functions = {function.address: function for function in pci}
    names = {device.name for device in devices}
    boards: dict[tuple[str, ...], set[str]] = {}
    for device in devices:
        function = functions.get(known_or(device.pci, ""))
        if (function is None and not device.is_software) or known_or(device.ports, ()) == ():
            return False
        for port in known_or(device.ports, ()) if function else ():
            boards.setdefault(function.model, set()).add(port.board)  # type: ignore[union-attr]
    return all(set(known_or(f.rdma, ())) <= names for f in pci) and all(len(b) == 1 for b in boards.values())


def _groups_are_sure(devices: tuple[Device, ...]) -> bool:
    """Return whether all that makes the groups could be read, of all devices of a driver alike."""
    seen: dict[str, set[str]] = {}
    for device in devices:
        seen.setdefault(known_or(device.driver, "?"), set()).add(device.board_seen)
    layers = [port.link_layer for device in devices for port in known_or(device.ports, ())]
    unread = [value for value in (*layers, *(d.ports for d in devices)) if isinstance(value, Unknown)]
    return not unread and all(len(kinds) == 1 and "?" not in kinds for kinds in seen.values())


def _with_role(
    device: Device, port: Port, role: str, chosen: list[tuple[Device, Port]], gpus: int, *, sure: bool
) -> Port:
    others = [p for _, p in chosen if str(p) != str(port)]
    # second ports are missed when other second ports are up, not because the first ones are
    peers = [p for d, p in chosen if str(p) != str(port) and _seat(d, p) == _seat(device, port)]
    up = sum(1 for p in peers if known_or(p.active, default=False))
    # a port that no GPU lacks is not missed: 8 of 9 up on a node with 8 GPUs
    missed: bool | Unknown = up > len(peers) / 2 and (not gpus or up < gpus)
    if missed and not sure:
        missed = Unknown(f"siblings of {port}", "unparsable", "which ports are its siblings could not be read")
    routable = any(known_or(p.usable_gids, (None,)) for p in others)
    return replace(
        port, role=role, siblings_up=missed, siblings_rate_gbps=_rate_of(port, others), siblings_routable=routable
    )


def _seat(device: Device, port: Port) -> tuple[str, int]:
    """Return which of its adapter's ports this is: the function's number, and the port's of a device with several."""
    return "vf" if device.is_vf else known_or(device.pci, ".?").rsplit(".", 1)[-1], port.number


def _rate_of(port: Port, others: list[Port]) -> float | None | Unknown:
    """Return the others' usual rate, of those whose rate comes from where this one's does: an interface, or not."""

    def alike(other: Port) -> bool:
        by_interface = [isinstance(p.netdev, Netdev) for p in (port, other)]
        return len(set(by_interface)) == 1 or not known_or(port.is_ethernet, default=True)

    found = [other for other in others if alike(other)]
    if others and not found:
        return Unknown(f"siblings of {port}", "unparsable", "its rate and theirs are not told alike")
    return _usual_rate(found)


def _usual_rate(ports: list[Port]) -> float | None | Unknown:
    rates = [p.rate_gbps for p in ports if known_or(p.active, default=False)]
    tally = Tally(rate for rate in rates if not isinstance(rate, Unknown))
    return _usual(tally) if tally else next(iter(rates), None)


def _named(ports: list[tuple[Device, Port]], rails: tuple[str, ...]) -> dict[str, str]:
    def matches(device: Device, port: Port) -> bool:
        interface = port.netdev.name if isinstance(port.netdev, Netdev) else ""
        names = (device.name, f"{device.name}/{port.number}", interface, known_or(device.pci, ""))
        return any(fnmatchcase(name, pattern) for pattern in rails for name in names if name)

    return {str(p): FABRIC if matches(d, p) else "not among the site's rails" for d, p in ports}


def _nearest(ports: list[tuple[Device, Port]], gpus: tuple[PciFunction, ...]) -> dict[str, str]:
    """Choose the group of one board and link layer that is nearest to the GPUs, else the largest that is in use."""
    away = _elsewhere(ports)
    hardware = any(not device.is_software for device, _ in ports)
    physical = any(not (device.is_vf or device.is_software or str(port) in away) for device, port in ports)
    role = {str(port): _not_fabric(device, port, hardware=hardware, physical=physical) for device, port in ports}
    role |= dict.fromkeys(_not_given(ports), "no device node in this container, others have one")
    role |= dict.fromkeys(away, AWAY)
    groups: dict[tuple[str, str, float], list[tuple[Device, Port]]] = {}
    for device, port in ports:
        if not role[str(port)]:
            groups.setdefault(_group(port, ports), []).append((device, port))
    if not groups:
        return role
    votes = Tally(key for gpu in gpus for key in _near(gpu, groups))
    best = max(groups, key=lambda key: (votes[key], _in_use(groups[key]), len(groups[key]), key[2], key))
    for key, members in groups.items():
        for _, port in members:
            role[str(port)] = FABRIC if key == best else f"{OTHER_GROUP}: {key[0]}, {key[1]}, {key[2]:g} Gb/s"
    role.update({str(port): FAR for port in _far(groups[best], gpus)})
    return role


def _in_use(members: list[tuple[Device, Port]]) -> int:
    """Return how many of these ports ever had a link."""
    return sum(known_or(port.ever_up, default=True) for _, port in members)


def _far(members: list[tuple[Device, Port]], gpus: tuple[PciFunction, ...]) -> list[Port]:
    """Return the few members of the group that are nearest to no GPU: the same card, but for storage or management."""
    near: set[str] = set()
    for gpu in gpus:
        shared = {d.name: hops_shared(gpu.path, d.path) for d, _ in members}
        near.update(name for name, hops in shared.items() if hops == max(shared.values()))
    far = [port for device, port in members if device.name not in near]
    return far if gpus and 2 * len(far) < len(members) - len(far) else []


def _elsewhere(ports: list[tuple[Device, Port]]) -> set[str]:
    """Return the Ethernet ports that have neither interface nor GID here.

    A container sees the host's devices as well, and in switchdev mode a device has a port for each virtual function.
    Where one surely is such a port, another of which nothing could be read is taken for one too.
    """
    maybe = [port for device, port in ports if known_or(port.is_ethernet, default=True) and not device.is_software]
    here = [port for port in maybe if isinstance(port.netdev, Netdev) or known_or(port.gids, ())]
    away = [port for port in maybe if isinstance(port.netdev, Unknown) and not known_or(port.gids, ())]
    sure = any(p.netdev.why == "missing" and not isinstance(p.gids, Unknown) for p in away)  # type: ignore[union-attr]
    return {str(port) for port in away} if here and sure else set()


def _not_given(ports: list[tuple[Device, Port]]) -> set[str]:
    """Return the ports of devices that this container was not given, where it was given others of the host's.

    A host has the node of each device (devtmpfs); a container sees them all in sysfs and has the nodes it was given.
    """
    given = any(not isinstance(d.uverbs, Unknown) and d.uverbs and not d.is_software for d, _ in ports)
    return {str(port) for device, port in ports if given and known_or(device.uverbs, "") is None}


def _not_fabric(device: Device, port: Port, *, hardware: bool, physical: bool) -> str:
    if device.is_vf and physical:
        return "a virtual function"
    if device.is_software and hardware:
        return "a software device"
    if isinstance(port.netdev, Netdev) and port.netdev.is_representor:
        return "a representor"
    if known_or(device.protocol, "IB") != "IB" and known_or(port.link_layer, "Ethernet") == "Ethernet":
        return "iWARP, not RoCE or InfiniBand" if known_or(device.protocol, "") == "iWARP" else ""
    return ""


def _group(port: Port, ports: list[tuple[Device, Port]]) -> tuple[str, str, float]:
    """Return board, link layer and the usual rate of such ports: one slow or down port stays with its siblings."""
    like = [
        p for _, p in ports if p.board == port.board and known_or(p.link_layer, "?") == known_or(port.link_layer, "?")
    ]
    rates = Tally(r for p in like if known_or(p.active, default=False) and not isinstance(r := p.rate_gbps, Unknown))
    return port.board, known_or(port.link_layer, "?"), _usual(rates) if rates else 0.0


def _near(
    gpu: PciFunction, groups: dict[tuple[str, str, float], list[tuple[Device, Port]]]
) -> list[tuple[str, str, float]]:
    nearness = {key: max(hops_shared(gpu.path, d.path) for d, _ in members) for key, members in groups.items()}
    best = max(nearness.values())
    return [key for key, value in nearness.items() if value == best]
