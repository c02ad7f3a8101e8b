"""RDMA devices, as the kernel and as libibverbs show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..host import Host, Question
from ..unknown import Unknown, first_unknown, known_or, then
from .netdev import netdev_questions
from .pci import names_in
from .port import Port, port_questions, ports, with_kernel_log

_IB = "/sys/class/infiniband"


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """One RDMA device. `provider` says whether libibverbs can use it, `uverbs` its device node's path.

    `is_vf` is true of a sub-function as well.
    `board_seen` tells which of model and board the driver names: + named, - not, ? could not be read.
    """

    name: str
    driver: str | Unknown
    protocol: str | Unknown
    pci: str | Unknown
    path: tuple[str, ...]
    is_vf: bool
    is_software: bool
    board_seen: str
    uverbs: str | None | Unknown
    provider: bool | Unknown
    provider_warning: str
    usable: Mapping[str, str | None] | Unknown
    #: whether the limit of locked memory is none, asked only where memory could not be registered
    locks_all: bool | Unknown
    tried_as: int | Unknown
    ports: tuple[Port, ...] | Unknown
    firmware: str | Unknown

    @property
    def is_fabric(self) -> bool:
        """Return whether any of its ports is one of the training fabric's."""
        return any(port.is_fabric for port in known_or(self.ports, ()))

    def __str__(self) -> str:
        return self.name


def devices(host: Host, job_uid: int | None) -> tuple[Device, ...] | Unknown:
    """Return the RDMA devices of this network namespace; no RDMA subsystem is no devices."""
    names = names_in(host, _IB)
    if isinstance(names, Unknown):
        return names
    if not names:
        return ()
    _ask_of_all(host, names)
    uverbs = _uverbs(host)
    listed = then(host.ask("verbs.devices"), _listed, "verbs.devices")
    return tuple(_device(host, name, uverbs, listed, job_uid) for name in names)


