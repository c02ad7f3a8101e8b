"""A chain: one verdict of several checks over the same subjects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from nodes import make

from fabricdoctor.check import Check, Expect, Fault, Severity, Unknown, chain, check, known, wanted
from fabricdoctor.facts import observe
from fabricdoctor.finding import Finding, Verdict
from fabricdoctor.judge import conclude, judge

NODE = observe(make.two_rails_roce().host())


@dataclass(frozen=True)
class Thing:
    name: str

    def __str__(self) -> str:
        return self.name


def link(name: str, severity: Severity, says: Callable[[str], Fault | None]) -> Check[Thing]:
    def judged(thing: Thing, _: Expect) -> Fault | None:
        return says(thing.name)

    judged.__name__ = name
    return check(over=lambda _: (Thing("a"), Thing("b")), severity=severity)(judged)


def broken(_: str) -> Fault:
    return Fault("seen", "wanted", "fix")


def fine(_: str) -> None:
    return None


def unknown(_: str) -> None:
    known(Unknown("read /x", "denied"))


def not_applicable(_: str) -> None:
    known(Unknown("read /x", "not-applicable"))


def raises(_: str) -> None:
    raise RuntimeError("oops")


def unset(_: str) -> None:
    wanted(None)


C, W, INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO


def whole(*links: str, over: str = "ab") -> Check[Thing]:
    def all_of_it() -> None:
        """One verdict."""

    return chain(over=lambda _: tuple(Thing(name) for name in over), severity=C, links=links)(all_of_it)


def verdict_on(*links: tuple[Severity, Callable[[str], Fault | None]]) -> Finding:
    """Return what a chain says of the first subject; its links are called one, two, three."""
    names = ("one", "two", "three")[: len(links)]
    checks = [link(name, *said) for name, said in zip(names, links, strict=True)]
    found = judge([whole(*names), *checks], NODE, Expect())
    return next(f for f in found if f.check == "all-of-it" and f.subject == "a")


def test_the_first_broken_link_is_named_with_the_worst_severity():
    found = verdict_on((C, fine), (W, broken), (C, broken))
    assert found.fault is not None
    assert (found.fault.saw, found.fault.fix) == ("first broken link: two; seen", "fix")
    assert found.severity is C


def test_links_fold_under_it_and_do_not_count():
    found = judge([whole("one", "two"), link("one", C, fine), link("two", W, broken)], NODE, Expect())
    assert {f.folded_under for f in found if f.check == "two"} == {"all-of-it"}
    assert [f.severity for f in found if f.check == "all-of-it"] == [W, W]
    assert conclude(found).status == 0


def test_information_breaks_nothing():
    assert verdict_on((C, fine), (INFO, broken)).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("links", "verdict", "why"),
    [
        (((C, fine), (C, fine)), Verdict.OK, ""),
        (((C, fine), (C, unknown)), Verdict.UNKNOWN, "denied"),
        (((C, fine), (C, raises)), Verdict.BROKEN, "broken"),
        (((C, fine), (W, unknown)), Verdict.OK, ""),  # only what is critical has to be known
        (((C, unset), (C, fine)), Verdict.OK, ""),
        (((C, unset), (C, unset), (W, fine)), Verdict.SKIPPED, "no-expectation"),
        (((C, not_applicable), (C, fine)), Verdict.SKIPPED, "not-applicable"),
    ],
)
def test_what_it_says_when_nothing_is_broken(links, verdict, why):
    found = verdict_on(*links)
    assert (found.verdict, found.why) == (verdict, why)
    assert found.check == "all-of-it"


def test_what_is_broken_wins_over_what_is_unknown():
    assert verdict_on((C, unknown), (C, broken)).verdict is Verdict.FAULT


def test_links_that_did_not_run_leave_it_out():
    found = judge([whole("gone")], NODE, Expect())
    assert {(f.verdict, f.why) for f in found} == {(Verdict.SKIPPED, "excluded")}


def test_a_subject_of_its_own_has_no_links():
    found = judge([whole("one", over="abc"), link("one", C, fine)], NODE, Expect())
    assert next(f for f in found if f.subject == "c").verdict is Verdict.SKIPPED


def test_the_site_may_set_its_severity():
    found = judge([whole("one"), link("one", C, broken)], NODE, Expect(), {"all-of-it": INFO})
    assert {f.severity for f in found if f.check == "all-of-it"} == {INFO}
