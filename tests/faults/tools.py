"""Faults that only tools tell of."""

from faults.row import Row
from nodes import make, tools

_NIC = make._address("nic", 0)
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


FAULTS = {
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
