"""What kernel and driver say of an adapter's health: messages in the kernel log, and devlink's health reporters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ..host import Host, name_of
from ..unknown import Unknown, known_or, then
from .counters import Counter, count, uptime
from .netdev import Netdev
from .nic import Device
from .pci import names_in

#: Messages that may be a fault, worst first (kinds of sources/kmsg.py).
_POWER = "insufficient-power"
_KINDS = (
    "health-compromised", "command-timeout", "transmit-timeout", "high-temperature", "module-error", _POWER,
)  # fmt: skip
#: Messages after which those of a kind are history: the adapter was set up anew, the module was plugged in again.
_ENDS = {"set-up": frozenset(_KINDS), "module-plugged": frozenset({"module-error", "high-temperature"})}
#: Messages older than this are history too; a fault that lasts says it again.
_WINDOW_S = 86400.0
#: How far the log's clock may be ahead of the time since boot.
_CLOCKS_DIFFER_S = 60.0
#: Two messages of one kind, unlike in words and so near to each other, are of one event.
_ONE_EVENT_S = 0.5
_STATES = ("healthy", "error")


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What the kernel said of an adapter, the newest text of one kind: how often, and how many seconds ago last."""

    kind: str
    text: str
    times: int
    seconds_ago: float


@dataclass(frozen=True, slots=True, eq=False)
class Reporter:
    """One health reporter of the driver. `errors` is a counter of the errors it saw, by two samples.

    One that cannot recover (as mlx5's "fw") stays in state error after its first error, until the driver is loaded
    again: its state is history as a count is.
    """

    name: str
    state: str
    can_recover: bool
    errors: Counter | Unknown

    @property
    def new_errors(self) -> int | Unknown:
        return then(self.errors, lambda counter: counter.delta)


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """A PCI function of the fabric. `said` are messages of the last day that nothing has ended, the worst first."""

    label: str
    pci: str | Unknown
    interfaces: tuple[str, ...]
    said: tuple[Said, ...] | Unknown
    reporters: tuple[Reporter, ...] | Unknown

    def __str__(self) -> str:
        return self.label


def adapters(host: Host, devices: tuple[Device, ...]) -> tuple[Adapter, ...]:
    """Return the PCI functions of the fabric's devices; a bond's members may have one each."""
    now = then(host.ask("read", "/proc/uptime"), uptime, "read /proc/uptime")
    return _without_common([adapter for device in devices for adapter in _adapters(host, device, now)])


def _without_common(found: list[Adapter]) -> tuple[Adapter, ...]:
    """Leave out insufficient power where every adapter has it: then the server does not tell what its slots give."""
    said = [known_or(adapter.said, ()) for adapter in found]
    if len(found) < 2 or not all(any(s.kind == _POWER for s in lines) for lines in said):  # noqa: PLR2004
        return tuple(found)
    return tuple(
        replace(adapter, said=tuple(s for s in lines if s.kind != _POWER))
        for adapter, lines in zip(found, said, strict=True)
    )


def _adapters(host: Host, device: Device, now: float | Unknown) -> list[Adapter]:
    fabric = [p.netdev for p in known_or(device.ports, ()) if p.is_fabric and isinstance(p.netdev, Netdev)]
    own = tuple(netdev.name for netdev in fabric)
    driver = known_or(device.driver, "")
    found = [_adapter(host, device.name, device.pci, own, now, driver)]
    for member in dict.fromkeys(name for netdev in fabric for name in known_or(netdev.lower, ())):
        address = then(host.ask("link", f"/sys/class/net/{member}/device"), lambda p: str(p).rsplit("/", 1)[-1])
        if not isinstance(address, Unknown) and address not in [known_or(a.pci, "") for a in found]:
            found.append(_adapter(host, f"{device.name} ({member})", address, (member,), now, driver))
    return found


def _adapter(
    host: Host, label: str, pci: str | Unknown, interfaces: tuple[str, ...], now: float | Unknown, driver: str
) -> Adapter:
    if isinstance(pci, Unknown):
        return Adapter(label, pci, interfaces, pci, pci)
    names = {pci, *interfaces, *known_or(names_in(host, f"/sys/bus/pci/devices/{pci}/net"), ())}
    return Adapter(label, pci, interfaces, _said(host, names, now, driver), _reporters(host, pci))


def _said(host: Host, names: set[str], now: float | Unknown, driver: str) -> tuple[Said, ...] | Unknown:
    log = host.ask("kmsg")
    if isinstance(log, Unknown) and log.why in ("missing", "denied"):
        detail = "the kernel log is not to be read here"
        return Unknown("kmsg", "needs-root" if log.why == "denied" else "not-applicable", detail)
    if isinstance(now, Unknown):
        return now
    return then(log, lambda lines: _of_adapter([n for n in lines if _is_about(n, names, driver)], now), "kmsg")


def _is_about(line: dict[str, Any], names: set[str], driver: str) -> bool:
    """Return whether a line is about an adapter: another network namespace may have an interface of that name."""
    said_by = re.search(r"\(([\w-]+)\): transmit queue", line["text"])
    return line["device"] in names and (said_by is None or not driver or said_by[1] == driver)


def _of_adapter(lines: list[dict[str, Any]], now: float) -> tuple[Said, ...]:
    open_since: dict[str, list[tuple[float, str]]] = {kind: [] for kind in _KINDS}
    for ago, kind, text in sorted((_line(line, now) for line in lines), reverse=True):
        for ended in _ENDS.get(kind, ()):
            open_since[ended].clear()
        same = open_since.get(kind, [])[-1:]
        if same and same[0][0] - ago < _ONE_EVENT_S and same[0][1] != text:
            continue  # kernel and driver each have a message for it
        if kind in open_since and ago <= _WINDOW_S:
            open_since[kind].append((ago, text))
    return tuple(Said(kind, found[-1][1], len(found), found[-1][0]) for kind, found in open_since.items() if found)


def _line(line: dict[str, Any], now: float) -> tuple[float, str, str]:
    """Return how many seconds ago it was said, its kind and its text."""
    seconds, kind, text = line["seconds"], line["kind"], line["text"]
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not isinstance(text, str) or not text:
        raise TypeError("not a kernel message")
    if not 0 <= seconds <= now + _CLOCKS_DIFFER_S or not isinstance(kind, str) or not kind:
        raise ValueError("not a kernel message of this boot")
    return max(0.0, now - seconds), kind, text


def _reporters(host: Host, pci: str) -> tuple[Reporter, ...] | Unknown:
    answer = host.ask("devlink.health", pci)
    absent = answer.why in ("missing", "unsupported") if isinstance(answer, Unknown) else not answer
    if absent:
        return Unknown(name_of("devlink.health", pci), "not-applicable", "the driver has no health reporters here")
    source = name_of("devlink.health", pci)
    return then(answer, lambda found: tuple(_reporter(host, pci, n, r) for n, r in found.items()), source)


def _reporter(host: Host, pci: str, name: str, reporter: dict[str, Any]) -> Reporter:
    state, can_recover = reporter["state"], reporter["can_recover"]
    if state not in _STATES or not name or not isinstance(can_recover, bool):
        raise ValueError("no such state")
    source = f"devlink.health {pci} {name}"
    earlier = then(host.earlier("devlink.health", pci), lambda found: count(found[name]["errors"]), source)
    now, seconds = count(reporter["errors"]), host.seconds()
    if isinstance(seconds, Unknown):
        return Reporter(name, state, can_recover, seconds)
    return Reporter(name, state, can_recover, then(earlier, lambda before: Counter(source, before, now, seconds)))
