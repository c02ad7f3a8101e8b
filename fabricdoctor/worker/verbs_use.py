"""Whether a user can really use a device: a context, a PD, a CQ, an RC QP and memory are made, then closed again.

No work request is ever posted and no QP leaves its first state, so nothing reaches the network.
Under another uid the trial runs in a child. The child inherits this process's limits, not those of that user's
login or job; and as setuid takes CAP_IPC_LOCK away, RLIMIT_MEMLOCK counts for it where it did not for root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import pwd
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from fabricdoctor.worker.verbs_read import Refused, answer_for, load, opened
else:
    from verbs_read import Refused, answer_for, load, opened

DEADLINE = 8.0
REAP = 0.2
ROOT = 0
HIGHEST_UID = 2**32 - 2

RC = 2  # IBV_QPT_RC
ACCESS = 1 | 2 | 4  # local write, remote write, remote read
SIZES = (4096, 1 << 20)  # the second is above a memlock limit of 64 KiB, the usual default

_unreaped: list[int] = []


def usable(argument: str) -> dict[str, Any]:
    name, uid = parse(argument)
    if uid is None or (uid == os.geteuid() and uid != ROOT):
        return attempt(name)
    if os.geteuid() != ROOT:
        raise Refused(why="denied", detail=f"only root can try as uid {uid}")
    return as_user(name, uid)


def parse(argument: str) -> tuple[str, int | None]:
    name, _, uid = argument.strip().partition(" ")
    if not name or (uid and not (uid.isascii() and uid.isdecimal() and int(uid) <= HIGHEST_UID)):
        raise Refused(why="unparsable", detail=f"not 'NAME' or 'NAME UID': {argument!r}")
    return name, int(uid) if uid else None


def attempt(name: str) -> dict[str, Any]:
    steps: dict[str, Any] = {}
    made: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        for step, make in STEPS:
            steps[step] = failure(make, name, made, stack)
            if steps[step] is not None:
                break
    return {"uid": os.geteuid(), "steps": steps}


Maker = Callable[[str, dict[str, Any], contextlib.ExitStack], None]


def failure(make: Maker, name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> dict[str, Any] | None:
    try:
        make(name, made, stack)
    except Exception as error:
        answer = answer_for(error)
        if "errno" not in answer:  # not the step failed, the question has no answer at all
            raise
        return answer
    return None


def make_context(name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> None:
    made["context"] = stack.enter_context(opened(name))


def make_pd(_name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> None:
    made["pd"] = stack.enter_context(load("pd").PD(made["context"]))


def make_cq(_name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> None:
    made["cq"] = stack.enter_context(load("cq").CQ(made["context"], 16))


def make_qp(_name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> None:
    library = load("qp")
    cap = library.QPCap(max_send_wr=8, max_recv_wr=8, max_send_sge=1, max_recv_sge=1)
    init = library.QPInitAttr(qp_type=RC, scq=made["cq"], rcq=made["cq"], cap=cap, sq_sig_all=0)
    stack.enter_context(library.QP(made["pd"], init))


def make_mrs(_name: str, made: dict[str, Any], stack: contextlib.ExitStack) -> None:
    for size in SIZES:
        make_mr(size, made["pd"], stack)


def make_mr(size: int, pd: Any, stack: contextlib.ExitStack) -> None:
    # Our own memory, as pyverbs never frees the buffer it allocates when the registration fails.
    memory = stack.enter_context(contextlib.closing(mmap.mmap(-1, size)))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    try:
        stack.enter_context(load("mr").MR(pd, size, ACCESS, address=address))
    except Exception as error:
        answer = answer_for(error)
        raise Refused(**{**answer, "detail": f"{size >> 10} KiB: {answer['detail']}"}) from error


STEPS: tuple[tuple[str, Maker], ...] = (
    ("open", make_context),
    ("pd", make_pd),
    ("cq", make_cq),
    ("qp", make_qp),
    ("mr", make_mrs),
)


def as_user(name: str, uid: int) -> dict[str, Any]:
    for module in ("device", "pd", "cq", "qp", "mr"):
        load(module)  # here, for another user may not be able to read it
    return in_child(lambda: user_answer(name, uid))


def user_answer(name: str, uid: int) -> dict[str, Any]:
    become(uid)
    return attempt(name)


def become(uid: int) -> None:
    try:
        entry = pwd.getpwuid(uid)
        gid, groups = entry.pw_gid, os.getgrouplist(entry.pw_name, entry.pw_gid)
    except KeyError:
        gid, groups = uid, [uid]
    try:
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    except OSError as error:
        raise Refused(why="denied", detail=f"cannot become uid {uid}: {error.strerror}") from error


def in_child(work: Callable[[], dict[str, Any]], deadline: float = DEADLINE) -> dict[str, Any]:
    reap()
    reading, writing = os.pipe()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        run_child(work, writing, deadline)
    os.close(writing)
    try:
        return child_value(read_all(reading, deadline), deadline)
    finally:
        os.close(reading)
        end(pid)


def run_child(work: Callable[[], dict[str, Any]], writing: int, deadline: float) -> NoReturn:
    try:
        signal.alarm(int(deadline) + 2)  # should the parent be killed meanwhile
        leave_parent(writing)
        try:
            answer = {"value": work()}
        except Exception as error:
            answer = answer_for(error)
        os.write(writing, json.dumps(answer).encode())
    finally:
        os._exit(0)


def leave_parent(keep: int) -> None:
    """Hold nothing open that someone else waits to see closed: a hung child would make them wait."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for file in Path("/proc/self/fd").iterdir():
        if int(file.name) not in {0, 1, 2, keep}:
            with contextlib.suppress(OSError):
                os.close(int(file.name))


def read_all(reading: int, deadline: float) -> bytes | None:
    """Read to the end, or give nothing when the deadline passes first."""
    until = time.monotonic() + deadline
    parts: list[bytes] = []
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(reading, 65536)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None


def child_value(raw: bytes | None, deadline: float) -> dict[str, Any]:
    if raw is None:
        raise Refused(errno=errno.ETIMEDOUT, detail=f"no answer within {deadline:g} s: the driver may hang")
    if not raw:
        raise Refused(why="unparsable", detail="the process that tried ended without an answer")
    answer: dict[str, Any] = json.loads(raw)
    if "value" not in answer:
        raise Refused(**answer)
    value: dict[str, Any] = answer["value"]
    return value


def end(pid: int) -> None:
    """Kill the child and wait a moment; one in an uninterruptible sleep is reaped later or never."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _unreaped.append(pid)
    until = time.monotonic() + REAP
    while reap() and time.monotonic() < until:
        time.sleep(0.005)


def reap() -> list[int]:
    _unreaped[:] = [pid for pid in _unreaped if not is_reaped(pid)]
    return _unreaped


def is_reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
