"""Ways out and shared subnets: networks as people build them, none of which is a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from faults.nic_paths import drop, four_rails, silent
from faults.row import MISSING, Row
from nodes import blocks, make

from fabricdoctor.finding import Verdict
from fabricdoctor.judge import judge

IDS = ("rail-without-route", "arp-flux-on-same-subnet-rails")
ROUTES, RULES, ADDRESSES = "route.routes inet", "route.rules inet", "addresses"
MAIN = blocks.rule(32766, 254)
Change = Any


def route(to: str, *via: tuple[str, str | None], table: int = 254, protocol: int = 4) -> dict[str, Any]:
    return {"table": table, "type": "unicast", "protocol": protocol, "to": to, "via": [list(hop) for hop in via]}


def connected(rail: int, length: int = 28, table: int = 254) -> dict[str, Any]:
    return route(f"192.0.2.{16 * rail}/{length}", (f"rail{rail}", None), table=table, protocol=2)


def gateway(rail: int) -> tuple[str, str]:
    return f"rail{rail}", f"192.0.2.{16 * rail + 1}"


def each(make_route: Callable[[int], dict[str, Any]], rails: int = 4) -> list[dict[str, Any]]:
    return [connected(rail) for rail in range(rails)] + [make_route(rail) for rail in range(rails)]


def numbered(length: int) -> Callable[[Any], None]:
    """Return a function that changes the prefix length of the rails' IPv4 addresses."""

    def edit(table: dict[str, list[str]]) -> None:
        for name, addresses in table.items():
            if name.startswith("rail"):
                addresses[0] = addresses[0].rsplit("/", 1)[0] + f"/{length}"

    return edit


def ipv6_only(table: dict[str, list[str]]) -> None:
    for rail in range(4):
        table[f"rail{rail}"] = [f"2001:db8:0:{rail}::a/64", "fe80::1/64"]


def ipv6(*routes: dict[str, Any]) -> dict[str, Any]:
    on_link = [route(f"2001:db8:0:{r}::/64", (f"rail{r}", None), protocol=9) for r in range(4)]
    local = [route("fe80::/64", (f"rail{r}", None), protocol=2) for r in range(4)]
    return {"route.routes inet6": [*on_link, *local, *routes], "route.rules inet6": [MAIN], "route.silent inet6": []}


SLAAC = [route("::/0", (f"rail{r}", "fe80::1"), protocol=9) for r in range(4)]
OLD = {
    "route.silent inet6": [{"interface": "rail0", "address": "fe80::1", "state": "failed", "seconds": 1001.2}],
}
VRF = [blocks.rule(1000, 0) | {"table": None, "l3mdev": True}, MAIN]
SLAVES = {f"list /sys/class/net/rail{r}": ["master", "mtu", "upper_vrf0"] for r in range(4)}
MARKED = blocks.rule(500, 777) | {"some": True}
WIDE = blocks.rule(500, 200, "192.0.0.0/16")

