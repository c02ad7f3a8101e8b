"""What a node is, read out of its answers. Pure: the same answers always give the same node."""

from .counters import Counter
from .gid import Gid, nccl_choice
from .limits import Limits
from .loss import Share
from .module import Light, Module
from .nccl import NcclSettings
from .nccl_rails import NcclRails, RailPort
from .netdev import Netdev
from .nic import Device
from .node import Inventory, MissingDevice, Node, RailLink, observe
from .physical import PhysicalLink
from .port import Port
from .qos import Link, Pause, join
from .rails import Rails
from .siblings import Board, LayerPort, RatedPort

__all__ = [
    "Board",
    "Counter",
    "Device",
    "Gid",
    "Inventory",
    "LayerPort",
    "Light",
    "Limits",
    "Link",
    "MissingDevice",
    "Module",
    "NcclRails",
    "NcclSettings",
    "Netdev",
    "Node",
    "Pause",
    "PhysicalLink",
    "Port",
    "RailLink",
    "RailPort",
    "Rails",
    "RatedPort",
    "Share",
    "join",
    "nccl_choice",
    "observe",
]
