"""`mstconfig -d PCI -e q` (mstflint; mlxconfig of MFT prints the same): an adapter's stored settings.

The columns are Default, Current and Next Boot, or Next Boot alone where the firmware tells no more. A row is marked
with * when the next value differs from the default or from the current one, and with RO when it cannot be set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...host import Host
from ...unknown import Unknown, then
from . import lines, plain, told

_ROW = r"(\*?)\s*(RO)?\s+([A-Z][A-Z0-9_.\[\]]*)\s+(\S.*)"
_COLUMNS = ("Default", "Current", "Next")
_NAMED = r"(\w+)\((\d+)\)"


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One stored setting, as the tool writes it: a number, or a name with its number. Empty: not told."""

    name: str
    default: str
    current: str
    next: str
    marked: bool

    @property
    def pending(self) -> bool:
        """Return whether the next start changes it: marked, with two readable values of which all differs."""
        if not self.marked or not self.current:
            return False
        now, then_ = re.fullmatch(_NAMED, self.current), re.fullmatch(_NAMED, self.next)
        if now and then_:
            return now[1] != then_[1] and now[2] != then_[2]
        return self.current.isdecimal() and self.next.isdecimal() and self.current != self.next

    def __str__(self) -> str:
        return f"{self.name} {self.current}, next {self.next}"


@dataclass(frozen=True, slots=True, eq=False)
class Firmware:
    """The stored settings of one adapter; `kind` is what the tool calls it, as in ConnectX7."""

    device: str
    pci: str
    kind: str | Unknown
    settings: Mapping[str, Setting] | Unknown

    @property
    def pending(self) -> tuple[Setting, ...] | Unknown:
        """Return the settings that the next start of the adapter changes."""
        return then(self.settings, _pending, f"tool mstconfig {self.pci}")

    def in_force(self, name: str) -> str | Unknown:
        """Return the value of a setting that is in force: a number, "True(1)", "ECN(0)"."""
        source = f"tool mstconfig {self.pci} {name}"

        def current(settings: Mapping[str, Setting]) -> str | Unknown:
            value = settings[name].current if name in settings else ""
            return value or Unknown(source, "not-applicable", "the firmware does not tell it")

        return then(self.settings, current, source)

    def on(self, name: str) -> bool | Unknown:
        """Return whether a setting that is True or False is in force."""
        return then(self.in_force(name), lambda value: {"True(1)": True, "False(0)": False}[value], f"tool {name}")

    def congestion_priorities(self, port: int) -> frozenset[int] | Unknown:
        """Return the priorities on which congestion control is on, by the mask that is in force."""
        name = f"ROCE_CC_PRIO_MASK_P{port}"
        return then(self.in_force(name), lambda mask: _bits(int(mask)), f"tool mstconfig {self.pci} {name}")

    def congestion_algorithm(self, port: int) -> str | Unknown:
        """Return "pcc" for a programmable one, "dcqcn" for ECN."""

        def named(value: str) -> str | Unknown:
            if self.on("USER_PROGRAMMABLE_CC") is True:
                return "pcc"
            return "dcqcn" if value == "ECN(0)" else Unknown("tool mstconfig", "not-applicable", f"algorithm {value}")

        return then(self.in_force(f"ROCE_CC_ALGORITHM_P{port}"), named)

    @property
    def needs_power_off(self) -> bool:
        """Return whether a reboot does not start its firmware anew: a BlueField has a system of its own."""
        return not isinstance(self.kind, Unknown) and self.kind.startswith("BlueField")

    def __str__(self) -> str:
        return self.device


def _bits(mask: int) -> frozenset[int]:
    if not 0 <= mask <= 0xFF:  # noqa: PLR2004  8 priorities
        raise ValueError("not a mask of 8 priorities")
    return frozenset(p for p in range(8) if mask >> p & 1)


def _pending(settings: Mapping[str, Setting]) -> tuple[Setting, ...] | Unknown:
    if not any(setting.current for setting in settings.values()):
        return Unknown("tool mstconfig", "not-applicable", "the firmware does not tell the settings in force")
    return tuple(setting for setting in settings.values() if setting.pending)


def firmware(host: Host, device: str, pci: str) -> Firmware:
    """Read the settings of the adapter at a PCI address."""
    question = f"mstconfig {pci}"
    output = told(host, question)
    return Firmware(device, pci, then(output, _kind), then(output, parse, f"tool {question}"))


def _kind(text: str) -> str:
    return next((plain(line.partition(":")[2]) for line in lines(text) if line.startswith("Device type:")), "")


def parse(text: str) -> dict[str, Setting]:
    """Return the settings by name. Raises ValueError for an output without a table."""
    found: dict[str, Setting] = {}
    columns = 0
    for line in lines(text):
        if line.startswith("Configurations:"):
            columns = len(line.replace("Next Boot", "Next").split()) - 1
        elif (row := re.match(_ROW, line)) and len(values := row[4].split()) == columns > 0:
            default, current, after = values if columns == len(_COLUMNS) else ("", "", values[0])
            found[row[3]] = Setting(row[3], default, current, after, marked=bool(row[1]) and not row[2])
    if columns not in (1, len(_COLUMNS)) or not found:
        raise ValueError("no table of settings")
    return found
