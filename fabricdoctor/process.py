"""The only place that starts processes: every one has a deadline, and none is waited for without one."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence

Question = tuple[str, str]
Answer = dict[str, object]

#: Commands the tool may run, with arguments from a table that only reads. Looked up in directories of the system and
#: where a vendor's package puts them, never in the caller's PATH.
ALLOWED = frozenset({"lldpcli", "mstconfig", "mlxconfig", "mstlink", "mlxlink", "nicctl", "niccli"})
SYSTEM_PATH = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
_TOOL_PATH = (*SYSTEM_PATH, "/opt/niccli")
_CHUNK = 200
#: Seconds after which a child that answers one question ends by itself, should nobody be left to end it.
_ORPHAN_S = 20.0
_OUTPUT_LIMIT = 4 << 20


def find(name: str, path: Sequence[str] = _TOOL_PATH) -> str:
    """Return the full path of an allow-listed command. Raises PermissionError or FileNotFoundError."""
    if name not in ALLOWED:
        raise PermissionError(1, f"{name} is not a command this tool may run")
    for directory in path:
        full = os.path.join(directory, name)
        if os.access(full, os.X_OK):
            return full
    raise FileNotFoundError(2, f"{name} is not installed")


def run(argv: Sequence[str], timeout: float, until: Deadline | None = None) -> tuple[int, str]:
    """Run an allow-listed command; return its exit status and its standard output (what is no UTF-8 replaced).

    Raises TimeoutError after `timeout` seconds or at `until` (the command's whole process group is killed and not
    waited for), ValueError when it prints more than 4 MiB, and what `find` raises.
    """
    ends = (Deadline(timeout), *([until] if until else []))
    out_read, out_write = os.pipe()
    pid = 0
    try:
        pid = _spawn([find(argv[0]), *argv[1:]], stdin=None, stdout=out_write)
        os.close(out_write)
        out_write = -1
        text = b"".join(_until_end(out_read, ends, argv[0]))
        status = _wait(pid, 1.0)
    finally:
        os.close(out_read)
        if out_write >= 0:
            os.close(out_write)
        if pid:
            kill(pid)
    if status is None:
        raise TimeoutError(f"{argv[0]} did not end")
    return status, text.decode(errors="replace")


def _until_end(fd: int, ends: Sequence[Deadline], name: str) -> Iterator[bytes]:
    size = 0
    while True:
        if not _readable_before(fd, ends):
            raise TimeoutError(f"{name} did not answer in time")
        data = os.read(fd, 1 << 16)
        if not data:
            return
        size += len(data)
        if size > _OUTPUT_LIMIT:
            raise ValueError(f"{name} printed more than {_OUTPUT_LIMIT >> 20} MiB")
        yield data


def _readable_before(fd: int, ends: Sequence[Deadline]) -> bool:
    """Wait in short steps, so that an end that is brought forward meanwhile counts."""
    while left := min(end.left for end in ends):
        if _readable(fd, time.monotonic() + min(left, 0.1)):
            return True
    return False


def _readable(fd: int, deadline: float) -> bool:
    left = deadline - time.monotonic()
    poller = select.poll()
    poller.register(fd, select.POLLIN | select.POLLHUP)
    return bool(poller.poll(max(0, left) * 1000))


def _spawn(argv: Sequence[str], stdin: int | None, stdout: int) -> int:
    """Start a process in a session of its own, so that its group can be killed and Ctrl-C does not reach it."""
    actions = [
        (os.POSIX_SPAWN_DUP2, stdin, 0) if stdin is not None else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, stdout, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    environment = {"PATH": ":".join(SYSTEM_PATH), "LC_ALL": "C"}
    return os.posix_spawn(argv[0], list(argv), environment, file_actions=actions, setsid=True)


def kill(pid: int) -> None:
    """Kill a process group we started. A child in uninterruptible sleep is left to the kernel, not waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _wait(pid, 0.05)


