"""The QoS state of one physical link: PFC, classification, global pause, and what its counters say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..host import Host
from ..unknown import Unknown, known_or, then
from .classes import Buffers, TrafficClasses, buffers, headroom_bytes, rates, traffic_classes
from .congestion import Congestion, congestion
from .congestion_control import CongestionControl, congestion_control
from .netdev import Netdev
from .port import Port
from .qos_commands import dscp_command, pfc_command
from .vendors import EthNames, eth_names

Trust = Literal["dscp", "pcp"]
_DSCP, _PCP = 5, 255  # dcb_app selectors, include/uapi/linux/dcbnl.h


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One physical interface under a RoCE port.

    `pfc_priorities` may be paused; `priority_by_dscp` is the classification table (empty: none is set); `rate_limits`
    are Gb/s per traffic class, None for no limit; after `storm_timeout_ms` a paused port is released, 0 for never;
    `counters` say what happened between two samples. `kernel_class` is the traffic
    class the kernel gives every queue pair, `rdma_cm_class` the one for those that ask for none; None: not set.
    `set_by` is the tool that sets all this, "" for dcb.
    """

    port: str
    device: str
    number: int
    netdev: str
    pfc_priorities: frozenset[int] | Unknown
    trust: Trust | Unknown
    priority_by_dscp: Mapping[int, int] | Unknown
    classes: TrafficClasses | Unknown
    rate_limits: tuple[float | None, ...] | Unknown
    buffers: Buffers | Unknown
    headroom_bytes: int | Unknown
    cable_m: int | Unknown
    gbps: float | Unknown
    storm_timeout_ms: int | Unknown
    congestion: CongestionControl
    kernel_class: int | None | Unknown
    rdma_cm_class: int | None | Unknown
    pause_receive: bool | Unknown
    pause_send: bool | Unknown
    firmware_owns_dcb: bool | Unknown
    firmware_usually_does: bool
    counters: Congestion
    set_by: str = ""

    def to_pause(self, wanted: Iterable[int]) -> str:
        """Return the command that switches PFC on for these priorities and off for all others."""
        return pfc_command(self.netdev, self.set_by, frozenset(wanted), known_or(self.pfc_priorities, frozenset()))

    def to_map(self, dscp: int, priority: int) -> str:
        """Return the command that gives packets with this DSCP that priority."""
        return dscp_command(self.netdev, self.set_by, dscp, priority)

    def priority_of(self, dscp: int) -> int | Unknown:
        """Return the priority that packets with this DSCP get on arrival: 0 unless DSCP is trusted and mapped."""
        if isinstance(self.trust, Unknown):
            return self.trust
        if self.trust == "pcp":
            return 0
        return then(self.priority_by_dscp, lambda table: table.get(dscp, 0))

    @property
    def paused_by_802_3x(self) -> bool:
        """Return whether 802.3x pause is known to have stopped this link, or its peer, between two samples."""
        return self.counters.paused_by_802_3x

    @property
    def globally_paused(self) -> bool | Unknown:
        for side in (self.pause_receive, self.pause_send):
            if isinstance(side, Unknown):
                return side
        return bool(self.pause_receive) or bool(self.pause_send)

    def __str__(self) -> str:
        return self.port


def link(host: Host, port: Port, label: str, interface: Netdev, pci: str, *, is_virtual: bool) -> Link:
    """Read the QoS state of an interface of `port`. What a virtual one or a driver has not got is not applicable."""
    name, names = interface.name, then(interface.driver, eth_names)
    absent = is_virtual or (isinstance(names, EthNames) and not names.dcb)
    classes = (
        f"/sys/class/infiniband/{port.device}/tc/{port.number}/traffic_class",
        f"/sys/kernel/config/rdma_cm/{port.device}/ports/{port.number}/default_roce_tos",
    )
    kinds = ("dcb", "ethtool.pause", "ethtool.stats", "ethtool.pfc-storm")
    host.ask_all([*((kind, name) for kind in kinds), *(("read", path) for path in classes)])
    dcb, pause = (_present(host.ask(kind, name), absent=absent) for kind in ("dcb", "ethtool.pause"))
    source = f"dcb {name}"
    pfc = then(_part(dcb, "pfc", source), lambda p: _bits(p["enabled"]), source)
    cable = _cable(_part(dcb, "pfc", source), names, source)
    paths = {"netdev": name, "pci": pci, "device": port.device, "port": str(port.number)}
    return Link(
        port=label,
        device=port.device,
        number=port.number,
        netdev=name,
        pfc_priorities=pfc,
        trust=then(dcb, _trust, source),
        priority_by_dscp=then(_part(dcb, "app", source), _by_dscp, source),
        classes=then(_part(dcb, "ets", source), traffic_classes, source),
        rate_limits=then(_optional(dcb, "maxrate_kbps", source), rates, source),
        buffers=then(_optional(dcb, "buffer", source), buffers, source),
        headroom_bytes=_headroom(cable, interface),
        cable_m=cable,
        gbps=interface.speed_gbps,
        storm_timeout_ms=_storm_timeout(host, name),
        congestion=congestion_control(host, interface.driver, absent=is_virtual, **paths),
        kernel_class=_class(host, classes[0]),
        rdma_cm_class=_class(host, classes[1]),
        pause_receive=then(pause, lambda p: _flag(p["rx"]), f"ethtool.pause {name}"),
        pause_send=then(pause, lambda p: _flag(p["tx"]), f"ethtool.pause {name}"),
        firmware_owns_dcb=then(_optional(dcb, "dcbx", source), lambda flags: bool(_bits(flags) & {1}), source),
        firmware_usually_does=isinstance(names, EthNames) and names.firmware_dcb,
        counters=congestion(host, name, pfc, interface.driver, is_virtual=is_virtual),
    )


