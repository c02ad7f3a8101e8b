"""Outputs of tools as people captured them, with neutral names and addresses, and the parser of each."""

from __future__ import annotations

#: lldpcli of lldpd 1.0.16, which heard a frame with the DCBX TLVs of IEEE 802.1Qaz
LLDPCLI = """\
{
  "lldp": [
    {
      "interface": [
        {
          "name": "rail0",
          "via": "LLDP",
          "rid": "1",
          "age": "0 day, 00:00:23",
          "chassis": [
            {
              "id": [{"type": "mac", "value": "02:00:00:00:aa:01"}],
              "name": [{"value": "leaf1"}],
              "descr": [{"value": "Example NOS 5.9 running on a 64x400G leaf"}],
              "mgmt-ip": [{"value": "192.0.2.11"}],
              "mgmt-iface": [{"value": "1"}],
              "capability": [
                {"type": "Bridge", "enabled": true},
                {"type": "Router", "enabled": true}
              ]
            }
          ],
          "port": [
            {
              "id": [{"type": "ifname", "value": "Ethernet13/1"}],
              "descr": [{"value": "node01 rail0"}],
              "ttl": [{"value": "120"}],
              "mfs": [{"value": "9216"}]
            }
          ],
          "vlan": [{"vlan-id": "100", "pvid": true}],
          "unknown-tlvs": [
            {
              "unknown-tlv": [
                {
                  "oui": "00,80,C2",
                  "subtype": "9",
                  "len": "21",
                  "value": "00,00,03,00,60,32,00,00,32,00,00,00,00,02,00,00,02,00,00,00,00"
                },
                {
                  "oui": "00,80,C2",
                  "subtype": "10",
                  "len": "21",
                  "value": "00,00,03,00,60,32,00,00,32,00,00,00,00,02,00,00,02,00,00,00,00"
                },
                {"oui": "00,80,C2", "subtype": "11", "len": "2", "value": "08,08"},
                {"oui": "00,80,C2", "subtype": "12", "len": "10", "value": "00,63,12,B7,65,00,1A,C5,00,30"}
              ]
            }
          ]
        }
      ]
    }
  ]
}
"""

#: mlxconfig of a ConnectX-5, whose firmware tells stored values alone, and its three columns on newer firmware
ONE_COLUMN = """
Device #1:
----------

Device type:    ConnectX5
Device:         0000:03:00.0

Configurations:                                      Next Boot
         ROCE_CC_PRIO_MASK_P1                255
         CLAMP_TGT_RATE_AFTER_TIME_INC_P1    True(1)
         CNP_802P_PRIO_P1                    6
         CNP_DSCP_P1                         48
"""
THREE_COLUMNS = """
Device #1:
----------

Device type:    ConnectX4
Configurations:                              Default         Current         Next Boot
*        KEEP_IB_LINK_UP_P2                  False(0)        True(1)         True(1)
         KEEP_LINK_UP_ON_BOOT_P2             False(0)        False(0)        False(0)
         ESWITCH_HAIRPIN_DESCRIPTORS         Array[0..7]     Array[0..7]     Array[0..7]
         NUM_OF_VL_P1                        _4_VLs(3)       _4_VLs(3)       _4_VLs(3)
*        MEMIC_SIZE_LIMIT                    _256KB(1)       _256KB(1)       DISABLED(0)
The '*' shows parameters with next value different from default/current value.
"""

