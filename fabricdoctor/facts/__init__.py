"""What a node is, read out of its answers. Pure: the same answers always give the same node."""

from .counters import Counter
from .gid import Gid, nccl_choice
from .limits import Limits
from .loss import Share
from .nccl import NcclSettings
from .nccl_rails import NcclRails, RailPort
from .netdev import Netdev
from .nic import Device
from .node import Inventory, MissingDevice, Node, RailLink, observe
from .port import Port
from .qos import Link, Pause, join
from .rails import Rails

__all__ = [
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
    "Pause",
    "Port",
    "RailLink",
    "RailPort",
    "Rails",
    "Share",
    "join",
    "nccl_choice",
    "observe",
]