HEALTHY: dict[str, tuple[dict[str, Change], Any]] = {
    "one rail with the default route": (
        {ROUTES: [connected(0), route("0.0.0.0/0", gateway(0))], RULES: [MAIN]},
        lambda: make.two_rails_roce(1),
    ),
    "only the first rail has the default route": (
        {ROUTES: [*map(connected, range(4)), route("0.0.0.0/0", gateway(0))], RULES: [MAIN]},
        four_rails,
    ),
    "the first of two rails has the default route, and a rule": (
        {ROUTES: [*map(connected, range(2)), route("0.0.0.0/0", gateway(0), table=100)], RULES: drop(table=101)},
        make.two_rails_roce,
    ),
    "no gateway anywhere": ({ROUTES: [*map(connected, range(4))], RULES: [MAIN]}, four_rails),
    "subnets of two addresses, each with its gateway": ({ADDRESSES: numbered(31)}, four_rails),
    "a default route over all rails": (
        {ROUTES: [*map(connected, range(4)), route("0.0.0.0/0", *map(gateway, range(4)))], RULES: [MAIN]},
        four_rails,
    ),
    "default routes ordered by metric": (
        {ROUTES: each(lambda r: route("0.0.0.0/0", gateway(r))), RULES: [MAIN]},
        four_rails,
    ),
    "the fabric's network by each rail": (
        {ROUTES: each(lambda r: route("192.0.0.0/16", gateway(r))), RULES: [MAIN]},
        four_rails,
    ),
    "the fabric's network on the link itself": (
        {ROUTES: each(lambda r: route("192.0.0.0/16", (f"rail{r}", None))), RULES: [MAIN]},
        four_rails,
    ),
    "one rule and one table for all rails": (
        {
            ROUTES: [*map(connected, range(4)), route("0.0.0.0/0", *map(gateway, range(4)), table=200)],
            RULES: [WIDE, MAIN],
        },
        four_rails,
    ),
    "a wide rule that leads to an empty table": (
        {ROUTES: [*map(connected, range(4))], RULES: [WIDE, MAIN]},
        four_rails,
    ),
    "a marked packet's rule that leads to an empty table": (
        {ROUTES: [*map(connected, range(4))], RULES: [MARKED | {"from": "192.0.2.10/32"}, MAIN]},
        four_rails,
    ),
    "a rule for arriving packets that leads to an empty table": (
        {ROUTES: [*map(connected, range(4))], RULES: [blocks.rule(500, 777) | {"iif": "rail0"}, MAIN]},
        four_rails,
    ),
    "an empty table before a main table that has the way": (
        {ROUTES: each(lambda r: route("0.0.0.0/0", gateway(r)))},
        four_rails,
    ),
    "a VRF for each rail": (
        {ROUTES: each(lambda r: route("0.0.0.0/0", gateway(r), table=10 + r)), RULES: VRF, **SLAVES},
        four_rails,
    ),
    "the same subnet in a VRF for each rail": (
        {ADDRESSES: numbered(24), RULES: VRF, **SLAVES},
        four_rails,
    ),
    "nexthop objects that the kernel does not expand": (
        {ROUTES: [*map(connected, range(4)), route("0.0.0.0/0", *map(gateway, range(1, 4))),
                  route("198.51.100.0/24") | {"via": None}], RULES: [MAIN]},
        four_rails,
    ),
    "a member of the group with a subnet of another size, as for storage": (
        {
            ROUTES: [*map(connected, range(4)), route("0.0.0.0/0", *map(gateway, range(1, 4)))],
            RULES: [MAIN],
            ADDRESSES: lambda table: table["rail0"].__setitem__(0, "203.0.113.9/22"),
        },
        four_rails,
    ),
    "a rail that is down and so has no route": (
        {"read /sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN", ROUTES: drop(table=100)},
        four_rails,
    ),
    "interfaces of another network namespace": (
        {ADDRESSES: {"lo": ["127.0.0.1/8"], "eth0": ["198.51.100.7/24"]}, RULES: [MAIN]},
        four_rails,
    ),
    "IPv6 alone, with announced routers": (
        {ADDRESSES: ipv6_only, **ipv6(*SLAAC)},
        four_rails,
    ),
    "IPv6 alone, with no router": ({ADDRESSES: ipv6_only, **ipv6()}, four_rails),
    "IPv6 alone, with a router that did not answer long ago": (
        {ADDRESSES: ipv6_only, **ipv6(*SLAAC), **OLD},
        four_rails,
    ),
    "link-local addresses alone": (
        {ADDRESSES: lambda table: table.update({f"rail{r}": ["fe80::1/64"] for r in range(4)})},
        four_rails,
    ),
    "a gateway that failed long ago": (silent("failed", 900.0), four_rails),
    "a gateway that was just asked": (silent("incomplete", 0.4), four_rails),
    "another neighbour that does not answer": (silent("failed", 5.0, gateway="192.0.2.9"), four_rails),
    "the gateway's address on another interface": (silent("failed", 5.0, interface="eth0"), four_rails),
    "one of two gateways that does not answer": (
        {ROUTES: lambda t: t.append(route("0.0.0.0/0", ("rail0", "192.0.2.2"), table=100)), **silent("failed", 5.0)},
        four_rails,
    ),
    "a kernel without policy routing": (
        {ROUTES: each(lambda r: route("0.0.0.0/0", gateway(r))),
         RULES: {"unknown": "unsupported"}},
        four_rails,
    ),
    "the same subnet, ARP settled for all interfaces": (
        {f"read {blocks.CONF}/rail{r}/arp_{s}": "0" for r in range(2) for s in ("ignore", "announce")}
        | {f"read {blocks.CONF}/all/arp_ignore": "1", f"read {blocks.CONF}/all/arp_announce": "2"},
        make.same_subnet,
    ),
    "the same subnet, ARP answered by route": (
        {f"read {blocks.CONF}/rail{r}/arp_ignore": "0" for r in range(2)} | {f"read {blocks.CONF}/all/arp_filter": "1"},
        make.same_subnet,
    ),
    "the same subnet, a rule for each": (
        {RULES: [*(blocks.rule(1000 + r, 100 + r, f"192.0.2.{16 * r + 10}/32") for r in range(2)), MAIN]}
        | {ROUTES: lambda t: t.extend(connected(r, 24, 100 + r) for r in range(2))}
        | {f"read {blocks.CONF}/all/{s}": v for s, v in (("arp_ignore", "0"), ("rp_filter", "1"))},
        make.same_subnet,
    ),
    "loose reverse path filtering beside a strict default": (
        {f"read {blocks.CONF}/all/rp_filter": "1"},
        make.same_subnet,
    ),
}  # fmt: skip


