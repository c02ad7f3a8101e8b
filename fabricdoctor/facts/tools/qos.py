"""QoS of adapters whose driver leaves it to a tool, in the same terms for each vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from ...host import Host
from ...unknown import Unknown, then
from ..classes import TrafficClasses
from ..congestion_control import CongestionControl
from ..qos import Link
from . import told

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QosByTool:
    """Terms as in `Link`; `cnp_dscp` is the DSCP of congestion notifications, `dcqcn` whether rates are controlled."""

    pfc_priorities: frozenset[int] | Unknown
    trust: Literal["dscp", "pcp"] | Unknown
    priority_by_dscp: Mapping[int, int] | Unknown
    classes: TrafficClasses | Unknown
    cnp_dscp: int | Unknown
    dcqcn: bool | Unknown


def qos_by_tool(host: Host, driver: str, device: str, pci: str) -> QosByTool | Unknown:
    """Ask the vendor's tool about the adapter of an RDMA device: nicctl for ionic, else niccli for bnxt_en."""
    if driver == "ionic":
        from .nicctl import dcqcn, parse  # noqa: PLC0415

        qos = then(told(host, "nicctl qos"), lambda text: parse(text)[pci], "tool nicctl qos")
        control = then(told(host, "nicctl dcqcn"), lambda text: dcqcn(text)[device], "tool nicctl dcqcn")
        on, cnp = then(control, lambda c: c.enabled), then(control, lambda c: c.cnp_dscp)
        return then(qos, lambda q: replace(q, cnp_dscp=cnp, dcqcn=on))
    from .niccli import parse as parse_niccli  # noqa: PLC0415

    return then(told(host, f"niccli qos {pci}"), parse_niccli, f"tool niccli qos {pci}")


def completed(host: Host, link: Link, driver: str, device: str, pci: str) -> Link:
    """Return the link with what its driver has no interface for, as the vendor's tool tells it, or why it does not."""
    by_tool = qos_by_tool(host, driver, device, pci)
    if isinstance(by_tool, Unknown):
        by_tool = QosByTool(by_tool, by_tool, by_tool, by_tool, by_tool, by_tool)
    return replace(
        link,
        pfc_priorities=_or(link.pfc_priorities, by_tool.pfc_priorities),
        trust=_or(link.trust, by_tool.trust),
        priority_by_dscp=_or(link.priority_by_dscp, by_tool.priority_by_dscp),
        classes=_or(link.classes, by_tool.classes),
        congestion=_controlled(link.congestion, by_tool, f"nicctl update dcqcn -r {device} -i 1"),
        set_by="nicctl" if driver == "ionic" else f"niccli --dev {pci}",
    )


def _controlled(own: CongestionControl, by_tool: QosByTool, turn_on: str) -> CongestionControl:
    """Return congestion control with the tool's word: DCQCN is on for all of an adapter, or for nothing."""
    if isinstance(by_tool.dcqcn, Unknown):
        return own
    priorities = frozenset(range(8)) if by_tool.dcqcn else frozenset()
    return replace(
        own,
        notify=_or(own.notify, priorities),
        react=_or(own.react, priorities),
        algorithm=_or(own.algorithm, "dcqcn" if by_tool.dcqcn else "off"),
        cnp_dscp=_or(own.cnp_dscp, by_tool.cnp_dscp),
        turn_on=own.turn_on or turn_on,
    )


def _or(own: T | Unknown, by_tool: T | Unknown) -> T | Unknown:
    """Return what is known; of two reasons the tool's, except where the driver should have answered by itself."""
    if not isinstance(own, Unknown):
        return own
    return own if isinstance(by_tool, Unknown) and own.why != "not-applicable" else by_tool
