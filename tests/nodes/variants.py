"""What changes on a healthy node without making it less healthy."""

from __future__ import annotations

from nodes.machine import IB, NET, Machine, matching

from fabricdoctor.unknown import Unknown


def idle(machine: Machine) -> None:
    machine.growth = {"none": 0}


def just_booted(machine: Machine) -> None:
    """Ninety seconds up: links came up, and some went down again, between the samples."""
    machine.uptime_s, machine.growth = 90.0, {"carrier_changes": 2, "carrier_up_count": 1, "link_downed": 1}
    for name in matching(machine, "/carrier_changes"):
        machine.answers[name] = "4" if machine.answers[name] != "0" else "0"


def without_dcqcn(machine: Machine) -> None:
    """Switch both halves of DCQCN off, as a fabric with receiver-driven admission has them."""
    for name in (*matching(machine, "/ecn/roce_np/enable/"), *matching(machine, "/ecn/roce_rp/enable/")):
        machine.answers[name] = "0"
    machine.growth = {name: by for name, by in machine.growth.items() if "cnp" not in name}


def two_lossless_priorities(machine: Machine) -> None:
    """Protect priorities 0 and 5, with RDMA on 5 by DSCP 10, as Oracle's bare-metal shapes do."""
    machine.answers["environ"]["NCCL_IB_TC"] = "41"
    for name in matching(machine, "dcb "):
        dcb = machine.answers[name]
        dcb["pfc"]["enabled"] = 1 << 0 | 1 << 5
        dcb["app"] = [[5, 5 if dscp == 10 else 6 if dscp == 46 else 1 if dscp else 0, dscp] for dscp in range(64)]
        dcb["ets"] |= {"prio_tc": [0, 1, 1, 1, 1, 5, 6, 1], "tc_tx_bw": [10, 10, 0, 0, 0, 80, 0, 0]}
        dcb["buffer"]["prio2buffer"] = [1, 0, 0, 0, 0, 1, 0, 0]
    for name in matching(machine, "ethtool.stats "):
        kept = {key: value for key, value in machine.answers[name].items() if "prio3_pause" not in key}
        for priority in (0, 5):
            for side in ("rx", "tx"):
                kept |= {f"{side}_prio{priority}_pause": 0, f"{side}_prio{priority}_pause_duration": 0}
        machine.answers[name] = kept


def firmware_owns_dcb(machine: Machine) -> None:
    """Let the adapter's firmware negotiate PFC with the switch, as these drivers do unless told otherwise."""
    for name in matching(machine, "dcb "):
        machine.answers[name]["dcbx"] = 0x0A


def in_maintenance(machine: Machine) -> None:
    """No job, GPU driver unloaded, storage and management taken down by the administrator; the rails stay up."""
    idle(machine)
    machine.answers["environ"] = {"HOME": "/root"}
    for name in matching(machine, "/driver"):
        if str(machine.answers[name]).endswith("/nvidia"):
            del machine.answers[name]
    for name in ("enp41s0f0np0", "enp170s0f0np0", "bond0", "enp130s0f0np0"):
        down = Unknown(f"read {NET}/{name}/speed", "unsupported", "Invalid argument")
        machine.say({f"read {NET}/{name}/flags": "0x1002", f"read {NET}/{name}/operstate": "down",
                     f"read {NET}/{name}/speed": down})  # fmt: skip
        machine.answers["addresses"][name] = []
    for device in ("mlx5_1", "mlx5_7", "mlx5_12"):
        base = f"{IB}/{device}/ports/1"
        machine.say({f"read {base}/state": "1: DOWN", f"read {base}/phys_state": "3: Disabled",
                     f"read {base}/rate": "40 Gb/sec (4X QDR)"})  # fmt: skip
