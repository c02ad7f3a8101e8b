"""One node, as its recording shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..host import Host
from ..unknown import Unknown, first_unknown, known_or, then
from .bond import Bond, bonds
from .by_tool import heard, stored_settings, with_notes, with_qos
from .counters import uptime
from .health import Adapter, adapters
from .interfaces import Interface, beneath
from .inventory import Inventory, inventory
from .limits import Limits, limits
from .nccl import NcclSettings, nccl_settings
from .nccl_rails import NcclRails, RailPort
from .neighbour import Neighbour, PeerLink, neighbour_of
from .netdev import Netdev
from .nic import Device, devices
from .path import RailPath, SharedSubnet, paths, placed, routings, shared_subnets
from .pci import PciFunction, pci_functions
from .physical import PhysicalLink, physical_links
from .port import Port
from .qos import Link, link
from .rails import Rails, assign_roles
from .shapes import Shaped, Silent
from .siblings import Board, LayerPort, RatedPort, boards, layer_ports, rated_ports
from .tools.mstconfig import Firmware
from .traffic import Traffic, traffic
from .vendors import rdma_module


@dataclass(frozen=True, slots=True, eq=False)
class MissingDevice:
    """A network adapter of the rails' kind that offers no RDMA device; `netdevs` are the interfaces it has."""

    address: str
    driver: str | None | Unknown
    netdevs: tuple[str, ...] | Unknown
    siblings: int

    @property
    def rdma_module(self) -> str:
        """Return the kernel module that makes an RDMA device of this adapter, "" when it is not known."""
        return rdma_module(known_or(self.driver, "") or "")

    def __str__(self) -> str:
        return self.address


@dataclass(frozen=True, slots=True, eq=False)
class RailLink:
    """A physical interface of a RoCE rail together with the NCCL settings in force."""

    link: Link
    nccl: NcclSettings | Unknown

    def __str__(self) -> str:
        return str(self.link)

    @property
    def in_a_job(self) -> bool | Unknown:
        """Return whether the environment seen here is a job's: it is one of Slurm's, or NCCL is set up in it."""
        return then(self.nccl, lambda nccl: nccl.in_job)

    @property
    def classes(self) -> tuple[tuple[str, int], ...] | Unknown:
        """Return the traffic classes that are set, each with where: NCCL's, the kernel's for all, rdma_cm's."""
        if isinstance(self.nccl, Unknown):
            return self.nccl
        setting, nccl = self.nccl.get("NCCL_IB_TC"), then(self.nccl.number("NCCL_IB_TC", -1), _traffic_class)
        told = [
            (f"NCCL_IB_TC ({setting.origin})" if setting else "", nccl),
            ("the kernel's traffic class for all", self.link.kernel_class),
            ("rdma_cm's default_roce_tos", self.link.rdma_cm_class),
        ]
        unread = first_unknown(value for _, value in told)
        found = tuple((place, v) for place, v in told if isinstance(v, int) and v >= 0)
        return unread if unread is not None else found


