"""When the kernel log says that a link went down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..host import Host
from ..unknown import Unknown, known_or, then
from .counters import count, uptime
from .interfaces import Interface

#: so many drops are a link that comes and goes, not one event
MANY_DROPS = 3


def link_log(host: Host, interfaces: Iterable[Interface]) -> Any:
    """Return the kernel log, when an interface changed often enough since it appeared for the log to be of use.

    Below that no link went down so often, and the log is not read.
    """
    changes = [host.ask("read", f"/sys/class/net/{at.name}/carrier_changes") for at in interfaces if at.name]
    numbers = [then(text, count, "carrier_changes") for text in changes]
    if all(not isinstance(n, Unknown) and n < 2 * MANY_DROPS for n in numbers):
        return []
    return host.ask("kmsg")


def downs(host: Host, log: Any, at: Interface) -> tuple[float, ...] | Unknown:
    """Return the seconds after boot of each message that this interface's link went down."""
    if isinstance(log, list) and not log:
        return ()
    names = {at.name, _address(host, at)}
    return then(
        log,
        lambda lines: tuple(
            _seconds(line["seconds"]) for line in lines if line["kind"] == "link-down" and line["device"] in names
        ),
        "kmsg",
    )


def _address(host: Host, at: Interface) -> str:
    """Return the PCI address that a driver's messages begin with; a bond's members are functions of their own."""
    if at.sole:
        return known_or(at.device.pci, "")
    return str(known_or(host.ask("link", f"/sys/class/net/{at.name}/device"), "")).rsplit("/", 1)[-1]


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("no number")
    return uptime(str(value))
