"""What libibverbs says about its devices, asked through pyverbs 44 to 65.

pyverbs is imported on the first question, never before: a host without it still gets an answer ("missing").
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import struct
import tempfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

SYSFS = Path("/sys/class/infiniband_verbs")
NODES = Path("/dev/infiniband")
MAPS = Path("/proc/self/maps")

# The numbers are the kernel's and libibverbs' ABI; pyverbs moved their names between modules, so names are not used.
RATES = {1: 2.5, 2: 5.0, 4: 10.0, 8: 10.0, 16: 14.0, 32: 25.0, 64: 50.0, 128: 100.0, 256: 200.0}
LANES = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
MTUS = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
LINK_LAYERS = {1: "InfiniBand", 2: "Ethernet"}
ATOMICS = {0: "none", 1: "hca", 2: "global"}
GID_TYPES = {0: "IB", 1: "RoCE v1", 2: "RoCE v2"}

NO_LIST = "Failed to get devices list"
# These come without an error number; the text is all that pyverbs keeps.
NUMBERLESS = (("Failed to find device", errno.ENODEV), ("Failed to allocate", errno.ENOMEM))

_said: list[str] = []  # libibverbs reads its drivers and limits once per process, so their warnings come only once


class Refused(Exception):
    """Carries a finished answer: why a question has no value."""

    def __init__(self, **answer: Any) -> None:
        super().__init__(answer.get("detail", ""))
        self.answer = answer


def answer_for(error: Exception) -> dict[str, Any]:
    if isinstance(error, Refused):
        return error.answer
    if NO_LIST in str(error):
        return {"why": "missing", "detail": f"{error}: the kernel answers no RDMA request"}
    number = error_number(error)
    if number is None:
        return {"why": "unparsable", "detail": f"{type(error).__name__}: {error}"}
    return {"errno": number, "detail": str(error)}


def error_number(error: Exception) -> int | None:
    """Give the errno of an OSError or a pyverbs error; EIO where pyverbs kept none, nothing for other exceptions."""
    code = getattr(error, "errno", None) or getattr(error, "error_code", None)
    if code not in (None, 0, -1):
        return abs(int(code))  # query_gid_table reports -errno
    named = re.search(r"Errno: ([1-9]\d*)", str(error))
    if named:
        return int(named[1])
    if not type(error).__name__.startswith("Pyverbs"):
        return None
    return next((number for text, number in NUMBERLESS if text in str(error)), errno.EIO)


def load(module: str) -> Any:
    _keep_logging_quiet()
    try:
        return import_module("pyverbs." + module)
    except ImportError as error:
        raise Refused(why="missing", detail=import_detail(str(error))) from error


def _keep_logging_quiet() -> None:
    # pyverbs.base calls logging.basicConfig(INFO) on import; that does nothing when the root logger has a handler.
    logging = import_module("logging")
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.NullHandler())


def import_detail(text: str) -> str:
    if not re.search(r"IBVERBS_PRIVATE_\d+. not found", text):
        return text
    return (
        f"{text}: this pyverbs belongs to another rdma-core than the installed libibverbs; "
        "use the python3-pyverbs package that comes with it"
    )


def library_version(maps: str) -> str | None:
    """Find the rdma-core release in the mapped file's name: libibverbs.so.1.14.44.0 is 44.0; pyverbs tells none."""
    found = re.search(r"/libibverbs\.so\.\d+\.\d+\.([\w.]+)", maps)
    return found[1] if found else None