#: mlxlink in JSON, whose status says that not everything could be read
MLXLINK = """\
{
   "result" : {
      "output" : {
         "Operational Info" : {
            "Auto Negotiation" : "ON",
            "FEC" : "Standard_RS-FEC - (544,514)",
            "Loopback Mode" : "No Loopback",
            "Physical state" : "LinkUp",
            "Speed" : "400G",
            "State" : "Active",
            "Width" : "4x"
         },
         "Supported Info" : {
            "Enabled Link Speed" : {
               "mask" : "0x00010000",
               "values" : [ "400G_4X" ]
            }
         },
         "Troubleshooting Info" : {
            "Group Opcode" : "N/A",
            "Recommendation" : "No issue was observed",
            "Status Opcode" : "0"
         },
         "Physical Counters and BER Info" : {
            "Effective Physical BER" : "15E-255",
            "Effective Physical Errors" : "0",
            "Raw Physical BER" : "1E-8",
            "Raw Physical Errors Per Lane" : {
               "values" : [ "3183333", "242074" ]
            },
            "Symbol BER" : "N/A",
            "Time Since Last Clear [Min]" : "324.0"
         },
         "Module Info" : {
            "Identifier" : "QSFP112",
            "Rx Power Current [dBm]" : "N/A",
            "Vendor Name" : "EXAMPLE",
            "Vendor Part Number" : "EX-400-DAC",
            "Vendor Serial Number" : "EX123456789"
         }
      }
   },
   "status" : {
      "code" : 1,
      "message" : "Some of the information could not be read"
   }
}
"""

NICCTL_QOS = """\
NIC  : 00000000-0000-0000-0000-000000000001 (0000:f6:00.0)

Port : 00000000-0000-0000-0000-000011010000

  Classification type         : DSCP

  DSCP-to-priority :
    DSCP bitmap               : 0xffffbffffeffffff ==> priority : 0
    DSCP bitmap               : 0x0000000001000000 ==> priority : 3
    DSCP bitmap               : 0x0000400000000000 ==> priority : 6
    DSCP                      : 0-23, 25-45, 47-63 ==> priority : 0
    DSCP                      : 24 ==> priority : 3
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
#: an adapter as it comes: everything in one class, and no PFC
NICCTL_QOS_NEW = """
NIC  : 00000000-0000-0000-0000-000000000002  (0000:06:00.0)

Port : 00000000-0000-0000-0000-000011010000

  Classification type         : DSCP

  DSCP-to-priority :
    DSCP bitmap               : 0xffffffffffffffff ==> priority : 0
    DSCP                      : 0-63 ==> priority : 0


  PFC :
    PFC priority bitmap       : 0x0
    PFC no-drop priorities    :

  Scheduling :
    --------------------------------------------
    Priority  Scheduling  Bandwidth Rate-limit
              Type        (in %age) (in Gbps)
    --------------------------------------------
    0         DWRR        0         N/A
"""
NICCTL_DCQCN = """\
NIC : 00000000-0000-0000-0000-000000000001 (0000:f6:00.0)
------------------------------------------------------------------------------------------

Lif id                                     : 00000000-0000-0000-0000-000000000002
ROCE device                                : ionic_7
  DCQCN profile id                         : 1
  Status                                   : Enabled
  Rate increase in AI phase                : 160
  Rate increase byte count                 : 431068
  Alpha update G value                     : 512
  Token bucket size                        : 800000
  DSCP value used for CNP                  : 46
******************************************************************************************
NIC : 00000000-0000-0000-0000-000000000002 (0000:06:00.0)
------------------------------------------------------------------------------------------

Lif id                                     : 00000000-0000-0000-0000-000000000003
ROCE device                                : ionic_0
  DCQCN profile id                         : 1
  Status                                   : Disabled
******************************************************************************************
"""

NICCLI_QOS = """\

IEEE 8021QAZ ETS Configuration TLV:
         PRIO_MAP: 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2
         TC Bandwidth: 50% 50% 0%
         TSA_MAP: 0:ets 1:ets 2:strict
IEEE 8021QAZ PFC TLV:
         PFC enabled: 3
IEEE 8021QAZ APP TLV:
         APP#0:
          Priority: 7
          Sel: 5
          DSCP: 48

         APP#1:
          Priority: 3
          Sel: 5
          DSCP: 26

         APP#2:
          Priority: 3
          Sel: 3
          UDP or DCCP: 4791

TC Rate Limit: 100% 100% 100% 0% 0% 0% 0% 0%
"""
