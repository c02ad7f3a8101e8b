"""The verbs worker's protocol, on machines with and without pyverbs or RDMA, and its conversions."""

import ast
import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parents[2] / "fabricdoctor" / "worker"
WORKER = FOLDER / "verbs.py"
sys.path.insert(0, str(FOLDER))

import verbs  # noqa: E402
import verbs_read  # noqa: E402
import verbs_use  # noqa: E402

PYTHONS = sorted({path for path in (sys.executable, "/usr/bin/python3") if Path(path).exists()})


def run(text, python=sys.executable, arguments=(str(WORKER),)):
    done = subprocess.run([python, "-I", *arguments], input=text.encode(), capture_output=True, timeout=60, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def can_import_pyverbs(python):
    return (
        subprocess.run([python, "-I", "-c", "import pyverbs.device"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("python", PYTHONS)
def test_each_question_gets_one_answer_in_order(python):
    status, answers, noise = run('[["verbs.nonsense", ""], ["verbs.devices", ""]]\n[]\n[["verbs.other", ""]]', python)
    assert status == 0
    assert noise == ""
    assert [set(answer) for answer in answers[::2]] == [{"why", "detail"}] * 2
    assert [answer["detail"] for answer in answers[::2]] == [
        "unknown question verbs.nonsense",
        "unknown question verbs.other",
    ]
    assert len(answers) == 3


@pytest.mark.parametrize("python", PYTHONS)
def test_no_pyverbs_or_no_rdma_is_missing_not_an_empty_list(python):
    if can_import_pyverbs(python) and Path("/sys/class/infiniband_verbs").is_dir():
        pytest.skip("this machine has both")
    questions = [["verbs.devices", ""], ["verbs.device", "mlx5_0"], ["verbs.usable", "mlx5_0"]]
    status, answers, _ = run(json.dumps(questions), python)
    assert status == 0
    assert [answer["why"] for answer in answers] == ["missing"] * 3
    assert all(answer["detail"] for answer in answers)


def test_end_of_input_ends_it_quietly():
    assert run("") == (0, [], "")


@pytest.mark.parametrize("line", ["", "nonsense", '{"a": 1}', '"text"', "null", "[" * 100000, "\udcff", '[["a", ""'])
def test_a_malformed_line_costs_one_answer_and_the_worker_goes_on(line):
    data = line.encode(errors="surrogateescape") + b'\n[["verbs.x", ""]]\n'
    done = subprocess.run([sys.executable, "-I", WORKER], input=data, capture_output=True, timeout=60, check=False)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["why"], second["why"]) == (0, "unparsable", "unsupported")


@pytest.mark.parametrize("question", [1, None, [], ["verbs.devices"], ["verbs.devices", 1], ["a", "", ""], {"a": "b"}])
def test_a_malformed_question_is_answered_in_its_place(question):
    _, answers, _ = run(json.dumps([question, ["verbs.x", ""]]))
    assert [answer["why"] for answer in answers] == ["unparsable", "unsupported"]


def test_an_answer_comes_before_the_next_question():
    with subprocess.Popen([sys.executable, "-I", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdin.write(b'[["verbs.x", ""]]\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["why"] == "unsupported"
        process.stdin.close()
        assert process.wait(10) == 0


def test_what_c_code_prints_on_stdout_does_not_reach_it():
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import ctypes, os, verbs\n"
        "def loud(argument):\n"
        "    libc = ctypes.CDLL(None); libc.puts(b'from C'); libc.fflush(None)\n"
        "    os.write(1, b'raw\\n'); print('py', flush=True)\n"
        "    return argument\n"
        "verbs.KINDS['loud'] = loud\n"
        "sys.exit(verbs.main())\n"
    )
    status, answers, noise = run('[["loud", "here"]]', arguments=("-c", code))
    assert (status, answers) == (0, [{"value": "here"}])
    assert sorted(noise.split("\n")) == ["", "from C", "py", "raw"]


def test_it_survives_a_reader_that_went_away():
    with subprocess.Popen(
        [sys.executable, "-I", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        process.stdin.write(b'[["verbs.x", ""]]\n')
        process.stdin.close()
        assert process.wait(10) == 1
        assert process.stderr.read() == b""


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_python_39_can_read_it(file):
    assert ast.parse(file.read_text(), feature_version=(3, 9)).body


def test_pyverbs_is_not_needed_until_a_question_comes():
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import verbs\n"
    code += "print({'pyverbs', 'logging'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("lanes", "speed", "expected"),
    [
        (4, 128, 400.0),
        (4, 64, 200.0),
        (4, 256, 800.0),
        (1, 1, 2.5),
        (12, 16, 168.0),
        (2, 32, 50.0),
        (4, 0, None),
        (0, 32, None),
    ],
)
def test_rate(lanes, speed, expected):
    assert verbs_read.gbps(lanes, speed) == expected


def port_attr(**changes):
    fields = {
        "state": 4, "phys_state": 5, "max_mtu": 5, "active_mtu": 3, "active_width": 2, "active_speed": 128,
        "link_layer": 2, "lid": 0, "sm_lid": 0, "sm_sl": 0, "port_cap_flags": 65536, "gid_tbl_len": 256,
        "pkey_tbl_len": 1,
    }  # fmt: skip
    return SimpleNamespace(**{**fields, **changes})


def test_port_fields_are_bytes_lanes_and_rates_not_enum_numbers():
    value = verbs_read.port_value(port_attr())
    assert (value["max_mtu"], value["active_mtu"], value["active_width"]) == (4096, 1024, 4)
    assert (value["active_speed"], value["gbps"], value["link_layer"]) == (128, 400.0, "Ethernet")


@pytest.mark.parametrize(("ex", "expected"), [(0, (128, 400.0)), (256, (256, 800.0))])
def test_the_wider_speed_field_counts_when_it_is_filled(ex, expected):
    value = verbs_read.port_value(port_attr(active_speed_ex=ex))
    assert (value["active_speed"], value["gbps"]) == expected


def test_guid_text_is_that_of_sysfs():
    native = int.from_bytes(bytes.fromhex("b8599f0300d41234"), sys.byteorder)
    assert verbs_read.guid_text(native) == "b859:9f03:00d4:1234"


@pytest.mark.parametrize(
    ("gid", "empty"),
    [
        ("0000:0000:0000:0000:0000:0000:0000:0000", True),
        ("fe80:0000:0000:0000:0000:0000:0000:0000", False),
        ("0000:0000:0000:0000:0000:ffff:c0a8:4d01", False),
    ],
)
def test_empty_gids(gid, empty):
    assert verbs_read.is_empty_gid(gid) is empty


@pytest.mark.parametrize(
    ("number", "layer", "expected"),
    [(1, "Ethernet", "RoCE v2"), (0, "Ethernet", "RoCE v1"), (0, "InfiniBand", "IB")],
)
def test_gid_type_by_single_query(number, layer, expected):
    assert verbs_read.single_type(number, layer) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0", "44.0"),
        ("/usr/lib64/libibverbs.so.1.15.59.0 (deleted)", "59.0"),
        ("/usr/lib64/libibverbs.so.1", None),
        ("/usr/lib64/libibverbs/libmlx5-rdmav34.so", None),
    ],
)
def test_library_version_from_the_mapped_file(path, expected):
    line = f"7f21a-7f21b r--p 00000000 08:01 1 {path}\n"
    assert verbs_read.library_version(line * 2) == expected


def test_warnings_are_distinct_lines():
    warning = "libibverbs: Warning: no userspace device-specific driver found for bnxt_re0"
    raw = f"{warning}\n\n{warning}\n odd ".encode() + b"\xff\n"
    assert verbs_read.warning_lines(raw) == [warning, "odd \ufffd"]


def test_what_c_code_prints_on_stderr_is_kept(monkeypatch, capfd):
    monkeypatch.setattr(verbs_read, "_said", [])
    with verbs_read.kept_warnings():
        os.write(2, b"libibverbs: Warning: one\n")
    os.write(2, b"after\n")
    assert verbs_read._said == ["libibverbs: Warning: one"]
    assert capfd.readouterr().err == "after\n"


def test_a_foreign_pyverbs_is_explained():
    text = "/lib/x86_64-linux-gnu/libibverbs.so.1: version `IBVERBS_PRIVATE_59' not found (required by device.so)"
    detail = verbs_read.import_detail(text)
    assert detail.startswith(text)
    assert "another rdma-core" in detail
    assert verbs_read.import_detail("No module named 'pyverbs'") == "No module named 'pyverbs'"


class PyverbsRDMAError(Exception):
    def __init__(self, message, code=-1):
        super().__init__(message)
        self.error_code = code


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PyverbsRDMAError("Failed to open device rxe1. Errno: 13, Permission denied", 13), errno.EACCES),
        (PyverbsRDMAError("Failed to open device rxe1. Errno: 1, Operation not permitted", 1), errno.EPERM),
        (
            PyverbsRDMAError("Failed to query gid tables of the device. Errno: -95, Unknown error -95", -95),
            errno.EOPNOTSUPP,
        ),
        (PyverbsRDMAError("Failed to register a MR. Errno: 12"), errno.ENOMEM),
        (PyverbsRDMAError("Failed to find device mlx5_9"), errno.ENODEV),
        (PyverbsRDMAError("Failed to query gid 9 of port 1"), errno.EIO),
        (PyverbsRDMAError("Failed to create a CQ. Errno: 0, Success", 0), errno.EIO),
        (OSError(errno.EMFILE, "Too many open files"), errno.EMFILE),
    ],
)
def test_errors_keep_their_number(error, expected):
    assert verbs_read.answer_for(error) == {"errno": expected, "detail": str(error)}


def test_other_errors_keep_their_reason():
    no_list = verbs_read.answer_for(PyverbsRDMAError("Failed to get devices list"))
    assert no_list["why"] == "missing"
    assert verbs_read.answer_for(AttributeError("no such attribute")) == {
        "why": "unparsable",
        "detail": "AttributeError: no such attribute",
    }
    assert verbs_read.answer_for(verbs_read.Refused(errno=2, detail="x")) == {"errno": 2, "detail": "x"}


@pytest.fixture
def nodes(tmp_path, monkeypatch):
    for number, name in enumerate(["mlx5_1", "mlx5_0"]):
        (tmp_path / f"sys/uverbs{number}").mkdir(parents=True)
        (tmp_path / f"sys/uverbs{number}/ibdev").write_text(name + "\n")
    (tmp_path / "dev").mkdir()
    monkeypatch.setattr(verbs_read, "SYSFS", tmp_path / "sys")
    monkeypatch.setattr(verbs_read, "NODES", tmp_path / "dev")
    return tmp_path / "dev"


def refusal(function, *arguments):
    with pytest.raises(verbs_read.Refused) as caught:
        function(*arguments)
    return caught.value.answer


def test_a_device_is_opened_by_the_node_that_sysfs_names(nodes):
    assert verbs_read.uverbs_nodes("mlx5_0") == [nodes / "uverbs1"]
    assert refusal(verbs_read.check_node, "mlx5_0") == {
        "errno": errno.ENOENT,
        "detail": f"{nodes}/uverbs1: No such file or directory",
    }
    assert refusal(verbs_read.check_node, "mlx5_7")["errno"] == errno.ENOENT
    (nodes / "uverbs1").touch()
    verbs_read.check_node("mlx5_0")


@pytest.mark.parametrize(
    ("numbers", "expected", "named"),
    [
        ({0: errno.EPERM, 1: errno.ENOENT}, errno.ENOENT, "uverbs1"),
        ({0: errno.EPERM}, errno.EPERM, "uverbs0"),
        ({0: errno.EACCES, 1: errno.EACCES}, errno.EACCES, "uverbs0 or uverbs1"),
    ],
)
def test_the_node_of_another_namespace_is_not_blamed(numbers, expected, named):
    failures = {Path(f"uverbs{number}"): OSError(code, "text") for number, code in numbers.items()}
    assert verbs_read.closed_node(failures).answer == {"errno": expected, "detail": f"{named}: text"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become someone else")
def test_another_users_closed_node_is_refused_for_that_user(nodes):
    (nodes / "uverbs1").touch(mode=0o600)

    def work():
        verbs_use.become(65534)
        verbs_read.check_node("mlx5_0")

    for folder in nodes.parents:
        if str(folder).startswith("/tmp/"):  # noqa: S108 - pytest's own, closed to others
            folder.chmod(0o755)
    assert refusal(verbs_use.in_child, work) == {"errno": errno.EACCES, "detail": f"{nodes}/uverbs1: Permission denied"}


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("mlx5_0", ("mlx5_0", None)), ("mlx5_0 0", ("mlx5_0", 0)), (" mlx5_0 1000 ", ("mlx5_0", 1000))],
)
def test_who_uses_what(argument, expected):
    assert verbs_use.parse(argument) == expected


