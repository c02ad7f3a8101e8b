"""All that a check file may import: the shape of a check, what it may say, and what it judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .expect import Expect, wanted
from .facts import (
    Adapter,
    Board,
    Bond,
    Congestion,
    Counter,
    Device,
    Firmware,
    Gid,
    Inventory,
    LayerPort,
    Limits,
    Link,
    MissingDevice,
    NcclRails,
    NcclSettings,
    Neighbour,
    Netdev,
    Node,
    Notices,
    Pause,
    PeerLink,
    PhysicalLink,
    Port,
    RailLink,
    RailPath,
    RailPort,
    Rails,
    RatedPort,
    Share,
    SharedSubnet,
    Traffic,
    join,
    nccl_choice,
)
from .finding import Fault, Severity
from .unknown import Unknown, known, known_or

__all__ = [
    "Adapter",
    "Board",
    "Bond",
    "Check",
    "Congestion",
    "Counter",
    "Device",
    "Expect",
    "Fault",
    "Firmware",
    "Gid",
    "Inventory",
    "LayerPort",
    "Limits",
    "Link",
    "MissingDevice",
    "NcclRails",
    "NcclSettings",
    "Neighbour",
    "Netdev",
    "Node",
    "Notices",
    "Pause",
    "PeerLink",
    "PhysicalLink",
    "Port",
    "RailLink",
    "RailPath",
    "RailPort",
    "Rails",
    "RatedPort",
    "Severity",
    "Share",
    "SharedSubnet",
    "Traffic",
    "Unknown",
    "chain",
    "check",
    "join",
    "known",
    "known_or",
    "nccl_choice",
    "wanted",
]

S = TypeVar("S")
Subjects = Callable[[Node], tuple[S, ...] | Unknown]
Judge = Callable[[S, Expect], Fault | None]


@dataclass(frozen=True, slots=True)
class Check(Generic[S]):
    """One thing that can be wrong. `judge` sees one subject at a time and returns the fault, or None for ok."""

    id: str
    severity: Severity
    over: Subjects[S]
    judge: Judge[S]
    doc: str
    explained_by: tuple[str, ...] = ()
    #: of a chain: the ids of its links, in order
    links: tuple[str, ...] = ()
    area: str = ""
    file: str = ""


def check(
    *, over: Subjects[S], severity: Severity, explained_by: tuple[str, ...] = ()
) -> Callable[[Judge[S]], Check[S]]:
    """Make a check of a function; its name, with dashes, is the check's id and names the fault.

    `over` gives the subjects from the node; `explained_by` are ids of checks whose fault on the same subject is the
    cause of this one. The result is a value: nothing is registered anywhere.
    """

    def make(judge: Judge[Any]) -> Check[Any]:
        return Check(judge.__name__.replace("_", "-"), severity, over, judge, judge.__doc__ or "", explained_by)

    return make


def chain(*, over: Subjects[S], severity: Severity, links: tuple[str, ...]) -> Callable[[Callable[[], None]], Check[S]]:
    """Make one verdict of several checks over the same subjects, its `links`, each building on those before.

    Where links are broken, it is the fault of the first one, with the severity of the worst, and shows them under it.
    Faults that are only information break nothing.
    """

    def never(_: Any, __: Expect) -> Fault | None:
        raise AssertionError("a chain is judged by its links")

    def make(describe: Callable[[], None]) -> Check[S]:
        name = describe.__name__.replace("_", "-")
        return Check(name, severity, over, never, describe.__doc__ or "", links=links)

    return make
