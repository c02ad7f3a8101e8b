"""Files of sysfs, procfs, configfs and debugfs."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

_LIMIT = 1 << 20
_NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


def read(path: str) -> str:
    """Return a file's text without its trailing blanks. Raises OSError; a file over 1 MiB is a ValueError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        data = bytearray()
        while chunk := os.read(fd, 1 << 16):
            data += chunk
            if len(data) > _LIMIT:
                raise ValueError(f"{path} is larger than {_LIMIT} bytes")
    finally:
        os.close(fd)
    return data.decode(errors="replace").rstrip()


def names(path: str) -> list[str]:
    """Return the names in a directory, sorted."""
    return sorted(os.listdir(path))


def gid_table(port: str, root: str = "") -> dict[str, Any]:
    """Return the visible entries of the GID table of "DEVICE/PORT", and its length.

    An entry's `type` or `ndev` is None where the kernel gives EINVAL: the slot lives in another network namespace.
    """
    device, _, number = port.partition("/")
    base = f"{root}/sys/class/infiniband/{device}/ports/{number}"
    entries = {}
    indexes = sorted((int(name) for name in os.listdir(f"{base}/gids")), key=int)
    for index in indexes:
        gid = _optional(f"{base}/gids/{index}")
        if gid and gid != _NO_GID:
            attributes = f"{base}/gid_attrs"
            entries[str(index)] = {
                "gid": gid,
                "type": _optional(f"{attributes}/types/{index}"),
                "ndev": _optional(f"{attributes}/ndevs/{index}"),
            }
    return {"length": len(indexes), "entries": entries}


def _optional(path: str) -> str | None:
    try:
        return read(path)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENODEV):
            return None
        raise


def kinds(root: str = "") -> dict[str, Callable[[str], Any]]:
    """Return the questions answered here; with `root`, every path lies under that directory."""
    return {
        "read": lambda path: read(root + path),
        "list": lambda path: names(root + path),
        "link": lambda path: os.readlink(root + path),
        "gids": lambda port: gid_table(port, root),
    }