def warning_lines(raw: bytes) -> list[str]:
    lines = (line.strip() for line in raw.decode(errors="replace").splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def _scratch() -> BinaryIO:
    if hasattr(os, "memfd_create"):  # not in every build of Python
        return os.fdopen(os.memfd_create("stderr"), "w+b")
    return tempfile.TemporaryFile()


@contextlib.contextmanager
def kept_warnings() -> Iterator[None]:
    """Keep what C code prints on descriptor 2: libibverbs has no other way to warn."""
    with _scratch() as scratch:
        saved = os.dup(2)
        os.dup2(scratch.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            scratch.seek(0)
            _said.extend(line for line in warning_lines(scratch.read()) if line not in _said)


def devices(_argument: str) -> dict[str, Any]:
    """List the devices, with every distinct warning since the worker started."""
    library = load("device")
    with kept_warnings():
        found = library.get_device_list()
    names = [device.name.decode() if isinstance(device.name, bytes) else str(device.name) for device in found]
    return {"library": library_version(MAPS.read_text()), "devices": names, "warnings": list(_said)}


def uverbs_nodes(name: str) -> list[Path]:
    """Find the device's node; more than one when devices in other network namespaces have the same name."""
    if not SYSFS.is_dir():
        raise Refused(why="missing", detail=f"{SYSFS} does not exist: the kernel offers no verbs (no ib_uverbs?)")
    nodes = [NODES / file.parent.name for file in sorted(SYSFS.glob("uverbs*/ibdev")) if ibdev(file) == name]
    if not nodes:
        raise Refused(errno=errno.ENOENT, detail=f"{name}: {SYSFS} has no node for it")
    return nodes


def ibdev(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except OSError:  # the device may be leaving
        return None


def check_node(name: str) -> None:
    """Open and close the device's node, as libibverbs would retry for 5 s if it cannot."""
    failures = {}
    for node in uverbs_nodes(name):
        error = open_error(node)
        if error is None:
            return
        failures[node] = error
    raise closed_node(failures)


def open_error(node: Path) -> OSError | None:
    try:
        os.close(os.open(node, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return error
    return None


def closed_node(failures: dict[Path, OSError]) -> Refused:
    # A node of another network namespace is refused with EPERM, so any other error is the one of our own node.
    ours = {node: error for node, error in failures.items() if error.errno != errno.EPERM} or failures
    first = next(iter(ours.values()))
    return Refused(errno=first.errno, detail=f"{' or '.join(map(str, ours))}: {first.strerror}")


@contextlib.contextmanager
def opened(name: str) -> Iterator[Any]:
    library = load("device")
    check_node(name)
    with kept_warnings():
        context = library.Context(name=name)
    try:
        yield context
    finally:
        context.close()


def device(name: str) -> dict[str, Any]:
    with opened(name) as context:
        value = device_value(context.query_device())
        ports = {number: context.query_port(number) for number in range(1, value["phys_port_cnt"] + 1)}
        gids = all_gids(context, ports)
    value["ports"] = {
        str(number): {**port_value(attr), "gids": [rest for port, rest in gids if port == number]}
        for number, attr in ports.items()
    }
    return value


def device_value(attr: Any) -> dict[str, Any]:
    numbers = ("vendor_id", "vendor_part_id", "hw_ver", "max_qp", "max_cq", "max_mr_size", "phys_port_cnt")
    return {
        "fw_ver": attr.fw_version,
        "node_guid": guid_text(attr.node_guid),
        "sys_image_guid": guid_text(attr.sys_image_guid),
        **{name: int(getattr(attr, name)) for name in numbers},
        "atomic": ATOMICS.get(int(attr.atomic_caps), "unknown"),
    }


def guid_text(number: int) -> str:
    """Write a GUID as sysfs does; pyverbs hands out the big-endian bytes as a native number."""
    digits = struct.pack("=Q", number).hex()
    return ":".join(digits[start : start + 4] for start in range(0, 16, 4))


def port_value(attr: Any) -> dict[str, Any]:
    numbers = ("state", "phys_state", "lid", "sm_lid", "sm_sl", "port_cap_flags", "gid_tbl_len", "pkey_tbl_len")
    lanes = LANES.get(int(attr.active_width), 0)
    # The old field has 8 bits, too few for XDR; the new one is zero where the library or driver does not fill it.
    speed = int(getattr(attr, "active_speed_ex", 0)) or int(attr.active_speed)
    return {
        **{name: int(getattr(attr, name)) for name in numbers},
        "max_mtu": MTUS.get(int(attr.max_mtu), 0),
        "active_mtu": MTUS.get(int(attr.active_mtu), 0),
        "active_width": lanes,
        "active_speed": speed,
        "gbps": gbps(lanes, speed),
        "link_layer": link_layer(attr),
    }


def gbps(lanes: int, speed: int) -> float | None:
    return lanes * RATES[speed] if lanes and speed in RATES else None


def link_layer(attr: Any) -> str:
    return LINK_LAYERS.get(int(attr.link_layer), "Unspecified")


def all_gids(context: Any, ports: dict[int, Any]) -> list[tuple[int, dict[str, Any]]]:
    try:
        found = table_gids(context, sum(int(attr.gid_tbl_len) for attr in ports.values()))
    except (AttributeError, load("pyverbs_error").PyverbsError):
        found = list(single_gids(context, ports))
    return [(port, entry) for port, entry in found if not is_empty_gid(entry["gid"])]


def table_gids(context: Any, size: int) -> list[tuple[int, dict[str, Any]]]:
    entries: Iterable[Any] = context.query_gid_table(size) if size else ()
    return [
        (
            int(entry.port_num),
            gid_entry(int(entry.gid_index), entry.gid_str(), GID_TYPES.get(int(entry.gid_type)), entry.ndev_ifindex),
        )
        for entry in entries
    ]


def single_gids(context: Any, ports: dict[int, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Ask index by index where the table cannot be had at once; the interface stays unknown."""
    for port, attr in ports.items():
        for index in range(int(attr.gid_tbl_len)):
            gid = str(context.query_gid(port, index))
            if not is_empty_gid(gid):
                kind = single_type(int(context.query_gid_type(port, index)), link_layer(attr))
                yield port, gid_entry(index, gid, kind, 0)


def single_type(kind: int, layer: str) -> str:
    """Tell what ibv_query_gid_type leaves open: it has one number for IB and RoCE v1."""
    if kind == 1:
        return "RoCE v2"
    return "RoCE v1" if layer == "Ethernet" else "IB"


def gid_entry(index: int, gid: str, kind: str | None, ifindex: int) -> dict[str, Any]:
    return {"index": index, "gid": gid, "type": kind, "ifindex": int(ifindex) or None}


def is_empty_gid(gid: str) -> bool:
    return not gid.strip("0:")
