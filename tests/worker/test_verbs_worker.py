"""The worker's protocol, and what it makes of pyverbs' values and errors. Real devices are in the lab."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabricdoctor.worker import verbs

WORKER = Path(verbs.__file__)


def ask(lines, python=sys.executable):
    done = subprocess.run(
        [python, "-I", str(WORKER)], input=lines, capture_output=True, text=True, check=True, timeout=30
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_answer_per_question_in_order_and_garbage_is_answered_too():
    got = ask('[["a","1"],["b","2"]]\nnonsense\n{"x": 1}\n[["c",""]]\n[3]\n')
    assert [g["why"] for g in got] == [
        "unsupported",
        "unsupported",
        "unparsable",
        "unparsable",
        "unsupported",
        "unsupported",
    ]
    assert "['a', '1']" in got[0]["detail"]


def test_without_pyverbs_it_is_missing_and_says_so(tmp_path):
    (tmp_path / "pyverbs.py").write_text("")  # not a package: importing pyverbs.device fails
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv=['v']; import runpy; runpy.run_path({str(WORKER)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code], input='[["verbs.devices",""]]\n', capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["why"] == "missing"
    assert "pyverbs" in answer["detail"]


def test_it_runs_on_python_3_9():
    ast.parse(WORKER.read_text(), feature_version=(3, 9))
    python = shutil.which("python3.9")
    if python and subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0:
        assert ask('[["a",""]]\n', python)[0]["why"] == "unsupported"


def test_nothing_but_answers_reaches_standard_output(tmp_path):
    code = (
        f"import sys, os, json; sys.path.insert(0, {str(WORKER.parent)!r}); import verbs\n"
        "verbs.KINDS['noisy'] = lambda key: (os.write(1, b'from C'), print('from Python'), {})[2]\n"
        "verbs.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input='[["noisy",""]]\n', capture_output=True, text=True, check=True
    )
    assert done.stdout == '{"value": {}}\n'


def test_what_c_code_writes_to_stderr_is_kept_as_lines():
    result, lines = verbs.with_stderr(lambda: os.write(2, b"libibverbs: Warning: one\n\nlibibverbs: Warning: two\n"))
    assert result == 51
    assert lines == ["libibverbs: Warning: one", "libibverbs: Warning: two"]


@pytest.mark.parametrize(
    ("width", "speed", "gbps"),
    [(2, 128, 400.0), (2, 64, 200.0), (1, 32, 25.0), (16, 128, 200.0), (2, 256, 800.0), (0, 128, None), (2, 3, None)],
)
def test_rates(width, speed, gbps):
    assert verbs.gbps(width, speed) == gbps


@pytest.mark.parametrize(("enum", "size"), [(1, 256), (3, 1024), (5, 4096), (0, None), (6, None)])
def test_mtus(enum, size):
    assert verbs.mtu_bytes(enum) == size


class RdmaError(Exception):
    """As pyverbs raises it: an errno in `error_code`, or only in the text."""

    def __init__(self, text, code):
        super().__init__(text)
        self.error_code = code


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (RdmaError("Failed to open device rxe1. Errno: 13, Permission denied", 13), 13),
        (RdmaError("Failed to register a MR. length: 1048576. Errno: 12, Cannot allocate memory", -1), 12),
        (RdmaError("Failed to get devices list", -1), 0),
        (OSError(2, "No such file or directory"), 2),
    ],
)
def test_errors_keep_their_number(error, number):
    assert verbs.problem(error)["errno"] == number


def test_a_pyverbs_of_another_rdma_core_is_explained():
    text = "/lib/libibverbs.so.1: version `IBVERBS_PRIVATE_59' not found"
    assert verbs.why_not_imported(text).startswith("this pyverbs belongs to another rdma-core")
