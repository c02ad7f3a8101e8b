"""Fetch a Debian kernel that has rdma_rxe in network namespaces, and build fdlab.ko for it.

Everything is kept in $FABRICDOCTOR_LAB_CACHE (default: ~/.cache/fabricdoctor-lab). A second run does nothing;
the module is built again only when its source changed. The Debian mirror is the one this system's apt uses.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUITE = "trixie"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FLAVOUR = re.compile(r"linux-image-(7\.[0-9.]+\+deb\d+-amd64)")
MODULE_SOURCES = ("Makefile", "fdlab.h", "fdlab_main.c", "fdlab_dcb.c", "fdlab_ethtool.c", "fdlab_sysfs.c")


class LabError(Exception):
    """The lab cannot be prepared or run here; the message says why."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that is ready to boot, and the test module built for it."""

    release: str
    root: Path
    module: Path

    @property
    def image(self) -> Path:
        return self.root / "boot" / f"vmlinuz-{self.release}"


def cache_dir() -> Path:
    chosen = os.environ.get("FABRICDOCTOR_LAB_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fabricdoctor-lab"


def run(*argv: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise LabError(f"{' '.join(str(a) for a in argv)}: exit status {done.returncode}\n{tail}")
    return done.stdout


def say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(cache: Path) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def building(target: Path) -> Iterator[Path]:
    """Yield a temporary folder beside the target that becomes the target when all went well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    scratch.chmod(0o755)
    try:
        yield scratch
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def codename() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise LabError("the lab needs Debian 12 or 13: no VERSION_CODENAME in /etc/os-release")


def source_entries() -> Iterator[tuple[str, list[str]]]:
    """Yield (URI, suites) of each `deb` source that apt knows here, in both formats."""
    apt = Path("/etc/apt")
    for path in sorted(apt.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"(?m)^([A-Za-z-]+):[ \t]*(.*)$", stanza))
            if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
                yield from ((uri, fields.get("Suites", "").split()) for uri in fields.get("URIs", "").split())
    for path in [apt / "sources.list", *sorted(apt.glob("sources.list.d/*.list"))]:
        if path.exists():
            for uri, suite in re.findall(r"(?m)^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)", path.read_text()):
                yield uri, [suite]


def mirror() -> str:
    """Return the URI from which this system's own release comes: the one that has the other suites too."""
    name = codename()
    for uri, suites in source_entries():
        if name in suites:
            return uri
    raise LabError(f"apt has no source for {name} here, so there is no mirror to take a kernel from")


class Apt:
    """A private apt that sees only the kernel's suite; the system's own apt is left untouched."""

    def __init__(self, root: Path, uri: str) -> None:
        for folder in ("etc", "lists/partial", "cache/archives/partial"):
            (root / folder).mkdir(parents=True)
        self.root = root
        (root / "etc/sources.list").write_text(source_line(uri, f"{SUITE}-backports"))
        (root / "etc/apt.conf").write_text(
            f'Dir::Etc::sourcelist "{root}/etc/sources.list"; Dir::Etc::sourceparts "/dev/null";\n'
            f'Dir::Etc::preferencesparts "/dev/null"; Dir::State::lists "{root}/lists";\n'
            f'Dir::State::status "/dev/null"; Dir::Cache "{root}/cache"; APT::Sandbox::User "root";\n'
        )
        self("apt-get", "-q", "update")

    def __call__(self, tool: str, *argv: str) -> str:
        return run(tool, "-c", self.root / "etc/apt.conf", *argv, cwd=self.root)

    def newest(self) -> str:
        names = self("apt-cache", "pkgnames", "linux-image-7").split()
        releases = {m.group(1) for n in names if (m := FLAVOUR.fullmatch(n))}
        if not releases:
            raise LabError(f"{SUITE}-backports has no linux-image-7…-amd64 at present")
        return max(releases, key=lambda r: [int(x) for x in re.findall(r"\d+", r)])

    def parts(self, release: str) -> list[str]:
        """Name the packages a kernel is split into; which of them exist changed over time."""
        known = set(self("apt-cache", "pkgnames", "linux-").split())
        names = [f"linux-{part}-{release}" for part in ("base", "binary", "modules")]
        found = [n for n in names if n in known]
        return found if f"linux-modules-{release}" in found else [f"linux-image-{release}"]


def source_line(uri: str, suite: str) -> str:
    return f"deb [signed-by={KEYRING}] {uri} {suite} main\n"


def fetch_kernel(cache: Path) -> Path:
    with tempfile.TemporaryDirectory(prefix=".apt.", dir=cache) as tmp:
        apt = Apt(Path(tmp), mirror())
        release = apt.newest()
        target = cache / "kernels" / release
        if target.exists():
            return target
        say(f"fetching kernel {release}")
        apt("apt-get", "-q", "download", *apt.parts(release))
        with building(target) as root:
            for package in Path(tmp).glob("*.deb"):
                run("dpkg-deb", "-x", package, root)
            arrange(root, release)
    return target


def arrange(root: Path, release: str) -> None:
    """Lay the unpacked packages out as virtme-ng looks for them."""
    image = root / "boot" / f"vmlinuz-{release}"
    image.parent.mkdir(exist_ok=True)
    if not image.exists():
        shutil.copy(root / "usr/lib/modules" / release / "vmlinuz", image)
    if not (root / "lib").exists():
        (root / "lib").symlink_to("usr/lib")
    run("depmod", "-b", root, release)


def kept_kernel(cache: Path) -> Path | None:
    kept = [p for p in (cache / "kernels").glob("7.*") if (p / "boot").is_dir()]
    return max(kept, key=lambda p: [int(x) for x in re.findall(r"\d+", p.name)], default=None)


def build_root(cache: Path, release: str) -> Path:
    """Return a root directory in which the module can be built: this system's, or a chroot that fits the kernel.

    Debian 12's compiler and C library are too old for the headers; a chroot also spares Debian 13 installing them.
    """
    if Path(f"/lib/modules/{release}/build").exists():
        return Path("/")
    target = cache / "chroots" / release
    if target.exists():
        return target
    say(f"making a {SUITE} chroot with the headers of {release}")
    uri = mirror()
    with building(target) as root:
        run("debootstrap", "--variant=minbase", "--include=make,binutils", f"--keyring={KEYRING}", SUITE, root, uri)
        (root / "etc/apt/sources.list.d/backports.list").write_text(source_line(uri, f"{SUITE}-backports"))
        run("chroot", root, "apt-get", "-q", "update")
        run("chroot", root, "apt-get", "-qy", "install", "--no-install-recommends", f"linux-headers-{release}")
        run("chroot", root, "apt-get", "clean")
    return target


def build_module(cache: Path, release: str) -> Path:
    text = b"".join((HERE / name).read_bytes() for name in MODULE_SOURCES)
    target = cache / "modules" / f"{release}-{hashlib.sha256(text).hexdigest()[:16]}"
    if (target / "fdlab.ko").exists():
        return target / "fdlab.ko"
    root = build_root(cache, release)
    say(f"building fdlab.ko for {release}")
    with building(target) as out, tempfile.TemporaryDirectory(prefix="fdlab.", dir=root / "tmp") as source:
        for name in MODULE_SOURCES:
            shutil.copy(HERE / name, source)
        make_module(root, release, Path(source))
        shutil.copy(Path(source) / "fdlab.ko", out)
    return target / "fdlab.ko"


def make_module(root: Path, release: str, source: Path) -> None:
    make = ["make", "-C", f"/lib/modules/{release}/build", f"M=/{source.relative_to(root)}", "modules"]
    if root == Path("/"):
        run(*make)
    else:  # objtool reads /proc; the mount lives in a namespace of its own and goes with it
        run("unshare", "-m", "sh", "-c", 'r=$1; shift; mount -t proc proc "$r/proc" && exec chroot "$r" "$@"',
            "sh", root, *make)  # fmt: skip


def prepare(*, refresh: bool = False) -> Kernel:
    """Fetch and build what is not there yet (`refresh`: look for a newer kernel, too)."""
    cache = cache_dir()
    with locked(cache):
        root = (None if refresh else kept_kernel(cache)) or fetch_kernel(cache)
        return Kernel(root.name, root, build_module(cache, root.name))


if __name__ == "__main__":
    try:
        ready = prepare(refresh="--refresh" in sys.argv[1:])
    except LabError as error:
        sys.exit(f"lab: {error}")
    print(ready.image, ready.module, sep="\n")
