"""Ethernet settings and statistics, as `ethtool` shows them.

By generic netlink (include/uapi/linux/ethtool_netlink.h) what has it, and by ioctl (include/uapi/linux/ethtool.h)
statistics, driver and tunables, which have not.
"""

from __future__ import annotations

import struct

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LINKMODES_GET, _LINKSTATE_GET, _PAUSE_GET, _FEC_GET = 4, 6, 21, 29
_HEADER = 1
_DEV_NAME, _FLAGS = 2, 3
_FLAG_STATS = 4
_UNKNOWN_SPEEDS = (0, 0xFFFF, 0xFFFFFFFF)
#: enum ethtool_link_ext_state
_EXT_STATES = (
    "autonegotiation", "link-training-failure", "logical-mismatch", "bad-signal-integrity", "no-cable", "cable-issue",
    "eeprom-issue", "calibration-failure", "power-budget-exceeded", "overheat", "module", "otp-speed-violation",
    "bmc-request",
)  # fmt: skip
#: bits of the link modes that name a FEC
_FEC_BITS = {49: "None", 50: "RS", 51: "BASER", 74: "LLRS"}

_SIOCETHTOOL = 0x8946
_GDRVINFO, _GSTRINGS, _GSTATS, _GSSET_INFO, _GTUNABLE = 0x03, 0x1B, 0x1D, 0x37, 0x48
_SS_STATS = 1
_STRING = 32
_PFC_PREVENTION_TOUT, _TUNABLE_U16 = 3, 2


def _ask(command: int, ifname: str, flags: int = 0) -> dict[int, bytes]:
    header = netlink.attribute(_DEV_NAME, netlink.interface_name(ifname))
    if flags:
        header += netlink.attribute(_FLAGS, struct.pack("=I", flags))
    return netlink.nest(netlink.generic("ethtool", command, netlink.attribute(_HEADER | netlink.NESTED, header)))


def link_modes(ifname: str) -> dict[str, Any]:
    """Return speed (Mb/s, None when not known), lanes, and the names of supported, advertised and peer modes."""
    return parse_link_modes(_ask(_LINKMODES_GET, ifname))


def parse_link_modes(found: dict[int, bytes]) -> dict[str, Any]:
    """Decode a LINKMODES reply: bit set in the mask of "ours" is supported, with its value advertised."""
    supported, advertised = _modes(found[3]) if 3 in found else ([], [])  # noqa: PLR2004  ETHTOOL_A_LINKMODES_OURS
    peer, _ = _modes(found[4]) if 4 in found else ([], [])  # noqa: PLR2004  ETHTOOL_A_LINKMODES_PEER
    speed = netlink.number(found[5]) if 5 in found else 0  # noqa: PLR2004
    return {
        "autoneg": bool(found.get(2, b"\0")[:1] == b"\1"),
        "speed_mbps": None if speed in _UNKNOWN_SPEEDS else speed,
        "lanes": netlink.number(found[9]) if 9 in found else None,  # noqa: PLR2004
        "supported": supported,
        "advertised": advertised,
        "peer": peer,
    }


def _modes(bitset: bytes) -> tuple[list[str], list[str]]:
    """Return the names of all bits listed, and of those whose value is set (a set without mask lists only set ones)."""
    bits = [netlink.nest(bit) for kind, bit in netlink.attributes(netlink.nest(bitset).get(3, b"")) if kind == 1]
    names = [(netlink.text(bit[2]), 3 in bit) for bit in bits if 2 in bit]  # noqa: PLR2004
    return [name for name, _ in names], [name for name, value in names if value]


def link_state(ifname: str) -> dict[str, Any]:
    """Return whether there is a link and, where the driver tells, why not."""
    return parse_link_state(_ask(_LINKSTATE_GET, ifname))


def parse_link_state(found: dict[int, bytes]) -> dict[str, Any]:
    """Decode a LINKSTATE reply."""
    state = netlink.number(found[5]) if 5 in found else None  # noqa: PLR2004
    if state is None:
        name = None
    else:
        name = _EXT_STATES[state] if state < len(_EXT_STATES) else f"state-{state}"
    return {
        "link": netlink.number(found[2]) == 1,
        "ext_state": name,
        "ext_substate": netlink.number(found[6]) if 6 in found else None,  # noqa: PLR2004
        "down_count": netlink.number(found[7]) if 7 in found else None,  # noqa: PLR2004
    }


def pause(ifname: str) -> dict[str, Any]:
    """Return the 802.3x pause settings, and the frames counted where the driver does."""
    return parse_pause(_ask(_PAUSE_GET, ifname, _FLAG_STATS))


