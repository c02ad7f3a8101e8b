"""What a node is, read out of its answers. Pure: the same answers always give the same node."""

from .bond import Bond, Member
from .congestion import Congestion, Pause
from .counters import Counter
from .gid import Gid, nccl_choice
from .health import Adapter, Reporter, Said
from .inventory import Inventory
from .limits import Limits
from .loss import Notices, Share
from .module import Light, Module
from .nccl import NcclSettings
from .nccl_rails import NcclRails, RailPort
from .neighbour import Neighbour, PeerLink
from .netdev import Netdev
from .nic import Device
from .node import MissingDevice, Node, RailLink, observe
from .path import RailPath, SharedSubnet, Sharer
from .physical import PhysicalLink
from .port import Port
from .qos import Link, join
from .rails import Rails
from .siblings import Board, LayerPort, RatedPort
from .tools.mlxlink import LinkDiagnosis
from .tools.mstconfig import Firmware, Setting
from .traffic import Traffic

__all__ = [
    "Adapter",
    "Board",
    "Bond",
    "Congestion",
    "Counter",
    "Device",
    "Firmware",
    "Gid",
    "Inventory",
    "LayerPort",
    "Light",
    "Limits",
    "Link",
    "LinkDiagnosis",
    "Member",
    "MissingDevice",
    "Module",
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
    "Reporter",
    "Said",
    "Setting",
    "Share",
    "SharedSubnet",
    "Sharer",
    "Traffic",
    "join",
    "nccl_choice",
    "observe",
]
