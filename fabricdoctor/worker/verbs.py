"""The verbs worker: answers questions about RDMA devices through pyverbs. Standard library and pyverbs only.

It is started as a program of its own (`PYTHON -I verbs.py`) under an interpreter that can import pyverbs, because pyverbs
must match the installed libibverbs. A line on standard input is a JSON list of [kind, key]; each question gets one JSON
line on standard output: {"value": …}, {"errno": n, "detail": …} or {"why": …, "detail": …}. Runs on Python 3.9 and later
with pyverbs 44 and later.

    verbs.devices            what libibverbs can list, and what it warns of
    verbs.device NAME        attributes of the device and its ports
    verbs.usable NAME [UID]  whether a PD, CQ, QP and MR can really be made, by this user or as UID
"""

from __future__ import annotations

import errno
import importlib
import json
import logging
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

_PER_LANE_GBPS = {1: 2.5, 2: 5.0, 4: 10.0, 8: 10.0, 16: 14.0, 32: 25.0, 64: 50.0, 128: 100.0, 256: 200.0}
_LANES = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_LINK_LAYERS = {0: "Unspecified", 1: "InfiniBand", 2: "Ethernet"}
_QPT_RC = 2  # enum ibv_qp_type
_LOCAL_AND_REMOTE_WRITE = 3  # IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
_RDMA_DEADLINE_S = 5.0


def pyverbs(module: str) -> Any:
    """Return a module of pyverbs; importing it may set up logging, which must not reach our output."""
    logging.root.addHandler(logging.NullHandler())
    return importlib.import_module("pyverbs." + module)


def mtu_bytes(enum: int) -> int | None:
    """Return bytes for enum ibv_mtu (1 is 256, 5 is 4096)."""
    return 128 << int(enum) if 1 <= int(enum) <= 5 else None


def gbps(width: int, speed: int) -> float | None:
    """Return Gb/s for ibv_port_attr's active_width and active_speed, None for values that are not known."""
    lanes, per_lane = _LANES.get(int(width)), _PER_LANE_GBPS.get(int(speed))
    return lanes * per_lane if lanes and per_lane else None


def devices(_key: str) -> dict[str, Any]:
    """Return the devices libibverbs has a provider for, and its warnings about the others."""
    listed, warnings = with_stderr(pyverbs("device").get_device_list)
    return {"library": None, "devices": sorted(text(d.name) for d in listed), "warnings": warnings}


