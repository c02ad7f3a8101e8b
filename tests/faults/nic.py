"""Faults of the area nic."""

from functools import partial

from faults.row import MISSING, Row, put
from nodes import blocks, make
from nodes.optics import module

_PORT = "/sys/class/infiniband/mlx5_0/ports/1"
_PCI = "/sys/bus/pci/devices/0000:03:00.0"
_DOWN = {f"read {_PORT}/state": "1: DOWN", f"read {_PORT}/phys_state": "2: Polling"}
_NO_DEVICE = {
    "list /sys/class/infiniband": ["mlx5_1"],
    f"list {_PCI}/infiniband": MISSING,
    f"list {_PCI}/net": ["rail0"],
}
_ENOMEM, _EACCES = {"errno": 12, "detail": "Cannot allocate memory"}, {"errno": 13, "detail": "Permission denied"}
_ABI = "Driver mlx5 does not support the kernel ABI of 6 (supports 1 to 1) for device /sys/class/infiniband/mlx5_0"
_LINK_LOCAL = {"gid": "fe80::1", "type": "RoCE v2", "ndev": "rail0"}

_UNPLUGGED = [
    {"seconds": 9.0, "kind": "link-down", "device": "rail1", "text": "Link down"},
    {
        "seconds": 8.0,
        "kind": "module-unplugged",
        "device": blocks.pci_address("nic", 0),
        "text": "Port module event: module 0, Cable unplugged",
    },
]

FAULTS = {
    "rdma-device-missing": [
        Row(_NO_DEVICE, "driver mlx5_core offers rail0 but no RDMA device", subject="0000:03:00.0"),
        Row(
            _NO_DEVICE | {f"link {_PCI}/driver": MISSING, f"list {_PCI}/net": MISSING},
            "no driver is bound",
            subject="0000:03:00.0",
        ),
    ],
    "fewer-rdma-devices-than-expected": [Row({}, "2 RDMA devices", subject="node", expect={"devices": 8})],
    "no-userspace-provider": [
        Row({"list /dev/infiniband": MISSING}, "no uverbs node", subject="mlx5_0"),
        Row(
            {
                "verbs.devices": {
                    "library": "libibverbs.so.1",
                    "devices": ["mlx5_1"],
                    "warnings": [_ABI],
                }
            },
            "does not support the kernel ABI of 6",
            subject="mlx5_0",
        ),
    ],
    "uverbs-not-usable": [
        Row({"verbs.usable mlx5_0": put("steps", "mr", value=_ENOMEM)}, "mr failed for uid 1000", subject="mlx5_0"),
        Row({"verbs.usable mlx5_0": put("steps", "open", value=_EACCES)}, "open failed for uid", subject="mlx5_0"),
    ],
    "port-not-active": [
        Row(_DOWN, "DOWN (physical state Polling)"),
        Row(_DOWN | {"read /sys/class/net/rail0/flags": "0x1002"}, "administratively down"),
        Row(_DOWN | {"kmsg": _UNPLUGGED}, "kernel log: Port module event: module 0, Cable unplugged"),
        Row({f"read {_PORT}/state": "2: INIT"}, "no subnet manager", node=make.infiniband),
    ],
    "port-below-rate": [
        Row(
            {f"read {_PORT}/rate": "200 Gb/sec (2X NDR)", "read /sys/class/net/rail0/speed": "200000"},
            "200 Gb/s on 2 lanes: 2 of 4 lanes lost",
        ),
        Row(
            {"read /sys/class/net/rail0/speed": "200000", "ethtool.module rail0": module(host="1c004401")},
            "200 Gb/s on 4 lanes: its cable or module is made for 200 Gb/s",
        ),
        Row(
            {
                "read /sys/class/net/rail0/speed": "200000",
                "ethtool.modes rail0": put("peer", value=["100000baseSR4/Full", "200000baseSR4/Full"]),
            },
            "200 Gb/s on 4 lanes: the other end offers at most 200 Gb/s",
        ),
        Row(
            {
                "read /sys/class/net/rail0/speed": "200000",
                "ethtool.modes rail0": put("advertised", value=["200000baseSR4/Full"]),
            },
            "200 Gb/s on 4 lanes: it is set to at most 200 Gb/s",
        ),
        Row(
            {f"ethtool.modes rail{i}": put("supported", value=["800000baseSR8/Full"]) for i in range(2)},
            "400 Gb/s: its cable or module is made for 400 Gb/s",
            "warning",
        ),
        Row({"read /sys/class/net/rail0/speed": "200000"}, "200 Gb/s on 4 lanes"),
        Row({}, "400 Gb/s", expect={"rate_gbps": 800.0}),
        Row(
            {f"ethtool.modes rail{i}": put("supported", value=["800000baseSR8/Full"]) for i in range(2)}
            | {f"ethtool.module rail{i}": MISSING for i in range(2)},
            "400 Gb/s",
            "info",
        ),
        Row(
            {"ethtool.modes rail0": put("supported", value=["800000baseSR8/Full"])},
            "400 Gb/s",
            "warning",
            node=partial(make.two_rails_roce, 1),
        ),
        Row(
            {f"verbs.device mlx5_{i}": put("ports", "1", "gbps", value=200.0 * (i + 1)) for i in range(2)},
            "200 Gb/s",
            node=make.infiniband,
        ),
    ],
    "no-address-on-rail": [
        Row(
            {"addresses": put("rail0", value=[]), "gids mlx5_0/1": put("entries", value={"0": _LINK_LOCAL})},
            "no routable address",
        ),
    ],
    "link-flapped": [
        Row({"read /sys/class/net/rail0/carrier_changes": "5"}, "went down 2 times", "warning"),
        Row({f"read {_PORT}/counters/link_downed": "1"}, "went down 1 time between", "warning"),
        Row(
            {"read /proc/uptime": "600.00 1.00", f"read {_PORT}/counters/link_downed": "1"},
            "went down 1 time",
            "warning",
            expect={"boot_grace_s": 0.0},
        ),
    ],
}
