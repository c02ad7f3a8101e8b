"""A signal ends a run early, with its exit status and without leftovers; what the caller ignores stays ignored."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HEALTHY = Path(__file__).parent.parent / "nodes" / "two-rails-roce.json"


@pytest.fixture
def tree(tmp_path):
    """A machine on which one file hangs."""
    (tmp_path / "sys" / "class" / "infiniband" / "mlx5_0" / "ports" / "1").mkdir(parents=True)
    os.mkfifo(tmp_path / "sys" / "class" / "infiniband" / "mlx5_0" / "node_type")
    return tmp_path


def start(module, *arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def until_it_asks(child):
    """Wait until the process has its reading child, and with it its signal handlers."""
    end = time.monotonic() + 20
    while not (found := children(child.pid)) and time.monotonic() < end:
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_child_and_no_file(tree, number):
    child = start("fabricdoctor", "snapshot", "--root", tree, "--interval", "20", "-o", tree / "out" / "r")
    (tree / "out").mkdir()
    [reader] = until_it_asks(child)
    child.send_signal(number)
    _, err = child.communicate(timeout=10)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert not Path(f"/proc/{reader}").exists()
    assert {p.name for p in (tree / "out").iterdir()} <= {"r"}


def test_nohup_is_respected(tree):
    def nohup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    child = start("fabricdoctor", "check", "--root", tree, "--no-save", preexec_fn=nohup)
    until_it_asks(child)
    child.send_signal(signal.SIGHUP)
    _, err = child.communicate(timeout=20)
    assert "interrupted" not in err
    assert child.returncode in (1, 3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_does_not_make_the_prolog_drain_the_node(tmp_path, number):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "proc" / "sys" / "kernel").mkdir(parents=True)
    os.mkfifo(tmp_path / "proc" / "sys" / "kernel" / "hostname")
    child = start("fabricdoctor.prolog", "--root", tmp_path, "--no-save")
    until_it_asks(child)
    child.send_signal(number)
    _, err = child.communicate(timeout=20)
    assert child.returncode == 0
    assert "Traceback" not in err