def _cable(pfc: Any, names: EthNames | None | Unknown, source: str) -> int | Unknown:
    """Return the cable length that the driver sizes its headroom by; most drivers have no such setting."""
    if isinstance(names, EthNames) and not names.cable_length:
        return Unknown(source, "not-applicable", "this driver has no setting for the cable's length")
    return then(pfc, lambda p: _within(p["delay"], 1, 0xFFFF), source)


def _headroom(cable: int | Unknown, interface: Netdev) -> int | Unknown:
    for value in (cable, interface.speed_gbps, interface.mtu):
        if isinstance(value, Unknown):
            return value
    return headroom_bytes(cable, interface.speed_gbps, interface.mtu)  # type: ignore[arg-type]


def _storm_timeout(host: Host, name: str) -> int | Unknown:
    """Return milliseconds. Most drivers have no such watchdog that could be set."""
    answer = host.ask("ethtool.pfc-storm", name)
    if isinstance(answer, Unknown) and answer.why in ("unsupported", "missing"):
        return Unknown(answer.source, "not-applicable", "this driver has no setting for it")
    return then(answer, lambda ms: _within(ms, 0, 0xFFFF), f"ethtool.pfc-storm {name}")


def _class(host: Host, path: str) -> int | None | Unknown:
    """Return the traffic class in a file that few nodes have: "106", or "Global tclass=106" with NVIDIA's driver."""
    text = host.ask("read", path)
    if isinstance(text, Unknown) and text.why in ("missing", "needs-root"):
        return None
    return then(text, lambda t: _within(int(t.split("\n")[0].rpartition("=")[2]), 0, 0xFF) or None, f"read {path}")


def _within(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"not between {least} and {most}")
    return value


def _present(answer: Any, *, absent: bool) -> Any:
    if absent and isinstance(answer, Unknown) and answer.why in ("unsupported", "missing"):
        return Unknown(answer.source, "not-applicable", "this kind of interface has none")
    return answer


def _part(dcb: Any, key: str, source: str) -> Any:
    """Return one getter's answer; one that is absent means that the driver cannot say, not that it is off."""
    if isinstance(dcb, dict) and key not in dcb:
        return Unknown(source, "unsupported", f"the driver does not report {key}")
    return then(dcb, lambda d: d[key], source)


def _optional(dcb: Any, key: str, source: str) -> Any:
    """Return the answer of a getter that few drivers have: absent, there is no such thing to be wrong."""
    if isinstance(dcb, dict) and key not in dcb:
        return Unknown(source, "not-applicable", f"the driver has no {key}")
    return then(dcb, lambda d: d[key], source)


def _bits(mask: Any) -> frozenset[int]:
    if isinstance(mask, bool) or not isinstance(mask, int) or not 0 <= mask <= 0xFF:  # noqa: PLR2004  8 priorities
        raise ValueError("not a mask of 8 priorities")
    return frozenset(bit for bit in range(8) if mask >> bit & 1)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("neither on nor off")
    return value


def _trust(dcb: dict[str, Any]) -> Trust | Unknown:
    """Return what the table of trust says; without one (mlx5), DSCP is trusted iff a DSCP entry is set."""
    order = [int(selector) for selector in dcb.get("trust", ())]
    first = next((s for s in order if s in (_DSCP, _PCP)), None)
    if first is not None:
        return "dscp" if first == _DSCP else "pcp"
    if "app" not in dcb:
        return Unknown("dcb", "unsupported", "the driver reports neither trust nor a classification table")
    return "dscp" if _by_dscp(dcb["app"]) else "pcp"


def _by_dscp(app: Any) -> dict[int, int]:
    if not isinstance(app, list):
        raise TypeError("not a table")
    for entry in app:
        selector, priority, protocol = entry
        if not all(type(part) is int for part in entry):
            raise TypeError("not a classification entry")
        if not (0 < selector <= _PCP and 0 <= priority < 8 and 0 <= protocol <= 0xFFFF):  # noqa: PLR2004
            raise ValueError("no such classification entry")
    return {dscp: priority for selector, priority, dscp in app if selector == _DSCP}


def join(priorities: Iterable[int]) -> str:
    """Return priorities as text: "3", "3 and 4", "none"."""
    *rest, last = [str(p) for p in sorted(priorities)] or ["none"]
    return f"{', '.join(rest)} and {last}" if rest else last