def _wait(pid: int, seconds: float) -> int | None:
    """Return the exit status of `pid` if it ends within `seconds`, else None."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.002)


class Deadline:
    """A point in monotonic time that can be brought forward, as an interrupt does."""

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(0.0, self.at - time.monotonic())

    def sleep(self, seconds: float) -> None:
        """Sleep for so long, or until this deadline, also when it is brought forward meanwhile."""
        end = Deadline(seconds)
        while pause := min(end.left, self.left, 0.1):
            time.sleep(pause)


class Server:
    """A child that answers questions one after the other, and is replaced when one of them hangs it.

    A line on its standard input is a JSON list of questions; each answer is one JSON line on its standard output.
    """

    def __init__(self, start: Callable[[int, int], int]) -> None:
        """`start(stdin, stdout)` starts the child on these file descriptors and returns its process id."""
        self._start = start
        self._pid = 0
        self._to = self._from = -1
        self._buffer = b""

    def answers(self, questions: Sequence[Question], timeout: float, until: Deadline) -> Iterator[Answer]:
        """Yield one answer per question; each may take `timeout` seconds, and none is begun after `until`."""
        for at in range(0, len(questions), _CHUNK):
            yield from self._chunk(list(questions[at : at + _CHUNK]), timeout, until)

    def _chunk(self, questions: list[Question], timeout: float, until: Deadline) -> Iterator[Answer]:
        sent = False
        while questions:
            if not until.left:
                late: Answer = {"why": "timeout", "detail": "no time left"}
                yield from (late for _ in questions)
                return
            if not sent:
                try:
                    self._send(questions)
                except OSError as error:
                    failed: Answer = {"why": "unsupported", "detail": f"no process to ask could be started: {error}"}
                    yield from (failed for _ in questions)
                    return
                sent = True
            answer = self._line(time.monotonic() + min(timeout, until.left))
            questions.pop(0)
            if answer is None:
                answer, sent = self._give_up(timeout), False
            yield answer

    def _send(self, questions: list[Question]) -> None:
        if not self._pid:
            self._open()
        with contextlib.suppress(BrokenPipeError):  # the child died; its end of the answers says so
            _write_all(self._to, json.dumps(questions).encode() + b"\n")

    def _open(self) -> None:
        """Start the child. Raises OSError, with nothing left open, when that cannot be: no such program, no more
        processes or files allowed.
        """
        opened: list[int] = []
        try:
            opened += os.pipe()
            opened += os.pipe()
            theirs_in, self._to, self._from, theirs_out = opened
            self._pid = self._start(theirs_in, theirs_out)
        except OSError:
            for fd in opened:
                os.close(fd)
            raise
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""

    def _line(self, deadline: float) -> Answer | None:
        while b"\n" not in self._buffer:
            if not _readable(self._from, deadline):
                return None
            data = os.read(self._from, 1 << 16)
            if not data:
                return None
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            return {"why": "unparsable", "detail": f"{line[:80]!r}"}
        return answer if isinstance(answer, dict) else {"why": "unparsable", "detail": f"{line[:80]!r}"}

    def _give_up(self, timeout: float) -> Answer:
        status = _wait(self._pid, 0.02)
        self.close()
        if status is None:
            return {"why": "timeout", "detail": f"no answer within {timeout:g} s"}
        return {"why": "unsupported", "detail": f"the reading process died (status {status})"}

    def interrupt(self) -> None:
        """Kill the child from a signal handler; whoever waits for its answer then sees it end."""
        if self._pid:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child; one that cannot die is not waited for."""
        if self._pid:
            os.close(self._to)
            os.close(self._from)
            kill(self._pid)
            self._pid = 0


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def forked(serve: Callable[[Question], Answer]) -> Server:
    """Return a server whose child is a copy of this process: no interpreter to start, no module to import."""

    def start(stdin: int, stdout: int) -> int:
        sys.stdout.flush()
        pid = os.fork()  # noqa: TID251  this is the module that starts processes
        if pid:
            return pid
        try:
            _be_quiet({stdin, stdout})
            _serve(serve, stdin, stdout)
        finally:
            os._exit(0)

    return Server(start)


def _be_quiet(keep: set[int]) -> None:
    """Leave the terminal and hold none of the parent's pipes: a child that hangs must not keep a reader waiting."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        if fd not in keep:
            os.dup2(null, fd)
    highest = max(*keep, null) + 64
    for fd in range(3, highest):
        if fd not in keep:
            with contextlib.suppress(OSError):
                os.close(fd)


def _serve(serve: Callable[[Question], Answer], stdin: int, stdout: int) -> None:
    with os.fdopen(stdin, "rb") as lines:
        for line in lines:
            for kind, key in json.loads(line):
                signal.setitimer(signal.ITIMER_REAL, _ORPHAN_S)
                answer = serve((kind, key))
                signal.setitimer(signal.ITIMER_REAL, 0)
                _write_all(stdout, json.dumps(answer).encode() + b"\n")


def spawned(argv: Sequence[str]) -> Server:
    """Return a server that is another program (`argv[0]` a full path), started with an empty environment."""
    return Server(lambda stdin, stdout: _spawn(argv, stdin, stdout))
