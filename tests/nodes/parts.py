"""The parts a node is put together from: PCI functions in their tree, GPUs, and adapters with port and interface."""

from __future__ import annotations

from nodes.interfaces import files, gid, interface, ordinal
from nodes.machine import IB, MADE, PCI, Machine, Source
from nodes.model import Adapter, Port

#: what the kernel prints for a speed and a width (rate_show in drivers/infiniband/core/sysfs.c)
RATES = {
    800: "800 Gb/sec (4X XDR)", 400: "400 Gb/sec (4X NDR)", 200: "200 Gb/sec (4X HDR)", 100: "100 Gb/sec (4X EDR)",
    50: "50 Gb/sec (1X HDR)", 40: "40 Gb/sec (4X QDR)", 25: "25 Gb/sec (1X EDR)", 10: "10 Gb/sec (1X FDR10)",
}  # fmt: skip
_MTUS = {9000: 4096, 4200: 4096, 1500: 1024}


def path(address: str, bridges: tuple[str, ...]) -> str:
    first = bridges[0] if bridges else address
    domain, bus, _ = first.split(":")
    return "/".join([f"../../../devices/pci{domain}:{bus}", *bridges, address])


def function(
    machine: Machine, address: str, bridges: tuple[str, ...], ids: tuple[str, ...], driver: str, source: Source = MADE
) -> None:
    """Add a PCI function, and the bridges above it. `ids`: class, vendor, device, subsystem vendor and device."""
    base = f"{PCI}/{address}"
    for bridge in bridges:
        machine.add_names(f"list {PCI}", bridge)
        machine.say({f"read {PCI}/{bridge}/class": "0x060400"})
    machine.add_names(f"list {PCI}", address)
    names = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")
    machine.say({f"read {base}/{name}": value for name, value in zip(names, ids, strict=True)}, source)
    machine.say({f"link {base}": path(address, bridges)}, source)
    numa = "0" if int(address.split(":")[1], 16) < 0x80 else "1"
    machine.say({
        f"read {base}/numa_node": numa, f"read {base}/current_link_width": "16", f"read {base}/max_link_width": "16",
        f"read {base}/current_link_speed": "32.0 GT/s PCIe", f"read {base}/max_link_speed": "32.0 GT/s PCIe",
    })  # fmt: skip
    if driver:
        machine.say({f"link {base}/driver": f"../../../../bus/pci/drivers/{driver}"}, source)


def gpu(machine: Machine, address: str, bridges: tuple[str, ...], model: str = "h100", driver: str = "") -> None:
    ids, usual, source = GPUS[model]
    function(machine, address, bridges, ids, driver or usual, source)


_MI300X = Source("reported", "https://github.com/apache/cloudstack/issues/11701 (class of an Instinct MI3xx)")
#: class, vendor, device, subsystem; driver; where the class is from
GPUS: dict[str, tuple[tuple[str, ...], str, Source]] = {
    "h100": (("0x030200", "0x10de", "0x2330", "0x10de", "0x16c1"), "nvidia", MADE),
    "gb200": (("0x030200", "0x10de", "0x2941", "0x10de", "0x2046"), "nvidia", MADE),
    "mi300x": (("0x120000", "0x1002", "0x74a1", "0x1002", "0x74a1"), "amdgpu", _MI300X),
}


def add(machine: Machine, adapter: Adapter, port: Port) -> None:
    """Add an adapter's function with its RDMA device, the device's port and its interface."""
    function(machine, port.address, port.bridges, (adapter.pci_class, *adapter.ids), adapter.driver, adapter.source)
    base = f"{PCI}/{port.address}"
    machine.say({f"list {base}/infiniband": [port.device]})
    if port.interface:
        machine.say({f"list {base}/net": [port.interface]})
    if port.physfn:
        machine.say({f"link {base}/physfn": f"../{port.physfn}", f"link {IB}/{port.device}/device/physfn": port.physfn})
    _device(machine, adapter, port)
    _port(machine, adapter, port)
    if port.interface:
        interface(machine, adapter, port)
    elif not port.first_gid:
        entry = gid(f"fe80::{ordinal(machine) + 1:x}", "IB", None)
        machine.say({f"gids {port.device}/{port.number}": {"length": 1, "entries": {"0": entry}}})


