"""Faults of the area roce that counters tell."""

from faults.row import Row, put
from nodes import make

_PORT = "/sys/class/infiniband/mlx5_0/ports/1"
_DCQCN = {"congestion_control": "dcqcn"}
_LOSSY = {"lossless_priorities": frozenset()}
_UNSET = {"lossless_priorities": None, "cnp_priority": None}
_QUIET = {"np_ecn_marked_roce_packets": 45_000, "rp_cnp_handled": 27_000}


def _counters(**values: int):
    return {f"read {_PORT}/hw_counters/{name}": str(value) for name, value in values.items()}


def _statistic(name: str, value: int):
    return {"ethtool.stats rail0": put(name, value=value)}


FAULTS = {
    "packet-loss-growing": [
        Row(_counters(out_of_sequence=4000), "4000 packets missing on the way here, 0 time-outs (1000 per", "warning"),
        Row(_counters(packet_seq_err=16), "16 packets missing on the way from here, 0 time-outs (4 per m", "warning",
            expect={"max_loss_ppm": 1.0}),
        Row(_counters(local_ack_timeout_err=12), "12 time-outs: a peer that is gone, or a path", "warning"),
        # no expectation: PFC is on, so what peers report missing is loss
        Row(_counters(packet_seq_err=4000), "4000 packets missing on the way from here", "warning", expect=_UNSET),
        # a lossy fabric: only time-outs, and at least one a minute
        Row({f"read {_PORT}/hw_counters/retrans_timeout_events": "90"}, "88 time-outs", "warning", "mlx5_0/1", _LOSSY,
            node=make.efa),
        Row(_counters(out_of_sequence=1_400_000, local_ack_timeout_err=12), "12 time-outs", "warning",
            expect={"adaptive_routing": True}, node=make.adaptive_routing),
        # a peer was killed: this node outlived it
        Row(_counters(local_ack_timeout_err=60, req_transport_retries_exceeded=8), "this node is a witness", "info"),
        Row(_counters(local_ack_timeout_err=60, req_cqe_flush_error=64), "this node is a witness", "info"),
        Row(_counters(out_of_sequence=4000, local_ack_timeout_err=60, req_cqe_flush_error=64), "witness", "warning"),
    ],
    "loss-without-pause-or-marks": [
        Row(_counters(out_of_sequence=4000, **_QUIET), "4000 packets missing on the way here", "warning"),
        Row(_counters(packet_seq_err=4000, **_QUIET), "and no pause, no ECN mark, no drop here", "warning"),
    ],
    "packets-discarded-on-arrival": [
        Row(_statistic("rx_prio3_discards", 7), "7 packets of priority 3 dropped", "warning"),
    ],
    "pause-time-high": [
        Row(_statistic("rx_prio3_pause_duration", 30_900_000), "PFC on priority 3 received 50% of the time", "warning"),
        Row(_statistic("tx_prio3_pause_duration", 30_012_000), "our own receive path is slow", "warning"),
        Row(_statistic("rx_global_pause_duration", 13_000_000), "802.3x pause received 22% of the time", "warning"),
        Row(_statistic("tx_prio3_pause_duration", 3_012_000), "sent 5%", "warning", expect={"max_pause_share": 0.01}),
        Row({"ethtool.stats rail0": lambda s: s.update(rx_prio3_pause_duration=18_900_000,
                                                       tx_prio3_pause_duration=12_012_000)},
            "sent 20% of the time, PFC on priority 3 received 30% of the time: this node holds others", "warning"),
    ],
    "pfc-storm": [
        Row(_statistic("tx_prio3_pause_duration", 57_012_000), "PFC on priority 3 sent 95% of the time"),
        Row(_statistic("rx_prio3_pause_duration", 57_900_000), "PFC on priority 3 received 95%", "warning"),
        Row(_statistic("tx_pause_storm_error_events", 2), "watchdog stopped pause frames that this node sent, 2 times"),
        Row(_statistic("tx_pause_storm_warning_events", 3), "sent for too long at a stretch, 3 times", "warning"),
    ],
    "ecn-marks-without-cnp": [
        Row(_counters(np_ecn_marked_roce_packets=65_000, np_cnp_sent=36_000), "20000 packets with ECN marks, 0 CNPs",
            "warning", expect=_DCQCN),
        Row(_counters(np_ecn_marked_roce_packets=1_045_000, np_cnp_sent=36_040), "40 CNPs sent", "warning",
            expect=_DCQCN),
    ],
    "cnp-ignored": [
        Row(_counters(rp_cnp_ignored=5000), "5000 of 8000 CNPs ignored in 60 s", "warning", expect=_DCQCN),
    ],
}  # fmt: skip
