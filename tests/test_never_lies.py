"""A lost or damaged answer is never a fault and never breaks anything.

Each answer of a healthy node is deleted and corrupted, one per pattern. `python tests/test_never_lies.py --all` does it
for every answer of the small nodes, and once per pattern for the whole ones (hours); `--all NAME...` for these only.
"""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from nodes import make
from nodes.whole import NODES

from fabricdoctor import catalogue
from fabricdoctor.expect import Expect
from fabricdoctor.facts import observe
from fabricdoctor.finding import Verdict
from fabricdoctor.host import Replay
from fabricdoctor.judge import judge
from fabricdoctor.recording import Recording
from fabricdoctor.unknown import Why

_HUGE = 10**30
_VALUES = ["", "N/A", "N/A (no PMA)", None, -1, -1.5, [], {}, _HUGE, True, "-1", str(2**64 - 1)]
_GONE = object()
_CLASS = "traffic-class-misses-lossless-priority"
#: Corruptions that are answers a machine can give, and the faults they stand for. Patterns as `pattern()` makes them;
#: the value is a representation, "deleted" for a member that is gone, or ".*".
LEGAL: tuple[tuple[str, str, set[str]], ...] = (
    # the classification table is really empty: packets are then classified by PCP
    (r"dcb \S+ app", r"\[\]", {"trust-mismatch", "qos-chain-broken", _CLASS}),
    # the entry of DSCP 26 is really not there
    (r"dcb \S+ app #", "deleted", {"dscp-not-mapped-to-lossless-priority", "qos-chain-broken", _CLASS}),
    # no visible GID, or not the one of the address
    (r"gids [\w#]+/# entries", r"\{\}", {"no-routable-roce-v2-gid", "gid-nccl-would-pick-is-not-routable"}),
    (r"gids [\w#]+/# entries #", "deleted", {"no-routable-roce-v2-gid", "gid-nccl-would-pick-is-not-routable"}),
    # device nodes that are not there, and the class without ib_uverbs
    (r"list /dev/infiniband", r"\[\]|missing", {"no-userspace-provider"}),
    (r"list /dev/infiniband #", r"deleted|'-1'|'18446744073709551615'", {"no-userspace-provider"}),
    (r"list /sys/class/infiniband_verbs", r"\[\]|missing", {"no-userspace-provider"}),
    # the only device's node is of another name, or gone; beside others it would be unknown
    (r"list /sys/class/infiniband_verbs #", r"deleted|'-1'|'18446744073709551615'", {"no-userspace-provider"}),
    # libibverbs finds no provider
    (r"verbs.devices devices", r"\[\]", {"no-userspace-provider"}),
    (r"verbs.devices devices #", "deleted", {"no-userspace-provider"}),
    # what is set to nothing is not set
    (r"environ NCCL_IB_TC", "''|'-1'", {"traffic-class-unset"}),
    # global pause is really on
    (r"ethtool.pause \S+ [rt]x", "True", {"global-pause-with-pfc", "qos-chain-broken"}),
)


def pattern(name: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"(?<=[:.])[0-9a-f]{2}(?=[:.])", "#", name))


