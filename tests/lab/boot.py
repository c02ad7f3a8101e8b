"""Boot the lab's kernel on this machine's own root file system and run a script in it as root.

The guest sees the host's root read-only below an overlay (what it writes is lost), except for one shared folder,
in which the script's results come back. Its environment: LAB (this folder), FDLAB_KO, SHARED.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernel import HERE, Kernel, LabError, prepare

GUEST_SHARED = "/run/lab-shared"
STATE = ".lab"
# Of no use to the lab; each costs boot time under emulation.
UNUSED_MODULES = "kvm_amd,kvm_intel,kvm,ccp,psmouse,sr_mod,ahci,i2c_piix4,pcspkr,bochs,drm"
HIDDEN = ("/var/tmp/", "/var/cache/", "/var/log/", "/run/", "/dev/")  # noqa: S108 - the guest mounts its own here


def find_vng() -> str:
    """Return the virtme-ng that belongs to the running interpreter, else the one in PATH."""
    beside = Path(sys.executable).with_name("vng")
    found = str(beside) if beside.exists() else shutil.which("vng")
    if not found:
        raise LabError("vng not found: pip install virtme-ng (see tests/lab/README.md)")
    if " " in found:
        raise LabError(f"virtme-ng does not run from a path with a space in it: {found}")
    return found


def vng_command(kernel: Kernel, shared: Path) -> list[str]:
    # /dev/kvm may be there and still not work, and QEMU aborts then: hardware virtualization is asked for.
    kvm = [] if os.environ.get("FABRICDOCTOR_LAB_KVM") == "1" else ["--disable-kvm"]
    inner = f"bash {GUEST_SHARED}/{STATE}/start.sh"
    return [
        find_vng(), "--run", str(kernel.image), *kvm, "--force-9p", "--disable-microvm",
        "--cpus", "2", "--memory", "2G", "--user", "root", "--cwd", "/",
        "--append", f"module_blacklist={UNUSED_MODULES}", f"--rwdir={GUEST_SHARED}={shared}", "--", inner,
    ]  # fmt: skip


def start_script(script: Path, args: Sequence[str], env: Mapping[str, str], cwd: Path) -> str:
    state = f"{GUEST_SHARED}/{STATE}"
    variables = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "LAB": str(HERE),
        "FDLAB_KO": f"{state}/fdlab.ko",
        "SHARED": GUEST_SHARED,
        **env,
    }
    command = shlex.join(["env", "-i", *(f"{k}={v}" for k, v in variables.items()), "bash", str(script), *args])
    return (
        f"cd {shlex.quote(str(cwd))}\n"
        f"{command} >{state}/stdout 2>{state}/stderr </dev/null\n"
        f"echo $? >{state}/status\n"
        f"dmesg >{state}/dmesg\nsync\n"
    )


def write_state(shared: Path, kernel: Kernel, script: Path, args: Sequence[str], env: Mapping[str, str]) -> Path:
    state = shared / STATE
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    shutil.copy(kernel.module, state / "fdlab.ko")
    if str(script).startswith(HIDDEN):
        script = Path(GUEST_SHARED) / STATE / shutil.copy(script, state / "script").name
    (state / "start.sh").write_text(start_script(script, args, env, HERE.parents[1]))
    return state


def read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def run_vm(command: list[str], timeout: int, console: Path) -> bool:
    """Run the VM; return whether it ended in time. Its processes share a process group, so none is left behind."""
    env = {**os.environ, "PATH": f"{Path(command[0]).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}"}
    with console.open("wb") as out:
        vm = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=env, start_new_session=True,
        )  # fmt: skip
        try:
            # Through a pipe: vng opens stdout and stderr as two virtio ports, which overwrite each other in a file.
            out.write(vm.communicate(timeout=timeout)[0])
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(vm.pid, signal.SIGKILL)
            vm.wait()
    return True


def boot(
    script: Path,
    shared: Path,
    timeout: int = 600,
    *,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the script in the guest; its output, exit status, and in `shared` the files it left in $SHARED.

    Raises subprocess.TimeoutExpired (with the output so far) or LabError when the guest never ran it.
    The kernel's log is in shared/.lab/dmesg.
    """
    if str(HERE).startswith(HIDDEN):
        raise LabError(f"{HERE}: the guest has a folder of its own there; put the repository elsewhere")
    script, shared = script.resolve(), shared.resolve()
    kernel = prepare()
    state = write_state(shared, kernel, script, args, env or {})
    command = vng_command(kernel, shared)
    ended = run_vm(command, timeout, state / "console")
    stdout, stderr, status = (read(state / name) for name in ("stdout", "stderr", "status"))
    if not status.strip():
        if not ended:
            raise subprocess.TimeoutExpired([str(script), *args], timeout, stdout, stderr)
        raise LabError(f"the guest did not run {script}:\n{read(state / 'console')[-3000:]}{stdout}{stderr}")
    return subprocess.CompletedProcess([str(script), *args], int(status), stdout, stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("args", nargs="*")
    parser.add_argument("--rwdir", type=Path, help="shared folder, $SHARED in the guest (default: a temporary one)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for the whole run (default: %(default)s)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fdlab.") as scratch:
        try:
            done = boot(given.script, given.rwdir or Path(scratch), given.timeout, args=given.args)
        except subprocess.TimeoutExpired as late:
            print(late.stdout or "", late.stderr or "", f"lab: no end within {given.timeout} s", sep="\n")
            return 124
        except LabError as error:
            print(f"lab: {error}", file=sys.stderr)
            return 125
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
