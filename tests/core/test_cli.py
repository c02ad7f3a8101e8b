"""The command line: exit statuses, messages a person can act on, and output that is never lost or half-written."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabricdoctor.host import encode
from fabricdoctor.recording import Recording, Take

HEALTHY = Path(__file__).parent.parent / "nodes" / "two-rails-roce.json"
ROOT = os.geteuid() == 0


def run(*arguments, env=None, timeout=60, **more):
    return subprocess.run(
        [sys.executable, "-m", "fabricdoctor", *map(str, arguments)],
        capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **(env or {})}, **more,
    )  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    """An empty machine: files under a root, no RDMA."""
    (tmp_path / "proc" / "sys" / "kernel").mkdir(parents=True)
    (tmp_path / "proc" / "sys" / "kernel" / "hostname").write_text("node1\n")
    return tmp_path


def test_a_healthy_recording_is_ready():
    done = run("check", "--from", HEALTHY, "--profile", "roce-lossless")
    assert done.returncode == 0, done.stdout
    assert "READY" in done.stdout.splitlines()[0]
    assert done.stderr == ""


def test_no_rdma_device_is_cannot_tell_and_says_so(tree):
    done = run("check", "--root", tree, "--no-save")
    assert done.returncode == 3
    assert "CANNOT TELL" in done.stdout
    assert "no RDMA device" in done.stdout


def test_json_of_a_live_run_fits_the_schema(tree):
    import jsonschema

    from fabricdoctor.report.schema import SCHEMA

    done = run("check", "--root", tree, "--no-save", "--format", "json")
    jsonschema.validate(json.loads(done.stdout), SCHEMA)
    assert json.loads(run("schema").stdout) == SCHEMA


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "pfc-of"], "--only: no check is called 'pfc-of'; did you mean 'pfc-off'?"),
        (["--skip", "nothing"], "--skip: no check is called 'nothing'"),
        (["--require", "x*"], "--require: no check is called 'x*'"),
        (["--profile", "roce"], "no profile is called 'roce'; there are ainic-roce, alibaba-like"),
        (["--config", "/nowhere.toml"], "/nowhere.toml: cannot be read: No such file"),
        (["--checks", "/nowhere"], "/nowhere: no such directory of checks"),
        (["--from", "/nowhere.json"], "/nowhere.json: cannot be read: No such file"),
        (["--format", "yaml"], "'yaml' is not one of text, json, markdown"),
        (["--fail-on", "bad"], "'bad' is not critical, warning or info"),
        (["--budget", "0"], "--budget"),
        (["--interval", "30"], "30 s leave no time for the second sample; give a --budget above that"),
        (["--intervall", "1"], "No such option"),
    ],
)
def test_bad_usage_is_status_2_with_a_message(tree, arguments, message):
    done = run("check", "--root", tree, "--no-save", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_config_check_names_line_and_key(tmp_path):
    file = tmp_path / "site.toml"
    file.write_text("[expect]\nmtu = 9000\n")
    done = run("config", "check", "--config", file)
    assert done.returncode == 2
    assert f"{file}, line 2: expect.mtu: 9000 is not right: an RDMA MTU" in done.stderr
    file.write_text('profile = "roce-lossless"\n[checks]\ndisable = ["pfc-of"]\n')
    assert "did you mean 'pfc-off'" in run("config", "check", "--config", file).stderr
    file.write_text('profile = "roce-lossless"\n[expect]\ndscp = 24\n')
    shown = run("config", "show", "--config", file).stdout
    assert f"dscp = 24\n    {file}, line 3" in shown
    assert "profile roce-lossless: " in shown


def test_a_contradiction_is_a_usage_error_of_check_and_of_config_check(tmp_path):
    file = tmp_path / "site.toml"
    file.write_text('profile = "roce-lossless"\n[expect]\ntrust = "pcp"\n')
    for done in (run("config", "check", "--config", file), run("check", "--from", HEALTHY, "--config", file)):
        assert done.returncode == 2
        assert f'{file}, line 3: expect.trust: "pcp" contradicts dscp = 26 (profile roce-lossless): ' in done.stderr


def test_a_profile_is_shown_with_origin_and_address_and_all_are_listed():
    shown = run("config", "show", "--profile", "oci-like").stdout
    assert "lossless_priorities = [0, 5]\n    profile oci-like: pfc 1,0,0,0,0,1,0,0: https://github.com/" in shown
    assert "  meta-like: RoCE at 400 Gb/s as Meta published it" in shown.partition("\nprofiles:\n")[2]


def test_a_report_is_written_whole_with_its_mode(tmp_path):
    file = tmp_path / "report.json"
    assert run("check", "--from", HEALTHY, "--format", "json", "-o", file).stdout == ""
    assert json.loads(file.read_text())["verdict"] == "ready"
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.skipif(not ROOT, reason="mounting a small file system needs root")
def test_a_full_disk_loses_no_report_and_leaves_no_file(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    report = shlex.join(
        [sys.executable, "-m", "fabricdoctor", "check", "--from", str(HEALTHY), "-v", "-o", f"{disk}/r"]
    )
    script = f"mount -t tmpfs -o size=4k none {disk} && head -c 4096 /dev/zero > {disk}/full && exec {report}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    if "unshare" in done.stderr:
        pytest.skip("this container may not mount")
    assert done.returncode == 3
    assert f"{disk}/r: cannot be written: No space left on device; nothing was left there" in done.stderr
    assert "READY" in done.stdout


def test_a_directory_that_is_not_there(tmp_path):
    done = run("check", "--from", HEALTHY, "-o", tmp_path / "no" / "r")
    assert done.returncode == 3
    assert "cannot be written: No such file or directory" in done.stderr
    assert "READY" in done.stdout


def test_a_device_that_is_full():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fabricdoctor", "check", "--from", str(HEALTHY)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 3
    assert "cannot write the output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_silent():
    command = shlex.join([sys.executable, "-m", "fabricdoctor", "check", "--from", str(HEALTHY), "-v"]) + " | head -c 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout != "", done.stderr) == (True, "")


def test_the_c_locale_gets_ascii():
    done = run("check", "--from", HEALTHY, "-v", env={"LC_ALL": "C"})
    assert done.stdout.isascii()
    assert done.returncode == 0


def hang(tree):
    """Make a file hang that every run reads."""
    (tree / "sys" / "class").mkdir(parents=True)
    (tree / "sys" / "class" / "infiniband" / "mlx5_0" / "ports" / "1").mkdir(parents=True)
    os.mkfifo(tree / "sys" / "class" / "infiniband" / "mlx5_0" / "node_type")
    (tree / "sys" / "class" / "infiniband_verbs" / "uverbs0").mkdir(parents=True)
    (tree / "sys" / "class" / "infiniband_verbs" / "uverbs0" / "ibdev").write_text("mlx5_0\n")
    (tree / "dev" / "infiniband" / "uverbs0").mkdir(parents=True)
    return tree


def test_a_hanging_file_is_named_and_the_run_ends(tree):
    begun = time.monotonic()
    done = run("check", "--root", hang(tree), "--no-save")
    assert time.monotonic() - begun < 10
    assert done.returncode == 3
    assert "read /sys/class/infiniband/mlx5_0/node_type" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_budget_holds(tree):
    begun = time.monotonic()
    done = run("check", "--root", hang(tree), "--no-save", "--budget", "0.5")
    assert time.monotonic() - begun < 0.5 + 1 + 1  # and the interpreter's start
    assert done.returncode == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_reports_what_is_known(tree, number):
    child = subprocess.Popen(
        [sys.executable, "-m", "fabricdoctor", "check", "--root", hang(tree), "--no-save", "--interval", "20"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(2.5)
    child.send_signal(number)
    out, err = child.communicate(timeout=5)
    assert child.returncode == 130
    assert "interrupted" in err
    assert "CANNOT TELL" in out
    assert "Traceback" not in err


def test_two_runs_at_once(tree):
    state = tree / "state"
    command = [sys.executable, "-m", "fabricdoctor", "check", "--root", str(tree), "--format", "json"]
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
    reports = [json.loads(child.communicate(timeout=60)[0]) for child in children]
    assert reports[0]["verdict"] == reports[1]["verdict"] == "cannot tell"


def test_a_site_check_that_is_broken_is_shown(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "mine.py").write_text("import nothing_there\n")
    done = run("check", "--from", HEALTHY, "--checks", tmp_path)
    assert "mine.py" in done.stdout
    assert "nothing_there" in done.stdout


@pytest.mark.skipif(not ROOT, reason="only root refuses them")
def test_root_refuses_checks_that_others_can_write(tmp_path):
    tmp_path.chmod(0o777)
    done = run("check", "--from", HEALTHY, "--checks", tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path}: others can write it, and root would run it: chmod go-w {tmp_path}" in done.stderr


def test_snapshot_and_check_from_it(tree):
    taken = tree / "node.json.gz"
    assert run("snapshot", "--root", tree, "-o", taken).returncode == 0
    assert run("check", "--from", taken).returncode == 3
    redacted = run("snapshot", "--root", tree, "--redact").stdout
    assert "node1" not in redacted
    assert json.loads(redacted)["format"] == 1


def test_explain_checks_and_version():
    assert "## Why it matters" in run("explain", "pfc-off").stdout
    assert run("explain", "pfc-of").returncode == 2
    rows = json.loads(run("checks", "--format", "json").stdout)
    assert {"id", "area", "severity", "summary"} <= rows[0].keys()
    assert run("--version").stdout.startswith("fabricdoctor ")


def test_completion_is_offered():
    done = run(env={"_FABRICDOCTOR_COMPLETE": "complete_bash", "COMP_WORDS": "fabricdoctor ch", "COMP_CWORD": "1"})
    assert "check" in (done.stdout + done.stderr)


LIGHT = """
import sys
sys.argv = {argv}
try:
    from {module} import main
    main()
