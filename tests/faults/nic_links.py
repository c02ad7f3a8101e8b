"""Faults of the area nic: the physical link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from faults.row import Row, put
from nodes import blocks, make
from nodes.optics import module

from fabricdoctor.recording import Recording

_PORT = "/sys/class/infiniband/mlx5_0/ports/1"
_FIRMWARE = "read /sys/class/infiniband/mlx5_0/fw_ver"
_CHANGES = "read /sys/class/net/rail0/carrier_changes"
#: bits of a minute of which 3.3e-5 were corrected, at 400 Gb/s; the sample before had 120 million
_NOISY = 920_000_000


def fec(**stats: int) -> dict[str, Any]:
    return {"configured": ["RS"], "auto": False, "active": "RS", "stats": {"corrected_bits": 120_000_000} | stats}


def over(seconds: float) -> Callable[[], Recording]:
    """Return a maker of a node whose samples are so far apart."""

    def made() -> Recording:
        taken = make.two_rails_roce()
        return replace(taken, before_take=replace(taken.take, monotonic=taken.take.monotonic - seconds))

    return made


def down(*seconds: float, device: str = "") -> list[dict[str, Any]]:
    device = device or blocks.pci_address("nic", 0)
    return [{"seconds": second, "kind": "link-down", "device": device, "text": "Link down"} for second in seconds]


def bnxt() -> Recording:
    """Make a node whose adapters count lost blocks in statistics of their own, and no bits corrected."""
    answers = make.roce()
    for rail in range(2):
        base, bound = f"/sys/class/infiniband/mlx5_{rail}", "../../../../bus/pci/drivers/bnxt_en"
        answers |= {f"link {base}/device/driver": bound, f"ethtool.driver rail{rail}": {"driver": "bnxt_en"}}
        answers |= {f"read {base}/ports/1/hw_counters/{name}": "90000000" for name in ("rx_pkts", "tx_pkts")}
        answers[f"ethtool.fec rail{rail}"]["stats"] = {}
        names = ("pfc_pri3_rx_duration_us", "pfc_pri3_tx_duration_us", "rx_discard_packets_cos3", "rx_stat_discard")
        answers[f"ethtool.stats rail{rail}"] = dict.fromkeys((*names, "rx_fec_uncorrectable_blocks"), 0)
    return blocks.record(answers)


def three_rails() -> Recording:
    return make.two_rails_roce(3)


def no_gpu() -> Recording:
    taken = make.two_rails_roce(3)
    nics = [blocks.pci_address("nic", rail) for rail in range(3)]
    return replace(taken, answers={**taken.answers, "list /sys/bus/pci/devices": {"value": nics}})


FAULTS = {
    "fec-uncorrectable": [
        Row({"ethtool.fec rail0": fec(uncorrectable=40)}, "40 blocks beyond repair in 60 s (2400 an hour)", "warning"),
        Row(
            {"ethtool.fec rail0": fec(uncorrectable=900, corrected_bits=30 * _NOISY)},
            "900 blocks beyond repair in 1800 s",
            node=over(1800.0),
            also=("raw-ber-high",),
        ),
        # as many, but of one burst: the rate of errors before correction is that of a good link
        Row({"ethtool.fec rail0": fec(uncorrectable=900)}, "900 blocks", "warning", node=over(1800.0)),
        Row({"ethtool.fec port1": fec(uncorrectable=9)}, "9 blocks", "warning", "mlx5_0/1 (port1)", node=make.bond),
        Row(
            {"ethtool.stats rail0": put("rx_fec_uncorrectable_blocks", value=900)},
            "900 blocks",
            before={"ethtool.stats rail0": put("rx_fec_uncorrectable_blocks", value=0)},
            node=lambda: replace(bnxt(), before_take=over(1800.0)().before_take),
        ),
    ],
    "raw-ber-high": [
        Row(
            {"ethtool.fec rail0": fec(corrected_bits=_NOISY)},
            "3.3e-05 of all bits needed repair, on this rail only (1 of 2)",
            "warning",
        ),
        Row(
            {f"ethtool.fec rail{i}": fec(corrected_bits=_NOISY) for i in range(2)},
            "and on 1 of 1 other rail",
            "warning",
        ),
        Row(
            {"ethtool.fec rail0": fec(corrected_bits=130_000_000)},
            "4.2e-07 of all",
            "warning",
            expect={"max_raw_ber": 1e-8},
        ),
        # a driver that has no such statistic of ethtool's: its own counter
        Row(
            {
                "ethtool.fec rail0": put("stats", value={}),
                "ethtool.stats rail0": put("rx_corrected_bits_phy", value=_NOISY),
            },
            "3.8e-05 of all",
            "warning",
            before={"ethtool.stats rail0": put("rx_corrected_bits_phy", value=0)},
        ),
    ],
    "transceiver-too-hot": [
        Row({"ethtool.module rail0": module(celsius=71.5)}, "71.5 °C in the OSFP module", "warning"),
        Row(
            {"ethtool.module port1": module(celsius=71.5)},
            "71.5 °C",
            "warning",
            "mlx5_0/1 (port1)",
            node=make.bond,
        ),
    ],
    "transceiver-power-low": [
        Row({"ethtool.module rail0": module(received=0.2)}, "-7.0 dBm received on lane 1, -7.0", "warning"),
    ],
    "firmware-differs": [
        Row({_FIRMWARE: "28.39.1002"}, "mlx5_0: firmware 28.39.1002", "warning", "board MT4129 MT_0000000838"),
        Row(
            {_FIRMWARE: "28.9.1002", "read /sys/class/infiniband/mlx5_1/fw_ver": "28.39.1002"},
            "mlx5_0: firmware 28.9.1002",
            "warning",
            "board MT4129 MT_0000000838",
        ),
    ],
    "link-flapping": [
        Row(
            {_CHANGES: "9", "kmsg": down(861_000.0, 862_000.0, 863_000.0)},
            "lost 3 times in the last hour, says the kernel log",
            before={_CHANGES: "9"},
        ),
        Row(
            {_CHANGES: "9", "kmsg": down(*range(850_000, 850_400, 100), device="rail0")},
            "lost 4 times between the two samples",
            node=over(36_000.0),
        ),
        Row({f"read {_PORT}/counters/link_downed": "3"}, "lost 3 times between", node=make.infiniband),
    ],
    "wrong-link-layer": [
        Row(
            {f"read {_PORT}/link_layer": "InfiniBand"},
            "InfiniBand",
            expect={"link_layer": "Ethernet"},
            node=three_rails,
        ),
        Row(
            {f"read {_PORT}/link_layer": "InfiniBand"},
            "InfiniBand",
            expect={"link_layer": "Ethernet", "devices": 3},
            node=no_gpu,
            also=("fewer-rdma-devices-than-expected",),
        ),
        Row({}, "InfiniBand", expect={"link_layer": "Ethernet", "mtu": 4096}, node=make.infiniband),
        Row(
            {f"read {_PORT}/link_layer": "Ethernet"},
            "Ethernet",
            expect={"link_layer": "InfiniBand"},
            node=make.infiniband,
        ),
    ],
}
