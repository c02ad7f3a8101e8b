"""Each fault of the table is found on real (software) RDMA devices, by root and by an ordinary user, and vanishes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from table import ROWS, Row

pytestmark = pytest.mark.lab
LAB = Path(__file__).parent


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """Boot the lab once and run the whole table in it; the folder with its answers."""
    from boot import boot

    shared = tmp_path_factory.mktemp("lab")
    (shared / "rows").write_text("".join(row.line() + "\n" for row in ROWS))
    install(shared / "site")
    done = boot(LAB / "run_table.sh", shared, 3600)
    (shared / "stdout").write_text(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    return shared


def install(folder: Path) -> None:
    """Install the tool into a folder, for the guest's own Python: a user there may not enter ours."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, LAB.parents[1]]
    subprocess.run(pip, check=True)


def answer(results: Path, name: str) -> tuple[int, dict]:
    text = (results / f"{name}.json").read_text()
    assert text, (results / f"{name}.err").read_text()
    return int((results / f"{name}.status").read_text()), json.loads(text)


def has_traffic(results: Path) -> bool:
    """Return whether perftest came to send between the nodes; its own words lie beside the answers if not."""
    failed = results / "not-injected"
    return not failed.exists() or "traffic" not in failed.read_text().split()


def place(subject: str) -> str:
    """Return device and port: a slow answer may have cost the interface its name."""
    return subject.split(" (", maxsplit=1)[0]


def faults(report: dict) -> set[tuple[str, str, str]]:
    return {
        (f["check"], place(f["subject"]), f["severity"])
        for f in report["findings"]
        if f["verdict"] == "fault" and not f["folded_under"]
    }


def wanted(row: Row, who: str) -> set[tuple[str, str, str]]:
    return {(check, place(subject), severity) for check, subject, severity in row.expected(who).faults}


@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_fault(results, row: Row, who: str):
    expected = row.expected(who)
    status, report = answer(results, f"{row.name}.{who}")
    if row.needs_traffic and not has_traffic(results):
        pytest.skip("no RDMA traffic could be had between the emulated nodes, so there was none to lose")
    assert faults(report) == wanted(row, who)
    folded = {f["check"] for f in report["findings"] if f["folded_under"]}
    assert folded == expected.folded
    assert expected.unknown <= {f["check"] for f in report["findings"] if f["verdict"] == "unknown"}
    assert not [f for f in report["findings"] if f["verdict"] == "broken"]
    for subject, pattern in row.saw:
        about = [f for f in report["findings"] if place(f["subject"]) == place(subject) and not f["folded_under"]]
        told = [f["saw"] for f in about if f["saw"]]
        assert len(told) == 1
        assert re.search(pattern, told[0]), told
    assert status in ((0, 3) if expected.status is None else (expected.status,))


def test_it_vanishes_when_undone(results):
    """The next row has other faults, and exactly those were found (see test_fault): nothing of this one is left."""
    done = [row for row in ROWS if has_traffic(results) or not row.needs_traffic]
    for row, following in pairwise(done):
        for who in ("root", "user"):
            assert not wanted(row, who) & wanted(following, who), "let rows that differ follow each other"
            assert not wanted(row, who) & faults(answer(results, f"{following.name}.{who}")[1])


def test_a_kernel_that_hangs_costs_no_more_than_the_budget(results):
    """The run's own clock: the interpreter's start is not in it, and an emulated processor gets two seconds more.

    Which of the two runs came to ask for the statistics, and which was stopped by the lock before, is chance.
    """
    both = {who: answer(results, f"kernel-hangs.{who}")[1] for who in ("root", "user")}
    for report in both.values():
        assert report["seconds"] < 12 + 1 + 2
        assert report["left_out"]
    assert any("ethtool.stats rail1" in report["left_out"] for report in both.values())
