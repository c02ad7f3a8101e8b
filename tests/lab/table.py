"""The faults that are injected in the lab, and what `fabricdoctor check` must say of each.

All are on node 1; commands are those of faults.sh. `root` and `user` give, for a check by root and by an ordinary user,
the exit status and the faults that count (those that others explain are in `folded`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

PORT = "mlx5_1/1 (rail1)"


@dataclass(frozen=True)
class Expected:
    """Exit status (None: 0 or 3); faults as (check, subject, severity); checks that must be among the unknown ones."""

    status: int | None = 0
    faults: frozenset[tuple[str, str, str]] = frozenset()
    folded: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()


def fault(check: str, severity: str, subject: str = PORT, *folded: str) -> Expected:
    """Return what one fault must give: exit status 1 when it is critical, else 0."""
    return Expected(int(severity == "critical"), frozenset({(check, subject, severity)}), frozenset(folded))


@dataclass(frozen=True)
class Row:
    """One injected fault. `around` is put before the command, `during` runs beside it, `options` are added to it."""

    name: str
    inject: str = ""
    undo: str = ""
    root: Expected = field(default_factory=Expected)
    user: Expected | None = None
    environment: str = ""
    around: str = ""
    options: str = ""

    def expected(self, who: str) -> Expected:
        return self.user if who == "user" and self.user is not None else self.root


CHAIN = "qos-chain-broken"
ALL_ON = ("pfc-on-too-many-priorities", "pfc-on-cnp-priority", "pfc-on-default-priority", "cnp-maps-to-paused-class")
GID = "gid-nccl-would-pick-is-not-routable"
BOTH_GIDS = Expected(1, frozenset({(GID, "mlx5_0/1 (rail0)", "critical"), (GID, PORT, "critical")}))
BOTH_CLOSED = Expected(1, frozenset({("uverbs-not-usable", d, "critical") for d in ("mlx5_0", "mlx5_1")}))
SMALL_MEMLOCK = Expected(
    1, BOTH_CLOSED.faults | {("memlock-limited", "limits", "critical")}
)  # the MR cannot be made, and this is why

#: The kernel's lock of all network settings is held by whoever asked for statistics first: one of the two runs loses
#: only those, the other everything of the network, and cannot tell. Neither waits.
HANGS = Expected(None, unknown=frozenset({"packets-discarded-on-arrival"}))
#: Neighbours differ: that a fault vanishes when it is undone is seen in the next row.
ROWS = (
    Row("healthy"),
    Row("link-down", "link_down 1 1", "link_up 1 1", fault("port-not-active", "critical")),
    Row(
        "mtu-1500", "mtu 1 1 1500", "mtu 1 1 4200",
        fault("mtu-below-expected", "critical", PORT, "mtu-differs-between-rails"),
    ),
    Row("cable-out", "cable_out 1 1; sleep 0.5", "cable_in 1 1; sleep 0.5", fault("port-not-active", "critical")),
    Row(
        "address-removed", "address_gone 1 1; sleep 0.5", "address_back 1 1; rail_wait 1 1",
        fault("no-address-on-rail", "critical", PORT, "no-routable-roce-v2-gid", GID),
    ),
    Row("gid-index-link-local", environment="NCCL_IB_GID_INDEX=0", root=BOTH_GIDS),
    Row("pfc-off", "pfc_off 1 1", "pfc_default 1 1", fault(CHAIN, "critical", PORT, "pfc-off")),
    Row(
        "discards-rising", "rising 1 1 rx_prio3_discards 500", "rising_stop",
        fault("packets-discarded-on-arrival", "warning"), options="--interval 3",
    ),
    Row(
        "pfc-wrong-priority", "pfc_only 1 1 4", "pfc_default 1 1",
        fault(CHAIN, "critical", PORT, "pfc-on-wrong-priority"),
    ),
    Row("pfc-too-many", "pfc_all 1 1", "pfc_default 1 1", fault(CHAIN, "critical", PORT, *ALL_ON)),
    Row(
        "dscp-remapped", "dscp_26_to_0 1 1", "dscp_26_back 1 1",
        fault(CHAIN, "critical", PORT, "dscp-not-mapped-to-lossless-priority"),
    ),
    Row(
        "pauses-rising", "rising 1 1 rx_prio3_pause_duration 600000", "rising_stop",
        fault("pause-time-high", "warning"), options="--interval 3",
    ),
    Row("ecn-off", "ecn_off 1 1 3", "ecn_on 1 1 3", fault(CHAIN, "critical", PORT, "ecn-off-on-lossless-priority")),
    Row("trust-pcp", "trust_pcp 1 1", "trust_dscp 1 1", fault(CHAIN, "critical", PORT, "trust-mismatch")),
    Row("memlock-small", root=Expected(), user=SMALL_MEMLOCK, around="with_memlock 64"),
    Row(
        "global-pause", "global_pause_on 1 1", "global_pause_off 1 1",
        fault(CHAIN, "warning", PORT, "global-pause-with-pfc"),
    ),
    Row("uverbs-closed", "uverbs_closed", "uverbs_open", Expected(), BOTH_CLOSED),
    Row(
        "file-hangs", "fifo_make 1", "fifo_end 1",
        Expected(3, unknown=frozenset({GID})),
    ),
    Row(
        "kernel-hangs", "hang_ethtool 1 1", "hang_end 1 1; sleep 1",
        HANGS, options="--budget 12",
    ),
    Row("healthy-again"),
)  # fmt: skip
