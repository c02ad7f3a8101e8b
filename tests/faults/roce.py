"""Faults of the area roce."""

from faults.row import Row, put
from nodes import make

_PORT = "/sys/class/infiniband/mlx5_0/ports/1"
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


def _statistic(name: str, value: int):
    return {"ethtool.stats rail0": put(name, value=value)}


def _dscp(priority: int):
    return {"dcb rail0": put("app", value=[[5, priority if d == 26 else d >> 3, d] for d in range(64)])}


_GLOBAL_PAUSE = {"ethtool.pause rail0": put("rx", value=True)}
_PAUSED = _GLOBAL_PAUSE | _statistic("rx_global_pause_duration", 3_000_000)
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
    "packet-loss-growing": [
        Row({f"read {_PORT}/hw_counters/out_of_sequence": "4000"}, "4000 packets missing (500 ppm)", "warning"),
        Row({f"read {_PORT}/hw_counters/local_ack_timeout_err": "12"}, "12 time-outs in 60 s", "warning"),
        Row(
            {f"read {_PORT}/hw_counters/packet_seq_err": "16"}, "(2 ppm)", "warning", expect={"max_loss_ppm": 1.0}
        ),
        Row({f"read {_PORT}/hw_counters/retrans_timeout_events": "90"}, "88 time-outs", "warning", "mlx5_0/1",
            {"lossless_priorities": frozenset()}, node=make.efa),
    ],
    "packets-discarded-on-arrival": [
        Row(_statistic("rx_prio3_discards", 7), "7 packets of priority 3 dropped", "warning"),
    ],
    "pause-time-high": [
        Row(_statistic("rx_prio3_pause_duration", 30_900_000), "PFC on priority 3 received 50% of the time", "warning"),
        Row(_statistic("tx_prio3_pause_duration", 30_012_000), "our own receive path is slow", "warning"),
        Row(_statistic("rx_global_pause_duration", 13_000_000), "802.3x pause received 22% of the time", "warning"),
        Row(_statistic("tx_prio3_pause_duration", 3_012_000), "sent 5%", "warning", expect={"max_pause_share": 0.01}),
    ],
}  # fmt: skip
