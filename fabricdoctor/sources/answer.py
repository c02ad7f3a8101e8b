"""Turn what a source returns or raises into an answer."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Any

_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO}
_DENIED = {errno.EACCES, errno.EPERM}
_LATE = {errno.ETIMEDOUT}


def why(number: int | None) -> str:
    """Return the reason an errno stands for."""
    if number in _MISSING:
        return "missing"
    if number in _DENIED:
        return "denied"
    return "timeout" if number in _LATE else "unsupported"


def serve(kinds: Mapping[str, Callable[[str], Any]], question: tuple[str, str]) -> dict[str, Any]:
    """Answer one question in the reading process: {"value": …} or {"why": …, "detail": …}."""
    kind, key = question
    function = kinds.get(kind)
    if function is None:
        return {"why": "unsupported", "detail": f"no source answers {kind!r}"}
    try:
        return {"value": function(key)}
    except TimeoutError as error:
        return {"why": "timeout", "detail": str(error)}
    except OSError as error:
        return {"why": why(error.errno), "detail": error.strerror or str(error)}
    except (ValueError, ImportError, LookupError, TypeError) as error:
        return {"why": "unparsable", "detail": f"{type(error).__name__}: {error}"}
