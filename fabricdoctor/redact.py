"""Replace what identifies a site by stable pseudonyms: equal stays equal, different stays different."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .recording import Recording

_HEX = r"[0-9a-fA-F]"
#: Tried in this order at each place, once: what was replaced is not looked at again.
_IDENTIFYING = re.compile(
    rf"(?<![0-9a-fA-F-])(?P<uuid>{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}})(?![0-9a-fA-F-])"
    rf"|(?<![0-9a-fA-F:])(?P<groups>(?:{_HEX}{{4}}:){{3,7}}{_HEX}{{4}})(?![0-9a-fA-F:])"
    rf"|(?<![0-9a-fA-F:])(?P<mac>(?:{_HEX}{{2}}:){{5}}{_HEX}{{2}})(?![0-9a-fA-F:])"
    rf"|(?<![0-9a-fA-F:.])(?P<ipv6>(?={_HEX}*:[0-9a-fA-F:]*:)[0-9a-fA-F:]{{2,39}})(?![0-9a-fA-F:.])"
    rf"|(?<![\d.])(?P<ipv4>(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?![\d.])"
    rf"|(?<!{_HEX})(?P<guid>(?:0x)?{_HEX}{{16}})(?!{_HEX})"
)
#: Variables whose value is kept: they are settings. Of all others only that they are set is.
_SETTINGS = re.compile(r"(NCCL|RCCL|UCX)_")


def redacted(taken: Recording) -> Recording:
    """Return the recording with host names, IP addresses, MACs, GUIDs and serial numbers replaced."""
    secret = hashlib.sha256(
        json.dumps([taken.answers, taken.take.boot_id], sort_keys=True, default=str).encode()
    ).digest()

    def digest(text: str, size: int) -> str:
        return hashlib.blake2b(text.lower().encode(), key=secret, digest_size=size).hexdigest()

    names, home = _host_names(taken), _home(taken)

    def text(value: str) -> str:
        if home:  # the question for the user's own NCCL settings has it in its path, and facts look for it there
            value = re.sub(rf"(?<![\w.-]){re.escape(home)}(?![\w.-])", _masked(home), value)
        value = _scrub(value, digest)
        for name in names:
            value = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", f"host-{digest(name, 4)}", value)
        return value

    def block(answers: Any) -> dict[str, Any]:
        return {
            text(key): _walk(_tool(key, _environment(key, answer), digest), text) for key, answer in answers.items()
        }

    boot = f"boot-{digest(taken.take.boot_id, 8)}"
    before = replace(taken.before_take, boot_id=boot) if taken.before_take else None
    return replace(
        taken,
        answers=block(taken.answers),
        before=block(taken.before),
        take=replace(taken.take, boot_id=boot),
        before_take=before,
    )


def _host_names(taken: Recording) -> list[str]:
    answers = [taken.answers.get("read /proc/sys/kernel/hostname", {})]
    full = [str(a["value"]) for a in answers if "value" in a]
    return sorted(
        {part for name in full for part in (name, name.split(".")[0]) if len(part) > 1}, key=len, reverse=True
    )


def _home(taken: Recording) -> str:
    environment = taken.answers.get("environ", {}).get("value")
    home = environment.get("HOME") if isinstance(environment, dict) else None
    return home if isinstance(home, str) and len(home) > 1 else ""


def _masked(value: str) -> str:
    return re.sub(r"[^/.=,:\d]", "x", value)


def _environment(key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Keep settings of communication libraries, and of everything else only that it is set."""
    if key != "environ" or not isinstance(answer.get("value"), dict):
        return answer
    kept = {n: v if _SETTINGS.match(n) else _masked(str(v)) for n, v in answer["value"].items()}
    return {"value": kept}


def _tool(key: str, answer: dict[str, Any], digest: Callable[[str, int], str]) -> dict[str, Any]:
    """Take names and serial numbers out of what tools printed. Of LLDP only what facts are made of is kept."""
    said = answer.get("value")
    if not key.startswith("tool ") or not isinstance(said, dict):
        return answer
    output = str(said.get("output", ""))
    if key == "tool lldpcli":
        return {"value": said | {"output": _lldp(output, digest)}}

    def serial(found: re.Match[str]) -> str:
        return f"{found[1]}{digest(found[2], 6)}"

    return {"value": said | {"output": re.sub(r'(?i)(serial number"?\s*:\s*"?)([^"\s]+)', serial, output)}}


