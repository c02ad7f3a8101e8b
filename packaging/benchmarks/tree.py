"""A node's files: 8 GPUs and 10 NICs (8 rails and 2 others), as the kernel lays them out; links stay in the tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

GPUS = 8
NICS = 10
GIDS = 40
NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


def _words(text: str) -> list[str]:
    return text.split()


COUNTERS = _words(
    "excessive_buffer_overrun_errors link_downed link_error_recovery local_link_integrity_errors multicast_rcv_packets "
    "multicast_xmit_packets port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets "
    "port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data "
    "port_xmit_discards port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets"
)
HW_COUNTERS = _words(
    "duplicate_request implied_nak_seq_err lifespan local_ack_timeout_err np_cnp_sent np_ecn_marked_roce_packets "
    "out_of_buffer out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors "
    "req_remote_invalid_request resp_cqe_error resp_cqe_flush_error resp_local_length_error resp_remote_access_errors "
    "rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps "
    "roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests rx_icrc_encapsulated rx_read_requests "
    "rx_write_requests"
)
STATISTICS = _words(
    "collisions multicast rx_bytes rx_compressed rx_crc_errors rx_dropped rx_errors rx_fifo_errors rx_frame_errors "
    "rx_length_errors rx_missed_errors rx_nohandler rx_over_errors rx_packets tx_aborted_errors tx_bytes "
    "tx_carrier_errors tx_compressed tx_dropped tx_errors tx_fifo_errors tx_heartbeat_errors tx_packets "
    "tx_window_errors"
)


def make(root: Path) -> int:
    """Write the tree; return how many files and links it has."""
    _proc(root)
    for index in range(GPUS):
        _gpu(root, index)
    for index in range(NICS):
        _nic(root, index)
    return sum(len(files) for _, _, files in os.walk(root))


def _write(directory: Path, files: Mapping[str, object]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(f"{text}\n")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(target, link.parent))


def _proc(root: Path) -> None:
    _write(root / "proc/sys/kernel", {"hostname": "gpu001"})
    _write(root / "proc/sys/kernel/random", {"boot_id": "11111111-2222-3333-4444-555555555555"})
    _write(root / "proc", {"uptime": "86400.00 170000.00", "version": "Linux version 6.8.0"})
    _write(root / "proc/self", {"status": "Name:\tpython3\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff"})
    (root / "proc/self/ns").mkdir()
    (root / "proc/self/ns/net").symlink_to("net:[4026531840]")


def _address(index: int, function: int) -> str:
    return f"0000:{0x13 + 0x10 * index:02x}:0{function}.0"


def _bridges(root: Path, index: int) -> Path:
    """Return the downstream switch port under which GPU and NIC number `index` lie."""
    bus = 0x10 + 0x10 * index
    chain = [f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:00.0"]
    place = root / f"sys/devices/pci0000:{bus:02x}"
    for address in chain:
        place /= address
        if not place.is_dir():
            _function(root, place, "0x060400", "0x1000", "0xc030", "pcieport")
    return place


def _function(root: Path, place: Path, code: str, vendor: str, device: str, driver: str) -> None:
    """Write what every PCI function has."""
    _write(place, {
        "class": code, "vendor": vendor, "device": device, "subsystem_vendor": vendor, "subsystem_device": "0x0001",
        "numa_node": 0, "local_cpulist": "0-63", "enable": 1, "revision": "0x00", "irq": 16,
        "current_link_speed": "32.0 GT/s PCIe", "current_link_width": 16,
        "max_link_speed": "32.0 GT/s PCIe", "max_link_width": 16, "aer_dev_fatal": "TOTAL_ERR_FATAL 0",
    })  # fmt: skip
    _link(root / "sys/bus/pci/devices" / place.name, place)
    home = root / "sys/bus/pci/drivers" / driver
    home.mkdir(parents=True, exist_ok=True)
    _link(place / "driver", home)


def _gpu(root: Path, index: int) -> None:
    _function(root, _bridges(root, index) / _address(index, 0), "0x030200", "0x10de", "0x2330", "nvidia")


def _nic(root: Path, index: int) -> None:
    """Write one adapter: the first eight are rails beside a GPU, the others are slower and have no GPU beside them."""
    rail = index < GPUS
    place = _bridges(root, index) / _address(index, 1)
    _function(root, place, "0x020000", "0x15b3", "0x1021" if rail else "0x101d", "mlx5_core")
    netdev = f"rail{index}" if rail else f"front{index - GPUS}"
    _netdev(root, place, netdev, index, 400000 if rail else 100000)
    _device(root, place, index, netdev, "400 Gb/sec (4X NDR)" if rail else "100 Gb/sec (4X EDR)")


def _netdev(root: Path, place: Path, name: str, index: int, speed: int) -> None:
    home = place / "net" / name
    _write(home, {
        "mtu": 9000, "speed": speed, "flags": "0x1003", "carrier": 1, "carrier_changes": 2, "carrier_up_count": 1,
        "carrier_down_count": 1, "operstate": "up", "ifindex": index + 2, "dev_port": 0, "dev_id": "0x0",
        "phys_port_name": "p0", "phys_switch_id": f"{index:02x}", "type": 1, "duplex": "full", "tx_queue_len": 1000,
        "address": f"02:00:00:00:00:{index:02x}", "addr_len": 6, "broadcast": "ff:ff:ff:ff:ff:ff",
    })  # fmt: skip
    _write(home / "statistics", dict.fromkeys(STATISTICS, 0))
    _link(home / "device", place)
    _link(root / "sys/class/net" / name, home)


def _device(root: Path, place: Path, index: int, netdev: str, rate: str) -> None:
    name = f"mlx5_{index}"
    home = place / "infiniband" / name
    guid = f"0200:00ff:fe00:00{index:02x}"
    _write(home, {
        "node_type": "1: CA", "node_desc": f"gpu001 {name}", "node_guid": guid, "sys_image_guid": guid,
        "fw_ver": "28.42.1000", "hca_type": "MT4129", "board_id": "MT_0000000838", "hw_rev": 0,
    })  # fmt: skip
    _link(home / "device", place)
    _link(root / "sys/class/infiniband" / name, home)
    _port(home / "ports/1", index, netdev, rate)
    _verbs(root, place, index, name)


def _port(port: Path, index: int, netdev: str, rate: str) -> None:
    _write(port, {
        "state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": rate, "link_layer": "Ethernet", "lid": "0x0",
        "lid_mask_count": 0, "sm_lid": "0x0", "sm_sl": 0, "cap_mask": "0x04010000", "has_smi": 0,
    })  # fmt: skip
    _write(port / "counters", dict.fromkeys(COUNTERS, 0))
    _write(port / "hw_counters", dict.fromkeys(HW_COUNTERS, 0))
    _write(port / "pkeys", {"0": "0xffff"})
    link_local, address = (
        f"fe80:0000:0000:0000:0000:00ff:fe00:00{index:02x}",
        f"0000:0000:0000:0000:0000:ffff:c0a8:{index:02x}01",
    )
    gids = dict(enumerate((link_local, link_local, address, address)))
    _write(port / "gids", {str(slot): gids.get(slot, NO_GID) for slot in range(GIDS)})
    kinds = {str(slot): "RoCE v2" if slot % 2 else "IB/RoCE v1" for slot in range(GIDS)}
    _write(port / "gid_attrs/types", kinds)
    _write(port / "gid_attrs/ndevs", dict.fromkeys(kinds, netdev))


def _verbs(root: Path, place: Path, index: int, device: str) -> None:
    home = place / f"infiniband_verbs/uverbs{index}"
    _write(home, {"ibdev": device, "abi_version": 1, "dev": f"231:{192 + index}"})
    _link(root / f"sys/class/infiniband_verbs/uverbs{index}", home)
    _write(root / "sys/class/infiniband_verbs", {"abi_version": 6})
    _write(root / "dev/infiniband", {f"uverbs{index}": ""})
