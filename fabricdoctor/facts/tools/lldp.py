"""`lldpcli -f json0 show neighbors details` (lldpd): every member is a list, also when there is one.

lldpd does not decode DCBX: a switch's TLVs of IEEE 802.1Qaz arrive as unknown ones. Their bodies are laid out in IEEE
802.1Q, annex D.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...unknown import Unknown, then
from ..neighbour import Neighbour
from . import document, plain

_OUI_802_1 = "0080C2"
_ETS, _PFC, _APPLICATION = 9, 11, 12
_BY_DSCP = 5
_LENGTHS = {_ETS: 21, _PFC: 2}


def parse(text: str) -> dict[str, Neighbour]:
    """Return the neighbour of each interface that has one. Raises ValueError for what is no answer of lldpd.

    Of several on one interface (a bridge or a card's own agent passes frames on) the only switch is meant.
    """
    (top,) = document(text)["lldp"]
    heard: dict[str, list[Neighbour]] = {}
    for entry in top.get("interface", []):
        neighbour = then(entry, _neighbour)
        if not isinstance(neighbour, Unknown) and entry.get("via") == "LLDP":
            heard.setdefault(str(entry["name"]), []).append(neighbour)
    chosen = {name: found if len(found) == 1 else [n for n in found if n.is_switch] for name, found in heard.items()}
    return {name: found[0] for name, found in chosen.items() if len(found) == 1}


def _neighbour(entry: Any) -> Neighbour:
    chassis, port = _first(entry, "chassis"), _first(entry, "port")
    tlvs = _tlvs(entry)
    pfc = tlvs.get(_PFC)
    frame = _value(port, "mfs")
    description = plain(_value(port, "descr"))
    return Neighbour(
        system=plain(_value(chassis, "name") or _value(chassis, "id")),
        port=_port_name(port) or description or plain(_value(port, "id")),
        port_description=description,
        is_switch=_is_switch(chassis),
        max_frame_bytes=int(frame) if frame.isdecimal() and 0 < int(frame) <= 0xFFFF else None,  # noqa: PLR2004
        pfc_priorities=None if pfc is None else frozenset(p for p in range(8) if pfc[1] >> p & 1),
        pfc_willing=pfc is not None and bool(pfc[0] & 0x80),
        priority_by_dscp=_by_dscp(tlvs.get(_APPLICATION)),
        traffic_class=_traffic_class(tlvs.get(_ETS)),
    )


def _first(entry: Any, name: str) -> Any:
    """Return the first of a list of objects, an empty one where there is none."""
    found = entry.get(name) or [{}]
    return found[0]


def _value(entry: Any, name: str) -> str:
    return str(_first(entry, name).get("value", ""))


def _port_name(port: Any) -> str:
    """Return the name a switch gives its port; an address or number of another kind is none."""
    return plain(_value(port, "id")) if _first(port, "id").get("type") in ("ifname", "local", "ifalias") else ""


def _is_switch(chassis: Any) -> bool:
    """Return whether it bridges or routes; one that sends no capabilities is taken for a switch."""
    told = {str(c.get("type")): c.get("enabled") for c in chassis.get("capability") or []}
    return not told or told.get("Bridge") is True or told.get("Router") is True


def _tlvs(entry: Any) -> Mapping[int, bytes]:
    """Return the bodies of IEEE's TLVs by subtype; one that came twice or has a wrong length says nothing."""
    found: dict[int, list[bytes]] = {}
    for tlv in _first(entry, "unknown-tlvs").get("unknown-tlv") or []:
        kind, body = int(tlv["subtype"]), bytes.fromhex(str(tlv["value"]).replace(",", ""))
        if str(tlv["oui"]).replace(",", "").upper() == _OUI_802_1 and len(body) == int(tlv["len"]):
            found.setdefault(kind, []).append(body)
    return {
        kind: bodies[0]
        for kind, bodies in found.items()
        if len(bodies) == 1 and len(bodies[0]) == _LENGTHS.get(kind, len(bodies[0]))
    }


def _by_dscp(body: bytes | None) -> Mapping[int, int] | None:
    """Return the priority of each DSCP in the application TLV: a reserved byte, then entries of three."""
    if body is None or len(body) % 3 != 1:
        return None
    entries = [(body[at], int.from_bytes(body[at + 1 : at + 3], "big")) for at in range(1, len(body), 3)]
    return {protocol: head >> 5 for head, protocol in entries if head & 7 == _BY_DSCP}


def _traffic_class(body: bytes | None) -> tuple[int, ...] | None:
    """Return the class of each priority in the ETS TLV: a byte of flags, then eight times four bits."""
    return None if body is None else tuple(body[1 + p // 2] >> (0 if p % 2 else 4) & 15 for p in range(8))
