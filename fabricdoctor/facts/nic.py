"""RDMA devices and their ports, as the kernel and as libibverbs show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..host import Host
from ..unknown import Unknown, known_or, then
from .counters import PMA_LIMIT, Counter, count, counter, first_sample_age
from .gid import Gid, gid_table
from .netdev import Netdev, netdev
from .pci import names_in
from .vendors import rdma_names

_IB = "/sys/class/infiniband"
_STATES = {1: "DOWN", 2: "INIT", 3: "ARMED", 4: "ACTIVE", 5: "ACTIVE_DEFER"}
_FASTEST_GBPS = 16_000
_PHYS = {1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery"}


@dataclass(frozen=True, slots=True)
class Share:
    """Packets lost, by the difference of two samples; each count is None where the driver does not count it."""

    out_of_order: int | None
    retransmitted: int | None
    timeouts: int | None
    packets: int
    seconds: float
    ordered: bool

    @property
    def lost(self) -> int:
        """Return how many packets were seen to be missing, by this side or by its peers."""
        return (self.out_of_order or 0) + (self.retransmitted or 0)


@dataclass(frozen=True, slots=True)
class Port:
    """One port. `rate_gbps` is the link's; `role` is "fabric" for a port that is judged, else why it is not.

    `first_sample_age` is when, in seconds after boot, its counters were first read; `siblings_rate_gbps` the usual
    rate of the other rails that are up, None when there is none.
    """

    device: str
    number: int
    link_layer: str | Unknown
    state: str | Unknown
    phys_state: str | Unknown
    rate_gbps: float | Unknown
    lanes: int | Unknown
    active_mtu: int | Unknown
    gids: tuple[Gid, ...] | Unknown
    netdev: Netdev | Unknown
    loss: Share | Unknown
    link_downed: Counter | Unknown
    ever_up: bool | Unknown
    board: str
    first_sample_age: float | Unknown
    kernel_says: str | Unknown = ""
    role: str = ""
    siblings_up: bool | Unknown = field(default_factory=lambda: Unknown("siblings", "missing"))
    siblings_rate_gbps: float | None | Unknown = None

    @property
    def active(self) -> bool | Unknown:
        return then(self.state, lambda state: state == "ACTIVE")

    @property
    def usable_gids(self) -> tuple[Gid, ...] | Unknown:
        """Return the routable RoCE v2 GIDs; Unknown when none is known to be one and some may be."""
        if isinstance(self.gids, Unknown):
            return self.gids
        usable = [(gid, gid.usable) for gid in self.gids]
        found = tuple(gid for gid, is_usable in usable if not isinstance(is_usable, Unknown) and is_usable)
        return found or next((u for gid, u in usable if isinstance(u, Unknown) and gid.routable), ())

    @property
    def in_use(self) -> bool | Unknown:
        """Return whether anything shows that this port is meant to be up: a link it had, an address, its siblings."""
        addresses = then(self.netdev, lambda n: n.routable_addresses) if isinstance(self.netdev, Netdev) else ()
        signs = [self.siblings_up, self.ever_up, then(addresses, bool)]
        if any(known_or(sign, default=False) for sign in signs):
            return True
        return next((sign for sign in signs if isinstance(sign, Unknown)), False)

    @property
    def link_drops(self) -> int | Unknown:
        """Return how often the link went down between two samples, by whichever counter there is."""
        changes = then(self.carrier_changes, lambda c: then(c.delta, lambda delta: delta // 2))
        downed = then(self.link_downed, lambda c: c.delta)
        told = [n for n in (changes, downed) if not isinstance(n, Unknown)]
        return max(told) if told else changes if isinstance(self.netdev, Netdev) else downed

    @property
    def carrier_changes(self) -> Counter | Unknown:
        return self.netdev.carrier_changes if isinstance(self.netdev, Netdev) else self.netdev

    @property
    def is_ethernet(self) -> bool | Unknown:
        return then(self.link_layer, lambda layer: layer == "Ethernet")

    def __str__(self) -> str:
        name = self.netdev.name if isinstance(self.netdev, Netdev) else ""
        return f"{self.device}/{self.number}" + (f" ({name})" if name else "")


@dataclass(frozen=True, slots=True)
class Device:
    """One RDMA device. `provider` says whether libibverbs can use it, `uverbs` its device node's path.

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
    tried_as: int | Unknown
    ports: tuple[Port, ...] | Unknown

    def __str__(self) -> str:
        return self.name


def devices(host: Host, job_uid: int | None) -> tuple[Device, ...] | Unknown:
    """Return the RDMA devices of this network namespace; no RDMA subsystem is no devices."""
    names = names_in(host, _IB)
    if isinstance(names, Unknown):
        return names
    if not names:
        return ()
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
    unread = next((owner for owner in owners if isinstance(owner, Unknown)), None)
    return unread if unread is not None and not table else table


