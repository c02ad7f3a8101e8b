"""Load expectations: a profile, then the site's file, then its node groups; each value keeps where it came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..finding import Severity
from .lint import contradiction, shown
from .model import Expect, names
from .nodes import holds
from .place import ConfigError, Place, exists, like, read_toml

SITE_FILE = Path("/etc/fabricdoctor/fabricdoctor.toml")
_PROFILES = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class Config:
    """What the site wants of this node. `origin` says per expectation where its value comes from."""

    expect: Expect = field(default_factory=Expect)
    origin: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    disable: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    file: str | None = None


def profiles() -> dict[str, str]:
    """Return the names of the profiles that come with the tool, with their titles."""
    return {path.stem: str(read_toml(path)["title"]) for path in sorted(_PROFILES.glob("*.toml"))}


def load(path: Path | None, profile: str | None, hostname: str) -> Config:
    """Return the configuration of node `hostname`.

    `path` None means /etc/fabricdoctor/fabricdoctor.toml where it exists; `profile` wins over the file's own.
    Raises ConfigError.
    """
    file = path if path is not None else SITE_FILE if exists(SITE_FILE) else None
    document = _document(file) if file else {}
    at = Place(file)
    chosen = _text(at, document.get("profile"), "profile") if profile is None else profile
    laid = _profile(chosen, at if profile is None else None)
    expect, groups = _tables(at, document)
    laid.lay(at, "expect", expect)
    for nodes, table in groups.items():  # every group has to be right, on whatever node this is
        laid.copy().lay(at, f'expect.group."{nodes}"', table)
    for nodes, table in groups.items():
        if holds(at, nodes, hostname):
            laid.lay(at, f'expect.group."{nodes}"', table)
    disable, severity = _checks(at, document.get("checks", {}))
    return Config(Expect(**laid.values), laid.origin, chosen, disable, severity, str(file) if file else None)


def _document(path: Path) -> dict[str, Any]:
    document = read_toml(path)
    for key in document:
        if key not in ("profile", "expect", "checks"):
            raise Place(path).error("", key, f"no such key{like(key, ('profile', 'expect', 'checks'))}")
    return document


@dataclass(frozen=True, slots=True)
class _Laid:
    """Values laid over each other, the latest last, each with where it comes from: for people, and for messages."""

    values: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    place: dict[str, tuple[Place, str]] = field(default_factory=dict)

    def copy(self) -> _Laid:
        return _Laid(dict(self.values), dict(self.origin), dict(self.place))

    def lay(self, at: Place, where: str, table: Mapping[str, Any], origin: Callable[[str], str] | None = None) -> None:
        """Lay one table over what is there. Raises ConfigError, also when the result contradicts itself."""
        for key in _unset(at, where, table):
            self.values.pop(key, None)
            self.origin.pop(key, None)
        for key, value in table.items():
            if key != "unset":
                self.values.pop(key, None)
                self.values[key] = _value(at, where, key, value)
                self.origin[key] = origin(key) if origin else at.line(where, key)
                self.place[key] = at, where
        self._refuse_contradiction()

    def _refuse_contradiction(self) -> None:
        found = contradiction(self.values)
        if found is None:
            return
        blamed = next(key for key in reversed(self.values) if key in found.keys)
        others: dict[str, list[str]] = {}
        for key in found.keys:
            if key != blamed:
                others.setdefault(self.origin[key].split(": ")[0], []).append(f"{key} = {shown(self.values[key])}")
        against = "; ".join(f"{', '.join(pairs)} ({origin})" for origin, pairs in others.items())
        at, where = self.place[blamed]
        raise at.error(where, blamed, f"{shown(self.values[blamed])} contradicts {against}: {found.right}")


def _unset(at: Place, where: str, table: Mapping[str, Any]) -> list[str]:
    """Return the keys whose earlier values this table drops."""
    keys: list[str] = table.get("unset", [])
    if not _is_texts(keys):
        raise at.error(where, "unset", 'must be a list of expectations: ["dscp"]')
    for key in keys:
        if key not in names():
            raise at.error(where, "unset", f"no expectation is called {key!r}{like(key, names())}")
        if key in table:
            raise at.error(where, "unset", f"{key} is set in the same table; one of the two has to go")
    return keys


def _profile(name: str | None, at: Place | None, base_of: str = "") -> _Laid:
    """Return the values of a profile, laid over those of the profile it is based on."""
    if name is None:
        return _Laid()
    path = _PROFILES / f"{name}.toml"
    if "/" in name or not path.is_file():
        known = tuple(p.stem for p in sorted(_PROFILES.glob("*.toml")))
        message = f"no profile is called {name!r}; there are {', '.join(known)}"
        raise at.error("", "profile", message) if at else ConfigError(f"--profile: {message}")
    document = read_toml(path)
    laid = _profile(document.get("base"), Place(path), name)
    who = f"profile {name}" + (f", the base of {base_of}" if base_of else "")
    laid.lay(Place(path), "expect", document["expect"], lambda key: f"{who}: {document['source'][key]}")
    return laid


def _tables(at: Place, document: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Mapping[str, Any]]]:
    """Return [expect] without its groups, and the groups, by their node sets, in the order of the file."""
    expect = _table(at, "", "expect", document.get("expect", {}))
    groups = _table(at, "expect", "group", expect.get("group", {}))
    own = {key: value for key, value in expect.items() if key != "group"}
    return own, {nodes: _table(at, "expect.group", nodes, table) for nodes, table in groups.items()}


def _table(at: Place, parent: str, key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise at.error(parent, key, f"must be a table: [{f'{parent}.{key}'.strip('.')}]")
    return value


def _checks(at: Place, table: Any) -> tuple[tuple[str, ...], dict[str, Severity]]:
    table = _table(at, "", "checks", table)
    for key in table:
        if key not in ("disable", "severity"):
            raise at.error("checks", key, f"no such key{like(key, ('disable', 'severity'))}")
    disable = table.get("disable", [])
    if not _is_texts(disable):
        raise at.error("checks", "disable", 'must be a list of check ids: ["link-flapped"]')
    levels = {}
    for check, level in _table(at, "checks", "severity", table.get("severity", {})).items():
        if level not in [s.value for s in Severity]:
            raise at.error("checks.severity", check, 'must be "critical", "warning" or "info"')
        levels[check] = Severity(level)
    return tuple(disable), levels


def _text(at: Place, value: Any, key: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise at.error("", key, "must be a text in quotes")
    return value


def _value(at: Place, table: str, key: str, value: Any) -> Any:
    """Return the value of one expectation in its own type. Raises ConfigError saying what would be right."""
    rule = _RULES.get(key)
    if rule is None:
        raise at.error(table, key, f"no such expectation{like(key, names())}")
    accepts, convert, right = rule
    if not accepts(value):
        raise at.error(table, key, f"{value!r:.80} is not right: {right}")
    return convert(value)


def _is_int(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d+\.\d+(\.\d+)?", value) is not None


def _is_priorities(value: Any) -> bool:
    return isinstance(value, list) and all(_is_int(0, 7)(item) for item in value)


def _one_of(*choices: str) -> tuple[Callable[[Any], bool], Callable[[Any], Any], str]:
    return (lambda value: value in choices), str, "one of " + ", ".join(f'"{c}"' for c in choices)


_RULES: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Any], str]] = {
    "rails": (lambda value: _is_texts(value) and bool(value), tuple, 'a list of glob patterns, as in ["mlx5_[0-7]"]'),
    "devices": (_is_int(1, 1024), int, "how many devices, 1 or more; leave it out where there are none"),
    "rate_gbps": (_is_number(0.1, 1e5), float, "a rate in Gb/s, as in 400"),
    "link_layer": _one_of("InfiniBand", "Ethernet"),
    "addressed_rails": (lambda value: isinstance(value, bool), bool, "true or false"),
    "mtu": (
        lambda value: _is_int(256, 4096)(value) and value.bit_count() == 1,
        int,
        "an RDMA MTU: 256, 512, 1024, 2048 or 4096",
    ),
    "lossless_priorities": (_is_priorities, frozenset, "a list of priorities from 0 to 7, as in [3]"),
    "trust": _one_of("dscp", "pcp"),
    "dscp": (_is_int(0, 63), int, "a DSCP from 0 to 63 (NCCL_IB_TC divided by 4)"),
    "cnp_priority": (_is_int(0, 7), int, "a priority from 0 to 7"),
    "congestion_control": _one_of("dcqcn", "rttcc", "pcc", "off"),
    "lossless_bandwidth": (_is_int(1, 100), int, "a share of the bandwidth in percent, 1 to 100"),
    "cable_m": (_is_int(1, 65535), int, "a length in metres, as in 30"),
    "adaptive_routing": (lambda value: isinstance(value, bool), bool, "true or false"),
    "max_loss_ppm": (_is_number(0, 1e6), float, "packets per million, from 0 to 1000000"),
    "max_pause_share": (_is_number(0, 1), float, "a share from 0 to 1"),
    "max_raw_ber": (_is_number(0, 1), float, "a bit error rate, as in 1e-6"),
    "boot_grace_s": (_is_number(0, 1e6), float, "seconds"),
    "nccl_version": (_is_version, str, 'a version of NCCL in quotes, as in "2.18.3"'),
    "memlock_bytes": (_is_int(0, 1 << 62), int, "bytes; 0 stands for unlimited"),
}