def _traffic_class(value: int) -> int:
    if value > 0xFF:  # noqa: PLR2004  the byte in the IP header
        raise ValueError("no traffic class")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Everything that can be judged. `fabric_devices` and the ports and links below are the training fabric's only."""

    hostname: str | Unknown
    uptime: float | Unknown
    all_devices: tuple[Device, ...] | Unknown
    inventory: tuple[Inventory, ...]
    gpus: tuple[PciFunction, ...] | Unknown
    missing_devices: tuple[MissingDevice, ...] | Unknown
    links: tuple[Link, ...] | Unknown
    physical_links: tuple[PhysicalLink, ...] | Unknown
    nccl: NcclSettings | Unknown
    job_limits: tuple[Limits, ...] | Unknown
    firmware: tuple[Firmware, ...] | Unknown
    neighbours: Mapping[str, Neighbour] | Unknown
    paths: tuple[RailPath, ...] | Unknown
    shared_subnets: tuple[SharedSubnet, ...] | Unknown
    bonds: tuple[Bond, ...] | Unknown
    adapters: tuple[Adapter, ...] | Unknown

    @property
    def all_ports(self) -> tuple[Port, ...] | Unknown:
        """Return every port that could be read; a device whose ports could not makes this unknown."""
        if isinstance(self.all_devices, Unknown):
            return self.all_devices
        ports: list[Port] = []
        for device in self.all_devices:
            if isinstance(device.ports, Unknown):
                return device.ports
            ports += device.ports
        return tuple(ports)

    @property
    def fabric_ports(self) -> tuple[Port, ...] | Unknown:
        return then(self.all_ports, lambda ports: tuple(p for p in ports if p.is_fabric))

    @property
    def fabric_devices(self) -> tuple[Device, ...] | Unknown:
        return then(self.all_devices, _fabric)

    @property
    def roce_ports(self) -> tuple[Port, ...] | Unknown:
        """Return the rails that are RoCE. A port whose link layer is not known is among them, to end as unknown."""
        return then(self.fabric_ports, lambda ports: tuple(p for p in ports if known_or(p.is_ethernet, default=True)))

    @property
    def roce_rails(self) -> tuple[Rails, ...] | Unknown:
        return then(self.roce_ports, lambda ports: (Rails(ports),) if len(ports) > 1 else ())

    @property
    def rails(self) -> tuple[Rails, ...] | Unknown:
        return then(self.fabric_ports, lambda ports: (Rails(ports),) if ports else ())

    @property
    def rated_ports(self) -> tuple[RatedPort, ...] | Unknown:
        return then(self.fabric_ports, lambda ports: rated_ports(ports, known_or(self.physical_links, ())))

    @property
    def bonded_links(self) -> tuple[PhysicalLink, ...] | Unknown:
        return then(self.physical_links, lambda links: tuple(link for link in links if link.is_member))

    @property
    def layer_ports(self) -> tuple[LayerPort, ...] | Unknown:
        return then(self.all_devices, lambda found: layer_ports(found, self.gpus, len(self.inventory[0].doubtful)))

    @property
    def boards(self) -> tuple[Board, ...] | Unknown:
        return then(self.fabric_devices, boards)

    @property
    def nccl_ports(self) -> tuple[RailPort, ...] | Unknown:
        return then(self.roce_ports, lambda ports: tuple(RailPort(port, self.nccl) for port in ports))

    @property
    def nccl_rails(self) -> tuple[NcclRails, ...] | Unknown:
        return then(self.roce_ports, lambda ports: (NcclRails(ports, self.nccl),) if ports else ())

    @property
    def nccl_links(self) -> tuple[RailLink, ...] | Unknown:
        return then(self.links, lambda links: tuple(RailLink(link, self.nccl) for link in links))

    @property
    def traffic(self) -> tuple[Traffic, ...] | Unknown:
        return then(self.fabric_ports, lambda ports: traffic(ports, self.links))

    @property
    def peer_links(self) -> tuple[PeerLink, ...] | Unknown:
        return then(self.links, lambda ls: tuple(PeerLink(x, neighbour_of(x.netdev, self.neighbours)) for x in ls))


def _fabric(found: tuple[Device, ...]) -> tuple[Device, ...]:
    return tuple(d for d in found if d.is_fabric)


def observe(host: Host, rails: tuple[str, ...] | None = None, *, in_job: bool = True) -> Node:
    """Read a node. `rails` are the site's patterns for fabric ports; `in_job`: whether a job's limits are seen here."""
    host = Shaped(host)
    pci = pci_functions(host)
    gpus = then(pci, lambda functions: tuple(f for f in functions if f.kind == "gpu"))
    found = then(devices(host, _job_uid(host)), lambda d: assign_roles(d, pci, rails))
    others = then(found, lambda d: heard(host, d))
    found = then(found, lambda d: with_notes(host, d, others))
    some_rdma = not isinstance(found, Unknown) and bool(found)
    in_guest = known_or(then(host.ask("read", "/proc/cpuinfo"), _in_guest), default=False)
    interfaces = then(found, lambda d: tuple(beneath(host, d)))
    stored = then(found, lambda d: stored_settings(host, _fabric(d)))
    node = Node(
        hostname=host.ask("read", "/proc/sys/kernel/hostname"),
        uptime=then(host.ask("read", "/proc/uptime"), uptime, "read /proc/uptime"),
        all_devices=found,
        inventory=(inventory(found, pci),),
        gpus=gpus,
        missing_devices=_missing(pci, found),
        links=then(interfaces, lambda i: _links(host, i, known_or(stored, ()), in_guest=in_guest)),
        physical_links=then(interfaces, lambda i: physical_links(host, i, in_guest=in_guest)),
        nccl=nccl_settings(host, in_job=in_job)
        if some_rdma
        else Unknown("environ", "not-applicable", "no RDMA device"),
        job_limits=(limits(host),) if some_rdma and in_job else (),
        firmware=stored,
        neighbours=others,
        paths=(),
        shared_subnets=(),
        bonds=(),
        adapters=(),
    )
    return _with_surroundings(host, node)


def _with_surroundings(host: Host, node: Node) -> Node:
    """Add what is known of the fabric only when its ports are: ways out, bonds, and the adapters' health."""
    ports = node.roce_ports
    if isinstance(ports, Unknown):
        return replace(node, paths=ports, shared_subnets=ports, bonds=ports, adapters=ports)
    rails = placed(host, ports)
    tables = routings(host, rails)
    return replace(
        node,
        paths=paths(host, rails, tables),
        shared_subnets=shared_subnets(host, rails, tables),
        bonds=bonds(host, ports),
        adapters=then(node.fabric_devices, lambda found: adapters(host, found)),
    )


