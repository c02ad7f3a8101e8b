"""Whatever the caller made of standard input, output and error, and wherever -o points: an honest exit status."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fabricdoctor import recording

TESTS = Path(__file__).parent.parent
HEALTHY = TESTS / "nodes" / "two-rails-roce.json"
DOWN = TESTS / "cases" / "C22-port-down-with-a-nominal-rate.json"
TOOL = shlex.join([sys.executable, "-m", "fabricdoctor"])
PROLOG = shlex.join([sys.executable, "-m", "fabricdoctor.prolog"])


def shell(command, **env):
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", **env},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (f"check --from {HEALTHY} >&-", 3, "cannot write the output: Bad file descriptor"),
        (f"check --from {DOWN} >&-", 1, "cannot write the output: Bad file descriptor"),
        (f"check --from {DOWN} >/dev/full", 1, "cannot write the output: No space left on device"),
        (f"check --from {DOWN} -v | true", 1, ""),
        (f"check --from {HEALTHY} <&-", 0, ""),
        ("explain pfc-off >&-", 3, "cannot write the output: Bad file descriptor"),
        ("--version >&-", 3, "cannot write the output: Bad file descriptor"),
        ("check --nope 2>/dev/full", 2, ""),
    ],
)
def test_a_report_that_nobody_got_is_no_success(command, status, said):
    done = shell(f"{TOOL} {command}")
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_standard_error_leaves_messages_out_of_the_report():
    done = shell(f"{TOOL} check --from /nowhere --format json 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_can_be_written_without_standard_output(tmp_path):
    done = shell(f"{TOOL} check --from {HEALTHY} -o {tmp_path}/r >&- 2>&- <&-")
    assert done.returncode == 0
    assert (tmp_path / "r").read_text().startswith("READY")


@pytest.mark.parametrize(
    "rest", ["2>/dev/full", "2>&-", "2>&1 | true", "--bad 2>/dev/full", "--bad 2>&1 | true", "<&- >&- 2>&-"]
)
def test_a_log_that_takes_nothing_does_not_drain_the_node(tmp_path, rest):
    assert shell(f"{PROLOG} --root {tmp_path} --no-save {rest}").returncode == 0


def test_the_prolog_judges_without_standard_output(tmp_path):
    assert "cannot tell" in shell(f"{PROLOG} --root {tmp_path} --no-save >&-").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--budget nan", "--budget: 'nan' is not a number of seconds from 0.1 to 3600"),
        ("--budget=-1", "--budget: '-1' is not a number of seconds from 0.1 to 3600"),
        ("--config", "--config needs a value"),
        ("--profile=", "--profile needs a value"),
        ("--no-save=3", "unknown argument '--no-save=3'"),
    ],
)
def test_what_the_prolog_cannot_use_is_named(arguments, message):
    done = shell(f"{PROLOG} --no-save {arguments}")
    assert done.returncode == 0
    assert f"fabricdoctor-prolog: not checked: {message}" in done.stderr


def test_the_prologs_help():
    done = shell(f"{PROLOG} --help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: fabricdoctor-prolog")


@pytest.mark.parametrize("arguments", ["checks", f"check --from {HEALTHY} -v --config é.toml"])
def test_an_encoding_that_lacks_a_character_ends_nothing(tmp_path, arguments):
    (tmp_path / "é.toml").write_text("[expect]\ndscp = 24\n")
    done = shell(f"cd {tmp_path} && {TOOL} {arguments}", PYTHONIOENCODING="ascii", PYTHONPATH=str(TESTS.parent))
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert done.stderr == ""


def test_terminal_codes_in_a_file_do_not_reach_the_terminal(tmp_path):
    (tmp_path / "r.json").write_text('{"format": 7, "tool": "\\u001b[31m"}')
    (tmp_path / "c.toml").write_text('"\\u001b[31m" = 1\n')
    for arguments in (f"--from {tmp_path}/r.json", f"--config {tmp_path}/c.toml"):
        done = shell(f"{TOOL} check {arguments}")
        assert done.returncode == 2
        assert "\\x1b[31m" in done.stderr
        assert "\x1b" not in done.stderr


@pytest.mark.parametrize("option", ["--profile", "--config", "--checks", "--from", "-o"])
def test_an_empty_value_is_not_the_current_directory(option):
    done = shell(f"{TOOL} check --from {HEALTHY} {option} ''")
    assert done.returncode == 2
    assert option in done.stderr


def test_a_dash_and_dev_stdout_are_standard_output(tmp_path):
    assert shell(f"{TOOL} check --from {HEALTHY} -o -").stdout.startswith("READY")
    (tmp_path / "log").write_text("before\n")
    link = Path("/dev/stdout").readlink()
    assert shell(f"{TOOL} check --from {HEALTHY} -o /dev/stdout >> {tmp_path}/log").returncode == 0
    assert Path("/dev/stdout").readlink() == link
    assert (tmp_path / "log").read_text().startswith("before\nREADY")


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    done = shell(f"{TOOL} check --from {HEALTHY} -o {tmp_path}/fifo")
    assert done.returncode == 3
    assert f"{tmp_path}/fifo: cannot be written: No such device or address" in done.stderr
    assert "READY" in done.stdout
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


def test_a_link_is_replaced_and_not_followed_and_long_names_fit(tmp_path):
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    recording.write(tmp_path / "link", "report")
    assert (tmp_path / "precious").read_text() == "keep me"
    assert not (tmp_path / "link").is_symlink()
    recording.write(tmp_path / ("n" * 255), "report \ud800")
    assert (tmp_path / ("n" * 255)).read_text() == "report \\ud800"


def test_an_interrupted_write_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(_fd):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        recording.write(tmp_path / "r", "report")
    assert [*tmp_path.iterdir()] == []
