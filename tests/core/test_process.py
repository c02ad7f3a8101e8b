"""Nothing that hangs can hang the tool."""

import os
import signal
import time
from pathlib import Path

import pytest

from fabricdoctor import process
from fabricdoctor.process import Deadline, forked
from fabricdoctor.sources.live import Live


def answer(question):
    kind, key = question
    if kind == "sleep":
        time.sleep(float(key))
    if kind == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    return {"value": key}


def ask(server, questions, timeout=0.3, budget=5.0):
    try:
        return list(server.answers(questions, timeout, Deadline(budget)))
    finally:
        server.close()


def test_answers_come_in_order_also_when_there_are_many():
    questions = [("echo", str(n)) for n in range(1000)]
    assert ask(forked(answer), questions) == [{"value": str(n)} for n in range(1000)]


def test_a_hanging_question_costs_its_deadline_and_the_next_is_answered():
    begun = time.monotonic()
    got = ask(forked(answer), [("echo", "a"), ("sleep", "60"), ("echo", "b")])
    assert [g.get("value") for g in got] == ["a", None, "b"]
    assert got[1] == {"why": "timeout", "detail": "no answer within 0.3 s"}
    assert time.monotonic() - begun < 2


def test_a_crash_in_the_reader_is_not_known_and_not_fatal():
    got = ask(forked(answer), [("die", ""), ("echo", "b")])
    assert got == [{"why": "unsupported", "detail": "the reading process died (status -11)"}, {"value": "b"}]


def test_the_budget_ends_all_further_questions():
    begun = time.monotonic()
    got = ask(forked(answer), [("sleep", "60")] * 50, timeout=0.3, budget=0.5)
    assert {g["why"] for g in got} == {"timeout"}
    assert len(got) == 50
    assert time.monotonic() - begun < 1.5


def test_no_child_is_left_behind():
    server = forked(answer)
    list(server.answers([("sleep", "60")], 0.1, Deadline(1)))
    list(server.answers([("echo", "x")], 1, Deadline(1)))
    server.close()
    end = time.monotonic() + 2
    while a_child_is_left() and time.monotonic() < end:  # a busy machine takes its time to end what was killed
        time.sleep(0.02)
    assert not a_child_is_left()


def a_child_is_left():
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False


def test_a_fifo_is_unknown_by_timeout_and_the_other_files_are_read(tmp_path):
    (tmp_path / "sys").mkdir()
    os.mkfifo(tmp_path / "sys" / "hangs")
    (tmp_path / "sys" / "fine").write_text("9000\n")
    live = Live(5.0, str(tmp_path))
    try:
        hangs, fine, gone = live.ask_all([("read", "/sys/hangs"), ("read", "/sys/fine"), ("read", "/sys/gone")])
    finally:
        live.close()
    assert (hangs.why, fine, gone.why) == ("timeout", "9000", "missing")
    assert live.left_out == ["read /sys/hangs"]


def test_stop_ends_a_hanging_question_at_once(tmp_path):
    os.mkfifo(tmp_path / "hangs")
    live = Live(30.0, str(tmp_path))
    signal.signal(signal.SIGALRM, lambda *_: live.stop())
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    begun = time.monotonic()
    try:
        got = live.ask_all([("read", "/hangs")] * 5)
    finally:
        live.close()
    assert time.monotonic() - begun < 0.9
    assert len(got) == 5


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Put shell scripts in the place of system commands."""

    def make(name, text):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    monkeypatch.setattr(process, "SYSTEM_PATH", (str(tmp_path),))
    monkeypatch.setattr(process.find, "__defaults__", ((str(tmp_path),),))
    return make


def test_a_command_gives_its_output(commands):
    commands("lldpcli", 'echo "$1 $LC_ALL"')
    assert process.run(["lldpcli", "show"], 5) == (0, "show C\n")


def test_a_hanging_command_is_killed_with_its_children(commands):
    commands("lldpcli", "/bin/sleep 60 & /bin/sleep 60")
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="lldpcli did not answer in time"):
        process.run(["lldpcli"], 0.3)
    assert time.monotonic() - begun < 1.5


def test_a_failing_command_still_gives_its_output(commands):
    commands("mlxlink", "echo '{}'; exit 1")
    assert process.run(["mlxlink"], 5) == (1, "{}\n")


def test_only_listed_commands_are_run():
    with pytest.raises(PermissionError, match="rm is not a command this tool may run"):
        process.run(["rm", "-rf", "/nowhere"], 5)


def test_output_that_is_no_text_is_replaced_and_too_much_of_it_refused(commands):
    commands("nicctl", r"printf 'a\377b'")
    assert process.run(["nicctl"], 5) == (0, "a\N{REPLACEMENT CHARACTER}b")
    commands("nicctl", "while :; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; done")
    with pytest.raises(ValueError, match="nicctl printed more than 4 MiB"):
        process.run(["nicctl"], 20)


def test_a_command_that_asks_a_question_reads_nothing(commands):
    commands("mstconfig", 'read answer; echo "got <$answer>"')
    assert process.run(["mstconfig"], 5) == (0, "got <>\n")


def test_a_deadline_that_is_brought_forward_ends_a_command(commands):
    commands("mstconfig", "/bin/sleep 60")
    until = Deadline(30)
    signal.signal(signal.SIGALRM, lambda *_: setattr(until, "at", 0.0))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        process.run(["mstconfig"], 20, until)
    assert time.monotonic() - begun < 2


def test_a_missing_command_says_so(monkeypatch):
    monkeypatch.setattr(process.find, "__defaults__", (("/nowhere",),))
    with pytest.raises(FileNotFoundError, match="lldpcli is not installed"):
        process.run(["lldpcli"], 5)


def open_files():
    return len([*Path("/proc/self/fd").iterdir()])


def test_no_process_to_start_is_an_answer_and_leaves_nothing_open():
    def refused(_stdin, _stdout):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = open_files()
    answers = ask(process.Server(refused), [("read", "/a"), ("read", "/b")])
    assert [a["why"] for a in answers] == ["unsupported"] * 2
    assert "Resource temporarily unavailable" in answers[0]["detail"]
    assert open_files() == before


def test_an_interpreter_that_is_not_there_is_not_started():
    live = Live(5, pythons=["/nowhere/python3"])
    try:
        assert live.ask("verbs.devices").why == "missing"
    finally:
        live.close()


def test_a_child_that_hangs_ends_when_nobody_is_left_to_end_it(monkeypatch):
    monkeypatch.setattr(process, "_ORPHAN_S", 0.2)
    server = forked(answer)
    server._send([("sleep", "30")])
    assert process._wait(server._pid, 5.0) == -signal.SIGALRM
    server.close()
