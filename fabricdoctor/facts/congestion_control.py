"""What an adapter does about congestion on RoCE: answer marks with CNPs, and slow down when CNPs arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..host import Host
from ..unknown import Unknown, first_unknown, then
from .vendors import CcFiles, cc_files


@dataclass(frozen=True, slots=True, eq=False)
class CongestionControl:
    """`notify`: the priorities on which marks are answered with CNPs; `react`: those on which CNPs slow the sender.

    `algorithm` is "dcqcn", "rttcc", "pcc" or "off"; `turn_on` switches both halves on, with {p} for the priority.
    """

    notify: frozenset[int] | Unknown
    react: frozenset[int] | Unknown
    algorithm: str | Unknown
    cnp_dscp: int | Unknown
    cnp_priority: int | Unknown
    turn_on: str

    @property
    def on(self) -> frozenset[int] | Unknown:
        """Return the priorities on which both halves are on."""
        return then(self.notify, lambda ours: then(self.react, lambda theirs: ours & theirs))


def congestion_control(host: Host, driver: str | Unknown, *, absent: bool, **names: str) -> CongestionControl:
    """Read it from where this driver shows it. `names` are netdev, pci, device and port, to fill in its paths.

    What a driver shows in no file is not applicable: only a tool of the vendor tells. `absent`: this may be a virtual
    function, which shows none; a whole adapter in a virtual machine looks alike, and does.
    """
    layouts = then(driver, lambda d: _layouts(host, cc_files(d), names))
    if isinstance(layouts, Unknown) and not absent:
        return CongestionControl(layouts, layouts, layouts, layouts, layouts, "")
    if isinstance(layouts, Unknown) or not layouts:
        nothing = Unknown("congestion control", "not-applicable", "the driver shows it in no file of this kernel")
        return CongestionControl(nothing, nothing, nothing, nothing, nothing, "")
    return _read(host, layouts[0], names)


def _layouts(host: Host, layouts: tuple[CcFiles, ...], names: dict[str, str]) -> tuple[CcFiles, ...]:
    """Return the layouts whose first file is there, or may be: one that is refused is there."""
    probes = host.ask_all([("read", _path(layout.probe, names)) for layout in layouts])
    return tuple(
        layout
        for layout, answer in zip(layouts, probes, strict=True)
        if not (isinstance(answer, Unknown) and answer.why == "missing")
    )


def _path(template: str, names: dict[str, str], priority: int = 0) -> str:
    return template.format(**names, p=priority)


def _read(host: Host, files: CcFiles, names: dict[str, str]) -> CongestionControl:
    def one(template: str, limit: int) -> int | Unknown:
        if not template:
            return Unknown("congestion control", "not-applicable", "the driver does not show it")
        path = _path(template, names)
        return then(host.ask("read", path), lambda text: _number(text, limit), f"read {path}")

    def each(template: str) -> frozenset[int] | Unknown:
        if not template:
            return then(one(files.enabled, 255), lambda on: frozenset(range(8)) if on else frozenset())
        return _priorities(host, [_path(template, names, p) for p in range(8)])

    notify, react = _for_the_port(each(files.notify)), each(files.react)
    return CongestionControl(
        notify=notify,
        react=react,
        algorithm=_algorithm(files, notify),
        cnp_dscp=one(files.cnp_dscp, 63),
        cnp_priority=one(files.cnp_priority, 7),
        turn_on=files.turn_on.format(**names, p="{p}"),
    )


def _for_the_port(notify: frozenset[int] | Unknown) -> frozenset[int] | Unknown:
    """Return all priorities where it is on for one: an adapter answers marks for the whole port or not at all.

    The files are one a priority; NVIDIA's guide to DCQCN says that any of them switches it on for the port.
    """
    return then(notify, lambda on: frozenset(range(8)) if on else on)


def _priorities(host: Host, paths: list[str]) -> frozenset[int] | Unknown:
    answers = host.ask_all([("read", path) for path in paths])
    flags = [then(a, lambda text: _number(text, 1), f"read {p}") for a, p in zip(answers, paths, strict=True)]
    unread = first_unknown(flags)
    return unread if unread is not None else frozenset(p for p, flag in enumerate(flags) if flag)


def _algorithm(files: CcFiles, notify: frozenset[int] | Unknown) -> str | Unknown:
    if not isinstance(notify, Unknown) and not notify:
        return "off"
    if files.algorithm:
        return then(notify, lambda _: files.algorithm)
    return Unknown("congestion control", "not-applicable", "the driver does not show which algorithm is in use")


def _number(text: Any, limit: int) -> int:
    value = int(str(text).strip(), 0)
    if not 0 <= value <= limit:
        raise ValueError(f"not between 0 and {limit}")
    return value
