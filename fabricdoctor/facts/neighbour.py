"""The switch port at the other end of a link, as it tells by LLDP (heard by lldpd on this node)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..host import Host
from ..unknown import Unknown, then
from .qos import Link
from .tools import told

QUESTION = "lldpcli"


@dataclass(frozen=True, slots=True, eq=False)
class Neighbour:
    """What one neighbour sent; None is what it did not send.

    `pfc_priorities` are those it pauses; `pfc_willing` says that it would take ours instead. `priority_by_dscp` and
    `traffic_class` are its classification, `max_frame_bytes` the largest frame it takes.
    """

    system: str
    port: str
    port_description: str
    is_switch: bool
    max_frame_bytes: int | None
    pfc_priorities: frozenset[int] | None
    pfc_willing: bool
    priority_by_dscp: Mapping[int, int] | None
    traffic_class: tuple[int, ...] | None

    def __str__(self) -> str:
        return f"{'switch' if self.is_switch else 'neighbour'} {self.system} port {self.port}"


@dataclass(frozen=True, slots=True, eq=False)
class PeerLink:
    """A physical interface of a RoCE rail together with its neighbour."""

    link: Link
    neighbour: Neighbour | Unknown

    @property
    def switch_pfc(self) -> frozenset[int] | Unknown:
        """Return the priorities the switch port pauses, as far as it insists on them."""
        if isinstance(self.neighbour, Unknown):
            return self.neighbour
        if not self.neighbour.is_switch or self.neighbour.pfc_priorities is None or self.neighbour.pfc_willing:
            return _nothing(f"{self.neighbour} does not say which priorities it pauses, or takes ours")
        return self.neighbour.pfc_priorities

    def __str__(self) -> str:
        return str(self.link)


def _nothing(detail: str) -> Unknown:
    return Unknown(f"tool {QUESTION}", "not-applicable", detail)


def neighbours(host: Host) -> Mapping[str, Neighbour] | Unknown:
    """Return the neighbour of each interface that has exactly one. Without an lldpd there is nothing to know."""
    heard = told(host, QUESTION)
    if isinstance(heard, Unknown):
        return _nothing("lldpd does not answer") if heard.why == "unsupported" else heard
    from .tools.lldp import parse  # noqa: PLC0415  loaded where lldpd runs

    return then(heard, parse, f"tool {QUESTION}")


def neighbour_of(name: str, found: Mapping[str, Neighbour] | Unknown) -> Neighbour | Unknown:
    """Return the neighbour of an interface."""
    if isinstance(found, Unknown):
        return found
    return found.get(name) or _nothing(f"no neighbour, or several, on {name}")
