"""What each driver calls things. A driver without an entry gives Unknown("unsupported"), never a guess."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class RdmaNames:
    """Names in `ports/N/hw_counters`; an empty tuple means that this driver does not count it.

    Several names are added up: they count different things, or are what releases of one driver call the same thing. A
    name with a directory (`counters/x`, `device/x`) is in that of the port, or in the device's own hw_counters.
    """

    #: packets that came after a gap: lost on the way to this port, or reordered
    out_of_order: tuple[str, ...] = ()
    #: gaps that peers reported: lost on the way from this port
    retransmit: tuple[str, ...] = ()
    timeouts: tuple[str, ...] = ()
    #: connections that ended because their retries were used up, and requests thrown away when a connection ended
    gave_up: tuple[str, ...] = ()
    flushed: tuple[str, ...] = ()
    #: RDMA packets dropped on arrival
    discards: tuple[str, ...] = ()
    ecn_marked: tuple[str, ...] = ()
    cnp_sent: tuple[str, ...] = ()
    cnp_handled: tuple[str, ...] = ()
    cnp_ignored: tuple[str, ...] = ()
    received: tuple[str, ...] = ("counters/port_rcv_packets",)
    sent: tuple[str, ...] = ("counters/port_xmit_packets",)
    #: EFA delivers out of order by design and retransmits on lossy networks: only time-outs say anything
    ordered: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class EthNames:
    """Names in `ethtool -S`, with {p} for the priority; durations are microseconds. Without a name: not counted."""

    pfc_received_us: str = ""
    pfc_sent_us: str = ""
    pause_received_us: str = ""
    pause_sent_us: str = ""
    pfc_received_frames: str = ""
    pfc_sent_frames: str = ""
    pause_received_frames: str = ""
    pause_sent_frames: str = ""
    #: how often the device paused its peer for long, and how often that was cut off by a watchdog
    storm_warnings: str = ""
    storm_errors: str = ""
    discards: str = ""
    port_discards: str = ""
    #: frames with a bad checksum
    corrupted: str = ""
    fec_uncorrectable: str = ""
    fec_corrected_bits: str = ""
    #: all the port sent, RDMA among it
    sent_bytes: str = ""
    #: False: the driver has no DCB interface at all, and its QoS is set by a tool of the vendor
    dcb: bool = True
    #: the PFC answer's `delay` is the cable's length in metres, and the driver sizes its headroom by it
    cable_length: bool = False
    #: that the firmware negotiates DCB with the switch is this driver's usual way
    firmware_dcb: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CcFiles:
    """Where a driver shows congestion control; {netdev}, {pci}, {device}, {port}, {p} (priority) are filled in.

    `probe` is there when the layout is. "" stands for what the layout does not show. `notify` and `react` are one
    flag per priority; a driver with one for all of it has `enabled` in their place.
    """

    probe: str
    notify: str = ""
    react: str = ""
    enabled: str = ""
    cnp_dscp: str = ""
    cnp_priority: str = ""
    #: the one algorithm this driver has, when it is on
    algorithm: str = ""
    turn_on: str = ""


def rdma_names(driver: str) -> RdmaNames | None:
    """Return the names of the driver that is bound to the RDMA device (its PCI driver, or rxe, siw)."""
    return _RDMA().get(driver)


def eth_names(driver: str) -> EthNames | None:
    """Return the names of a network driver, as `ethtool -i` gives it."""
    return _ETH().get(driver)


def cc_files(driver: str) -> tuple[CcFiles, ...]:
    """Return the layouts a network driver's congestion control may have, the one of an out-of-tree driver first."""
    from . import bnxt, intel, mlx5  # noqa: PLC0415

    return next((module.CC for module in (bnxt, intel, mlx5) if driver in module.DRIVERS), ())


def rdma_module(driver: str) -> str:
    """Return the kernel module that adds RDMA to a network driver, "" for a driver that is not known."""
    modules = {"mlx5_core": "mlx5_ib", "mlx4_core": "mlx4_ib", "bnxt_en": "bnxt_re", "ice": "irdma"}
    return (modules | {"i40e": "irdma", "ionic": "ionic_rdma"}).get(driver, "")


def _RDMA() -> dict[str, RdmaNames]:  # noqa: N802
    # each driver is one file; tables load when asked
    from . import bnxt, efa, erdma, hns, intel, ionic, mana, mlx5, rxe  # noqa: PLC0415

    return {
        name: module.RDMA
        for module in (bnxt, efa, erdma, hns, intel, ionic, mana, mlx5, rxe)
        for name in module.DRIVERS
    }


def _ETH() -> dict[str, EthNames]:  # noqa: N802
    from . import bnxt, efa, hns, intel, ionic, mana, mlx5, rxe  # noqa: PLC0415

    tables = {name: module.ETH for module in (bnxt, efa, hns, intel, ionic, mana, mlx5) for name in module.DRIVERS}
    return tables | dict.fromkeys(rxe.INTERFACES, rxe.ETH)
