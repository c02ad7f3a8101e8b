"""A pluggable module, by its own memory: its temperature, its light, its own limits for them, and what it is made for.

Layouts: SFF-8636 (QSFP+, QSFP28, QSFP56) and OIF CMIS (QSFP-DD, OSFP); codes: SFF-8024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..host import Host
from ..unknown import Unknown, then
from .module_codes import CMIS_HOST_GBPS, CMIS_INFINIBAND_LANE_GBPS, SFF_COMPLIANCE_GBPS

_SFF_8636 = {0x0C: "QSFP", 0x0D: "QSFP+", 0x11: "QSFP28"}
_CMIS = {0x18: "QSFP-DD", 0x19: "OSFP", 0x1B: "DSFP", 0x1E: "QSFP with CMIS", 0x1F: "SFP-DD with CMIS"}
#: (first byte of the range in its page, length) as the source reads them
_SFF_RANGES = {"lower": (0, 128), "upper": (128, 68), "thresholds": (128, 72)}
_CMIS_RANGES = {
    "lower": (0, 128),
    "upper": (200, 16),
    "monitors": (159, 2),
    "thresholds": (128, 72),
    "lanes": (128, 74),
}
#: 0.1 µW steps; below 1 µW (-30 dBm) no receiver holds a link: the lane is dark, and the link does not use it
_DARK = 10
_HOTTEST_C = 120.0


@dataclass(frozen=True, slots=True)
class Light:
    """Optical power of each lane in dBm, None for a lane that is dark or has no reading; `low` warns the module."""

    lanes: tuple[float | None, ...]
    low: float


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """`hot_c` is where the module itself warns. What a module does not measure, or has no limit for, is Unknown."""

    kind: str
    gbps: float | Unknown
    celsius: float | Unknown
    hot_c: float | Unknown
    received: Light | Unknown
    sent: Light | Unknown

    @property
    def weak(self) -> tuple[tuple[str, int, float, float], ...] | Unknown:
        """Return (received or sent, lane from 1 on, dBm, limit) of each lane below the module's own low warning."""
        lights = [("received", self.received), ("sent", self.sent)]
        told = [(way, light) for way, light in lights if not isinstance(light, Unknown)]
        if not told:
            return self.received  # type: ignore[return-value]
        return tuple(
            (way, number, power, light.low)
            for way, light in told
            for number, power in enumerate(light.lanes, 1)
            if power is not None and power < light.low
        )


def module(host: Host, name: str) -> Module | Unknown:
    """Read the module of interface `name`; none that can be read (backplane, virtual, old kernel) is not applicable."""
    source = f"ethtool.module {name}"
    answer = host.ask("ethtool.module", name)
    if isinstance(answer, Unknown) and answer.why in ("unsupported", "missing"):
        return Unknown(source, "not-applicable", "the driver shows no module")
    return then(answer, lambda a: decode(a, source), source)


def decode(answer: Mapping[str, str], source: str) -> Module | Unknown:
    """Raise ValueError for an answer that no module gives."""
    identifier = bytes.fromhex(answer["lower"])[0]
    if identifier in _CMIS:
        return _cmis(_Memory(answer, _CMIS_RANGES, source), _CMIS[identifier])
    if identifier in _SFF_8636:
        return _sff(_Memory(answer, _SFF_RANGES, source), _SFF_8636[identifier])
    return Unknown(source, "not-applicable", f"modules of kind {identifier:#04x} are not read")


class _Memory:
    """The ranges that were read, by the names the source gives them."""

    def __init__(self, answer: Mapping[str, str], ranges: Mapping[str, tuple[int, int]], source: str) -> None:
        self.source, self._starts = source, {name: start for name, (start, _) in ranges.items()}
        self._data = {name: bytes.fromhex(text) for name, text in answer.items() if name in ranges}
        if any(len(data) != ranges[name][1] for name, data in self._data.items()):
            raise ValueError("a range of another length")

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def byte(self, name: str, at: int) -> int:
        return self._data[name][at - self._starts[name]]

    def word(self, name: str, at: int) -> int:
        return self.byte(name, at) << 8 | self.byte(name, at + 1)

    def absent(self, what: str) -> Unknown:
        return Unknown(self.source, "not-applicable", what)


def _sff(memory: _Memory, kind: str) -> Module:
    copper = "upper" in memory and memory.byte("upper", 147) >> 4 in (0xA, 0xB)  # device technology: passive
    ready = not memory.byte("lower", 2) & 1
    rate = _sff_gbps(memory)
    if copper or not ready:
        return _silent(
            memory, kind, rate, "a passive copper cable measures nothing" if copper else "the module starts up"
        )
    return Module(
        kind,
        rate,
        _celsius(memory, 22),
        _hot(memory),
        _light(memory, "lower", 34, 4, 176),
        _light(memory, "lower", 50, 4, 192),
    )


