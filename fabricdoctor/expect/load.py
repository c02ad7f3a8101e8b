"""Load expectations: a profile, then the site's file, then its node groups; each value keeps where it came from."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..finding import Severity
from .model import Expect, names

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SITE_FILE = Path("/etc/fabricdoctor/fabricdoctor.toml")
_PROFILES = Path(__file__).parent / "profiles"


class ConfigError(Exception):
    """A configuration that cannot be used; the message names file, line, key and what would be right."""


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
    return {path.stem: str(_toml(path)["title"]) for path in sorted(_PROFILES.glob("*.toml"))}


def load(path: Path | None, profile: str | None, hostname: str) -> Config:
    """Return the configuration of node `hostname`.

    `path` None means /etc/fabricdoctor/fabricdoctor.toml where it exists; `profile` wins over the file's own.
    Raises ConfigError.
    """
    file = path if path is not None else SITE_FILE if SITE_FILE.exists() else None
    document = _document(file) if file else {}
    at = _Place(file)
    chosen = profile or _text(at, document.get("profile"), "profile")
    values, origin = _profile(chosen, at if not profile else None)
    for where, table in _tables(at, document, hostname):
        for key, value in table.items():
            values[key] = _value(at, where, key, value)
            origin[key] = at.line(where, key)
    disable, severity = _checks(at, document.get("checks", {}))
    return Config(Expect(**values), origin, chosen, disable, severity, str(file) if file else None)


@dataclass(frozen=True, slots=True)
class _Place:
    """Finds the line of a key, for messages."""

    file: Path | None

    def line(self, table: str, key: str) -> str:
        """Return "FILE, line N" of `key` in `table` ("" for the top of the file)."""
        current, text = "", self.file.read_text(errors="replace") if self.file else ""
        for number, line in enumerate(text.splitlines(), 1):
            bare = line.strip()
            if bare.startswith("["):
                current = bare.strip("[]").strip()
                if current == f"{table}.{key}".strip("."):
                    return f"{self.file}, line {number}"
            elif current == table and bare.split("=")[0].strip().strip("\"'") == key:
                return f"{self.file}, line {number}"
        return f"{self.file}"

    def error(self, table: str, key: str, message: str) -> ConfigError:
        shown = f"{table}.{key}" if table else key
        return ConfigError(f"{self.line(table, key)}: {shown}: {message}")


def _toml(path: Path) -> dict[str, Any]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(f"{path}: not a regular file")
        document: dict[str, Any] = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    return document


def _document(path: Path) -> dict[str, Any]:
    document = _toml(path)
    for key in document:
        if key not in ("profile", "expect", "checks"):
            raise _Place(path).error("", key, f"no such key{_like(key, ('profile', 'expect', 'checks'))}")
    return document


def _profile(name: str | None, at: _Place | None) -> tuple[dict[str, Any], dict[str, str]]:
    if name is None:
        return {}, {}
    path = _PROFILES / f"{name}.toml"
    if "/" in name or not path.is_file():
        known = tuple(p.stem for p in sorted(_PROFILES.glob("*.toml")))
        message = f"no profile is called {name!r}; there are {', '.join(known)}"
        raise at.error("", "profile", message) if at else ConfigError(f"--profile: {message}")
    document, place = _toml(path), _Place(path)
    values = {key: _value(place, "expect", key, value) for key, value in document["expect"].items()}
    return values, {key: f"profile {name}: {document['source'][key]}" for key in values}


def _tables(at: _Place, document: Mapping[str, Any], hostname: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return [expect] and the groups that hold this node, in the order of the file, as (name, keys and values)."""
    expect = _table(at, "", "expect", document.get("expect", {}))
    groups = _table(at, "expect", "group", expect.get("group", {}))
    found: list[tuple[str, Mapping[str, Any]]] = [
        ("expect", {key: value for key, value in expect.items() if key != "group"})
    ]
    for nodes, table in groups.items():
        if _holds(at, nodes, hostname):
            found.append((f'expect.group."{nodes}"', _table(at, "expect.group", nodes, table)))
    return found


