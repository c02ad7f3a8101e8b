"""What differs on the nodes of a good site from those of another: edits of whole nodes that leave them healthy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nodes.machine import IB, NET, Machine, matching
from nodes.optics import module

Edit = Callable[[Machine], None]


def rails(machine: Machine) -> list[tuple[int, str, str]]:
    """Return number, RDMA device and interface of each port whose interface has an address of the rails' networks."""
    table = machine.answers["addresses"]
    named = [(name, machine.answers[name][0]) for name in matching(machine, f"list {IB}/", "/device/net")]
    pairs = [(name.split("/")[4], nic) for name, nic in named if any(a.startswith("192.0.2.") for a in table[nic])]
    return [(at, device, nic) for at, (device, nic) in enumerate(pairs)]


def each(kind: str, change: Callable[[Any], None]) -> Edit:
    """Change the answer to one kind of question, of every rail's interface."""

    def edit(machine: Machine) -> None:
        for _, _, nic in rails(machine):
            change(machine.answers[f"{kind} {nic}"])

    return edit


def say(pattern: str, value: Any) -> Edit:
    """Set the answer to every question of the rails; {nic}, {device} and {n} are filled in."""

    def edit(machine: Machine) -> None:
        for at, device, nic in rails(machine):
            machine.say({pattern.format(nic=nic, device=device, n=at): value})

    return edit


def on_each(change: Callable[[Machine, str], None]) -> Edit:
    """Call this for the PCI address of each rail."""

    def edit(machine: Machine) -> None:
        for _, device, _ in rails(machine):
            change(machine, machine.answers[f"link {IB}/{device}/device"].rsplit("/", 1)[-1])

    return edit


def environ(**variables: str) -> Edit:
    return lambda machine: machine.answers["environ"].update(variables)


def grow(seconds: float | None = None, **by: int) -> Edit:
    """Let counters grow by so much between the samples, `seconds` apart."""

    def edit(machine: Machine) -> None:
        machine.growth = {**machine.growth, **by}
        for name in matching(machine, "read "):
            counted = name.rsplit("/", 1)[-1]
            if counted in by and str(machine.answers[name]).isdigit():
                machine.answers[name] = str(max(int(machine.answers[name]), by[counted]))
        for name in matching(machine, "ethtool.stats "):
            for counted in by.keys() & machine.answers[name].keys():
                machine.answers[name][counted] = max(machine.answers[name][counted], by[counted])
        if seconds is not None:
            factor = seconds / machine.seconds
            grown = {key: int(value * factor) for key, value in machine.growth.items() if key not in by}
            machine.growth, machine.seconds = {**grown, **by}, seconds

    return edit


# --- classes and buffers


def ets(**changes: Any) -> Edit:
    return each("dcb", lambda dcb: dcb["ets"].update(changes))


def lossless_3_and_4(machine: Machine) -> None:
    def change(dcb: dict[str, Any]) -> None:
        dcb["pfc"]["enabled"] = 0b11000
        dcb["ets"] |= {"prio_tc": [0, 0, 0, 3, 4, 0, 6, 0], "tc_tx_bw": [10, 0, 0, 45, 45, 0, 0, 0]}
        dcb["buffer"]["prio2buffer"] = [0, 0, 0, 1, 1, 0, 0, 0]

    each("dcb", change)(machine)
    for name in matching(machine, "ethtool.stats "):
        stats = machine.answers[name]
        stats |= {key.replace("prio3", "prio4"): value for key, value in stats.items() if "prio3_pause" in key}


def own_trust_table(machine: Machine) -> None:
    each("dcb", lambda dcb: dcb.update(trust=[5], app=[[5, 3, 26], [5, 6, 48]]))(machine)


# --- links


def mtu(value: int) -> Edit:
    return say(f"read {NET}/{{nic}}/mtu", str(value))


def at_rate(text: str, gbps: int) -> Edit:
    """Let every rail run at another rate; the interface of an Ethernet port says it too."""

    def edit(machine: Machine) -> None:
        for at, device, nic in every_port(machine):
            del at
            machine.say({f"read {IB}/{device}/ports/1/rate": text})
            machine.answers[f"verbs.device {device}"]["ports"]["1"]["gbps"] = float(gbps)
            if machine.answers.get(f"read {NET}/{nic}/type") == "1":
                machine.say({f"read {NET}/{nic}/speed": str(gbps * 1000)})
                machine.answers[f"ethtool.modes {nic}"]["speed_mbps"] = gbps * 1000

    return edit


def every_port(machine: Machine) -> Iterator[tuple[int, str, str]]:
    """Yield the RDMA devices of 400 Gb/s, whatever their link layer."""
    for at, name in enumerate(matching(machine, f"read {IB}/", "/ports/1/rate")):
        device = name.split("/")[4]
        if machine.answers[name].startswith("400"):
            yield at, device, next(iter(machine.answers.get(f"list {IB}/{device}/device/net", [])), "")


def plugged(**changes: Any) -> Edit:
    return say("ethtool.module {nic}", module(**changes))


def passive_copper(machine: Machine) -> None:
    made = module()
    made["lower"] = made["lower"][:170] + "03" + made["lower"][172:]
    say("ethtool.module {nic}", {"lower": made["lower"], "upper": "00" * 16})(machine)


def no_limits(machine: Machine) -> None:
    say("ethtool.module {nic}", module() | {"thresholds": "00" * 72})(machine)


def old_kernel(machine: Machine) -> None:
    """Take away what Linux 5.4 has not: ethtool by netlink, and with it link modes and FEC."""
    for kind in ("modes", "fec"):
        for name in matching(machine, f"ethtool.{kind} "):
            del machine.answers[name]
    for name in matching(machine, "ethtool.pause "):
        machine.answers[name]["stats"] = {}


# --- the kernel log


def log(*lines: tuple[float, str, str]) -> Edit:
    """Let the kernel say something of each rail, seconds ago."""

    def edit(machine: Machine) -> None:
        said = machine.answers.setdefault("kmsg", [])
        for _, device, nic in rails(machine):
            pci = machine.answers[f"link {IB}/{device}/device"].rsplit("/", 1)[-1]
            said += [
                {"seconds": machine.uptime_s - ago, "kind": kind, "device": nic if "link" in kind else pci, "text": t}
                for ago, kind, t in lines
            ]
        said.sort(key=lambda line: line["seconds"])

    return edit


def history(machine: Machine) -> None:
    """Give every counter a long life behind it."""
    quiet = ("lifespan", "port_rcv", "port_xmit", "unicast", "multicast")
    for name in (*matching(machine, "/hw_counters/"), *matching(machine, "/counters/")):
        if name.startswith("read ") and not any(q in name for q in quiet):
            machine.answers[name] = "40" if name.endswith("link_downed") else str(int(machine.answers[name]) + 10**9)
    for name in matching(machine, "ethtool.stats "):
        machine.answers[name] = {key: value + 10**10 for key, value in machine.answers[name].items()}
    for name in (*matching(machine, "/carrier_changes"), *matching(machine, "/carrier_up_count")):
        machine.answers[name] = str(82 if name.endswith("changes") else 41) if machine.answers[name] != "0" else "0"
    for name in matching(machine, "ethtool.fec "):
        if machine.answers[name]["stats"]:
            machine.answers[name]["stats"] = {"corrected": 10**15, "uncorrectable": 10**6}
