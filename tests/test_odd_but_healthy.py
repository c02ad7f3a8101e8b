"""Good nodes that differ from the samples: nothing is said of them, and nothing becomes unknown.

`NOTES` are the informations that such a site gets until it says what it wants.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import pytest
from nodes import odd, odd_ways, rare
from nodes.machine import IB, Machine, matching
from nodes.odd import at_rate, each, environ, ets, grow, log, mtu, on_each, plugged, say
from nodes.odd_ways import addressed, renamed
from nodes.whole import NODES

from fabricdoctor import expect
from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.finding import Severity, Verdict
from fabricdoctor.judge import judge

ROCE = expect.load(None, "roce-lossless", "node01").expect
RAILS = "four-rails"
_DAY, _HOUR = 86_000.0, 3600.0
_POWER = "Detected insufficient power on the PCIe slot (27W)"
_HOT = "Port module event: module 0, Cable error, High Temperature"
_SETTLING = [(55, "link-down"), (50, "link-up"), (40, "link-down"), (35, "link-up"), (34, "link-down"), (33, "link-up")]
_MAINTENANCE = [(600.0 + 50 * at, "link-up" if at % 2 else "link-down") for at in range(8)]
_HEALTH = {
    "fw": {"state": "healthy", "errors": 3, "recoveries": 0, "can_recover": False},
    "fw_fatal": {"state": "healthy", "errors": 1, "recoveries": 1, "can_recover": True},
}


@dataclass(frozen=True, slots=True)
class Odd:
    """A whole node by its name, or how to make one; what is changed on it, and what its site expects beside."""

    base: str | Callable[[], Machine]
    edits: tuple[odd.Edit, ...] = ()
    expects: dict[str, Any] | None = None
    #: the checks that may give an information
    notes: frozenset[str] = frozenset()


def rails(*edits: odd.Edit, note: str = "", **expects: Any) -> Odd:
    return Odd(RAILS, edits, expects, frozenset({note} - {""}))


def of(base: str | Callable[[], Machine], *edits: odd.Edit, **expects: Any) -> Odd:
    return Odd(base, edits, expects)


def answer(name: str, value: Any) -> odd.Edit:
    return lambda machine: machine.say({name: value})


def every(pattern: str, value: Any) -> odd.Edit:
    return lambda machine: machine.say(dict.fromkeys(matching(machine, pattern), value))


def uptime(seconds: float) -> odd.Edit:
    return lambda machine: setattr(machine, "uptime_s", seconds)


def dcb(**changes: Any) -> odd.Edit:
    return each("dcb", lambda found: found.update(changes))


_OUTSIDE = answer("environ", {"HOME": "/root"})

ODD: dict[str, Odd] = {
    # traffic classes, PFC, classification
    "all classes strict": rails(ets(tc_tsa=[0] * 8, tc_tx_bw=[0] * 8)),
    "all classes strict, each of 100 %": rails(ets(tc_tsa=[0] * 8, tc_tx_bw=[100] * 8)),
    "mlx5's own classes": rails(ets(prio_tc=[1, 0, 2, 3, 4, 5, 6, 7], tc_tsa=[255] * 8, tc_tx_bw=[100] * 8)),
    "eight classes of the vendor's arbiter": rails(ets(prio_tc=list(range(8)), tc_tsa=[255] * 8, tc_tx_bw=[0] * 8)),
    "nearly all for RDMA": rails(ets(tc_tx_bw=[1, 0, 0, 99, 0, 0, 0, 0])),
    "RDMA strict": rails(ets(tc_tsa=[2, 2, 2, 0, 2, 2, 0, 2], tc_tx_bw=[100, 0, 0, 0, 0, 0, 0, 0])),
    "CNPs in the default class": rails(ets(prio_tc=[0, 0, 0, 3, 0, 0, 0, 0])),
    "priorities 3 and 4": rails(odd.lossless_3_and_4, lossless_priorities=frozenset({3, 4})),
    "a table of trust": rails(odd.own_trust_table),
    "no DCBX": rails(each("dcb", lambda found: found.pop("dcbx"))),
    "mlx5's firmware negotiates": rails(dcb(dcbx=0x0C)),
    "the firmware negotiated right": rails(dcb(dcbx=0x0A), note="dcbx-owned-by-firmware"),
    "no rate limits, no buffers": rails(each("dcb", lambda found: (found.pop("maxrate_kbps"), found.pop("buffer")))),
    "limited to the link's rate": rails(dcb(maxrate_kbps=[0, 0, 0, 400_000_000, 0, 0, 0, 0])),
    "DSCP 24": rails(dcb(app=[[5, 3, 24], [5, 6, 48]]), environ(NCCL_IB_TC="96"), dscp=24),
    "cables of 100 m": rails(each("dcb", lambda found: found["pfc"].update(delay=100)), cable_m=100),
    "storm prevention by the driver": rails(say("ethtool.pfc-storm {nic}", 65535)),
    "pause negotiated off": rails(each("ethtool.pause", lambda found: found.update(autoneg=True))),
    "802.3x pause without PFC": of("lossy", each("ethtool.pause", lambda found: found.update(rx=True, tx=True))),
    "bnxt that cannot pause, on a lossy fabric": of(
        "mi300x-thor2", each("dcb", lambda found: (found["pfc"].update(enabled=0, cap=0), found.pop("ets"))),
        lossless_priorities=frozenset(),
    ),
    # NCCL, limits, jobs
    "traffic class 105": rails(environ(NCCL_IB_TC="105")),
    "traffic class 104": rails(environ(NCCL_IB_TC="104")),
    "traffic class in hex": rails(environ(NCCL_IB_TC="0x6a")),
    "a traffic class for all": rails(say(f"read {IB}/{{device}}/tc/1/traffic_class", "Global tclass=104")),
    "HCAs named": rails(environ(NCCL_IB_HCA="=mlx5_0,mlx5_3:1,mlx5_4,mlx5_5")),
    "GID index pinned": rails(environ(NCCL_IB_GID_INDEX="3"), note="gid-index-pinned"),
    "GID index pinned for an old NCCL": rails(environ(NCCL_IB_GID_INDEX="3"), nccl_version="2.18.3"),
    "an old NCCL, outside of a job": rails(_OUTSIDE, nccl_version="2.18.3"),
    "no job": rails(_OUTSIDE),
    "Slurm and nccl.conf": rails(
        answer("environ", {"HOME": "/home/user", "SLURM_JOB_ID": "1"}),
        answer("read /etc/nccl.conf", "# site\nNCCL_IB_TC=106\nNCCL_IB_HCA=mlx5\n"),
    ),
    "16 GiB of locked memory": rails(answer("limits", {"memlock": 16 << 30})),
    "a container with CAP_IPC_LOCK": rails(
        answer("limits", {"memlock": 65536}), answer("read /proc/self/status", "Uid:\t0\t0\nCapEff:\t00000000a80465fb")
    ),
    # addresses, names, interfaces
    "MTU 4200": rails(mtu(4200)),
    "MTU 9216": rails(mtu(9216)),
    "rails with tables of their own": rails(odd_ways.own_tables),
    "default route by a rail": rails(odd_ways.default_by_first_rail),
    "VRFs": rails(odd_ways.in_vrfs),
    "routes by BGP": rails(odd_ways.by_bgp),
    "one subnet of /16": rails(addressed("192.0.2.1{n}/16")),
    "one subnet of /16, with rules": rails(addressed("10.1.3.1{n}/16", gateway=True)),
    "subnets of /31": rails(addressed("10.0.{n}.1/31", gateway=True)),
    "addresses of /32": rails(addressed("10.0.{n}.1/32")),
    "IPv6 only": rails(addressed("2001:db8:{n}::5/64", gateway=True), environ(NCCL_IB_ADDR_FAMILY="AF_INET6")),
    "IPv6 only, outside of a job": rails(addressed("2001:db8:{n}::5/64"), _OUTSIDE),
    "IPv6 only, in a prolog": of("in-prolog", addressed("fd00:{n}::5/64")),
    "IPv6 before IPv4": rails(addressed("2001:db8:{n}::5/64", "10.0.{n}.2/24")),
    "two addresses of a subnet": rails(addressed("10.0.{n}.2/24", "10.0.{n}.3/24", gateway=True)),
    "four addresses": rails(addressed("10.0.{n}.2/24", "10.2.{n}.2/24", "100.64.{n}.2/24", "2001:db8:{n}::5/64")),
    "containers' interfaces beside": rails(odd_ways.other_interfaces),
    "interfaces named for the GPUs": rails(renamed("gpu{n}rdma0")),
    "interfaces named eth": rails(renamed("eth{n}")),
    "devices named by their place": rails(renamed("ens{bus}np0", "rocep{bus}s0"), environ(NCCL_IB_HCA="rocep")),
    "two rails in pods": rails(odd_ways.some_in_pods, devices=4),
    "VLANs on rails": of(rare.vlans, **{name: getattr(ROCE, name) for name in ("mtu", "trust", "dscp")}),
    "a bond that waits": of("bonded-rails", every("/bonding/mode", "active-backup 1")),
    "a bond asked by a user": of("bonded-rails", every("/ad_partner_mac", "")),
    "bonds in switchdev mode": of(rare.bonds_in_switchdev_mode, trust="dscp", dscp=26),
    "storage with older firmware": of("storage-of-the-rails-model", answer(f"read {IB}/mlx5_1/fw_ver", "28.39.1002")),
    # links
    "200 Gb/s everywhere": rails(at_rate("200 Gb/sec (4X HDR)", 200), note="port-below-rate"),
    "200 Gb/s everywhere, as expected": rails(at_rate("200 Gb/sec (4X HDR)", 200), rate_gbps=200.0),
    "InfiniBand ports split in two": of("infiniband", at_rate("200 Gb/sec (2X NDR)", 200)),
    "InfiniBand at HDR": of("infiniband", at_rate("200 Gb/sec (4X HDR)", 200)),
    "links that settle after boot": rails(
        uptime(120.0), grow(carrier_changes=6, carrier_up_count=3), log(*((s, k, "Link") for s, k in _SETTLING))
    ),
    "maintenance of all leafs": rails(
        grow(_HOUR, carrier_changes=8, link_downed=4), log(*((s, k, "Link") for s, k in _MAINTENANCE))
    ),
    "a raw bit error rate of 5e-6": rails(grow(rx_corrected_bits_phy=int(5e-6 * 400e9 * 60))),
    "passive copper": rails(odd.passive_copper),
    "modules without limits": rails(odd.no_limits),
    "modules at 65 °C": rails(plugged(celsius=65.0)),
    "modules at their limit": rails(plugged(celsius=70.0)),
    "modules of another kind": rails(say("ethtool.module {nic}", {"lower": "03" + "00" * 127})),
    # the kernel log and health
    "hot two days ago": rails(log((172_800, "high-temperature", _HOT))),
    "a server that tells no slot power": rails(
        log((400, "set-up", "firmware version: 28.43.2026"), (399, "insufficient-power", _POWER))
    ),
    "modules plugged in": rails(log((4000, "module-plugged", "Port module event: module 0, Cable plugged"))),
    "errors that were recovered": rails(on_each(lambda m, pci: m.say({f"devlink.health {pci}": _HEALTH}))),
    # counters
    "a long life": rails(odd.history),
    "a long life of Thor 2": of("mi300x-thor2", odd.history),
    "a long life of E810": of("e810", odd.history),
    "a long life of InfiniBand": of("infiniband", odd.history),
    "a packet out of order a minute": rails(grow(_HOUR, out_of_sequence=60)),
    "a packet out of order a minute, of few": rails(grow(_HOUR, out_of_sequence=60, port_rcv_packets=1_000_000)),
    "a time-out an hour": rails(grow(_DAY, local_ack_timeout_err=24)),
    "a time-out an hour, InfiniBand": of("infiniband", grow(_DAY, local_ack_timeout_err=24)),
    "a time-out an hour, EFA": of(partial(rare.efa, 4, with_gpus=True), grow(_DAY, retrans_timeout_events=24)),
    "three discards a day": rails(grow(_DAY, rx_prio3_discards=3)),
    "discards of other priorities": rails(grow(rx_prio0_discards=5000, rx_discards_phy=5000)),
    "marks and CNPs": rails(grow(np_ecn_marked_roce_packets=3_000_000, np_cnp_sent=9000, rp_cnp_ignored=400)),
    # kernels, clouds, other machines
    "Linux 5.4": rails(odd.old_kernel),
    "Linux 5.4 with bonds": of("bonded-rails", odd.old_kernel),
    "Linux 5.4 with Thor 2": of("mi300x-thor2", odd.old_kernel),
    "Linux 5.4 with virtual functions": of("kvm-guest", odd.old_kernel),
    "MANA": of(rare.mana_guest, lossless_priorities=frozenset(), congestion_control="dcqcn"),
    "virtual functions of Thor 2": of(rare.bnxt_guest, lossless_priorities=frozenset({3}), dscp=26, trust="dscp"),
    "EFA without GPUs": of(partial(rare.efa, 2, with_gpus=False), lossless_priorities=frozenset()),
    "one rail": of(rare.one_rail, lossless_priorities=frozenset({3}), dscp=26, trust="dscp"),
    "no PCIe switches": of(rare.no_switches, devices=4, mtu=4096),
    "two switches": of(rare.many_gpus_on_one_switch, devices=4, mtu=4096),
    "a partition": of(rare.partitioned, mtu=4096),
}  # fmt: skip


@cache
def machine(base: str | Callable[[], Machine]) -> Machine:
    return NODES[base].build() if isinstance(base, str) else base()


@pytest.mark.parametrize("name", ODD)
def test_nothing_is_said_of_it(checks, name):
    one = ODD[name]
    changed = copy.deepcopy(machine(one.base))
    for edit in one.edits:
        edit(changed)
    whole = NODES[one.base] if isinstance(one.base, str) else None
    node = observe(changed.host(), in_job=whole.in_job if whole else True)
    said = {}
    for site in (whole.expect if whole else Expect(), Expect()):
        for f in judge(checks.values(), node, replace(site, **one.expects or {})):
            note = f.severity is Severity.INFO and f.check in one.notes and f.verdict is Verdict.FAULT
            if f.verdict not in (Verdict.OK, Verdict.SKIPPED) and not note:
                said[f.check, f.subject] = f.fault.saw if f.fault else f.reason
    assert said == {}


@pytest.mark.parametrize("name", [name for name, one in ODD.items() if one.edits])
def test_its_edits_change_what_is_read(name):
    one = ODD[name]
    before, changed = machine(one.base), copy.deepcopy(machine(one.base))
    for edit in one.edits:
        edit(changed)
    told = [(m.answers.keys(), repr(m.answers), m.growth, m.uptime_s, m.seconds) for m in (before, changed)]
    assert told[0] != told[1]
