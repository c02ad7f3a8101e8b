"""All whole nodes, each with the profile of its site and the ports that are its fabric.

`python tests/nodes/whole.py` writes their recordings, one file a node, into recordings/ beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from nodes import guests, hosts, pods, variants
from nodes.machine import Machine, edited

from fabricdoctor import expect, recording
from fabricdoctor.expect import Expect
from fabricdoctor.recording import Recording


@dataclass(frozen=True, slots=True)
class Whole:
    """A healthy node. `fabric` are the devices of its rails, `others` maps part of the reason to the other devices."""

    build: Callable[[], Machine]
    profile: str
    fabric: tuple[str, ...]
    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: what the profile's check must conclude; 3 where there is nothing on the node that it could judge
    status: int = 0
    in_job: bool = True

    def taken(self) -> Recording:
        return self.build().recording()

    @property
    def expect(self) -> Expect:
        return expect.load(None, self.profile, "node01").expect


def _mlx5(*numbers: int) -> tuple[str, ...]:
    return tuple(f"mlx5_{number}" for number in numbers)


_DGX = _mlx5(0, 3, 4, 5, 6, 9, 10, 11)
_STORAGE = _mlx5(1, 2, 7, 8)
_BF = _mlx5(12, 13)
_GROUP = "not the rails' group"
_ROCE = "roce-lossless"
_EIGHT = _mlx5(*range(8))
_FUNCTIONS = _mlx5(*range(14, 22))
_BONDED = tuple(f"mlx5_bond_{n}" for n in range(8))
_THOR2 = tuple(f"bnxt_re{n}" for n in range(8))
_POLLARA = tuple(f"ionic_{n}" for n in range(8))
_E810 = tuple(f"rocep{bus}s0" for bus in (24, 64, 79, 94, 154, 192, 206, 220))
_IWARP = {"iWARP": ("iwp41s0f0", "iwp41s0f1")}

NODES: dict[str, Whole] = {
    "dgx-roce": Whole(hosts.dgx, _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "dgx-roce-root": Whole(partial(hosts.dgx, root=True), "cx7-roce", _DGX, {_GROUP: _STORAGE + _BF}),
    "dgx-roce-vendor-driver": Whole(partial(hosts.dgx, vendor=True), _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "dgx-without-dcqcn": Whole(
        partial(edited, partial(hosts.dgx, vendor=True), variants.without_dcqcn), "meta-like", _DGX,
        {_GROUP: _STORAGE + _BF},
    ),
    "two-lossless-priorities": Whole(
        partial(edited, partial(hosts.two_ports, second="plane"), variants.two_lossless_priorities), "oci-like",
        _mlx5(*range(16)),
    ),
    "idle": Whole(partial(edited, hosts.dgx, variants.idle), _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "just-booted": Whole(partial(edited, hosts.dgx, variants.just_booted), _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "in-maintenance": Whole(partial(edited, hosts.dgx, variants.in_maintenance), _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "lossy": Whole(hosts.lossy, "roce-lossy", _DGX, {_GROUP: _STORAGE + _BF}),
    "infiniband": Whole(hosts.infiniband, "infiniband", _DGX, {_GROUP: _STORAGE}),
    "infiniband-storage": Whole(hosts.infiniband_storage, _ROCE, _DGX, {_GROUP: _STORAGE + _BF}),
    "second-ports-unused": Whole(partial(hosts.two_ports, second="unused"), _ROCE, _mlx5(*range(16))),
    "second-ports-unused-no-gpus": Whole(
        partial(hosts.two_ports, second="unused", with_gpus=False), _ROCE, _mlx5(*range(16))
    ),
    "two-planes": Whole(partial(hosts.two_ports, second="plane"), _ROCE, _mlx5(*range(16))),
    "bonded-rails": Whole(partial(hosts.two_ports, second="bonded"), _ROCE, _BONDED),
    "vlan-on-bonded-rails": Whole(hosts.vlan_on_bond, _ROCE, _BONDED),
    "in-prolog": Whole(hosts.in_prolog, _ROCE, _DGX, {_GROUP: _STORAGE + _BF}, in_job=False),
    "four-rails": Whole(hosts.four_rails, _ROCE, _mlx5(0, 3, 4, 5), {_GROUP: _STORAGE}),
    "rails-without-gpus": Whole(hosts.without_gpus, _ROCE, _DGX, {_GROUP: _STORAGE}),
    "cpu-only": Whole(hosts.cpu_only, _ROCE, (), status=3),
    "grace": Whole(hosts.grace, _ROCE, _mlx5(0, 1, 2, 3), {_GROUP: _mlx5(4, 5, 6, 7)}),
    "grace-two-planes": Whole(hosts.grace_planes, _ROCE, _EIGHT),
    "grace-infiniband": Whole(
        partial(hosts.grace, layer="InfiniBand"), "infiniband", _mlx5(0, 1, 2, 3), {_GROUP: _mlx5(4, 5, 6, 7)}
    ),
    "mi300x-thor2": Whole(guests.mi300x_thor2, "thor2-roce", _THOR2, {_GROUP: _STORAGE}),
    "mi300x-pollara": Whole(guests.mi300x_pollara, "ainic-roce", _POLLARA, {_GROUP: _STORAGE}),
    "e810": Whole(guests.e810, _ROCE, _E810, _IWARP),
    "e810-firmware-lldp": Whole(partial(edited, guests.e810, variants.firmware_owns_dcb), _ROCE, _E810, _IWARP),
    "thor2-firmware-lldp": Whole(
        partial(edited, guests.mi300x_thor2, variants.firmware_owns_dcb), "thor2-roce", _THOR2, {_GROUP: _STORAGE}
    ),
    "p5-efa": Whole(
        guests.p5, "aws-efa",
        tuple(f"rdmap{0x4F + 0x11 * n + at if n < 7 else 0xC9 + at}s0" for n in range(8) for at in range(4)),
    ),
    "sriov-host": Whole(pods.sriov_host, _ROCE, _DGX, {"a virtual function": _FUNCTIONS, _GROUP: _STORAGE}),
    "switchdev-host": Whole(
        guests.switchdev_host, _ROCE, _DGX,
        {"no interface": _DGX, "a virtual function": _mlx5(14), _GROUP: _STORAGE},
    ),
    "storage-of-the-rails-model": Whole(hosts.one_model, _ROCE, _DGX, {"nearest to no GPU": _mlx5(1, 7)}),
    "kvm-guest": Whole(guests.kvm_guest, _ROCE, _EIGHT),
    "azure-guest": Whole(
        guests.azure_guest, "azure-like", tuple(f"mlx5_ib{n}" for n in range(8)), {_GROUP: ("mlx5_an0",)}
    ),
    "pod-with-functions": Whole(pods.pod_with_functions, _ROCE, _FUNCTIONS, {"no interface": _DGX + _STORAGE}),
    "pod-of-its-own": Whole(pods.pod_of_its_own, _ROCE, _FUNCTIONS),
    "pod-on-shared-adapters": Whole(pods.pod_on_shared_adapters, _ROCE, _EIGHT),
    "soft-roce": Whole(guests.soft_roce, _ROCE, ("rxe0",)),
}  # fmt: skip

KEPT = Path(__file__).parent / "recordings"

if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for name, whole in NODES.items():
        recording.write(KEPT / f"{name}.json.gz", whole.taken().text())
