"""A site's check that hangs, exits, prints or returns nonsense is broken; the report is not."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from fabricdoctor import catalogue
from fabricdoctor.finding import Fault
from fabricdoctor.limit import TooLong, within

HEALTHY = Path(__file__).parent.parent / "nodes" / "two-rails-roce.json"
START = """
from fabricdoctor.check import Fault, Severity, check

def one(node):
    return ("it",)
"""


def judged(directory, text, *arguments):
    directory.chmod(0o755)
    (directory / "mine.py").write_text(textwrap.dedent(text))
    return subprocess.run(
        [sys.executable, "-m", "fabricdoctor", "check", "--from", str(HEALTHY), "--checks", str(directory), *arguments],
        capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip


def mine(body, over="one", severity="Severity.WARNING", more=""):
    return f"{START}\n@check(over={over}, severity={severity}{more})\ndef mine(subject, expect):\n    {body}\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("while True: pass", "TooLong: it did not return within 2 s"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        (mine("raise SystemExit(0)"), "SystemExit: 0"),
        (mine("while True: pass"), "TooLong: it did not return within 1 s"),
        (mine("pass", over="lambda node: iter(int, 1)"), "TooLong: it did not return within 1 s"),
        (mine("return Fault(saw=5, want='', fix='')"), "TypeError: Fault: saw must be a text, not 5"),
        (mine("return Fault('', '', '', 'critical')"), "TypeError: Fault: severity must be Severity.CRITICAL"),
        (mine("return True"), "TypeError: a check returns a Fault or None, not True"),
        (mine("pass", severity="'critical'"), "TypeError: mine: severity must be Severity.CRITICAL"),
        (mine("pass", more=", explained_by='pfc-off'"), "TypeError: mine: explained_by must be a tuple of ids"),
        (mine("pass", over="3"), "TypeError: mine: over must be a function"),
    ],
)
def test_a_bad_check_is_broken_and_the_others_judge(tmp_path, text, reason):
    done = judged(tmp_path, text, "--format", "json")
    report = json.loads(done.stdout)
    [broken] = [f for f in report["findings"] if f["verdict"] == "broken"]
    assert broken["reason"].startswith(reason)
    assert broken["check"] == "mine"
    assert (report["verdict"], done.returncode) == ("ready", 0)
    assert report["counts"]["ok"] > 20


def test_many_checks_that_hang_keep_the_budget(tmp_path):
    spin = "\n@check(over=one, severity=Severity.CRITICAL)\ndef spin_{}(subject, expect):\n    while True: pass\n"
    text = START + "".join(spin.format(n) for n in range(4))
    begun = time.monotonic()
    done = judged(tmp_path, text, "--budget", "1")
    assert time.monotonic() - begun < 1 + 1 + 2  # and the interpreter's start
    assert done.returncode == 3
    assert "spin-3 (critical)" in done.stdout


def test_what_a_check_prints_is_not_in_the_report(tmp_path):
    done = judged(tmp_path, "print('loaded')" + mine("print('judged')"), "--format", "json")
    assert json.loads(done.stdout)["verdict"] == "ready"
    assert done.stderr.split() == ["loaded", "judged"]


def test_a_pipe_and_a_link_to_nowhere_are_broken_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")
    found = catalogue.load([tmp_path])
    assert list(found.broken.values()) == ["ImportError: not a regular file"] * 2


def test_no_cache_is_made_beside_a_sites_checks_nor_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "mine.py").write_text(mine("pass"))
    assert set(catalogue.load([tmp_path]).checks) == {"mine"}
    assert [p.name for p in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root refuses them")
def test_root_refuses_what_another_user_could_exchange(tmp_path):
    theirs = tmp_path / "theirs"
    (theirs / "checks").mkdir(parents=True)
    (theirs / "checks" / "mine.py").write_text("")
    os.chown(theirs, 65534, 65534)
    with pytest.raises(catalogue.CatalogueError, match=f"{theirs}: owned by uid 65534"):
        catalogue.load([theirs / "checks"])
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "mine.py").symlink_to(theirs / "checks" / "mine.py")
    with pytest.raises(catalogue.CatalogueError, match=f"{theirs}: owned by uid 65534"):
        catalogue.load([ours])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root refuses them")
def test_the_tools_own_checks_are_as_safe_as_the_tool(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(mine("pass"))
    os.chown(tmp_path, 65534, 65534)
    monkeypatch.setattr(catalogue, "builtin", lambda: tmp_path)
    assert set(catalogue.load([tmp_path]).checks) == {"mine"}


def test_the_limit_ends_a_block_and_leaves_no_alarm():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TooLong, match=r"within 0\.05 s"), within(0.05):
        time.sleep(5)
    with within(0.01):
        pass
    time.sleep(0.03)
    assert signal.getsignal(signal.SIGALRM) is before


def test_another_thread_has_no_limit_and_no_error():
    done = []

    def work():
        with within(0.01):
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


def test_a_fault_says_what_was_wrong_with_it():
    with pytest.raises(TypeError, match="odd must be a tuple of texts"):
        Fault("", "", "", odd=("a", 1))


def test_an_absurd_number_in_a_recording_takes_no_time():
    from ipaddress import IPv6Address

    from fabricdoctor.facts import Gid, NcclSettings, nccl_choice
    from fabricdoctor.facts.nccl import Setting
    from fabricdoctor.unknown import Unknown

    far = Gid(10**27, IPv6Address("::ffff:192.0.2.1"), "RoCE v2", "rail0")
    with within(1.0):
        assert nccl_choice((far,)) == 10**27
    settings = NcclSettings({"NCCL_IB_TC": Setting("9" * 5000, "environment")})
    assert isinstance(settings.number("NCCL_IB_TC", 0), Unknown)
