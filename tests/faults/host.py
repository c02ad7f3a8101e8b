"""Faults of the area host."""

from faults.row import Row

FAULTS = {
    "memlock-limited": [
        Row({"limits": {"memlock": 8 << 20}}, "8192 KiB", subject="limits"),
        Row({"limits": {"memlock": 4 << 30}}, "4.1943e+06 KiB", subject="limits", expect={"memlock_bytes": 0}),
    ],
}
