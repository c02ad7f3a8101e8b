"""Faults that only tools tell of."""

from faults.row import MISSING, Row
from nodes import blocks, tools

_NIC = blocks.pci_address("nic", 0)
_STORED = tools.mstconfig(_NIC)["output"]


def _stored(*changes: tuple[str, str]):
    """Return the answer with rows of the table replaced."""
    text = _STORED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {f"tool mstconfig {_NIC}": tools.said(text)}


_PENDING = (
    "         LINK_TYPE_P1                                ETH(2)              ETH(2)              ETH(2)",
    "*        LINK_TYPE_P1                                ETH(2)              ETH(2)              IB(1)",
)
_NUMBER = (
    "         CNP_DSCP_P1                                 48                  48                  48",
    "*        CNP_DSCP_P1                                 48                  48                  50",
)


def _heard(**pfc: int | None):
    return {"tool lldpcli": tools.lldpcli({"rail0": 1 << 3, "rail1": 1 << 3} | pfc)}


_CHAIN = ("qos-chain-broken",)


#: the kernel's own driver shows of congestion control only the DSCP of CNPs
_INBOX = {
    f"read /sys/class/net/rail0/ecn/roce_{half}": MISSING
    for half in ("np/cnp_dscp", "np/cnp_802p_prio", *(f"{h}/enable/{p}" for h in ("np", "rp") for p in range(8)))
}

_ORDER = (
    "ROCE_ADAPTIVE_ROUTING_EN                    False(0)            True(1)             True(1)",
    "ROCE_ADAPTIVE_ROUTING_EN                    False(0)            False(0)            False(0)",
)
_PROGRAMMED = (
    "USER_PROGRAMMABLE_CC                        False(0)            False(0)            False(0)",
    "USER_PROGRAMMABLE_CC                        False(0)            True(1)             True(1)",
)
_MASKED = (
    "ROCE_CC_PRIO_MASK_P1                        255                 255                 255",
    "ROCE_CC_PRIO_MASK_P1                        255                 247                 247",
)


def _off(*halves: str):
    """Slowing down is a matter of each priority; answering marks is off for the port or not at all."""
    priorities = {"rp": (3,), "np": range(8)}
    return {f"read /sys/class/net/rail0/ecn/roce_{half}/enable/{p}": "0" for half in halves for p in priorities[half]}


FAULTS = {
    "adaptive-routing-without-out-of-order": [
        Row(_stored(_ORDER), "does not take packets out of order", "warning", "mlx5_0", {"adaptive_routing": True}),
    ],
    "wrong-congestion-control": [
        Row(
            {},
            "on for priority 0, 1, 2, 3, 4, 5, 6 and 7",
            "warning",
            expect={"congestion_control": "off"},
            also=_CHAIN,
        ),
        Row(_INBOX | _stored(_PROGRAMMED), "PCC", "warning", also=_CHAIN),
    ],
    "ecn-off-on-lossless-priority": [
        Row(_off("rp"), "slowing down on CNPs is off on priority 3", also=_CHAIN),
        Row(_off("np", "rp"), "answering marks with CNPs is off on priority 3; slowing down on", also=_CHAIN),
        Row(_INBOX | _stored(_MASKED), "answering marks with CNPs is off on priority 3", also=_CHAIN),
        # a whole adapter in a virtual machine, with the vendor's driver
        Row(_off("np") | {"read /proc/cpuinfo": "flags\t\t: fpu hypervisor"}, "answering marks", also=_CHAIN),
    ],
    "firmware-change-pending": [
        Row(_stored(_PENDING), "LINK_TYPE_P1 ETH(2), next IB(1)", "warning", subject="mlx5_0"),
        Row(
            _stored(_PENDING, _NUMBER),
            "LINK_TYPE_P1 ETH(2), next IB(1); CNP_DSCP_P1 48, next 50",
            "warning",
            subject="mlx5_0",
        ),
    ],
    "switch-pfc-differs": [
        Row(_heard(rail0=1 << 4), "switch leaf-rail0 port Ethernet1/3 has PFC on 4, this rail on 3"),
        Row(_heard(rail0=0), "has PFC off, this rail on 3"),
        Row(
            _heard(rail0=1 << 4),
            "has PFC on 4",
            "warning",
            expect={"lossless_priorities": None, "trust": None, "dscp": None, "cnp_priority": None},
        ),
    ],
}
