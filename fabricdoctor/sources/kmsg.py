"""The kernel's log: only what NIC drivers say of faults, and of each line only the part that was looked for."""

from __future__ import annotations

import errno
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_RECORD = 8192  # the longest record /dev/kmsg gives (CONSOLE_EXT_LOG_MAX)
_MOST = 200
_DEVICE = re.compile(r"\b([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b")
_INTERFACE = re.compile(r"(?:[0-9a-f]{2}\.[0-7] |NETDEV WATCHDOG: )([a-z][\w.-]{1,14})(?=[: (])")
#: kind → what is kept of a line that has it
_PATTERNS = {
    "command-timeout": r"[A-Z_]+\(0x[0-9a-f]+\)[^.]*timeout\. Will cause a leak of a command resource",
    "health-compromised": r"device's health compromised - reached miss count",
    "slot-power": r"Detected insufficient power on the PCIe slot \(\d+W\)",
    "module-event": r"Port module event(?:\[error\])?: module \d+, (?:Cable \w+|Power budget exceeded|[\w /-]{3,60})",
    "module-hot": r"High [Tt]emperature",
    "transmit-timeout": r"NETDEV WATCHDOG.*?transmit queue \d+ timed out",
    "pcie-limited": r"[\d.]+ Gb/s available PCIe bandwidth, limited by [\d.]+ GT/s PCIe x\d+ link",
    "small-buffer": r"buffer_size\[\d\]=\s*\d+ is not enough for lossless buffer",
    "link-down": r"Link (?:is )?[Dd]own",
    "link-up": r"Link (?:is )?[Uu]p",
}
_COMPILED = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}


def kernel_log(_key: str) -> list[dict[str, Any]]:
    """Return matches, oldest first, the last 200: seconds since boot, kind, device (PCI address or interface), text."""
    return [found for record in _records("/dev/kmsg") if (found := parse(record))][-_MOST:]


def _records(path: str) -> Iterator[str]:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while True:
            try:
                data = os.read(fd, _RECORD)
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten while we read: go on with the next one
                    continue
                if error.errno == errno.EAGAIN:
                    return
                raise
            if not data:
                return
            yield data.decode(errors="replace")
    finally:
        os.close(fd)


def parse(record: str) -> dict[str, Any] | None:
    """Return what one record says that matters, or None. A record is "priority,sequence,microseconds,flags;text"."""
    head, separator, rest = record.partition(";")
    fields = head.split(",")
    if not separator or len(fields) < 3 or not fields[2].isdigit():  # noqa: PLR2004  see the format above
        return None
    text = rest.split("\n", 1)[0]
    for kind, pattern in _COMPILED.items():
        if found := pattern.search(text):
            return {"seconds": int(fields[2]) / 1e6, "kind": kind, "device": _device(text), "text": found.group()}
    return None


def _device(text: str) -> str | None:
    found = _INTERFACE.search(text) or _DEVICE.search(text)
    return found.group(1) if found else None


KINDS: dict[str, Callable[[str], Any]] = {"kmsg": kernel_log}