def parse_pause(found: dict[int, bytes]) -> dict[str, Any]:
    """Decode a PAUSE reply."""
    stats = netlink.nest(found.get(5, b""))
    named = {"tx_frames": 2, "rx_frames": 3}
    return {
        "autoneg": netlink.number(found[2]) == 1,
        "rx": netlink.number(found[3]) == 1,
        "tx": netlink.number(found[4]) == 1,
        "stats": {name: netlink.number(stats[kind]) for name, kind in named.items() if kind in stats},
    }


def fec(ifname: str) -> dict[str, Any]:
    """Return the FEC that is configured and active, and its block counts where the driver counts them."""
    return parse_fec(_ask(_FEC_GET, ifname, _FLAG_STATS))


def parse_fec(found: dict[int, bytes]) -> dict[str, Any]:
    """Decode a FEC reply; a count is an array of u64, total first, and an empty one means "not supported"."""
    configured, _ = _modes(found[2]) if 2 in found else ([], [])  # noqa: PLR2004
    stats = netlink.nest(found.get(5, b""))
    named = {"corrected": 2, "uncorrectable": 3, "corrected_bits": 4}
    active = netlink.number(found[4]) if 4 in found else None  # noqa: PLR2004
    return {
        "configured": configured,
        "auto": found.get(3, b"\0")[:1] == b"\1",
        "active": None if active is None else _FEC_BITS.get(active, f"bit {active}"),
        "stats": {name: netlink.number(stats[kind][:8]) for name, kind in named.items() if stats.get(kind)},
    }


def _ioctl(ifname: str, data: bytes, size: int = 0) -> bytes:
    """Hand a command structure to the driver; return it as the driver left it."""
    import _socket  # noqa: PLC0415
    import array  # noqa: PLC0415  with fcntl and _socket, only where an ioctl is made
    import fcntl  # noqa: PLC0415

    buffer = array.array("B", data.ljust(size, b"\0"))
    request = struct.pack("16sP", netlink.interface_name(ifname), buffer.buffer_info()[0]).ljust(40, b"\0")
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM | _socket.SOCK_CLOEXEC)
    try:
        fcntl.ioctl(connection.fileno(), _SIOCETHTOOL, request)
    finally:
        connection.close()
    return buffer.tobytes()


def statistics(ifname: str) -> dict[str, int]:
    """Return the driver's statistics by name; empty when it has none."""
    info = _ioctl(ifname, struct.pack("=IIQ", _GSSET_INFO, 0, 1 << _SS_STATS), 20)
    _, _, mask, number = struct.unpack_from("=IIQI", info)
    if not mask or not number:
        return {}
    names = _ioctl(ifname, struct.pack("=III", _GSTRINGS, _SS_STATS, number), 12 + _STRING * number)
    values = _ioctl(ifname, struct.pack("=II", _GSTATS, number), 8 + 8 * number)
    return parse_statistics(names, values)


def parse_statistics(names: bytes, values: bytes) -> dict[str, int]:
    """Join struct ethtool_gstrings and ethtool_stats. Raises ValueError when their lengths differ."""
    number, again = struct.unpack_from("=I", names, 8)[0], struct.unpack_from("=I", values, 4)[0]
    if number != again or len(names) < 12 + _STRING * number or len(values) < 8 + 8 * number:
        raise ValueError("statistics and their names do not fit")
    texts = [netlink.text(names[at : at + _STRING]) for at in range(12, 12 + _STRING * number, _STRING)]
    return dict(zip(texts, struct.unpack_from(f"={number}Q", values, 8), strict=True))


def driver(ifname: str) -> dict[str, str]:
    """Return driver, its version, firmware and bus address (struct ethtool_drvinfo)."""
    info = _ioctl(ifname, struct.pack("=I", _GDRVINFO), 196)
    texts = [netlink.text(info[at : at + 32]) for at in range(4, 132, 32)]
    return dict(zip(("driver", "version", "firmware", "bus"), texts, strict=True))


def pfc_storm_timeout_ms(ifname: str) -> int:
    """Return milliseconds after which a PFC storm is cut off; 0 is never, 65535 the driver's own."""
    request = struct.pack("=IIII", _GTUNABLE, _PFC_PREVENTION_TOUT, _TUNABLE_U16, 2)
    return int(struct.unpack_from("=H", _ioctl(ifname, request, 24), 16)[0])


KINDS: dict[str, Callable[[str], Any]] = {
    "ethtool.stats": statistics,
    "ethtool.driver": driver,
    "ethtool.pause": pause,
    "ethtool.modes": link_modes,
    "ethtool.state": link_state,
    "ethtool.fec": fec,
    "ethtool.pfc-storm": pfc_storm_timeout_ms,
}
