"""The NCCL settings a job started here would get: its environment, then NCCL's configuration files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..host import Host
from ..unknown import Unknown, then

#: of a number in 64 bits, in octal and with some zeros before it
_DIGITS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    value: str
    #: "environment", or the file it stands in
    origin: str


@dataclass(frozen=True, slots=True, eq=False)
class NcclSettings:
    """Settings by name; what none of the places sets is absent.

    `of_job`: whether a job's own would be among them; `in_job`: whether this is one, Slurm's or one that sets NCCL up.
    """

    settings: Mapping[str, Setting]
    of_job: bool = True
    in_job: bool = False

    def get(self, name: str) -> Setting | None:
        return self.settings.get(name)

    def text(self, name: str, default: str) -> str:
        """Return a setting; one that is set to nothing is, to NCCL, not set (src/misc/param.cc)."""
        setting = self.settings.get(name)
        return setting.value if setting is not None and setting.value else default

    def number(self, name: str, default: int) -> int | Unknown:
        """Return a setting as NCCL reads it: with strtoll, where it is set to anything (src/misc/param.cc)."""
        setting = self.settings.get(name)
        if setting is None or not setting.value:
            return default
        found = re.match(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", setting.value)
        if found is None or len(found.group(2)) > _DIGITS:
            if setting.value.strip():
                return Unknown(name, "unparsable", f"{name}={setting.value!r} is not a number")
            return 0
        digits = found.group(2)
        base = 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10
        return int(digits, base) * (-1 if found.group(1) == "-" else 1)


def nccl_settings(host: Host, *, in_job: bool = True) -> NcclSettings | Unknown:
    """Return the effective settings. The environment wins over the user's file, and that over /etc/nccl.conf."""
    environment = host.ask("environ")
    if isinstance(environment, Unknown):
        return environment
    return then(environment, lambda env: _effective(host, env, in_job=in_job), "environ")


def _effective(host: Host, environment: Mapping[str, str], *, in_job: bool) -> NcclSettings | Unknown:
    if not isinstance(environment, dict):
        raise TypeError("not an environment")
    if not all(isinstance(value, str) for value in environment.values()):
        raise TypeError("a variable that is no text")
    found = {name: Setting(value, "environment") for name, value in environment.items() if name.startswith("NCCL")}
    own = environment.get("NCCL_CONF_FILE") or (f"{environment['HOME']}/.nccl.conf" if "HOME" in environment else "")
    for path in filter(None, (own, "/etc/nccl.conf")):
        text = host.ask("read", path)
        if isinstance(text, Unknown):
            if text.why != "missing":
                return text
            continue
        for name, value in _lines(text):
            found.setdefault(name, Setting(value, path))
    set_up = "SLURM_JOB_ID" in environment or any(s.origin == "environment" for s in found.values())
    return NcclSettings(found, in_job, in_job and set_up)


def _lines(text: str) -> list[tuple[str, str]]:
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return [(name.strip(), value.strip()) for name, _, value in pairs]