@pytest.mark.parametrize("argument", ["", "mlx5_0 root", "mlx5_0 -1", "mlx5_0 4294967295", "mlx5_0 1 2", "mlx5_0 ²"])
def test_bad_arguments_of_usable(argument):
    assert refusal(verbs_use.parse, argument)["why"] == "unparsable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_only_root_tries_as_another_user():
    assert refusal(verbs_use.usable, f"mlx5_0 {os.geteuid() + 1}")["why"] == "denied"


def test_a_child_brings_its_answer_home():
    assert verbs_use.in_child(lambda: {"pid": os.getpid()})["pid"] != os.getpid()
    assert verbs_use._unreaped == []


def test_a_child_that_fails_says_why():
    def fail():
        raise OSError(errno.EMFILE, "Too many open files")

    assert refusal(verbs_use.in_child, fail)["errno"] == errno.EMFILE


def test_a_child_that_dies_is_not_waited_for():
    assert refusal(verbs_use.in_child, lambda: os._exit(3))["why"] == "unparsable"


def test_a_child_that_hangs_is_left_after_the_deadline():
    start = time.monotonic()
    answer = refusal(verbs_use.in_child, lambda: time.sleep(60), 0.3)
    assert answer["errno"] == errno.ETIMEDOUT
    assert time.monotonic() - start < 10
    assert verbs_use._unreaped == []