def _device(host: Host, name: str, uverbs: dict[str, str | None] | Unknown, listed: Any, job_uid: int | None) -> Device:
    base = f"{_IB}/{name}"
    kind, pci, driver, physfn, parent, board, model = host.ask_all([
        ("read", f"{base}/node_type"), ("link", f"{base}/device"), ("link", f"{base}/device/driver"),
        ("link", f"{base}/device/physfn"), ("read", f"{base}/parent"), ("read", f"{base}/board_id"),
        ("read", f"{base}/hca_type"),
    ])  # fmt: skip
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
        is_vf=not isinstance(physfn, Unknown),
        is_software=software,
        board_seen="?" if board_seen == "--" and isinstance(bound, Unknown) else board_seen,
        uverbs=then(uverbs, lambda table: table[name] if table else None, "list /sys/class/infiniband_verbs"),
        provider=then(listed, lambda v: name in v["devices"], "verbs.devices"),
        provider_warning=str(warning),
        usable=Unknown(f"verbs.usable {name}", "unsupported", "libibverbs does not list the device")
        if usable is None
        else then(usable, _steps, f"verbs.usable {name}"),
        tried_as=then(usable, lambda u: int(u["uid"])) if usable is not None else Unknown("verbs.usable", "missing"),
        ports=then(
            _ports(host, name, bound, verbs, made_by.strip() or known_or(bound, "?")),
            lambda ports: tuple(_with_kernel_log(host, port, known_or(path, ())) for port in ports),
        ),
    )


def _seen(answer: Any) -> str:
    """Return whether a text was there (+), is absent with this driver (-), or could not be read (?)."""
    if isinstance(answer, Unknown):
        return "-" if answer.why == "missing" else "?"
    return "+"


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


def _ports(host: Host, device: str, driver: str | Unknown, verbs: Any, board: str) -> tuple[Port, ...] | Unknown:
    numbers = names_in(host, f"{_IB}/{device}/ports")
    return then(
        numbers,
        lambda ns: tuple(_port(host, device, int(n), driver, verbs, board) for n in sorted(ns, key=int)),
        f"list {_IB}/{device}/ports",
    )


def _port(host: Host, device: str, number: int, driver: str | Unknown, verbs: Any, board: str) -> Port:
    base = f"{_IB}/{device}/ports/{number}"
    state, phys, rate, layer = host.ask_all([
        ("read", f"{base}/state"), ("read", f"{base}/phys_state"), ("read", f"{base}/rate"),
        ("read", f"{base}/link_layer"),
    ])  # fmt: skip
    gids = gid_table(host, device, number)
    interface = _netdev(host, device, number, gids)
    by_verbs = then(verbs, lambda v: v["ports"][str(number)], f"verbs.device {device}")
    link_layer = then(layer, _layer, f"read {base}/link_layer")
    ethernet = known_or(link_layer, "") == "Ethernet"
    return Port(
        device=device,
        number=number,
        link_layer=link_layer,
        state=then(state, lambda s: _enum(s, _STATES), f"read {base}/state"),
        phys_state=then(phys, lambda s: _enum(s, _PHYS), f"read {base}/phys_state"),
        rate_gbps=_rate(rate, by_verbs, interface if ethernet else None, base),
        lanes=then(rate, _lanes, f"read {base}/rate"),
        active_mtu=_active_mtu(by_verbs, interface),
        gids=gids,
        netdev=interface,
        loss=_loss(host, base, driver),
        link_downed=counter(host, "read", f"{base}/counters/link_downed", limit=PMA_LIMIT),
        ever_up=_ever_up(host, base, interface),
        board=board,
        first_sample_age=first_sample_age(host),
    )


def _with_kernel_log(host: Host, port: Port, path: tuple[str, ...]) -> Port:
    """Add what the kernel last said of the port's adapter, when the port has no link; else it is not asked."""
    if known_or(port.active, default=True):
        return port
    names = {*path[-1:], port.netdev.name if isinstance(port.netdev, Netdev) else ""}

    def last(log: list[dict[str, Any]]) -> str:
        return next((str(line["text"]) for line in reversed(log) if line["device"] in names), "")

    return replace(port, kernel_says=then(host.ask("kmsg"), last, "kmsg"))


def _layer(text: str) -> str:
    if text not in ("InfiniBand", "Ethernet", "Unknown", "Unspecified"):
        raise ValueError("no such link layer")
    return text


def _enum(text: str, names: Mapping[int, str]) -> str:
    """Return the kernel's "4: ACTIVE" as a name. Raises ValueError for a number it does not have."""
    return names[int(text.split(":", maxsplit=1)[0])]


def _lanes(text: str) -> int:
    found = re.search(r"\((\d+)X", text)
    if not found or not int(found.group(1)):
        raise ValueError("no width in the rate")
    return int(found.group(1))