def _listed(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what libibverbs lists, when it is a list of names."""
    found = answer["devices"]
    if not isinstance(found, list) or not all(
        isinstance(n, str) and re.fullmatch(r"[A-Za-z][\w.:-]*", n) for n in found
    ):
        raise TypeError("not a list of devices")
    return answer


def _uverbs(host: Host) -> dict[str, str | None] | Unknown:
    """Return, for each RDMA device, the device node libibverbs opens; None when the node does not exist.

    Without ib_uverbs there is no class of such devices, and the result is empty.
    """
    base = "/sys/class/infiniband_verbs"
    entries = names_in(host, base)
    if isinstance(entries, Unknown):
        return entries
    nodes = names_in(host, "/dev/infiniband")
    if isinstance(nodes, Unknown):
        return nodes
    numbered = [e for e in entries if e.startswith("uverbs")]
    owners = host.ask_all([("read", f"{base}/{entry}/ibdev") for entry in numbered])
    table = {
        str(owner): f"/dev/infiniband/{entry}" if entry in nodes else None
        for entry, owner in zip(numbered, owners, strict=True)
        if not isinstance(owner, Unknown)
    }
    unread = first_unknown(owners)
    return unread if unread is not None and not table else table


def _questions(name: str) -> list[Question]:
    base = f"{_IB}/{name}"
    return [
        ("read", f"{base}/node_type"), ("link", f"{base}/device"), ("link", f"{base}/device/driver"),
        ("link", f"{base}/device/physfn"), ("read", f"{base}/parent"), ("read", f"{base}/board_id"),
        ("read", f"{base}/hca_type"), ("read", f"{base}/fw_ver"), ("list", f"{base}/ports"),
        ("list", f"{base}/device/net"),
    ]  # fmt: skip


def _ask_of_all(host: Host, names: tuple[str, ...]) -> None:
    """Ask about all devices at once what is asked of each below: a round trip to the reading process costs more."""
    host.ask_all([question for name in names for question in _questions(name)])
    found = [(name, n) for name in names for n in known_or(names_in(host, f"{_IB}/{name}/ports"), ()) if n.isdecimal()]
    interfaces = [net for name in names for net in known_or(names_in(host, f"{_IB}/{name}/device/net"), ())]
    questions = [question for name, number in found for question in port_questions(name, int(number))]
    host.ask_all(questions + [question for interface in interfaces for question in netdev_questions(interface)])


def _device(host: Host, name: str, uverbs: dict[str, str | None] | Unknown, listed: Any, job_uid: int | None) -> Device:
    base = f"{_IB}/{name}"
    kind, pci, driver, physfn, parent, board, model, firmware, *_ = host.ask_all(_questions(name))
    protocol = then(kind, _protocol, f"read {base}/node_type")
    software = isinstance(pci, Unknown) and pci.why == "missing" and not isinstance(parent, Unknown)
    path = then(pci, lambda p: tuple(re.findall(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", p)))
    bound: str | Unknown = then(driver, lambda d: str(d).rsplit("/", 1)[-1], f"link {base}/device/driver")
    if software:
        bound = then(protocol, lambda p: "siw" if p == "iWARP" else "rxe")
    warning = known_or(then(listed, lambda v: next((w for w in v["warnings"] if w.split("/")[-1] == name), "")), "")
    usable = _usable(host, name, job_uid) if known_or(then(listed, lambda v: name in v["devices"]), False) else None
    verbs = host.ask("verbs.device", name) if usable is not None else Unknown(f"verbs.device {name}", "missing")
    made_by = " ".join(known_or(x, "") for x in (model, board))
    board_seen = "".join(_seen(answer) for answer in (model, board))
    return Device(
        name=name,
        driver=bound,
        protocol=protocol,
        pci=then(path, lambda p: p[-1]) if not software else Unknown(base, "not-applicable", "a software device"),
        path=known_or(path, ()),
        is_vf=not isinstance(physfn, Unknown) or bool(re.search(r"\.sf\.\d+$", known_or(pci, ""))),
        is_software=software,
        board_seen="?" if board_seen == "--" and isinstance(bound, Unknown) else board_seen,
        uverbs=then(uverbs, lambda table: table[name] if table else None, "list /sys/class/infiniband_verbs"),
        provider=then(listed, lambda v: name in v["devices"], "verbs.devices"),
        provider_warning=str(warning),
        usable=Unknown(f"verbs.usable {name}", "unsupported", "libibverbs does not list the device")
        if usable is None
        else then(usable, _steps, f"verbs.usable {name}"),
        locks_all=_locks_all(host, usable),
        tried_as=then(usable, lambda u: int(u["uid"])) if usable is not None else Unknown("verbs.usable", "missing"),
        ports=then(
            ports(host, name, bound, verbs, made_by.strip() or known_or(bound, "?")),
            lambda found: tuple(with_kernel_log(host, port, known_or(path, ())) for port in found),
        ),
        firmware=_firmware(firmware, f"read {base}/fw_ver"),
    )


def _firmware(text: Any, source: str) -> str | Unknown:
    """Return the version; software devices and some drivers name none."""
    if text.why == "missing" if isinstance(text, Unknown) else not text:
        return Unknown(source, "not-applicable", "the driver names no firmware")
    return then(text, _version, source)


def _version(text: str) -> str:
    if not re.match(r"\d+\.\d", text):
        raise ValueError("no version")
    return text


def _seen(answer: Any) -> str:
    """Return whether a text was there (+), is absent with this driver (-), or could not be read (?)."""
    if isinstance(answer, Unknown):
        return "-" if answer.why == "missing" else "?"
    return "+"


def _locks_all(host: Host, usable: Any) -> bool | Unknown:
    refused = then(usable, lambda answer: answer["steps"]["mr"] is not None) if usable is not None else False
    if not known_or(refused, default=False):
        return Unknown("limits", "not-applicable", "memory could be registered")
    return then(host.ask("limits"), lambda answer: answer["memlock"] is None, "limits")


def _usable(host: Host, name: str, job_uid: int | None) -> Any:
    return host.ask("verbs.usable", name if job_uid is None else f"{name} {job_uid}")


def _steps(answer: dict[str, Any]) -> dict[str, str | None]:
    """Return, for each step tried, None or what went wrong."""
    steps = answer["steps"]
    if not isinstance(steps, dict) or not steps:
        raise ValueError("no step was tried")
    return {
        str(step): None if error is None else f"errno {error['errno']}: {error['detail']}"
        for step, error in steps.items()
    }


def _protocol(text: str) -> str:
    code = int(text.split(":", maxsplit=1)[0])
    if code not in (1, 2, 3, 4, 5, 6, 7):
        raise ValueError("no such node type")
    return {4: "iWARP", 5: "usNIC", 6: "usNIC", 7: "unspecified"}.get(code, "IB")
