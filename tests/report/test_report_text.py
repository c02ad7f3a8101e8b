"""The text: exactly what a person sees, and what holds for any report."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
from report_samples import fault, full, generated, ok, rail, report, unknown, wrong_priority

from fabricdoctor.finding import Fault, Severity
from fabricdoctor.report import text

SEEDS = range(60)


def plain(sample, width=80, **options):
    return text.render(sample, **({"color": False, "width": width, "ascii_only": False} | options))


def body(rendered):
    """Leave out the head and the counts."""
    return "\n\n".join(rendered.split("\n\n")[1:-1])


def without_commands(rendered):
    """Leave out the commands: what follows `fix` or a hint, indented by four."""
    kept, above = [], ""
    for line in rendered.splitlines():
        if not line.startswith("  "):
            above = "hint" if line.startswith("hint: ") else ""
        elif not line.startswith("    "):
            above = "fix" if line == "  fix" else "" if above == "fix" else above
        if not (above and line.startswith("    ")):
            kept.append(line)
    return kept


def test_nothing_at_all():
    assert plain(report()) == dedent("""\
        CANNOT TELL  gpu017: nothing on this node could be judged
        2025-03-01T03:00:00Z, counters over 30 s, profile roce, fabricdoctor 0.1.0

        checked 0, nothing was judged
        """)


def test_ready():
    assert plain(report([ok("port-down", rail(0))], interval_s=None, profile=None)) == dedent("""\
        READY  gpu017: no fault at or above critical
        2025-03-01T03:00:00Z, counters sampled once, no profile, fabricdoctor 0.1.0

        checked 1: 1 ok
        """)


def test_one_fault_with_several_lines():
    seen = Fault("first\nsecond", "neither", "do this\n  and that")
    assert body(plain(report([fault("odd-lines", "node", seen)]))) == dedent("""\
        CRITICAL  odd-lines on node
          saw   first
                second
          want  neither
          fix
            do this
              and that""")


def test_eight_rails_are_one_entry():
    folded = fault("pfc-off", rail(1), Fault("a", "b", "c"), folded_under="pfc-on-wrong-priority")
    assert body(plain(report([*map(wrong_priority, range(8)), folded]))) == dedent("""\
        CRITICAL  pfc-on-wrong-priority on 8 subjects: mlx5_[0-7]/1 (rail[0-7])
          saw   PFC on [0]
          want  PFC on [3]
          fix
            dcb pfc set dev rail0 prio-pfc all:off 3:on
            dcb pfc set dev rail1 prio-pfc all:off 3:on
            dcb pfc set dev rail2 prio-pfc all:off 3:on
            dcb pfc set dev rail3 prio-pfc all:off 3:on
            # and 4 more: --format json
          also, explained by this: pfc-off on mlx5_1/1 (rail1)""")


def test_eighty_rails_are_one_entry_with_all_fixes_when_verbose():
    sample = report(map(wrong_priority, range(80)))
    assert len(plain(sample).splitlines()) < 20
    assert "80 subjects: mlx5_[0-79]/1 (rail[0-79])" in plain(sample)
    assert plain(sample, verbose=True).count("dcb pfc set") == 80


def test_names_in_what_was_seen_do_not_keep_siblings_apart():
    sample = report(fault("no-ip", rail(n), Fault(f"rail{n} has none", "an address", "")) for n in (1, 10))
    assert "saw   <interface> has none" in plain(sample)


def test_severities_in_order_and_never_by_color_alone():
    seen = Fault("a", "b", "c")
    sample = report([fault(level.value, "node", seen, level) for level in reversed(Severity)])
    words = re.findall(r"^(CRITICAL|WARNING|INFO) ", plain(sample), re.MULTILINE)
    assert words == ["CRITICAL", "WARNING", "INFO"]


@pytest.mark.parametrize("cause", ["b", "not-there"])
def test_a_fault_whose_cause_leads_nowhere_is_still_shown(cause):
    seen = Fault("a", "b", "c")
    sample = report([fault("a", "node", seen, folded_under=cause), fault("b", "node", seen, folded_under="a")])
    assert "CRITICAL  a on node" in plain(sample) or "explained by this: a on node" in plain(sample)


def test_unknown_only():
    sample = report(unknown("gid-missing", rail(n), f"verbs mlx5_{n}", "no pyverbs; install it") for n in range(8))
    assert body(plain(sample)) == dedent("""\
        UNKNOWN  1 check could not be judged: no pyverbs; install it
          id    gid-missing
          on    mlx5_[0-7]/1 (rail[0-7])
          ask   verbs mlx5_[0-7]""")
    assert plain(sample).startswith("CANNOT TELL  ")


def test_the_rest_in_a_few_lines():
    assert body(plain(full())).split("\n\n")[-2:] == [
        dedent("""\
            10 skipped: 9 no expectation (mtu, trust), 1 need root
            not judged, not the rails' group: CX6, Ethernet, 100 Gb/s: mlx5_8/1 (ens3)
            no time left to ask: lldp rail7"""),
        "hint: To keep what this node has as the site's expectations:\n    fabricdoctor learn --output site.toml",
    ]


def test_ports_that_could_not_be_listed_are_said():
    assert "RDMA ports: could not be listed" in plain(report(ports=None))


def test_color_adds_only_color():
    colored = plain(full(), color=True)
    assert "\x1b[1;31mNOT READY\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain(full())


@pytest.mark.parametrize("width", range(40, 201))
def test_no_line_is_longer_than_the_terminal(width):
    for sample in (full(), generated(width)):
        for verbose in (False, True):
            lines = without_commands(plain(sample, width, verbose=verbose))
            assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_data_reaches_no_terminal(seed):
    for verbose in (False, True):
        shown = plain(generated(seed), verbose=verbose)
        assert shown.replace("\n", "").isprintable()
        shown.encode("utf-8")
        assert plain(generated(seed), ascii_only=True, verbose=verbose).isascii()


@pytest.mark.parametrize("seed", SEEDS)
def test_every_fault_is_shown(seed):
    sample = generated(seed)
    shown = plain(sample, 120)
    for finding in sample.findings:
        if finding.fault:
            assert re.search(rf"\b{finding.check} on ", shown)