def test_a_child_holds_nothing_of_its_parent_open():
    reading, writing = os.pipe()
    try:
        held = verbs_use.in_child(lambda: {"fds": sorted(int(file.name) for file in Path("/proc/self/fd").iterdir())})[
            "fds"
        ]
    finally:
        os.close(reading)
        os.close(writing)
    assert held[:3] == [0, 1, 2]
    assert len(held) == 5  # the standard three, the answer's pipe, the listing itself


def test_a_step_that_fails_ends_the_trial(monkeypatch):
    closed = []

    def first(_name, _made, stack):
        stack.callback(closed.append, "first")

    def second(_name, _made, _stack):
        raise PyverbsRDMAError("Failed to create a CQ. Errno: 22, Invalid argument", 22)

    monkeypatch.setattr(verbs_use, "STEPS", (("open", first), ("cq", second), ("qp", first)))
    detail = "Failed to create a CQ. Errno: 22, Invalid argument"
    assert verbs_use.attempt("mlx5_0") == {
        "uid": os.geteuid(),
        "steps": {"open": None, "cq": {"errno": 22, "detail": detail}},
    }
    assert closed == ["first"]


def test_the_questions_are_the_ones_promised():
    assert set(verbs.KINDS) == {"verbs.devices", "verbs.device", "verbs.usable"}
