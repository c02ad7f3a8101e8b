"""What tools print on a healthy node."""

from __future__ import annotations

import json
from typing import Any

_STORED = """
Device #1:
----------

Device type:    ConnectX7
Name:           -
Description:    -
Device:         {pci}

Configurations:                                      Default             Current             Next Boot
         NUM_OF_VFS                                  0                   0                   0
*        ATS_ENABLED                                 False(0)            True(1)             True(1)
         LINK_TYPE_P1                                ETH(2)              ETH(2)              ETH(2)
         ESWITCH_HAIRPIN_DESCRIPTORS                 Array[0..7]         Array[0..7]         Array[0..7]
         CNP_DSCP_P1                                 48                  48                  48
         ROCE_ADAPTIVE_ROUTING_EN                    False(0)            True(1)             True(1)
         ROCE_CC_PRIO_MASK_P1                        255                 255                 255
         ROCE_CC_ALGORITHM_P1                        ECN(0)              ECN(0)              ECN(0)
         USER_PROGRAMMABLE_CC                        False(0)            False(0)            False(0)
* RO     SOME_READ_ONLY_FIELD                        0                   1                   2
The '*' shows parameters with next value different from default/current value.
"""


def said(output: str, status: int = 0) -> dict[str, Any]:
    return {"status": status, "output": output}


def mstconfig(pci: str) -> dict[str, Any]:
    return said(_STORED.format(pci=pci))


def mlxlink(opcode: str = "0", recommendation: str = "No issue was observed") -> dict[str, Any]:
    sections = {
        "Operational Info": {"State": "Active", "Physical state": "LinkUp", "Speed": "400G", "Width": "4x"},
        "Troubleshooting Info": {
            "Status Opcode": opcode, "Group Opcode": "N/A", "Recommendation": recommendation,
        },
        "Physical Counters and BER Info": {
            "Time Since Last Clear [Min]": "324.0", "Effective Physical Errors": "0",
            "Effective Physical BER": "15E-255", "Raw Physical BER": "1E-8",
        },
        "Module Info": {"Identifier": "OSFP", "Vendor Name": "EXAMPLE", "Vendor Part Number": "EX-400-DR4"},
    }  # fmt: skip
    document = {"result": {"output": sections}, "status": {"code": 0, "message": "success"}}
    return said(json.dumps(document, indent=3) + "\n")


def adapter(pci: str) -> dict[str, Any]:
    """Return what the tools of an adapter of mlx5 say."""
    return {f"tool mstconfig {pci}": mstconfig(pci), f"tool mlxlink {pci}": mlxlink()}


def lldpcli(pfc: dict[str, int | None], *, willing: bool = False) -> dict[str, Any]:
    """Return what lldpd heard: for each interface, a leaf switch with this mask of PFC, or None for no PFC TLV."""
    return said(json.dumps({"lldp": [{"interface": [_heard(n, m, willing=willing) for n, m in pfc.items()]}]}) + "\n")


def _heard(name: str, mask: int | None, *, willing: bool) -> dict[str, Any]:
    body = f"{0x88 if willing else 0x08:02X},{mask:02X}" if mask is not None else ""
    tlvs = [{"oui": "00,80,C2", "subtype": "11", "len": "2", "value": body}] if body else []
    return {
        "name": name, "via": "LLDP", "rid": "1", "age": "0 day, 00:00:23",
        "chassis": [{
            "id": [{"type": "mac", "value": "02:00:00:00:aa:01"}], "name": [{"value": f"leaf-{name}"}],
            "capability": [{"type": "Bridge", "enabled": True}, {"type": "Router", "enabled": True}],
        }],
        "port": [{
            "id": [{"type": "ifname", "value": "Ethernet1/3"}], "descr": [{"value": "node01"}],
            "mfs": [{"value": "9216"}],
        }],
        "unknown-tlvs": [{"unknown-tlv": tlvs}],
    }  # fmt: skip


_QOS = """
NIC  : 00000000-0000-0000-0000-000000000001 ({pci})

Port : 00000000-0000-0000-0000-000011010000

  Classification type         : DSCP

  DSCP-to-priority :
    DSCP bitmap               : 0xffffbffffbffffff ==> priority : 0
    DSCP bitmap               : 0x0000000004000000 ==> priority : 3
    DSCP bitmap               : 0x0000400000000000 ==> priority : 6
    DSCP                      : 0-25, 27-45, 47-63 ==> priority : 0
    DSCP                      : 26 ==> priority : 3
    DSCP                      : 46 ==> priority : 6

  PFC :
    PFC priority bitmap       : 0x8
    PFC no-drop priorities    : 3

  Scheduling :
    --------------------------------------------
    Priority  Scheduling  Bandwidth Rate-limit
              Type        (in %age) (in Gbps)
    --------------------------------------------
    0         DWRR        1         N/A
    3         DWRR        99        N/A
    6         strict      N/A       10
"""
_DCQCN = """
NIC : 00000000-0000-0000-0000-000000000001 ({pci})
------------------------------------------------------------------------------------------

Lif id                                     : 00000000-0000-0000-0000-000000000002
ROCE device                                : {device}
  DCQCN profile id                         : 1
  Status                                   : Enabled
  Token bucket size                        : 800000
  DSCP value used for CNP                  : 46
******************************************************************************************
"""


def nicctl(devices: dict[str, str]) -> dict[str, Any]:
    """Return what nicctl says of adapters, given as PCI address and RDMA device."""
    return {
        "tool nicctl qos": said("".join(_QOS.format(pci=pci) for pci in devices)),
        "tool nicctl dcqcn": said("".join(_DCQCN.format(pci=pci, device=name) for pci, name in devices.items())),
    }
