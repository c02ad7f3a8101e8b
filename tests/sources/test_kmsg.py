"""The kernel log: records as text, and whatever this machine lets us read."""

import contextlib
import json

import pytest

from fabricdoctor.sources import kmsg

MLX5 = "mlx5_core 0000:43:00.0: "
NARROW = (
    "63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at "
    "0001:42:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"
)


def one(text):
    found = kmsg.parse([f"4,100,8387515,-;{text}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:43:00.0\n".encode()])
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("text", "kind", "device", "kept"),
    [
        (
            MLX5 + "wait_func:1151:(pid 123): ACCESS_REG(0x805) timeout. Will cause a leak of a command resource",
            "command-timeout",
            "0000:43:00.0",
            "ACCESS_REG(0x805) timeout. Will cause a leak of a command resource",
        ),
        (
            MLX5 + "poll_health:800:(pid 0): device's health compromised - reached miss count",
            "health-compromised",
            "0000:43:00.0",
            "device's health compromised - reached miss count",
        ),
        (
            MLX5 + "mlx5_pcie_event:299:(pid 9): Detected insufficient power on the PCIe slot (27W).",
            "insufficient-power",
            "0000:43:00.0",
            "Detected insufficient power on the PCIe slot (27W)",
        ),
        (
            MLX5 + "firmware version: 28.39.1002",
            "set-up",
            "0000:43:00.0",
            "firmware version: 28.39.1002",
        ),
        (MLX5 + "rail0: TX timeout detected", "transmit-timeout", "0000:43:00.0", "TX timeout detected"),
        (
            "bnxt_en 0000:43:00.0 rail0: TX timeout detected, starting reset task!",
            "transmit-timeout",
            "0000:43:00.0",
            "TX timeout detected",
        ),
        (
            MLX5 + "Port module event: module 0, Cable unplugged",
            "module-unplugged",
            "0000:43:00.0",
            "Port module event: module 0, Cable unplugged",
        ),
        (
            MLX5 + "Port module event: module 1, Cable plugged",
            "module-plugged",
            "0000:43:00.0",
            "Port module event: module 1, Cable plugged",
        ),
        (
            MLX5 + "Port module event[error]: module 0, Cable error, Bad or shorted cable/module",
            "module-error",
            "0000:43:00.0",
            "Port module event[error]: module 0, Cable error, Bad or shorted cable/module",
        ),
        (
            MLX5 + "Port module event[error]: module 0, Cable error, High Temperature",
            "high-temperature",
            "0000:43:00.0",
            "Port module event[error]: module 0, Cable error, High Temperature",
        ),
        (
            MLX5 + "temp_warn:200: High temperature on sensors with bit set 0 1",
            "high-temperature",
            "0000:43:00.0",
            "High temperature",
        ),
        (
            "NETDEV WATCHDOG: rail0 (mlx5_core): transmit queue 3 timed out",
            "transmit-timeout",
            "rail0",
            "NETDEV WATCHDOG: rail0 (mlx5_core): transmit queue 3 timed out",
        ),
        (
            "mlx5_core 0000:43:00.0 rail0: NETDEV WATCHDOG: CPU: 3: transmit queue 5 timed out 5016 ms",
            "transmit-timeout",
            "0000:43:00.0",
            "NETDEV WATCHDOG: CPU: 3: transmit queue 5 timed out 5016 ms",
        ),
        (
            "rail0 (unregistered): NETDEV WATCHDOG: CPU: 3: transmit queue 5 timed out 5016 ms",
            "transmit-timeout",
            "rail0",
            "NETDEV WATCHDOG: CPU: 3: transmit queue 5 timed out 5016 ms",
        ),
        (
            "mlx5_core 0001:43:00.0: " + NARROW,
            "pcie-bandwidth",
            "0001:43:00.0",
            NARROW,
        ),
        (
            "mlx5_core 0000:43:00.0 rail0: buffer_size[1]=130944 is not enough for lossless buffer",
            "buffer-too-small",
            "0000:43:00.0",
            "buffer_size[1]=130944 is not enough for lossless buffer",
        ),
        ("mlx5_core 0000:43:00.0 rail0: Link down", "link-down", "0000:43:00.0", "Link down"),
        ("bnxt_en 0000:3b:00.0 rail1: NIC Link is Up, 400000 Mbps", "link-up", "0000:3b:00.0", "NIC Link is Up"),
        ("ice 10000:3b:00.1 rail2: NIC Link is up 100 Gbps", "link-up", "10000:3b:00.1", "NIC Link is up"),
    ],
)
def test_nic_messages(text, kind, device, kept):
    assert one(text) == {"seconds": 8.387515, "kind": kind, "device": device, "text": kept}


@pytest.mark.parametrize(
    "text",
    [
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "igb 0000:01:00.0 mgmt0: igb: mgmt0 NIC Link is Up 1000 Mbps",
        "nvme nvme0: High temperature",
        MLX5 + "Link speed is 400G, uplink of rail0",
        "audit: user said Link up",
    ],
)
def test_other_messages_are_not_kept(text):
    assert one(text) is None


def test_only_the_matched_part_leaves_the_log():
    found = one("mlx5_core 0000:43:00.0 rail0: Link up secret=hunter2")
    assert "hunter2" not in json.dumps(found)


def test_a_line_s_dictionary_is_not_searched():
    assert kmsg.parse([b"6,1,2,-;quiet\n DEVICE=NETDEV WATCHDOG\n"]) == []


@pytest.mark.parametrize("record", [b"", b"\n", b"4,1;text", b"4,1,x,-;text", b"no prefix"])
def test_garbled_records_are_refused(record):
    with pytest.raises(ValueError):
        kmsg.parse([record])


def test_truncation_is_nothing_but_a_value_error():
    whole = b"4,100,8387515,-;mlx5_core 0000:43:00.0 rail0: Link down \xc3\xa4\n"
    told = []
    for end in range(len(whole)):
        with contextlib.suppress(ValueError):
            told += kmsg.parse([whole[:end]])
    assert {entry["text"] for entry in told} == {"Link down"}


def test_unknown_kind():
    with pytest.raises(ValueError):
        kmsg.kernel_log("no-such-kind")


def test_live():
    try:
        found = kmsg.kernel_log("")
    except OSError:
        return
    assert all(set(match) == {"seconds", "kind", "device", "text"} for match in found)
