"""The faults that are injected in the lab, and what `fabricdoctor check` must say of each.

All are on node 1; commands are those of faults.sh, and `by_fix` does what the tool said. `root` and `user` give, for a
check by root and by an ordinary user, the exit status and the faults that count (what others explain is in `folded`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

PORT0, PORT = "mlx5_0/1 (rail0)", "mlx5_1/1 (rail1)"
Found = tuple[str, str, str]


@dataclass(frozen=True)
class Expected:
    """Exit status (None: 0 or 3); faults as (check, subject, severity); checks that must be among the unknown ones."""

    status: int | None = 0
    faults: frozenset[Found] = frozenset()
    folded: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()


def fault(check: str, severity: str, *folded: str, on: str = PORT) -> Expected:
    """Return what one fault must give: exit status 1 when it is critical, else 0."""
    return Expected(int(severity == "critical"), frozenset({(check, on, severity)}), frozenset(folded))


def together(*parts: Expected) -> Expected:
    """Return what the faults of all the parts give at once."""
    return Expected(
        max(part.status or 0 for part in parts),
        frozenset().union(*(part.faults for part in parts)),
        frozenset().union(*(part.folded for part in parts)),
    )


def on_both(check: str, severity: str, *folded: str) -> Expected:
    return together(*(fault(check, severity, *folded, on=port) for port in (PORT0, PORT)))


@dataclass(frozen=True)
class Row:
    """One injected fault, or one on each rail. `around` is put before the command, `options` are added to it.

    `saw`: a subject and what its finding says, as a pattern. `late`: answers that do not come are what it is about.
    """

    name: str
    inject: str = ""
    undo: str = ""
    root: Expected = field(default_factory=Expected)
    user: Expected | None = None
    environment: str = ""
    around: str = ""
    options: str = ""
    saw: tuple[tuple[str, str], ...] = ()
    late: bool = False
    needs_traffic: bool = False

    def expected(self, who: str) -> Expected:
        return self.user if who == "user" and self.user is not None else self.root

    def line(self) -> str:
        """Return the row as run_table.sh reads it."""
        again = "" if self.late else "again"
        return f"{self.name}|{self.inject}|{self.undo}|{self.environment}|{self.around}|{self.options}|{again}"


CHAIN = "qos-chain-broken"
LOSS = "packet-loss-growing"
ALL_ON = ("pfc-on-too-many-priorities", "pfc-on-cnp-priority", "pfc-on-default-priority", "cnp-maps-to-paused-class")
GID = "gid-nccl-would-pick-is-not-routable"
BOTH_CLOSED = Expected(1, frozenset({("uverbs-not-usable", d, "critical") for d in ("mlx5_0", "mlx5_1")}))
SMALL_MEMLOCK = Expected(
    1, BOTH_CLOSED.faults | {("memlock-limited", "limits", "critical")}
)  # the MR cannot be made, and this is why

#: The kernel's lock of all network settings is held by whoever asked for statistics first: one of the two runs loses
#: only those, the other everything of the network, and cannot tell. Neither waits.
HANGS = Expected(None, unknown=frozenset({"packets-discarded-on-arrival"}))
#: So many packets that one in a thousand is seen to be missing, see README.md.
LONG, SHORT = "--interval 40 --budget 240", "--interval 10 --budget 120"


def busy(expected: Expected) -> Expected:
    """Return the same where traffic keeps emulated processors from some answers: those may be missing."""
    return replace(expected, status=None)


def to_here(percent: str, interval: str) -> Row:
    """Return loss at the switch on the way to node 1, rail 1, while traffic runs on both rails."""
    told = ((PORT, r"^\d+ packets missing on the way here, \d+ time-outs"),)
    name, inject = f"loss-{percent}-to-here", f"switch_loss 1 1 {percent}"
    return Row(
        name, inject, "switch_queue 1 1", busy(fault(LOSS, "warning")), options=interval, saw=told, needs_traffic=True
    )


def from_here(percent: str, interval: str) -> Row:
    """Return loss of what node 1 sends on rail 0."""
    told = ((PORT0, r"^\d+ packets missing on the way from here, \d+ time-outs"),)
    name, inject = f"loss-{percent}-from-here", f"switch_loss 2 0 {percent}"
    found = busy(fault(LOSS, "warning", on=PORT0))
    return Row(name, inject, "switch_queue 2 0", found, options=interval, saw=told, needs_traffic=True)


CLASSES = together(
    fault(CHAIN, "warning", "lossless-priority-shares-traffic-class", on=PORT0),
    fault(CHAIN, "warning", "lossless-class-without-bandwidth"),
)
LIMIT_AND_BUFFER = together(
    fault(CHAIN, "warning", "rate-limit-on-lossless-class", on=PORT0), fault(CHAIN, "warning", "headroom-too-small")
)
#: On request: perftest does not come to send on every emulated machine, and then there is nothing to lose.
LOSS_ROWS = (
    (
        Row("traffic", "traffic 0 1", root=busy(Expected()), options=SHORT, needs_traffic=True),
        to_here("0.1", LONG), from_here("1", SHORT), replace(to_here("5", SHORT), undo="traffic_end 0 1"),
    )
    if os.environ.get("FABRICDOCTOR_LAB_LOSS")
    else ()
)  # fmt: skip
#: Neighbours differ: that a fault vanishes when it is undone is seen in the next row.
ROWS = (
    Row("healthy"),
    Row("link-down", "link_down 1 1", "by_fix; port_wait 1 1 ACTIVE", fault("port-not-active", "critical")),
    Row(
        "address-and-mtu", "address_gone 1 0; mtu 1 1 1500", "address_back 1 0; mtu 1 1 4200",
        together(
            fault("no-address-on-rail", "critical", "no-routable-roce-v2-gid", GID, on=PORT0),
            fault("mtu-below-expected", "critical", "mtu-differs-between-rails"),
        ),
    ),
    Row("cable-out", "cable_out 1 1", "cable_in 1 1", fault("port-not-active", "critical")),
    Row(
        "gid-index-and-rdma-cm", "rdma_cm_class 1 32", "rdma_cm_class_end 1",
        together(
            on_both(GID, "critical", "gid-index-pinned"),
            fault(CHAIN, "critical", "traffic-class-misses-lossless-priority"),
        ),
        environment="NCCL_IB_GID_INDEX=0 NCCL_IB_TC=104",
    ),
    Row(
        "cnp-and-buffer", "cnp_dscp 1 0 26; buffer_of 1 1 3 0", "cnp_dscp 1 0 48; buffer_of 1 1 3 1",
        together(
            fault(CHAIN, "critical", "cnp-maps-to-paused-class", on=PORT0),
            fault(CHAIN, "warning", "headroom-too-small"),
        ),
    ),
    Row(
        "watchdog-and-discards", "storm_watchdog 1 0 0; rising 1 1 rx_prio3_discards 500",
        "rising_stop; storm_watchdog 1 0 65535",
        together(
            fault("pfc-storm-watchdog-off", "warning", on=PORT0), fault("packets-discarded-on-arrival", "warning")
        ),
        options="--interval 3",
    ),
    Row(
        "pfc-off-and-elsewhere", "pfc_only 1 0 4; pfc_off 1 1", "by_fix",
        together(
            fault(CHAIN, "critical", "pfc-on-wrong-priority", on=PORT0), fault(CHAIN, "critical", "pfc-off")
        ),
    ),
    Row(
        "nccl-class-unset-and-ports-never-used", "spare_in 1 0; spare_in 1 1; spare_in 1 2",
        "spare_out 1 0; spare_out 1 1; spare_out 1 2", on_both("traffic-class-unset", "warning"),
        environment="SLURM_JOB_ID=1",
    ),
    Row(
        "dscp-remapped-and-pfc-on-all", "dscp_26_to_0 1 0; pfc_all 1 1", "by_fix",
        together(
            fault(CHAIN, "critical", "dscp-not-mapped-to-lossless-priority", on=PORT0),
            fault(CHAIN, "critical", *ALL_ON),
        ),
    ),
    Row(
        "pauses",
        "rising 1 0 tx_prio3_pause_duration 300000; rising 1 1 rx_prio3_pause_duration 300000", "rising_stop",
        on_both("pause-time-high", "warning"), options="--interval 5",
        saw=((PORT0, r"^PFC on priority 3 sent \d+% of"), (PORT, r"^PFC on priority 3 received \d+% of")),
    ),
    Row(
        "ecn-half", "ecn_answers_off 1 0; ecn_half 1 1 rp 3 0", "by_fix; ecn_answers_on 1 0",
        on_both(CHAIN, "critical", "ecn-off-on-lossless-priority"),
        saw=((PORT0, "answering marks with CNPs"), (PORT, "slowing down on CNPs")),
    ),
    Row("file-hangs", "fifo_make 1", "fifo_end 1", Expected(3, unknown=frozenset({GID})), late=True),
    Row(
        "dcbx-by-firmware", "dcbx_firmware 1 0; dcbx_firmware 1 1; pfc_off 1 1",
        "dcbx_host 1 0; dcbx_host 1 1; pfc_default 1 1",
        together(
            fault("dcbx-owned-by-firmware", "info", on=PORT0),
            fault(CHAIN, "critical", "pfc-off", "dcbx-owned-by-firmware"),
        ),
    ),
    Row(
        "limit-buffer-and-uverbs", "rate_limit 1 0 3 1Gbit; buffer_bytes 1 1 1 20000; uverbs_closed",
        "rate_limit 1 0 3 0; buffer_bytes 1 1 1 200064; uverbs_open",
        LIMIT_AND_BUFFER, together(LIMIT_AND_BUFFER, BOTH_CLOSED),
    ),
    Row("kernel-hangs", "hang_ethtool 1 1", "hang_end 1 1", HANGS, options="--budget 12", late=True),
    Row(
        "global-pause-and-trust", "global_pause_on 1 0; trust_pcp 1 1", "global_pause_off 1 0; trust_dscp 1 1",
        together(
            fault(CHAIN, "warning", "global-pause-with-pfc", on=PORT0), fault(CHAIN, "critical", "trust-mismatch")
        ),
    ),
    Row("healthy-meanwhile"),
    *LOSS_ROWS,
    Row(
        "classes-and-memlock", "class_of 1 0 3 0; class_shares 1 1 0:100 3:0",
        "class_of 1 0 3 3; class_shares_default 1 1", CLASSES, together(CLASSES, SMALL_MEMLOCK),
        around="with_memlock 64",
    ),
    Row(
        "nccl-class-wrong", environment="NCCL_IB_TC=32",
        root=on_both(CHAIN, "critical", "traffic-class-misses-lossless-priority"),
    ),
    Row("healthy-again"),
)  # fmt: skip