def _lldp(output: str, digest: Callable[[str, int], str]) -> str:
    """Return the same neighbours without free text; "" for what is not lldpd's JSON."""

    def first(entry: dict[str, Any], name: str) -> dict[str, Any]:
        found: dict[str, Any] = (entry.get(name) or [{}])[0]
        return found

    def neighbour(entry: dict[str, Any]) -> dict[str, Any]:
        chassis, port, tlvs = (first(entry, name) for name in ("chassis", "port", "unknown-tlvs"))
        name = first(chassis, "name") or first(chassis, "id")
        known = [tlv for tlv in tlvs.get("unknown-tlv") or [] if tlv["oui"] == "00,80,C2"]
        return {
            "name": entry["name"],
            "via": entry.get("via"),
            "chassis": [{
                "name": [{"value": f"switch-{digest(str(name.get('value')), 4)}"}],
                "capability": chassis.get("capability", []),
            }],
            "port": [{"id": [_port_id(first(port, "id"), digest)], "mfs": port.get("mfs", [])}],
            "unknown-tlvs": [{"unknown-tlv": known}],
        }  # fmt: skip

    try:
        (top,) = json.loads(output)["lldp"]
        return json.dumps({"lldp": [{"interface": [neighbour(entry) for entry in top.get("interface", [])]}]}) + "\n"
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return ""


def _port_id(port: dict[str, Any], digest: Callable[[str, int], str]) -> dict[str, str]:
    """Keep the name of a switch's interface: it says nothing of the site. Other kinds are free text or addresses."""
    kind, value = str(port.get("type")), str(port.get("value"))
    return {"type": kind, "value": value if kind == "ifname" else f"port-{digest(value, 4)}"}


def _walk(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_walk(item, text) for item in value]
    if isinstance(value, dict):
        return {text(str(key)): _walk(item, text) for key, item in value.items()}
    return value


def _scrub(value: str, digest: Callable[[str, int], str]) -> str:
    def replacement(found: re.Match[str]) -> str:
        text = found.group()
        if found.lastgroup == "uuid":
            return re.sub(r"(.{8})(....)(....)(....)(.{12})", r"\1-\2-\3-\4-\5", digest(text, 16))
        if found.lastgroup == "groups":
            return _groups(text, digest)
        if found.lastgroup == "mac":
            return ":".join(re.findall("..", "02" + digest(text, 5)))
        if found.lastgroup == "ipv6":
            return _ipv6(text, digest)
        if found.lastgroup == "ipv4":
            return _ipv4(text, digest)
        return ("0x" if text.startswith("0x") else "") + digest(text.removeprefix("0x"), 8)

    return _IDENTIFYING.sub(replacement, value)


def _groups(text: str, digest: Callable[[str, int], str]) -> str:
    """Replace a GID or GUID written in groups of four; a GID keeps its kind: link-local, IPv4-mapped or global."""
    if set(text) <= {"0", ":"}:
        return text
    if text.count(":") == 7:  # noqa: PLR2004  a GID has eight groups
        groups = (
            f"{int(ipaddress.IPv6Address(_ipv6(text, digest))):032x}"  # not .exploded: Python 3.13 writes IPv4 in it
        )
        return ":".join(re.findall("....", groups))
    return ":".join(re.findall("....", digest(text.replace(":", ""), (text.count(":") + 1) * 2)))


def _ipv6(text: str, digest: Callable[[str, int], str]) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return text
    if address.ipv4_mapped:
        return f"::ffff:{_ipv4(str(address.ipv4_mapped), digest)}"
    if address.is_unspecified or address.is_loopback or address.is_multicast:
        return text
    prefix, low = (0xFE80 << 112, 64) if address.is_link_local else (0x20010DB8 << 96, 96)
    return str(ipaddress.IPv6Address(prefix | _mixed(int(address), 128, low, digest)))


def _ipv4(text: str, digest: Callable[[str, int], str]) -> str:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return text
    if address.is_unspecified or address.is_loopback or address.is_multicast or text.startswith("255."):
        return text
    if address.is_link_local:
        return str(ipaddress.IPv4Address(0xA9FE << 16 | _mixed(int(address), 32, 16, digest)))
    return str(ipaddress.IPv4Address(10 << 24 | _mixed(int(address), 32, 24, digest)))


def _mixed(address: int, width: int, low: int, digest: Callable[[str, int], str]) -> int:
    """Return the last `low` bits of an address of `width` bits, each changed or not by what stands before it.

    Two addresses have as many leading bits in common as before, so that what was in one subnet stays in one.
    """
    result = 0
    for place in range(low - 1, -1, -1):
        before = f"{width} {place} {address >> (place + 1)}"
        result = result << 1 | (address >> place & 1) ^ (int(digest(before, 1), 16) & 1)
    return result