def _holds(at: _Place, nodes: str, hostname: str) -> bool:
    """Return whether a node set (ClusterShell's syntax) holds this node, by its full or its short name."""
    try:
        from ClusterShell.NodeSet import NodeSet, NodeSetParseError  # noqa: PLC0415  only sites with groups pay for it
    except ImportError as error:
        raise ConfigError(
            f"{at.file}: [expect.group] needs ClusterShell to read {nodes!r}: pip install 'fabricdoctor[fleet]'"
        ) from error
    try:
        members = NodeSet(nodes)
    except NodeSetParseError as error:
        raise at.error("expect.group", nodes, f"not a set of nodes: {error}") from error
    return hostname in members or hostname.split(".", maxsplit=1)[0] in members


def _table(at: _Place, parent: str, key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise at.error(parent, key, f"must be a table: [{f'{parent}.{key}'.strip('.')}]")
    return value


def _checks(at: _Place, table: Any) -> tuple[tuple[str, ...], dict[str, Severity]]:
    table = _table(at, "", "checks", table)
    for key in table:
        if key not in ("disable", "severity"):
            raise at.error("checks", key, f"no such key{_like(key, ('disable', 'severity'))}")
    disable = table.get("disable", [])
    if not _is_texts(disable):
        raise at.error("checks", "disable", 'must be a list of check ids: ["link-flapped"]')
    levels = {}
    for check, level in _table(at, "checks", "severity", table.get("severity", {})).items():
        if level not in [s.value for s in Severity]:
            raise at.error("checks.severity", check, 'must be "critical", "warning" or "info"')
        levels[check] = Severity(level)
    return tuple(disable), levels


def _text(at: _Place, value: Any, key: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise at.error("", key, "must be a text in quotes")
    return value


def _value(at: _Place, table: str, key: str, value: Any) -> Any:
    """Return the value of one expectation in its own type. Raises ConfigError saying what would be right."""
    rule = _RULES.get(key)
    if rule is None:
        raise at.error(table, key, f"no such expectation{_like(key, names())}")
    accepts, convert, right = rule
    if not accepts(value):
        raise at.error(table, key, f"{value!r} is not right: {right}")
    return convert(value)


def _like(key: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(key, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"


def _is_int(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_number(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _is_priorities(value: Any) -> bool:
    return isinstance(value, list) and all(_is_int(0, 7)(item) for item in value)


def _one_of(*choices: str) -> tuple[Callable[[Any], bool], Callable[[Any], Any], str]:
    return (lambda value: value in choices), str, "one of " + ", ".join(f'"{c}"' for c in choices)


_RULES: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Any], str]] = {
    "rails": (_is_texts, tuple, 'a list of glob patterns, as in ["mlx5_[0-7]"]'),
    "devices": (_is_int(0, 1024), int, "a whole number of devices"),
    "rate_gbps": (_is_number(0.1, 1e5), float, "a rate in Gb/s, as in 400"),
    "link_layer": _one_of("InfiniBand", "Ethernet"),
    "addressed_rails": (lambda value: isinstance(value, bool), bool, "true or false"),
    "mtu": (lambda value: value in (256, 512, 1024, 2048, 4096), int, "an RDMA MTU: 256, 512, 1024, 2048 or 4096"),
    "lossless_priorities": (_is_priorities, frozenset, "a list of priorities from 0 to 7, as in [3]"),
    "trust": _one_of("dscp", "pcp"),
    "dscp": (_is_int(0, 63), int, "a DSCP from 0 to 63 (NCCL_IB_TC divided by 4)"),
    "cnp_priority": (_is_int(0, 7), int, "a priority from 0 to 7"),
    "congestion_control": _one_of("dcqcn", "rttcc", "pcc", "off"),
    "max_loss_ppm": (_is_number(0, 1e6), float, "packets per million, from 0 to 1000000"),
    "max_pause_share": (_is_number(0, 1), float, "a share from 0 to 1"),
    "boot_grace_s": (_is_number(0, 1e6), float, "seconds"),
    "memlock_bytes": (_is_int(0, 1 << 62), int, "bytes; 0 stands for unlimited"),
}
