"""What one check of a large node costs: time against programs that do nothing, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tree
from figures import Figure, environment, in_turn, ratio, wall

BIN = Path(sys.executable).parent
#: Ready, not ready, cannot tell: all three are whole checks.
VERDICTS = (0, 1, 3)
TYPER = 'import typer\n\n\ndef main() -> None:\n    print("ok")\n\n\ntyper.run(main)\n'


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="fabricdoctor-bench.") as scratch:
        node = Path(scratch) / "node"
        files = tree.make(node)
        _require_whole_check(node)
        yardstick = Path(scratch) / "yardstick.py"
        yardstick.write_text(TYPER)
        return [Figure("files of the node", files, ""), *_check(node, yardstick), *_prolog(node), *_worker()]


def _require_whole_check(node: Path) -> None:
    """Make sure that what is measured is a check of all devices, not an early end."""
    command = [str(BIN / "fabricdoctor"), "check", "--root", str(node), "--no-save", "--format", "json"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode not in VERDICTS or not done.stdout.startswith("{"):
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr}")
    ports = json.loads(done.stdout).get("ports") or []
    if len(ports) != tree.NICS:
        raise RuntimeError(f"the check saw {len(ports)} ports of {tree.NICS}")


def _check(node: Path, yardstick: Path) -> list[Figure]:
    command = [str(BIN / "fabricdoctor"), "check", "--root", str(node), "--no-save"]
    check, minimal = in_turn([(command, VERDICTS), ([sys.executable, str(yardstick)], (0,))])
    return [
        Figure("check", wall(check), "ms"),
        Figure("minimal typer program", wall(minimal), "ms"),
        Figure("check / minimal typer program", ratio(check, minimal), "", 2.5),
        Figure("check, peak memory", max(run.megabytes for run in check), "MB", 100),
    ]


def _prolog(node: Path) -> list[Figure]:
    command = [str(BIN / "fabricdoctor-prolog"), "--root", str(node), "--no-save"]
    prolog, nothing = in_turn([(command, (0, 1)), ([sys.executable, "-I", "-c", "pass"], (0,))])
    return [
        Figure("prolog", wall(prolog), "ms"),
        Figure("python3 -I -c pass", wall(nothing), "ms"),
        Figure("prolog / python3 -I -c pass", ratio(prolog, nothing), "", 15),
    ]


def _worker() -> list[Figure]:
    """Return what the verbs worker adds where there are RDMA devices; its price is the distribution's pyverbs."""
    ask = (
        "from contextlib import closing\n"
        "from fabricdoctor.sources.live import Live\n"
        "with closing(Live(30.0)) as live: live.ask_all([('{kind}', '{key}')])"
    )
    with_verbs = [sys.executable, "-c", ask.format(kind="verbs.devices", key="")]
    with_files = [sys.executable, "-c", ask.format(kind="read", key="/proc/uptime")]
    verbs, files = in_turn([(with_verbs, (0,)), (with_files, (0,))])
    return [Figure("verbs worker, in addition", wall(verbs) - wall(files), "ms")]