def _device(machine: Machine, adapter: Adapter, port: Port) -> None:
    base, number = f"{IB}/{port.device}", ordinal(machine)
    machine.add_names(f"list {IB}", port.device)
    machine.add_names("list /sys/class/infiniband_verbs", "abi_version", f"uverbs{number}")
    machine.add_names("list /dev/infiniband", "rdma_cm", f"uverbs{number}")
    listed = machine.answers.get("verbs.devices", {"devices": []})["devices"]
    machine.say({
        "verbs.devices": {"library": "libibverbs.so.1", "devices": [*listed, port.device], "warnings": []},
        f"verbs.usable {port.device}": {
            "uid": machine.answers["euid"], "steps": dict.fromkeys(("open", "pd", "cq", "qp", "mr")),
        },
        f"read /sys/class/infiniband_verbs/uverbs{number}/ibdev": port.device,
        f"link {base}/device": path(port.address, port.bridges),
        f"link {base}/device/driver": f"../../../../bus/pci/drivers/{adapter.driver}",
        f"list {base}/ports": [str(port.number)],
        f"read {base}/node_guid": f"0000:00ff:fe00:{number + 1:04x}",
    })  # fmt: skip
    if port.interface:
        machine.say({f"list {base}/device/net": [port.interface]})
    files = {"node_type": adapter.node_type} | adapter.files
    for name, value in files.items():
        machine.say({f"read {base}/{name}": value}, adapter.source_of(name))


def _port(machine: Machine, adapter: Adapter, port: Port) -> None:
    base = f"{IB}/{port.device}/ports/{port.number}"
    infiniband = port.layer == "InfiniBand"
    down = "2: Polling" if infiniband or port.admin_up else "3: Disabled"
    machine.say({
        f"read {base}/state": "4: ACTIVE" if port.up else "1: DOWN",
        f"read {base}/phys_state": "5: LinkUp" if port.up else down,
        f"read {base}/rate": port.rate or (RATES[port.gbps] if port.up else RATES[40]),
        f"read {base}/link_layer": port.layer,
        f"read {base}/lid": hex(port.lid),
        f"read {base}/sm_lid": "0x1" if infiniband else "0x0",
        f"verbs.device {port.device}": {"ports": {str(port.number): {
            "state": "ACTIVE" if port.up else "DOWN", "phys_state": "LinkUp" if port.up else "Polling",
            "active_mtu": 4096 if infiniband or not port.interface else _MTUS[port.mtu],
            "gbps": float(port.gbps if port.up else 40),
        }}},
    })  # fmt: skip
    for folder, values in (("counters", adapter.counters), ("hw_counters", adapter.hw_counters)):
        shown = values if port.used else dict.fromkeys(values, "0")
        for name, value in shown.items():
            machine.say({f"read {base}/{folder}/{name}": value}, adapter.source_of(name) if port.used else MADE)
        if values:
            machine.say({f"list {base}/{folder}": sorted(values)})


def plain(machine: Machine, name: str, address: str, ip: str = "", driver: str = "ixgbe", gbps: int = 10) -> None:
    """Add an Ethernet interface without RDMA, such as the management port."""
    function(machine, address, (), ("0x020000", "0x8086", "0x1563", "0x8086", "0x0001"), driver)
    machine.say({f"list {PCI}/{address}/net": [name]})
    files(machine, Port("", name, address, (), gbps, mtu=1500))
    machine.answers["addresses"][name] = [f"{ip}/24"] if ip else []
    machine.say({f"ethtool.driver {name}": {"driver": driver, "version": "", "firmware": "", "bus": address}})
