"""Data Center Bridging: priority flow control, transmission selection, priority map, buffers, who is in charge.

Layouts: include/uapi/linux/dcbnl.h. One IEEE_GET answers with everything the driver has. A part the driver cannot
give is left out, which means "cannot say" and never "off", so its key is absent here, too.
"""

from __future__ import annotations

import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_RTM_GETDCB = 78
_IEEE_GET = 21
_IFNAME = 1
_IEEE = 13
_DCBX = 14

# Entries for selector 255 (PCP) carry a type of their own, so tables are read in order, not by type.
_TABLE_ENTRIES = (1, 2)

_DCBMSG = struct.Struct("=BBH")
_PFC = struct.Struct("=BBBxHxx8Q8Q")
_ETS = struct.Struct("=BBB8s8s8s8s8s8s8s")
_MAXRATE = struct.Struct("=8Q")
_BUFFER = struct.Struct("=8B8II")
_APP = struct.Struct("=BBH")


def dcb(ifname: str) -> dict[str, Any]:
    """Read the interface's DCB state; no dcbnl in its driver is OSError(EOPNOTSUPP)."""
    question = _DCBMSG.pack(0, _IEEE_GET, 0) + netlink.attribute(_IFNAME, netlink.interface_name(ifname))
    answers = netlink.talk(netlink.ROUTE, _RTM_GETDCB, question)
    if len(answers) != 1 or answers[0][0] != _RTM_GETDCB:
        raise ValueError("not one DCB answer")
    return parse(answers[0][1])


def parse(body: bytes) -> dict[str, Any]:
    """Decode the body of an IEEE_GET answer: struct dcbmsg, then attributes."""
    if len(body) < _DCBMSG.size or body[1] != _IEEE_GET:
        raise ValueError("not an answer to IEEE_GET")
    top = netlink.nest(body[_DCBMSG.size :])
    if _IEEE not in top:
        raise ValueError("DCB answer without its IEEE part")
    found = _ieee(top[_IEEE])
    if _DCBX in top:
        found["dcbx"] = netlink.number(top[_DCBX])
    return found


def _ieee(data: bytes) -> dict[str, Any]:
    found = {}
    for kind, value in netlink.attributes(data):
        if kind in _PARTS:
            key, decode = _PARTS[kind]
            found[key] = decode(value)
    return found


def _fields(layout: struct.Struct, value: bytes) -> tuple[Any, ...]:
    """Read a struct that a later kernel may have made longer; none has ever been shorter."""
    if len(value) < layout.size:
        raise ValueError(f"DCB struct of {len(value)} bytes where {layout.size} belong")
    return layout.unpack_from(value)


def _pfc(value: bytes) -> dict[str, Any]:
    """Decode struct ieee_pfc: requests are pause frames sent on each priority, indications are those received."""
    cap, enabled, mbc, delay, *frames = _fields(_PFC, value)
    return {
        "cap": cap,
        "enabled": enabled,
        "mbc": mbc,
        "delay": delay,
        "requests": frames[:8],
        "indications": frames[8:],
    }


def _ets(value: bytes) -> dict[str, Any]:
    willing, cap, cbs, tc_tx_bw, tc_rx_bw, tc_tsa, prio_tc, *_recommended = _fields(_ETS, value)
    return {
        "willing": willing,
        "cap": cap,
        "cbs": cbs,
        "tc_tx_bw": list(tc_tx_bw),
        "tc_rx_bw": list(tc_rx_bw),
        "tc_tsa": list(tc_tsa),
        "prio_tc": list(prio_tc),
    }


def _maxrate(value: bytes) -> list[int]:
    return list(_fields(_MAXRATE, value))


def _buffer(value: bytes) -> dict[str, Any]:
    fields = _fields(_BUFFER, value)
    return {"prio2buffer": list(fields[:8]), "size": list(fields[8:16]), "total": fields[16]}


def _app(value: bytes) -> list[list[int]]:
    """Decode a table of struct dcb_app: selector, priority, protocol (host order, a DSCP for selector 5)."""
    entries = netlink.attributes(value)
    return [list(_fields(_APP, entry)) for kind, entry in entries if kind in _TABLE_ENTRIES]


def _trust(value: bytes) -> list[int]:
    return [netlink.number(selector) for kind, selector in netlink.attributes(value) if kind in _TABLE_ENTRIES]


_PARTS: dict[int, tuple[str, Callable[[bytes], Any]]] = {
    1: ("ets", _ets),
    2: ("pfc", _pfc),
    3: ("app", _app),
    4: ("peer_ets", _ets),
    5: ("peer_pfc", _pfc),
    6: ("peer_app", _app),
    7: ("maxrate_kbps", _maxrate),
    10: ("buffer", _buffer),
    11: ("trust", _trust),
}

KINDS: dict[str, Callable[[str], Any]] = {"dcb": dcb}