def _job_uid(host: Host) -> int | None:
    """Return the user whose job this is, when we are root and can try as that user."""
    environment, euid = host.ask("environ"), host.ask("euid")
    if isinstance(environment, Unknown) or isinstance(euid, Unknown) or euid != 0:
        return None
    return known_or(then(environment, lambda env: int(env["SLURM_JOB_UID"])), None)


def _links(
    host: Host, interfaces: tuple[Interface, ...], stored: tuple[Firmware, ...], *, in_guest: bool
) -> tuple[Link, ...]:
    """Return the QoS state of each RoCE rail's interfaces.

    A port without a link has none to be judged: it may never have been set up, and port-not-active tells where it is
    missed. Where it is not known whether it has one, neither is its QoS state.
    """

    settings = {firmware.device: firmware for firmware in stored}

    def read(at: Interface, netdev: Netdev) -> Link:
        asked = Silent(at.port.active) if isinstance(at.port.active, Unknown) else host
        own = link(asked, at.port, at.label, netdev, known_or(at.device.pci, ""), is_virtual=at.is_virtual or in_guest)
        return with_qos(asked, own, netdev.driver, at.device, settings)

    return tuple(
        read(at, at.netdev)
        for at in interfaces
        if at.netdev is not None
        and known_or(at.port.is_ethernet, default=True)
        and known_or(at.port.active, default=True)
    )


def _in_guest(cpuinfo: str) -> bool:
    """Return whether this is a virtual machine: there a virtual function has no link to its physical one."""
    return any("hypervisor" in line.split() for line in cpuinfo.splitlines() if line.startswith("flags"))


def _missing(
    pci: tuple[PciFunction, ...] | Unknown, found: tuple[Device, ...] | Unknown
) -> tuple[MissingDevice, ...] | Unknown:
    """Return adapters of the same model as the rails' that have no RDMA device.

    A function without any interface that has a driver lives in another network namespace, and is not missed, unless
    its driver made nothing at all of it, and something of others of the model. Nor is the other port of an adapter
    missed that has one RDMA device over a bond of both.
    """
    if isinstance(pci, Unknown):
        return pci
    if isinstance(found, Unknown):
        return found
    rails = {known_or(d.pci, "") for d in _fabric(found)}
    models = [f.model for f in pci if f.address in rails]
    offered = {known_or(d.pci, "") for d in found}
    # the adapter's other port may have a device that could not be read: then this one may be under its bond
    placed = {d.name for d in found if not isinstance(d.pci, Unknown) and _tells_its_bond(d)}
    carried = {(slot, name) for d in found for slot, name in _bonded(d)}
    return tuple(
        MissingDevice(f.address, f.driver, f.netdevs, models.count(f.model))
        for f in pci
        if f.model in models and not f.is_vf and _offers_none(f, offered) and not _elsewhere(f, pci)
        if not any((_slot(f.address), name) in carried for name in known_or(f.netdevs, ()))
        and all(
            name in placed for g in pci if _slot(g.address) == _slot(f.address) for name in known_or(g.rdma, ("?",))
        )
    )


def _slot(address: str) -> str:
    return address.rsplit(".", 1)[0]


def _bonded(device: Device) -> tuple[tuple[str, str], ...]:
    """Return the interfaces under the bond that this device spans, each with the device's slot."""
    slot = _slot(known_or(device.pci, ""))
    interfaces = [port.netdev for port in known_or(device.ports, ()) if isinstance(port.netdev, Netdev)]
    return tuple((slot, name) for interface in interfaces for name in known_or(interface.lower, ()))


def _tells_its_bond(device: Device) -> bool:
    """Return whether it could be read what carries this device's ports, and so whether a bond does."""
    interfaces = [port.netdev for port in known_or(device.ports, ())]
    return bool(interfaces) and all(
        interface.why == "missing"
        if isinstance(interface, Unknown)
        else not isinstance(interface.lower, Unknown)
        and not known_or(interface.in_bond, default=True)
        and (bool(interface.lower) or known_or(interface.is_physical, default=False))
        for interface in interfaces
    )


def _offers_none(function: PciFunction, offered: set[str]) -> bool:
    return function.address not in offered and known_or(function.rdma, ("?",)) == ()


def _elsewhere(function: PciFunction, pci: tuple[PciFunction, ...]) -> bool:
    driver = function.driver
    if driver is None:
        return False
    if function.shows_nothing and known_or(function.parts, None) == ():
        return not any(known_or(f.parts, ()) for f in pci if f.model == function.model)
    return known_or(driver, "?").startswith("vfio") or known_or(function.netdevs, ()) == ()
