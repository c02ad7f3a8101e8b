"""Vendors' tools: only from the table, only when asked, each with its deadline."""

import time
from contextlib import closing

import pytest

from fabricdoctor import preflight, process
from fabricdoctor.preflight import Options
from fabricdoctor.process import Deadline
from fabricdoctor.sources import command
from fabricdoctor.sources.live import Live
from fabricdoctor.unknown import Unknown

PCI = "0000:03:00.0"


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Put shell scripts in the place of the tools."""

    def make(name, text):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    monkeypatch.setattr(process.find, "__defaults__", ((str(tmp_path),),))
    return make


def ask(*questions, asked=command.ALL, root=True, budget=20.0):
    return command.answers(questions, asked, Deadline(budget), root=root)


@pytest.mark.parametrize(
    ("question", "name", "arguments"),
    [
        ("lldpcli", "lldpcli", "-f json0 show neighbors details"),
        (f"mstconfig {PCI}", "mstconfig", f"-d {PCI} -e q"),
        (f"mstconfig {PCI}", "mlxconfig", f"-d {PCI} -e q"),
        (f"mlxlink {PCI}", "mlxlink", f"-d {PCI} -c -m --json"),
        (f"mlxlink {PCI}", "mstlink", f"-d {PCI} -c -m --json"),
        ("nicctl qos", "nicctl", "show qos"),
        ("nicctl dcqcn", "nicctl", "show dcqcn"),
        (f"niccli qos {PCI}", "niccli", f"--dev {PCI} qos --ets --show"),
    ],
)
def test_each_question_is_one_command(commands, question, name, arguments):
    commands(name, 'echo "$@"')
    assert ask(question) == [{"value": {"status": 0, "output": arguments + "\n"}}]


@pytest.mark.parametrize(
    "question",
    [
        "mstconfig", "mstconfig 0000:03:00.0; reboot", "mstconfig -h", "mstconfig rail0", "nicctl reset",
        f"nicctl qos {PCI}", f"lldpcli {PCI}", "mlxlink ../../x", "niccli qos 1", "",
    ],
)  # fmt: skip
def test_nothing_else_is_run(commands, tmp_path, question):
    for name in process.ALLOWED:
        commands(name, f"touch {tmp_path}/ran")
    (answer,) = ask(question)
    assert answer["why"] in ("unsupported", "not-applicable")
    assert not (tmp_path / "ran").exists()


def test_what_is_not_asked_says_how_to_ask_and_is_not_run(commands, tmp_path):
    commands("mstconfig", f"touch {tmp_path}/ran")
    for asked in (command.QUICK, command.NONE):
        assert ask(f"mstconfig {PCI}", asked=asked) == [
            {"why": "not-applicable", "detail": "not asked: run with --vendor-tools"}
        ]
    assert ask("lldpcli", asked=command.QUICK, root=False)[0]["why"] == "needs-root"
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("commands")
def test_a_tool_that_is_not_installed_is_missing():
    assert ask("lldpcli") == [{"why": "missing", "detail": "lldpcli is not installed"}]


def test_a_failing_tool_is_heard_when_it_said_something(commands):
    commands("mlxlink", "echo '{}'; exit 1")
    commands("lldpcli", "echo 'no socket' >&2; exit 1")
    said, silent = ask(f"mlxlink {PCI}", "lldpcli")
    assert said == {"value": {"status": 1, "output": "{}\n"}}
    assert silent == {"why": "unsupported", "detail": "lldpcli ended with status 1 and said nothing"}


def test_adapters_are_asked_side_by_side_and_one_adapter_by_one_tool_at_a_time(commands, tmp_path):
    lock = f'mkdir "{tmp_path}/$2" || echo collided; /bin/sleep 0.3; rmdir "{tmp_path}/$2"; echo done'
    commands("mstconfig", lock)
    commands("mlxlink", lock)
    begun = time.monotonic()
    answers = ask(*(f"{tool} 0000:0{n}:00.0" for tool in ("mstconfig", "mlxlink") for n in range(4)))
    assert {a["value"]["output"] for a in answers} == {"done\n"}
    assert time.monotonic() - begun < 2.0


def test_the_budget_ends_all_tools(commands):
    commands("mstconfig", "/bin/sleep 60")
    begun = time.monotonic()
    answers = ask(*(f"mstconfig 0000:0{n}:00.0" for n in range(8)), budget=0.5)
    assert {a["why"] for a in answers} == {"timeout"}
    assert time.monotonic() - begun < 2.0


def test_the_live_host_gives_tools_answers_and_under_a_root_none(commands, monkeypatch, tmp_path):
    commands("lldpcli", "echo heard")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    live, rooted = Live(5.0), Live(5.0, str(tmp_path))
    try:
        heard, stored, unread = live.ask_all([("tool", "lldpcli"), ("tool", f"mstconfig {PCI}"), ("read", "/nowhere")])
        none = rooted.ask("tool", "lldpcli")
    finally:
        live.close()
        rooted.close()
    assert heard == {"status": 0, "output": "heard\n"}
    assert str(stored) == f"tool mstconfig {PCI}: not asked: run with --vendor-tools"
    assert (stored.why, unread.why, none.why) == ("not-applicable", "missing", "not-applicable")


def test_of_two_samples_only_the_last_asks_tools():
    asked = []

    class Machine:
        until, tools = Deadline(5.0), command.ALL

        def ask_all(self, questions):
            asked.append(self.tools)
            return [Unknown(kind, "missing") for kind, _ in questions]

    preflight.observe_live(Machine(), Options(interval=0.01, save=False, tools=command.ALL), None)
    assert asked[0] == command.NONE
    assert asked[-1] == command.ALL


def test_a_transceiver_is_read_only_where_tools_may_be_asked():
    with closing(Live(5.0, tools=command.NONE)) as live:
        [answer] = live.ask_all([("ethtool.module", "lo")])
    assert (answer.why, answer.source) == ("not-applicable", "ethtool.module lo")