except SystemExit:
    pass
heavy = [m for m in ("torch", "textual", "rich.table", "asyncio", "typer", "rich", "subprocess") if m in sys.modules]
print("HEAVY", heavy, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("module", "argv", "allowed"),
    [
        ("fabricdoctor.cli", ["fabricdoctor", "check", "--no-save", "--root"], {"typer", "rich", "subprocess"}),
        ("fabricdoctor.prolog", ["fabricdoctor-prolog", "--no-save", "--root"], set()),
    ],
)
def test_start_up_stays_light(tree, module, argv, allowed):
    script = LIGHT.format(argv=[*argv, str(tree)], module=module)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    [line] = [line for line in done.stderr.splitlines() if line.startswith("HEAVY")]
    assert set(eval(line.removeprefix("HEAVY "))) <= allowed  # noqa: S307  our own list


def test_the_prolog_fails_only_for_a_fault_that_was_seen(tree):
    def prolog(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "fabricdoctor.prolog", *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    done = prolog("--root", tree, "--no-save")
    assert (done.returncode, done.stdout) == (0, "")
    assert "node1: cannot tell" in done.stderr
    for bad in (["--config", "/nowhere"], ["--wrong"], ["--budget", "x"]):
        done = prolog("--root", tree, "--no-save", *bad)
        assert done.returncode == 0
        assert "not checked: " in done.stderr


def test_a_recording_of_a_newer_format_is_refused_by_name(tmp_path):
    file = tmp_path / "new.json"
    text = Recording({"read /a": encode("1")}, Take(1.0, 1.0)).text().replace('"format": 1', '"format": 2')
    file.write_text(text)
    done = run("check", "--from", file)
    assert done.returncode == 2
    assert "update it to read this file" in done.stderr
