"""Sets of nodes, in ClusterShell's syntax: `gpu[001-128],login1`."""

from __future__ import annotations

import math
import re

from .place import ConfigError, Place

#: more nodes than any cluster has; a set of so many would take minutes and fill the memory
_MANY = 1_000_000


def holds(at: Place, nodes: str, hostname: str) -> bool:
    """Return whether the set holds this node, by its full or its short name. Raises ConfigError for what is no set."""
    try:
        from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException  # noqa: PLC0415  only then needed
    except ImportError as error:
        raise ConfigError(
            f"{at.file}: [expect.group] needs ClusterShell to read {nodes!r}: pip install 'fabricdoctor[fleet]'"
        ) from error
    _refuse_unusable(at, nodes)
    try:
        members = NodeSet(nodes, resolver=RESOLVER_NOGROUP)
    except NodeSetException as error:
        raise at.error("expect.group", nodes, f"not a set of nodes: {error}") from error
    return hostname in members or hostname.split(".", maxsplit=1)[0] in members


def _refuse_unusable(at: Place, nodes: str) -> None:
    """Refuse what would hold no node, and silently: patterns, and groups that are looked up by running commands."""
    if not nodes.strip() or set(nodes) & set("@*?"):
        raise at.error("expect.group", nodes, 'not a set of nodes: names and ranges, as in "gpu[001-128],login1"')
    spans = (int(b) - int(a) for a, b in re.findall(r"(\d{1,18})-(\d{1,18})", nodes))
    if math.prod(span + 1 for span in spans if span > 0) > _MANY:
        raise at.error("expect.group", nodes, f"names more than {_MANY} nodes; give narrower ranges")