def with_stderr(function: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Call a function; return its result and the lines that C code wrote to file descriptor 2 meanwhile."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = function()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return result, [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]


def text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def device(name: str) -> dict[str, Any]:
    """Return attributes of a device and of its ports; MTUs in bytes, rates in Gb/s."""
    refuse_unopenable(name)
    with pyverbs("device").Context(name=name) as context:
        found = context.query_device()
        numbers = range(1, int(found.phys_port_cnt) + 1)
        return {
            "fw_ver": text(found.fw_version),
            "node_guid": str(found.node_guid),
            "vendor_id": int(found.vendor_id),
            "vendor_part_id": int(found.vendor_part_id),
            "max_qp": int(found.max_qp),
            "max_cq": int(found.max_cq),
            "max_mr_size": int(found.max_mr_size),
            "phys_port_cnt": int(found.phys_port_cnt),
            "ports": {str(number): port(context, number) for number in numbers},
        }


def port(context: Any, number: int) -> dict[str, Any]:
    found = context.query_port(number)
    speed = int(getattr(found, "active_speed_ex", 0) or found.active_speed)
    return {
        "state": int(found.state),
        "phys_state": int(found.phys_state),
        "max_mtu": mtu_bytes(found.max_mtu),
        "active_mtu": mtu_bytes(found.active_mtu),
        "active_width": _LANES.get(int(found.active_width)),
        "active_speed": speed,
        "gbps": gbps(found.active_width, speed),
        "link_layer": _LINK_LAYERS.get(int(found.link_layer), "Unspecified"),
        "lid": int(found.lid),
        "sm_lid": int(found.sm_lid),
        "gid_tbl_len": int(found.gid_tbl_len),
        "pkey_tbl_len": int(found.pkey_tbl_len),
    }


def refuse_unopenable(name: str) -> None:
    """Raise OSError when this user cannot open the device's node: libibverbs would retry for five seconds."""
    base = "/sys/class/infiniband_verbs"
    for entry in os.listdir(base):
        if not entry.startswith("uverbs"):
            continue
        with open(os.path.join(base, entry, "ibdev")) as file:
            if file.read().strip() != name:
                continue
        node = "/dev/infiniband/" + entry
        if not os.path.exists(node):
            raise OSError(errno.ENOENT, f"{node} does not exist")
        if not os.access(node, os.R_OK | os.W_OK):
            raise OSError(errno.EACCES, f"{node} may not be opened by uid {os.geteuid()}")


def usable(key: str) -> dict[str, Any]:
    """Return which of open, PD, CQ, QP and MR can be made, up to the first that cannot.

    As another user, only the user changes: limits are those of this process, and CAP_IPC_LOCK is lost with root.
    """
    name, _, uid = key.partition(" ")
    if not uid or int(uid) == os.geteuid():
        return {"uid": os.geteuid(), "steps": try_all(name)}
    return as_user(int(uid), name)


def try_all(name: str) -> dict[str, dict[str, Any] | None]:
    """Make one of each resource; return {step: None or {"errno", "detail"}}."""
    steps: dict[str, dict[str, Any] | None] = {}
    made: list[Any] = []
    try:
        for step, make in resources(name, made):
            try:
                made.append(make())
            except (OSError, importlib.import_module("pyverbs.pyverbs_error").PyverbsError) as error:
                steps[step] = problem(error)
                return steps
            steps[step] = None
    finally:
        for resource in reversed(made):
            resource.close()
    return steps


def resources(name: str, made: list[Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield (step, function that makes it); a later one finds the earlier ones in `made`."""

    def opened() -> Any:
        refuse_unopenable(name)
        return pyverbs("device").Context(name=name)

    def queue_pair() -> Any:
        module = pyverbs("qp")
        cap = module.QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
        init = module.QPInitAttr(qp_type=_QPT_RC, scq=made[2], rcq=made[2], cap=cap)
        return module.QP(made[1], init)

    def region() -> Any:
        pyverbs("mr").MR(made[1], 4096, _LOCAL_AND_REMOTE_WRITE).close()
        return pyverbs("mr").MR(made[1], 1 << 20, _LOCAL_AND_REMOTE_WRITE)

    yield "open", opened
    yield "pd", lambda: pyverbs("pd").PD(made[0])
    yield "cq", lambda: pyverbs("cq").CQ(made[0], 16)
    yield "qp", queue_pair
    yield "mr", region


def problem(error: Exception) -> dict[str, Any]:
    """Return errno and text; pyverbs has the errno in `error_code`, or only in its text."""
    code = getattr(error, "errno", None) or getattr(error, "error_code", None) or 0
    if code <= 0 and "Errno: " in str(error):
        digits = str(error).split("Errno: ")[1].split(",")[0].strip()
        code = int(digits) if digits.isdigit() else 0
    return {"errno": max(0, int(code)), "detail": getattr(error, "strerror", None) or str(error)}


def as_user(uid: int, name: str) -> dict[str, Any]:
    """Do `try_all` as another user in a child, with a deadline; a child that hangs is killed and not waited for."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(uid)
            answer = {"uid": os.geteuid(), "steps": try_all(name)}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], _RDMA_DEADLINE_S)
        answer = json.loads(os.read(reading, 1 << 16) or b'{"failed": "the attempt died"}') if ready else None
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        reap(pid)
    if not isinstance(answer, dict):
        raise TimeoutError(errno.ETIMEDOUT, f"no answer within {_RDMA_DEADLINE_S:g} s as uid {uid}")
    if "failed" in answer:
        raise OSError(errno.EOPNOTSUPP, answer["failed"])
    return answer


def become(uid: int) -> None:
    import pwd

    try:
        user = pwd.getpwuid(uid)
        groups, gid = os.getgrouplist(user.pw_name, user.pw_gid), user.pw_gid
    except KeyError:
        groups, gid = [uid], uid
    os.setgroups(groups)
    os.setgid(gid)
    os.setuid(uid)


def reap(pid: int) -> None:
    for _ in range(20):
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.005)


KINDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "verbs.devices": devices,
    "verbs.device": device,
    "verbs.usable": usable,
}


def answer_to(question: Any) -> dict[str, Any]:
    """Return the answer to one question, whatever happens."""
    try:
        kind, key = question
        function = KINDS[kind]
    except (KeyError, ValueError, TypeError):
        return {"why": "unsupported", "detail": f"not a question for the verbs worker: {question!r}"}
    try:
        return {"value": function(key)}
    except ImportError as error:
        return {"why": "missing", "detail": f"pyverbs: {why_not_imported(str(error))}"}
    except OSError as error:
        return {"errno": error.errno or 0, "detail": error.strerror or str(error)}
    except Exception as error:
        found = problem(error)
        if found["errno"]:
            return found
        return {"why": "unsupported", "detail": f"{type(error).__name__}: {error}"}


def why_not_imported(message: str) -> str:
    if "IBVERBS_PRIVATE" in message:
        return f"this pyverbs belongs to another rdma-core than the installed libibverbs: {message}"
    return message


def main() -> None:
    """Answer until standard input ends. Nothing but answers may reach the real standard output."""
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin.buffer:
        try:
            questions = json.loads(line)
        except ValueError as error:
            questions = error
        if isinstance(questions, list):
            for question in questions:
                write(out, answer_to(question))
        else:
            write(out, {"why": "unparsable", "detail": f"a JSON list of questions is expected: {questions}"})


def write(fd: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]


if __name__ == "__main__":
    main()
