"""What the kernel log says about NICs, and nothing else of it.

A kernel log holds private things (mount points, process names, addresses), so only the matched part of a line that
matches the table below is kept, with the device it names. Record format: Documentation/ABI/testing/dev-kmsg.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_PATH = "/dev/kmsg"
# The kernel refuses (EINVAL) a read that is smaller than the record; its own limit for one is 8192 bytes.
_RECORD_BYTES = 8192
# A kernel that logs as fast as we read must not hold us.
_MOST_RECORDS = 1 << 20
_PREFIX_FIELDS = 3

# Kind, what a line must contain (so that re is loaded and run for few lines), what is kept, whether only NIC drivers
# say it in a way that is about a NIC. The first match wins.
_TABLE = (
    (
        "command-timeout",
        "Will cause a leak of a command resource",
        r"(?:\w+\(0x[0-9a-fA-F]+\) )?timeout\. Will cause a leak of a command resource",
        False,
    ),
    (
        "health-compromised",
        "device's health compromised",
        r"device's health compromised(?: - reached miss count)?",
        False,
    ),
    (
        "insufficient-power",
        "Detected insufficient power on the PCIe slot",
        r"Detected insufficient power on the PCIe slot(?: \(\d+W\))?",
        False,
    ),
    (
        "high-temperature",
        "emperature",
        r"(?:Port module event(?:\[\w+\])?: module \d+, Cable error, )?High [Tt]emperature",
        True,
    ),
    ("module-unplugged", "Port module event", r"Port module event(?:\[\w+\])?: module \d+, Cable unplugged", False),
    ("module-plugged", "Port module event", r"Port module event(?:\[\w+\])?: module \d+, Cable plugged", False),
    (
        "module-error",
        "Port module event",
        r"Port module event(?:\[\w+\])?: module \d+, Cable \w+(?:, [\w ()/-]{1,60})?",
        False,
    ),
    (
        "transmit-timeout",
        "NETDEV WATCHDOG",
        r"NETDEV WATCHDOG(?:: (?:CPU: \d+|(?P<device>\S+) \([^)]*\)): transmit queue \d+ timed out(?: \d+ ms)?)?",
        False,
    ),
    # what the driver adds to it; kernels before 6.7 print the line above once in their life (WARN_ONCE)
    ("transmit-timeout", "TX timeout detected", r"(?<=: )TX timeout detected", True),
    (
        "pcie-bandwidth",
        "available PCIe bandwidth, limited by",
        (
            r"[\d.]+ Gb/s available PCIe bandwidth, limited by [\w./ ]+ x\d+ link at [0-9a-f:.]+"
            r"(?: \(capable of [\d.]+ Gb/s with [\w./ ]+ x\d+ link\))?"
        ),
        False,
    ),
    (
        "buffer-too-small",
        "is not enough for lossless buffer",
        r"buffer_size\[\d+\]\s*=\s*\d+ is not enough for lossless buffer",
        False,
    ),
    # mlx5 says it each time it sets an adapter up: at load, and when it recovers one
    ("set-up", "firmware version: ", r"(?<=: )firmware version: [\d.]+", True),
    ("link-up", "Link ", r"(?<=: )(?:NIC )?Link (?:is )?[Uu]p\b", True),
    ("link-down", "Link ", r"(?<=: )(?:NIC )?Link (?:is )?[Dd]own\b", True),
)
_KINDS = frozenset(row[0] for row in _TABLE)
_NIC_DRIVERS = ("mlx5_core ", "bnxt_en ", "ice ")
_PCI_ADDRESS = r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b"
_NETDEV_BEFORE = r"(\S+)(?: \(\w+\))?: $"


def kernel_log(key: str) -> list[dict[str, Any]]:
    """List the NIC messages still in the kernel's log, all ("") or those of one kind."""
    if key and key not in _KINDS:
        raise ValueError(f"no such kind of kernel message: {key}")
    descriptor = os.open(_PATH, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = parse(_records(descriptor))
    finally:
        os.close(descriptor)
    return [match for match in found if key in ("", match["kind"])]


def _records(descriptor: int) -> Iterator[bytes]:
    """Read to the present end; each read gives one record."""
    for _ in range(_MOST_RECORDS):
        try:
            record = os.read(descriptor, _RECORD_BYTES)
        except BlockingIOError:
            return
        except BrokenPipeError:
            # The record was overwritten before we came to it; the next read goes on with the oldest there is.
            continue
        if not record:
            return
        yield record


def parse(records: Iterator[bytes] | list[bytes]) -> list[dict[str, Any]]:
    """Keep what the table knows of each record."""
    matches = (_record(record) for record in records)
    return [match for match in matches if match is not None]


def _record(record: bytes) -> dict[str, Any] | None:
    """Split "priority,sequence,microseconds,flags;text"; the lines after the first are a dictionary we don't need."""
    prefix, separator, rest = record.partition(b";")
    fields = prefix.split(b",")
    if not separator or len(fields) < _PREFIX_FIELDS or not fields[2].isdigit():
        raise ValueError("not a kernel log record")
    match = _match(rest.split(b"\n", 1)[0].decode("utf-8", "replace"))
    return None if match is None else {"seconds": int(fields[2]) / 1e6, **match}


def _match(line: str) -> dict[str, Any] | None:
    for kind, needle, pattern, nic_only in _TABLE:
        if needle not in line or (nic_only and not line.startswith(_NIC_DRIVERS)):
            continue
        match = _search(line, pattern)
        if match is not None:
            return {"kind": kind, **match}
    return None


def _search(line: str, pattern: str) -> dict[str, Any] | None:
    import re  # noqa: PLC0415 - takes 5 ms to load, and most logs hold no line that needs it

    match = re.search(pattern, line)
    if match is None:
        return None
    address = re.search(_PCI_ADDRESS, line[: match.start()])
    if address is not None:
        return {"text": match[0], "device": address[0]}
    before = re.search(_NETDEV_BEFORE, line[: match.start()])
    return {"text": match[0], "device": match.groupdict().get("device") or (before and before[1])}


KINDS: dict[str, Callable[[str], Any]] = {"kmsg": kernel_log}
