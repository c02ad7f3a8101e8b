"""What a node is, read out of its answers. Pure: the same answers always give the same node."""

from .congestion import Congestion, Pause
from .counters import Counter
from .gid import Gid, nccl_choice
from .limits import Limits
from .loss import Notices, Share
from .nccl import NcclSettings
from .nccl_rails import NcclRails, RailPort
from .netdev import Netdev
from .nic import Device
from .node import Inventory, MissingDevice, Node, RailLink, observe
from .port import Port
from .qos import Link, join
from .rails import Rails
from .traffic import Traffic

__all__ = [
    "Congestion",
    "Counter",
    "Device",
    "Gid",
    "Inventory",
    "Limits",
    "Link",
    "MissingDevice",
    "NcclRails",
    "NcclSettings",
    "Netdev",
    "Node",
    "Notices",
    "Pause",
    "Port",
    "RailLink",
    "RailPort",
    "Rails",
    "Share",
    "Traffic",
    "join",
    "nccl_choice",
    "observe",
]
