"""Where one GID index for all rails is harmless, and where it is not, for each NCCL that may run here."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from faults.roce_gid import _IPV4, _LINK_LOCAL, _MOVED, _gids, _pin
from faults.row import Row
from nodes import make

from fabricdoctor.facts import Gid, nccl_choice, observe
from fabricdoctor.finding import Verdict
from fabricdoctor.judge import judge

IPV4_V1 = {"gid": "::ffff:192.0.2.10", "type": "IB/RoCE v1", "ndev": "rail0"}
NOT_ROUTABLE, DIFFERS, PINNED = (
    "gid-nccl-would-pick-is-not-routable", "gid-index-differs-between-rails", "gid-index-pinned",
)  # fmt: skip


def said(checks, changes, version=None, node=make.two_rails_roce):
    """Return what is said about GIDs, as {(check, subject): (severity, the check it is shown under)}."""
    observed = Row(changes, "", node=node).observed()
    findings = judge(checks.values(), observed, replace(make.LOSSLESS, nccl_version=version))
    assert not [f for f in findings if f.verdict is Verdict.BROKEN]
    return {(f.check, f.subject): (f.severity.value, f.folded_under) for f in findings if f.fault}


@pytest.mark.parametrize("version", [None, "2.26", "2.30.7", "3.0"])
def test_rails_with_different_indexes_are_harmless_where_nccl_chooses(checks, version):
    assert said(checks, _MOVED, version) == {}


@pytest.mark.parametrize("version", ["2.21.5", "2.25.1"])
def test_nccl_that_stumbles_over_another_namespaces_gids_is_warned_of_on_that_rail(checks, version):
    assert said(checks, _MOVED, version) == {(NOT_ROUTABLE, "mlx5_0/1 (rail0)"): ("warning", "")}


def test_a_pod_with_its_index_set_is_right_for_every_nccl(checks):
    for version in ("2.18", "2.22"):
        assert NOT_ROUTABLE not in {check for check, _ in said(checks, _pin("7"), version, make.pod)}


def test_an_old_nccl_with_the_right_index_set_is_clean(checks):
    assert said(checks, _pin("3"), "2.18") == {}


def test_nccl_takes_an_ipv4_address_that_an_interface_gave_itself_for_valid():
    """Only fe80::/64 is link-local to it (src/transport/net_ib/gid.cc)."""
    kinds = [("fe80::1", "RoCE v1"), ("fe80::1", "RoCE v2"), *(("::ffff:169.254.28.198", f"RoCE v{n}") for n in (1, 2))]
    table = tuple(Gid(at, IPv6Address(address), kind, "rail0") for at, (address, kind) in enumerate(kinds))
    assert nccl_choice(table) == 3
    assert not table[3].usable


def test_a_setting_that_is_set_to_nothing_is_not_set(checks):
    empty = {"environ": {"HOME": "/", "NCCL_IB_TC": "106", "NCCL_IB_GID_INDEX": "", "NCCL_IB_ADDR_FAMILY": ""}}
    assert said(checks, empty) == {}


def test_an_old_nccl_may_find_index_0_routable(checks):
    table = {"gids mlx5_0/1": lambda a: a.update(entries={"0": _IPV4}), "gids mlx5_1/1": lambda a: a.update(
        entries={"0": _IPV4 | {"gid": "::ffff:192.0.2.26", "ndev": "rail1"}})}  # fmt: skip
    assert said(checks, table, "2.18") == {}


def test_what_a_wrong_pin_leads_to_is_shown_under_it(checks):
    assert said(checks, _MOVED | _pin("3")) == {
        (NOT_ROUTABLE, "mlx5_0/1 (rail0)"): ("critical", ""),
        (DIFFERS, "rails"): ("warning", NOT_ROUTABLE),
        (PINNED, "rails"): ("warning", NOT_ROUTABLE),
    }


def test_a_wrong_pin_with_a_right_index_on_all_rails_is_no_difference(checks):
    found = said(checks, _gids(at0=_LINK_LOCAL, at2=IPV4_V1, at3=_IPV4, at5=_IPV4) | _pin("5"))
    assert (DIFFERS, "rails") not in found
    assert (NOT_ROUTABLE, "mlx5_1/1 (rail1)") in found


def test_a_rail_that_is_down_takes_no_part(checks):
    down = {"read /sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN", "gids mlx5_0/1": {"entries": {}}}
    assert said(checks, down | _pin("3"))[PINNED, "rails"] == ("info", "")


def test_minus_one_is_no_pin(checks):
    assert said(checks, _pin("-1")) == {}


def test_in_a_prolog_a_job_may_yet_set_its_index(checks):
    node, wanted = observe(make.two_rails_roce().host(), in_job=False), replace(make.LOSSLESS, nccl_version="2.18")
    found = [f for f in judge(checks.values(), node, wanted) if f.check in (NOT_ROUTABLE, DIFFERS)]
    assert {(f.verdict, f.why) for f in found} == {(Verdict.SKIPPED, "not-applicable")}
