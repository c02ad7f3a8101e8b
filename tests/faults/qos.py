"""Faults of the classes, buffers and congestion control of a rail, and of the traffic class of its packets."""

from faults.row import Row, put
from nodes import make

_ECN = "/sys/class/net/rail0/ecn"
_TCLASS = "read /sys/class/infiniband/mlx5_0/tc/1/traffic_class"
_TOS = "read /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"
_CHAIN = ("qos-chain-broken",)


def _dcb(*path: str, value: object):
    return {"dcb rail0": put(*path, value=value)}


def _env(**variables: str):
    return {"environ": {"HOME": "/home/user"} | variables}


def _own(dcbx: int, *priorities: int):
    def edit(dcb):
        dcb["dcbx"] = dcbx
        dcb["pfc"]["enabled"] = sum(1 << p for p in priorities)

    return {"dcb rail0": edit}


def _cnp_beside(dcb):
    dcb["ets"]["prio_tc"] = [0, 0, 0, 3, 0, 0, 3, 0]


_ALL_OFF = {f"read {_ECN}/roce_{half}/enable/{p}": "0" for half in ("np", "rp") for p in range(8)}

FAULTS = {
    "traffic-class-misses-lossless-priority": [
        Row(_env(NCCL_IB_TC="41"), "NCCL_IB_TC (environment) is 41: DSCP 10, priority 1", also=_CHAIN),
        Row(_env(NCCL_IB_TC="0"), "NCCL_IB_TC (environment) is 0: DSCP 0, priority 0", also=_CHAIN),
        Row({_TCLASS: "Global tclass=160"}, "the kernel's traffic class for all is 160: DSCP 40", also=_CHAIN),
        Row({_TOS: "184"}, "rdma_cm's default_roce_tos is 184: DSCP 46, priority 5", also=_CHAIN),
    ],
    "traffic-class-unset": [
        Row(_env(SLURM_JOB_ID="7"), "NCCL_IB_TC is not set", "warning"),
        Row(_env(NCCL_DEBUG="INFO") | {_TCLASS: "Global tclass=106"}, "reaches not all queue pairs", "warning"),
    ],
    "lossless-priority-shares-traffic-class": [
        Row(_dcb("ets", "prio_tc", value=[0] * 8), "priority 3 shares its traffic class with 0, 1, 2, 4, 5, 6 and 7",
            "warning", also=_CHAIN),
    ],
    "lossless-class-without-bandwidth": [
        Row(_dcb("ets", "tc_tx_bw", value=[100, 0, 0, 0, 0, 0, 0, 0]), "traffic class 3 of priority 3 has 0 %",
            "warning", also=_CHAIN),
        Row({}, "has 50 % of the bandwidth", "warning", expect={"lossless_bandwidth": 80}, also=_CHAIN),
    ],
    "rate-limit-on-lossless-class": [
        Row(_dcb("maxrate_kbps", value=[0, 0, 0, 100_000_000, 0, 0, 0, 0]),
            "traffic class 3 is limited to 100 Gb/s on a link of 400 Gb/s", "warning", also=_CHAIN),
    ],
    "headroom-too-small": [
        Row(_dcb("buffer", "size", value=[130944, 130944, 0, 0, 0, 0, 0, 0]), "130944 bytes", "warning", also=_CHAIN),
        Row(_dcb("pfc", "delay", value=100), "200064 bytes of receive buffer for priority 3, with a cable of 100 m",
            "warning", also=_CHAIN),
        Row(_dcb("buffer", "prio2buffer", value=[0] * 8), "shares its receive buffer with 0", "warning", also=_CHAIN),
    ],
    "cable-length-not-set": [Row({}, "with a cable of 7 m", "info", expect={"cable_m": 30})],
    "dcbx-owned-by-firmware": [
        Row(_own(0x0A, 3), "the firmware negotiates with the switch, and PFC is on 3", "info"),
        Row(_own(0x02), "and PFC is on none", "warning", also=_CHAIN),
    ],
    "cnp-maps-to-paused-class": [
        Row({f"read {_ECN}/roce_np/cnp_dscp": "26"}, "DSCP 26: priority 3, which is paused", also=_CHAIN),
        Row({"dcb rail0": _cnp_beside}, "DSCP 48: priority 6, in the traffic class of 3, which is paused", also=_CHAIN),
    ],
    "pfc-storm-watchdog-off": [Row({"ethtool.pfc-storm rail0": 0}, "PFC storm prevention is off", "warning")],
    "neither-lossless-nor-lossy-mode": [
        Row(_ALL_OFF, "neither PFC nor 802.3x pause nor congestion control", "warning",
            expect={"lossless_priorities": frozenset()}, node=make.lossy),
    ],
}  # fmt: skip