def _cmis(memory: _Memory, kind: str) -> Module:
    ready = memory.byte("lower", 3) >> 1 & 7 == 3  # noqa: PLR2004  ModuleReady
    copper = memory.byte("lower", 85) == 3  # noqa: PLR2004  passive copper
    rate = _cmis_gbps(memory)
    if copper or not ready or memory.byte("lower", 1) < 0x30:  # noqa: PLR2004  pages as below since revision 3
        return _silent(
            memory, kind, rate, "a passive copper cable measures nothing" if copper else "the module is not ready"
        )
    has = (memory.byte("monitors", 159), memory.byte("monitors", 160)) if "monitors" in memory else (1, 0)
    none = memory.absent("the module does not measure it")
    return Module(
        kind,
        rate,
        _celsius(memory, 14) if has[0] & 1 else none,
        _hot(memory),
        _light(memory, "lanes", 186, 8, 192) if has[1] & 4 else none,
        _light(memory, "lanes", 154, 8, 176) if has[1] & 2 else none,
    )


def _silent(memory: _Memory, kind: str, rate: float | Unknown, why: str) -> Module:
    none = memory.absent(why)
    return Module(kind, rate, none, none, none, none)


def _celsius(memory: _Memory, at: int) -> float | Unknown:
    """Return the temperature, of 1/256 °C; all zeros or all ones is no reading."""
    raw = memory.word("lower", at)
    if raw in (0, 0xFFFF):
        return memory.absent("the module does not measure its temperature")
    value = _signed(raw) / 256
    return value if value < _HOTTEST_C else Unknown(memory.source, "unparsable", f"{value:g} °C is no temperature")


def _signed(raw: int) -> int:
    return raw - 0x10000 if raw & 0x8000 else raw


def _hot(memory: _Memory) -> float | Unknown:
    low_alarm, low, high, high_alarm = _limits(memory, 128)
    ordered = _signed(low_alarm) <= _signed(low) < _signed(high) <= _signed(high_alarm)
    if not ordered or _signed(high) <= 0:
        return memory.absent("the module gives no limits for its temperature")
    return _signed(high) / 256


def _limits(memory: _Memory, at: int) -> tuple[int, int, int, int]:
    """Return low alarm, low warning, high warning, high alarm; zeros, which are no limits, without a page of them."""
    if "thresholds" not in memory:
        return 0, 0, 0, 0
    high_alarm, low_alarm, high, low = (memory.word("thresholds", at + 2 * i) for i in range(4))
    return low_alarm, low, high, high_alarm


def _light(memory: _Memory, where: str, at: int, lanes: int, limits: int) -> Light | Unknown:
    if where not in memory:
        return memory.absent("the module does not measure its light")
    low_alarm, low, high, high_alarm = _limits(memory, limits)
    if not (0 < low < high and low_alarm <= low and high <= high_alarm):
        return memory.absent("the module gives no limits for its light")
    readings = [memory.word(where, at + 2 * lane) for lane in range(lanes)]
    powers = tuple(_dbm(raw) if _DARK < raw < 0xFFFF else None for raw in readings)  # noqa: PLR2004  all ones
    if not any(power is not None for power in powers):
        return memory.absent("no lane has a reading")
    return Light(powers, _dbm(low))


def _dbm(raw: int) -> float:
    """Convert steps of 0.1 µW."""
    return 10 * math.log10(raw / 10_000)


def _sff_gbps(memory: _Memory) -> float | Unknown:
    """Return the rate of the fastest standard the module says it meets; with an unknown one among them, none."""
    if "upper" not in memory:
        return memory.absent("the module does not say what it is made for")
    codes = [code for code in (memory.byte("upper", 192), memory.byte("lower", 116)) if code]
    known = [SFF_COMPLIANCE_GBPS.get(code) for code in codes]
    infiniband = memory.byte("upper", 164) >> 4  # EDR, HDR, NDR and, from bit 7 on, what came later
    rates = [rate for rate in known if rate is not None]
    rates += [rate for bit, rate in ((1, 100.0), (2, 200.0), (4, 400.0)) if infiniband & bit]
    if len(known) > sum(rate is not None for rate in known) or infiniband & 8 or not rates:
        return memory.absent("what the module is made for is not known")
    return max(rates)


def _cmis_gbps(memory: _Memory) -> float | Unknown:
    """Return the rate of the fastest application listed; with an unknown one among them, none."""
    rates = []
    for at in range(86, 118, 4):
        host, lanes = memory.byte("lower", at), memory.byte("lower", at + 2) >> 4
        if host == 0xFF:  # noqa: PLR2004  the end of the list
            break
        per_lane = CMIS_INFINIBAND_LANE_GBPS.get(host)
        rates.append(CMIS_HOST_GBPS.get(host) if per_lane is None else per_lane * lanes)
    told = [rate for rate in rates if rate]
    return max(told) if told and len(told) == len(rates) else memory.absent("what the module is made for is not known")
