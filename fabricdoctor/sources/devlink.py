"""What an adapter's driver reports of its own health.

Layout: include/uapi/linux/devlink.h. The kernel runs no command on the adapter for this answer; older ones list all
adapters whichever was asked for.
"""

from __future__ import annotations

from fabricdoctor.sources import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_HEALTH_REPORTER_GET = 52
_BUS_NAME, _DEVICE_NAME, _PORT_INDEX, _REPORTER = 1, 2, 3, 114
_NAME, _STATE, _ERRORS, _RECOVERIES, _AUTO_RECOVER = 115, 116, 117, 118, 121
_STATES = {0: "healthy", 1: "error"}


def health(address: str) -> dict[str, dict[str, Any]]:
    """Return the reporters of the adapter at this PCI address, by name; those of a port as "PORT/NAME"."""
    question = netlink.attribute(_BUS_NAME, b"pci\0") + netlink.attribute(_DEVICE_NAME, address.encode() + b"\0")
    return parse(address, netlink.generic_dump("devlink", _HEALTH_REPORTER_GET, question))


def parse(address: str, answers: Iterable[bytes]) -> dict[str, dict[str, Any]]:
    """Decode DEVLINK_ATTR_HEALTH_REPORTER of one adapter. The kernel says how one recovers only where one can."""
    result = {}
    for answer in answers:
        found = netlink.nest(answer)
        place = tuple(netlink.text(found.get(kind, b"")) for kind in (_BUS_NAME, _DEVICE_NAME))
        if place == ("pci", address):
            port = f"{netlink.number(found[_PORT_INDEX])}/" if _PORT_INDEX in found else ""
            name, reporter = _reporter(found.get(_REPORTER, b""))
            result[port + name] = reporter
    return result


def _reporter(data: bytes) -> tuple[str, dict[str, Any]]:
    found = netlink.nest(data)
    if not {_NAME, _STATE, _ERRORS, _RECOVERIES} <= set(found):
        raise ValueError("health reporter without name, state or counts")
    state = netlink.number(found[_STATE])
    return netlink.text(found[_NAME]), {
        "state": _STATES.get(state, f"unknown-{state}"),
        "errors": netlink.number(found[_ERRORS]),
        "recoveries": netlink.number(found[_RECOVERIES]),
        "can_recover": _AUTO_RECOVER in found,
    }


KINDS: dict[str, Callable[[str], Any]] = {"devlink.health": health}
