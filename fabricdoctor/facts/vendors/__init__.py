"""What each driver calls things. A driver without an entry gives Unknown("unsupported"), never a guess."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RdmaNames:
    """Names in `ports/N/hw_counters`; an empty tuple means that this driver does not count it.

    `packets` are received and sent packets, as (directory, name), since `counters` and `hw_counters` share the work.
    """

    out_of_order: tuple[str, ...] = ()
    retransmit: tuple[str, ...] = ()
    timeouts: tuple[str, ...] = ()
    packets: tuple[tuple[str, str], ...] = (("counters", "port_rcv_packets"), ("counters", "port_xmit_packets"))
    #: EFA delivers out of order by design and retransmits on lossy networks: only time-outs say anything
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class EthNames:
    """Names in `ethtool -S`, with {p} for the priority; durations are microseconds."""

    pfc_received_us: str = ""
    pfc_sent_us: str = ""
    pause_received_us: str = ""
    pause_sent_us: str = ""
    discards: str = ""
    port_discards: str = ""
    fec_uncorrectable: str = ""
    fec_corrected_bits: str = ""
    #: False: the driver has no DCB interface at all, and its QoS is set by a tool of the vendor
    dcb: bool = True
    #: the PFC answer's `delay` is the cable's length in metres, and the driver sizes its headroom by it
    cable_length: bool = False
    #: that the firmware negotiates DCB with the switch is this driver's usual way
    firmware_dcb: bool = False


@dataclass(frozen=True, slots=True)
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
    from . import bnxt, efa, intel, ionic, mlx5, rxe  # noqa: PLC0415  each driver is one file; tables load when asked

    return {name: module.RDMA for module in (bnxt, efa, intel, ionic, mlx5, rxe) for name in module.DRIVERS}


def _ETH() -> dict[str, EthNames]:  # noqa: N802
    from . import bnxt, efa, intel, ionic, mlx5  # noqa: PLC0415

    return {name: module.ETH for module in (bnxt, efa, intel, ionic, mlx5) for name in module.DRIVERS}
