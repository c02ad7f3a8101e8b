"""What tools add to the devices: the firmware's diagnosis and stored settings, and what is at the other end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..host import Host, Question
from ..unknown import Unknown, known_or
from .neighbour import QUESTION, Neighbour, neighbour_of, neighbours
from .netdev import Netdev
from .nic import Device
from .port import Port
from .qos import Link
from .tools.mlxlink import LinkDiagnosis, diagnosis
from .tools.mstconfig import Firmware, firmware

#: drivers whose adapter's QoS a tool tells
_QOS_BY_TOOL = ("ionic", "bnxt_en")


def heard(host: Host, found: tuple[Device, ...]) -> Mapping[str, Neighbour] | Unknown:
    """Return the LLDP neighbour of each interface. Asks all tools about the devices at once: each takes its time."""
    fabric = [d for d in found if d.is_fabric]
    ethernet = any(known_or(p.is_ethernet, default=True) for d in fabric for p in known_or(d.ports, ()))
    questions: list[Question] = [("tool", QUESTION)] if ethernet else []
    questions += [("tool", f"{name} {pci}") for name in ("mstconfig", "mlxlink") for pci in _mlx5(fabric).values()]
    host.ask_all(questions)
    return neighbours(host) if ethernet else {}


def with_notes(host: Host, found: tuple[Device, ...], others: Mapping[str, Neighbour] | Unknown) -> tuple[Device, ...]:
    """Return the devices with, for each fabric port, its diagnosis and its far end."""
    adapters = _mlx5(found)

    def noted(device: Device, port: Port) -> Port:
        if not port.is_fabric:
            return port
        return replace(port, far_end=_far_end(port, others), diagnosis=_diagnosis(host, adapters.get(device.name)))

    return tuple(
        d if isinstance(d.ports, Unknown) else replace(d, ports=tuple(noted(d, port) for port in d.ports))
        for d in found
    )


def _far_end(port: Port, others: Mapping[str, Neighbour] | Unknown) -> str:
    """Return the neighbours of the port's physical interfaces, as text."""
    if not isinstance(port.netdev, Netdev):
        return ""
    names = known_or(port.netdev.lower, ()) or (port.netdev.name,)
    found = (neighbour_of(name, others) for name in names)
    return " and ".join(str(neighbour) for neighbour in found if isinstance(neighbour, Neighbour))


def _diagnosis(host: Host, pci: str | None) -> LinkDiagnosis | Unknown:
    if pci is None:
        return Unknown("tool mlxlink", "not-applicable", "an adapter that mlxlink does not know")
    return diagnosis(host, pci)


def with_qos(host: Host, link: Link, driver: str | Unknown, device: Device, stored: Mapping[str, Firmware]) -> Link:
    """Return the link with its QoS as the vendor's tool tells it, where the driver has no interface for it.

    `stored` are the settings in each device's firmware.
    """
    pfc, pci = link.pfc_priorities, device.pci
    if device.name in stored:
        return _with_stored_congestion_control(link, stored[device.name])
    if not isinstance(pfc, Unknown) or pfc.why not in ("not-applicable", "unsupported"):
        return link
    if known_or(driver, "") not in _QOS_BY_TOOL or isinstance(pci, Unknown) or device.is_vf:
        return link
    from .tools.qos import completed  # noqa: PLC0415  few drivers need it

    return completed(host, link, known_or(driver, ""), device.name, pci)


def _with_stored_congestion_control(link: Link, stored: Firmware) -> Link:
    """Add what the firmware's settings tell where the kernel's own driver does not: on which priorities it is on."""
    notify = link.congestion.notify
    if not isinstance(notify, Unknown) or notify.why != "not-applicable":
        return link
    on, algorithm = stored.congestion_priorities(link.number), stored.congestion_algorithm(link.number)
    turn_on = f"mstconfig -d {stored.pci} set ROCE_CC_PRIO_MASK_P{link.number}=255; mstfwreset -d {stored.pci} reset"
    told = replace(link.congestion, notify=on, react=on, algorithm=algorithm, turn_on=turn_on)
    return replace(link, congestion=told)


def stored_settings(host: Host, fabric: tuple[Device, ...]) -> tuple[Firmware, ...]:
    """Return the firmware of each adapter of the fabric whose settings a tool can read."""
    return tuple(firmware(host, name, pci) for name, pci in _mlx5(fabric).items())


def _mlx5(devices: tuple[Device, ...] | list[Device]) -> dict[str, str]:
    """Return the PCI address of each physical function of mlx5: a virtual one has no firmware of its own."""
    return {
        d.name: d.pci
        for d in devices
        if known_or(d.driver, "") == "mlx5_core" and not d.is_vf and not isinstance(d.pci, Unknown)
    }