def _rate(text: Any, verbs: Any, interface: Netdev | Unknown | None, base: str) -> float | Unknown:
    """Return Gb/s: an Ethernet port's from its interface, else from verbs, else the kernel's text."""
    if isinstance(interface, Netdev) and not isinstance(interface.speed_gbps, Unknown):
        return interface.speed_gbps
    by_verbs = then(verbs, lambda v: _positive(v["gbps"]))
    return by_verbs if not isinstance(by_verbs, Unknown) else then(text, _rate_text, f"read {base}/rate")


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not 0 < float(value) <= _FASTEST_GBPS:
        raise ValueError("not a rate")
    return float(value)


def _rate_text(text: str) -> float:
    found = re.match(r"(\d+(?:\.\d+)?) Gb/sec \(\d+X ?(\w*)\)", text)
    if not found or not float(found.group(1)):
        raise ValueError("not a rate")
    if found.group(2) in ("", "SDR"):
        raise ValueError("the kernel prints SDR also for speeds it does not know")
    return float(found.group(1))


def _active_mtu(verbs: Any, interface: Netdev | Unknown) -> int | Unknown:
    """Return the port's MTU in bytes: from verbs, else what the kernel derives from the interface's MTU."""
    by_verbs = then(verbs, lambda v: _mtu(v["active_mtu"]))
    if not isinstance(by_verbs, Unknown) or not isinstance(interface, Netdev):
        return by_verbs
    return interface.roce_mtu


def _mtu(value: Any) -> int:
    if value not in (256, 512, 1024, 2048, 4096):
        raise ValueError("not an MTU of RDMA")
    return int(value)


def _netdev(host: Host, device: str, number: int, gids: tuple[Gid, ...] | Unknown) -> Netdev | Unknown:
    """Return the port's interface: the one its GIDs name, else the device's; several GIDs may lie on VLANs."""
    named = then(gids, lambda table: list(dict.fromkeys(n for g in table if not isinstance(n := g.netdev, Unknown))))
    candidates = known_or(named, [])
    if not candidates:
        candidates = list(known_or(names_in(host, f"{_IB}/{device}/device/net"), ()))
        ports = [known_or(host.ask("read", f"/sys/class/net/{name}/dev_port"), "") for name in candidates]
        candidates = [n for n, p in zip(candidates, ports, strict=True) if p in ("", str(number - 1))] or candidates
    if not candidates:
        return Unknown(f"netdev of {device}/{number}", "missing", "no network interface is visible for it")
    return netdev(host, min(candidates, key=lambda name: ("." in name, candidates.index(name))))


def _ever_up(host: Host, base: str, interface: Netdev | Unknown) -> bool | Unknown:
    """Return whether this port had a link since its driver was loaded."""
    received, downed = host.ask_all([
        ("read", f"{base}/counters/port_rcv_data"), ("read", f"{base}/counters/link_downed")
    ])  # fmt: skip
    signs = [then(received, lambda n: count(n) > 0), then(downed, lambda n: count(n) > 0)]
    if isinstance(interface, Netdev):
        signs.append(interface.came_up)
    told = [sign for sign in signs if not isinstance(sign, Unknown)]
    return (
        any(told) if told else Unknown(f"history of {base}", "unsupported", "no counter tells whether it was ever up")
    )


def _loss(host: Host, base: str, driver: str | Unknown) -> Share | Unknown:
    """Return the loss its driver counts. Unknown when the driver is not known, or none of its counters answers."""
    names = then(driver, rdma_names)
    if isinstance(names, Unknown):
        return names
    if names is None:
        return Unknown(f"{base}/hw_counters", "unsupported", f"the counters of driver {driver} are not known")

    def total(counters: tuple[tuple[str, str], ...]) -> int | None | Unknown:
        """Return the growth of these counters together; None when the driver has none of them."""
        host.ask_all([("read", f"{base}/{directory}/{name}") for directory, name in counters])
        deltas = [then(counter(host, "read", f"{base}/{d}/{n}"), lambda c: c.delta) for d, n in counters]
        present = [d for d in deltas if not (isinstance(d, Unknown) and d.why == "missing")]
        bad = next((d for d in present if isinstance(d, Unknown)), None)
        return bad if bad is not None else sum(present) if present else None  # type: ignore[arg-type]

    def named(group: tuple[str, ...]) -> int | None | Unknown:
        return total(tuple(("hw_counters", name) for name in group))

    order, again, late = named(names.out_of_order), named(names.retransmit), named(names.timeouts)
    packets, seconds = total(names.packets), host.seconds()
    for value in (order, again, late, packets, seconds):
        if isinstance(value, Unknown):
            return value
    if order is None and again is None and late is None:
        return Unknown(f"{base}/hw_counters", "not-applicable", "the device has no error counters")
    return Share(order, again, late, packets or 0, seconds, names.ordered)  # type: ignore[arg-type]
