"""Faults of the area roce."""

from faults.row import Row, put

_LINK_LOCAL = {"gid": "fe80::1", "type": "RoCE v2", "ndev": "rail0"}
_V1 = {"gid": "::ffff:192.0.2.10", "type": "IB/RoCE v1", "ndev": "rail0"}


def _env(name: str, value: str):
    return {"environ": put(name, value=value)}


def _mtu(*rails: int, interface: str, rdma: int):
    return {f"read /sys/class/net/rail{rail}/mtu": interface for rail in rails} | {
        f"verbs.device mlx5_{rail}": put("ports", "1", "active_mtu", value=rdma) for rail in rails
    }


def _pfc(*priorities: int):
    return {"dcb rail0": put("pfc", "enabled", value=sum(1 << p for p in priorities))}


def _dscp(priority: int):
    return {"dcb rail0": put("app", value=[[5, priority if d == 26 else d >> 3, d] for d in range(64)])}


_GLOBAL_PAUSE = {"ethtool.pause rail0": put("rx", value=True)}
_PAUSED = _GLOBAL_PAUSE | {"ethtool.stats rail0": put("rx_global_pause_duration", value=3_000_000)}
_CHAIN = ("qos-chain-broken",)
_UNSET = {"trust": None, "dscp": None}

FAULTS = {
    "no-routable-roce-v2-gid": [
        Row({"gids mlx5_0/1": put("entries", value={"0": _LINK_LOCAL, "1": _V1})}, "index 1 (192.0.2.10, RoCE v1)"),
    ],
    "mtu-below-expected": [
        Row(_mtu(0, interface="1500", rdma=1024), "RDMA MTU 1024 (MTU 1500 on rail0)"),
        Row(_mtu(0, 1, interface="1500", rdma=1024), "RDMA MTU 1024", "warning", expect={"mtu": None}),
    ],
    "mtu-differs-between-rails": [
        Row(_mtu(0, interface="2200", rdma=2048), "mlx5_0/1 (rail0): RDMA MTU 2048", "warning", "rails", {"mtu": None}),
    ],
    "pfc-off": [Row(_pfc(), "PFC on no priority", also=_CHAIN)],
    "pfc-on-wrong-priority": [Row(_pfc(4), "PFC on 4", also=_CHAIN)],
    "pfc-on-too-many-priorities": [
        Row(_pfc(3, 4, 5), "PFC also on 4 and 5", "warning", also=_CHAIN),
        Row({}, "PFC also on 3", "warning", expect={"lossless_priorities": frozenset()}, also=_CHAIN),
    ],
    "pfc-on-cnp-priority": [Row(_pfc(3, 6), "PFC on 6, the priority of CNPs", also=_CHAIN)],
    "pfc-on-default-priority": [Row(_pfc(0, 3), "PFC on 0", "warning", also=_CHAIN)],
    "trust-mismatch": [
        Row({"dcb rail0": put("trust", value=[255])}, "classified by PCP", also=_CHAIN),
        Row({}, "classified by DSCP", also=_CHAIN, expect={"trust": "pcp"}),
    ],
    "dscp-not-mapped-to-lossless-priority": [Row(_dscp(0), "DSCP 26 gets priority 0", also=_CHAIN)],
    "global-pause-with-pfc": [
        Row(_GLOBAL_PAUSE, "802.3x pause is on beside PFC on 3", "warning", also=_CHAIN),
        Row(_PAUSED, "802.3x pause is on", also=_CHAIN),
    ],
    "qos-chain-broken": [
        Row({"dcb rail0": put("app", value=[])}, "first broken link: trust-mismatch; packets are classified by PCP"),
        Row(_dscp(1), "first broken link: dscp-not-mapped-to-lossless-priority; DSCP 26 gets priority 1"),
        Row(_pfc(), "first broken link: pfc-off; PFC on no priority"),
        Row(_pfc(4), "first broken link: pfc-on-wrong-priority; PFC on 4", expect=_UNSET),
        Row(_GLOBAL_PAUSE, "first broken link: global-pause-with-pfc; 802.3x pause is on", "warning"),
    ],
}  # fmt: skip