def members(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member, however deep."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield (*at, key)
        yield from members(member, (*at, key))


def with_member(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    result = copy.deepcopy(value)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    if new is _GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return result


def corruptions(name: str, answer: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Yield (what is corrupted, how, the answer in its place)."""
    yield name, "not-recorded", None
    for why in get_args(Why):
        yield name, why, {"unknown": why, "detail": ""}
    if "value" not in answer:
        return
    for value in _VALUES:
        yield name, repr(value), {"value": value}
    for path in members(answer["value"]):
        label = " ".join([name, *map(str, path)])
        yield label, "deleted", {"value": with_member(answer["value"], path, _GONE)}
        for value in _VALUES:
            yield label, repr(value), {"value": with_member(answer["value"], path, value)}


def damaged(recording: Recording, *, every: bool, only: str = "") -> Iterator[tuple[str, str, Replay]]:
    """Yield what was done and the damaged recording; unless `every`, once per pattern."""
    seen: set[tuple[str, str, str]] = set()
    for part in ("answers", "before"):
        whole = getattr(recording, part)
        for name, answer in whole.items():
            if not re.match(only, name):
                continue
            for label, how, new in corruptions(name, answer):
                if not every and (part, pattern(label), how) in seen:
                    continue
                seen.add((part, pattern(label), how))
                changed = {k: v for k, v in whole.items() if k != name} | ({name: new} if new is not None else {})
                parts = {"answers": recording.answers, "before": recording.before} | {part: changed}
                yield label, how, Replay(parts["answers"], parts["before"], recording.seconds)


def allowed(label: str, how: str) -> set[str]:
    for what, value, faults in LEGAL:
        if re.fullmatch(what, pattern(label)) and re.fullmatch(value, how):
            return faults
    return set()


def lies(
    checks: dict[str, Any], recording: Recording, expect: Expect, *, every: bool = False, only: str = ""
) -> list[str]:
    """Return what is said of damaged recordings that must not be said; each processor judges its share of them."""
    shares = os.cpu_count() or 1

    def share(number: int) -> list[str]:
        needing = [c for c in checks.values() if c.id in _needing(checks)] if expect == Expect() else []
        mine = itertools.islice(damaged(recording, every=every, only=only), number, None, shares)
        return [text for one in mine for text in _wrong(checks, needing, expect, *one)]

    _SHARE.clear()
    _SHARE.append(share)  # a forked process has it; what is sent to one must be pickled, and checks cannot be
    with multiprocessing.get_context("fork").Pool(shares) as pool:
        return [text for part in pool.map(_of_share, range(shares)) for text in part]


_SHARE: list[Any] = []


def _of_share(number: int) -> list[str]:
    found: list[str] = _SHARE[0](number)
    return found


def _wrong(checks: dict[str, Any], needing: list[Any], expect: Expect, label: str, how: str, host: Replay) -> list[str]:
    node, wrong = observe(host), []
    for found in judge(checks.values(), node, expect):
        if "use known()" in found.reason:  # a fact that took an Unknown for a value
            wrong.append(f"{label} -> {how}: {found.check} of {found.subject}: {found.reason}")
        if found.verdict is Verdict.BROKEN or (
            found.verdict is Verdict.FAULT and found.check not in allowed(label, how)
        ):
            said = found.fault.saw if found.fault else found.reason
            wrong.append(f"{label} -> {how}: {found.check} of {found.subject} is {found.verdict.value}: {said}")
    return wrong + [f"{label} -> {how}: {text}" for text in _not_skipped(needing, node, expect)]


def _not_skipped(needing: list[Any], node: Any, expect: Expect) -> list[str]:
    """Return checks that need an expectation and yet say "unknown" where nothing is expected."""
    findings = judge(needing, node, expect)
    unknown = [f for f in findings if f.verdict is Verdict.UNKNOWN and f.subject != "node"]
    return [f"{f.check} of {f.subject} is unknown, not skipped" for f in unknown]


def _needing(checks: dict[str, Any]) -> set[str]:
    findings = judge(checks.values(), observe(make.two_rails_roce().host()), Expect())
    return {f.check for f in findings if f.why == "no-expectation"}


pytestmark = pytest.mark.thorough


def test_damage_to_a_lossless_node(checks):
    assert lies(checks, make.two_rails_roce(), make.LOSSLESS) == []


def test_damage_where_nothing_is_expected(checks):
    assert lies(checks, make.two_rails_roce(), Expect()) == []


def test_damage_to_an_infiniband_node(checks):
    assert lies(checks, make.infiniband(), make.INFINIBAND) == []


def test_damage_to_what_is_known_of_bonds(checks):
    only = {n: c for n, c in checks.items() if n.startswith("bond-") or n in ("rail-without-route", "hw-error-state")}
    assert lies(only, make.bond(), make.LOSSLESS) == []


def test_damage_to_rails_in_one_subnet(checks):
    only = {n: c for n, c in checks.items() if n.startswith("arp-") or n == "rail-without-route"}
    assert lies(only, make.same_subnet(), make.LOSSLESS) == []


def test_damage_to_what_tells_of_bonded_rails(checks):
    only = {name: checks[name] for name in ("port-below-rate", "rdma-device-missing")}
    told = r"gids|list /sys/class/(net/bond0|infiniband/mlx5_bond_0)|read /sys/class/net/bond0/speed"
    assert lies(only, NODES["bonded-rails"].taken(), NODES["bonded-rails"].expect, only=told) == []


def test_damage_to_what_tells_the_fabric_of_a_guest(checks):
    only = {name: checks[name] for name in ("fewer-rdma-devices-than-expected", "wrong-link-layer")}
    guest, told = NODES["azure-guest"], r"list /sys/class/infiniband|link .*/device$|read .*(board_id|type|link_layer)$"
    assert lies(only, guest.taken(), guest.expect, only=told) == []


def test_an_empty_recording_says_nothing(checks):
    for expect in (make.LOSSLESS, Expect()):
        findings = judge(checks.values(), observe(Replay({})), expect)
        assert {f.verdict for f in findings} <= {Verdict.UNKNOWN, Verdict.SKIPPED}


def test_legal_answers_are_still_such(checks):
    """Each entry of the list is needed: without it a corruption would be reported."""
    told = set()
    only = "dcb|gids|list /dev|list /sys/class/infiniband_verbs|verbs.devices|environ|ethtool.pause"
    for healthy in (make.two_rails_roce(), make.bond()):
        for label, how, host in damaged(healthy, every=True, only=only):
            if allowed(label, how):
                faults = {f.check for f in judge(checks.values(), observe(host), make.LOSSLESS) if f.fault}
                told |= {what for what, _, _ in LEGAL if faults and re.fullmatch(what, pattern(label))}
    assert told == {what for what, _, _ in LEGAL}


def _nodes() -> dict[str, tuple[Callable[[], Recording], Expect, bool]]:
    """Return all healthy nodes by name: how to make one, its site's expectations, whether each answer is damaged."""
    small = {name: (build, expect, True) for name, (build, expect) in make.HEALTHY.items()}
    return small | {name: (whole.taken, whole.expect, False) for name, whole in NODES.items()}


if __name__ == "__main__":
    loaded = catalogue.load([Path(__file__).parents[1] / "checks"]).checks
    everything = "--all" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--all"] or list(_nodes() if everything else make.HEALTHY)
    bad = 0
    for name in names:
        build, wanted, small = _nodes()[name]
        found = lies(loaded, build(), wanted, every=everything and small)
        print(f"{name}: {len(found)} lies", *found, sep="\n", flush=True)
        bad += len(found)
    sys.exit(bool(bad))
