"""The expectations. A value nobody set is None, and checks that need it are skipped."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar

T = TypeVar("T")


class UnsetExpectation(Exception):
    """Ends the judging of one subject: the site has no opinion."""


def _about(text: str) -> Any:
    return field(default=None, metadata={"about": text})


@dataclass(frozen=True, slots=True)
class Expect:
    """All expectations; the field's name is its key under [expect]."""

    rails: tuple[str, ...] | None = _about(
        "glob patterns for the fabric ports: RDMA device, device/port, interface or PCI address"
    )
    devices: int | None = _about("how many RDMA devices the fabric has on each node")
    rate_gbps: float | None = _about("link rate of each rail, Gb/s")
    link_layer: Literal["InfiniBand", "Ethernet"] | None = _about("link layer of the rails")
    addressed_rails: bool | None = _about("whether each RoCE rail needs an IP address of its own")
    mtu: int | None = _about("RDMA MTU (active_mtu) of each rail, bytes; 4096 needs an interface MTU of at least 4200")
    lossless_priorities: frozenset[int] | None = _about("the priorities that PFC protects; [] on a lossy fabric")
    trust: Literal["dscp", "pcp"] | None = _about("what classifies arriving packets")
    dscp: int | None = _about("DSCP of RDMA traffic; NCCL_IB_TC is four times this value, plus ECN bits")
    cnp_priority: int | None = _about("priority of congestion notification packets")
    congestion_control: Literal["dcqcn", "rttcc", "pcc", "off"] | None = _about("congestion control of the NICs")
    lossless_bandwidth: int | None = _about("least share of bandwidth (ETS) of a lossless traffic class, percent")
    cable_m: int | None = _about("length of the rails' longest cable, metres; drivers size their buffers by it")
    adaptive_routing: bool | None = _about(
        "whether the fabric sends packets of one connection on several paths, so that they arrive out of order"
    )
    max_loss_ppm: float | None = _about("packets lost per million between two samples, before it is a fault")
    max_pause_share: float | None = _about("share of time a link may be paused between two samples (0 to 1)")
    max_raw_ber: float | None = _about("bits corrected per bit received, before error correction, that a link may show")
    boot_grace_s: float | None = _about("seconds after boot in which links may still come and go")
    nccl_version: str | None = _about(
        'oldest NCCL of the jobs, as in "2.18.3"; unset: 2.21 or later, which chooses its GID itself'
    )
    memlock_bytes: int | None = _about("least locked-memory limit of a job, bytes; 0 stands for unlimited")

    # What several checks take where the site sets nothing.

    @property
    def settled_after_s(self) -> float:
        return 1800.0 if self.boot_grace_s is None else self.boot_grace_s

    @property
    def allowed_loss_ppm(self) -> float:
        return 100.0 if self.max_loss_ppm is None else self.max_loss_ppm

    @property
    def allowed_raw_ber(self) -> float:
        return 1e-5 if self.max_raw_ber is None else self.max_raw_ber


def wanted(value: T | None) -> T:
    """Return the expectation, or skip this subject because the site set none. Call it before `known()`."""
    if value is None:
        raise UnsetExpectation
    return value


class Asked:
    """Stands for an `Expect` while a check judges, and remembers which unset value it read last."""

    def __init__(self, expect: Expect) -> None:
        self._expect = expect
        self.unset = ""

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._expect, name)
        if value is None:
            self.unset = name
        return value


def names() -> tuple[str, ...]:
    """Return the names of all expectations."""
    return tuple(f.name for f in fields(Expect))


def about(name: str) -> str:
    """Return what an expectation means, in one line."""
    return next(str(f.metadata["about"]) for f in fields(Expect) if f.name == name)