def verdicts(checks: Any, changes: dict[str, Change], node: Any) -> dict[tuple[str, str], Any]:
    observed = Row(changes, "", node=node)
    found = judge([checks[name] for name in IDS], observed.observed(), observed.expectations())
    return {(f.check, f.subject): f for f in found}


@pytest.mark.parametrize("name", HEALTHY)
def test_is_no_fault(checks, name):
    found = verdicts(checks, *HEALTHY[name])
    assert [f for f in found.values() if f.verdict in (Verdict.FAULT, Verdict.BROKEN)] == []
    assert [f for f in found.values() if f.verdict is Verdict.UNKNOWN] == []


def test_what_cannot_be_judged_is_skipped(checks):
    for name in ("interfaces of another network namespace", "link-local addresses alone"):
        found = verdicts(checks, *HEALTHY[name])
        assert {f.verdict for f in found.values()} == {Verdict.SKIPPED}


def test_routes_that_the_kernel_did_not_name_are_not_missed(checks):
    found = verdicts(checks, *HEALTHY["nexthop objects that the kernel does not expand"])
    assert found["rail-without-route", "mlx5_0/1 (rail0)"].why == "not-applicable"


def test_an_answer_that_did_not_come_is_no_pass(checks):
    for question in (ROUTES, RULES, "route.silent inet"):
        found = verdicts(checks, {question: {"unknown": "timeout"}}, four_rails)
        assert found["rail-without-route", "mlx5_0/1 (rail0)"].verdict is Verdict.UNKNOWN


def test_ipv6_rails_are_compared_and_their_gateways_asked(checks):
    gone = {ADDRESSES: ipv6_only, **ipv6(*SLAAC[1:])}
    found = verdicts(checks, gone, four_rails)["rail-without-route", "mlx5_0/1 (rail0)"]
    assert "no route beyond 2001:db8::/64" in found.fault.saw
    assert found.fault.fix.startswith("ip -6 rule add from 2001:db8::a ")
    dead = {"route.silent inet6": [{"interface": "rail0", "address": "fe80::1", "state": "failed", "seconds": 3.0}]}
    found = verdicts(checks, {ADDRESSES: ipv6_only, **ipv6(*SLAAC), **dead}, four_rails)
    assert "fe80::1 (failed)" in found["rail-without-route", "mlx5_0/1 (rail0)"].fault.saw


def test_settings_that_are_not_there_are_skipped(checks):
    changes = {f"read {blocks.CONF}/all/arp_ignore": MISSING}
    found = verdicts(checks, changes, make.same_subnet)
    assert found["arp-flux-on-same-subnet-rails", "rails in 192.0.2.0/24"].verdict is Verdict.SKIPPED
