"""Faults of the area roce: the GID index that NCCL would use."""

from faults.row import Row, put
from nodes import make

_NOT_ROUTABLE = "gid-nccl-would-pick-is-not-routable"
_LINK_LOCAL = {"gid": "fe80::1", "type": "RoCE v2", "ndev": "rail0"}
_IPV4 = {"gid": "::ffff:192.0.2.10", "type": "RoCE v2", "ndev": "rail0"}
_IPV6 = {"gid": "2001:db8::a", "type": "RoCE v2", "ndev": "rail0"}
_OLD = {"nccl_version": "2.18.3"}


def _pin(index: str):
    return {"environ": put("NCCL_IB_GID_INDEX", value=index)}


def _gids(**entries: dict[str, str]):
    table = {name.removeprefix("at"): entry for name, entry in entries.items()}
    return {"gids mlx5_0/1": put("entries", value=table)}


#: The table of a pod on rail 0 alone: the address is at 7 there and at 3 on rail 1.
_MOVED = _gids(at4=_LINK_LOCAL, at7=_IPV4)

FAULTS = {
    _NOT_ROUTABLE: [
        Row(_pin("1"), "index 1 (fe80::1, RoCE v2)"),
        Row(_pin(" "), "index 0 (fe80::1, RoCE v1)"),
        Row(_pin("9"), "index 9, which is empty"),
        Row(_pin("3"), "index 3, which is empty", node=make.pod),
        Row(_gids(at0=_LINK_LOCAL, at3=_IPV6), "index 0 (fe80::1"),
        Row({}, "index 0 (fe80::1, RoCE v1)", expect=_OLD),
        Row({}, "NCCL 2.22.3 may abort at GID indexes 0 to 3", "warning", expect={"nccl_version": "2.22.3"},
            node=make.pod),
    ],
    "gid-index-differs-between-rails": [
        Row(_MOVED | _pin("3"), "mlx5_0/1 (rail0) has 7; mlx5_1/1 (rail1) has 3", "warning", "rails",
            also=(_NOT_ROUTABLE,)),
        Row(_MOVED | _pin("7"), "no index is routable on every rail", "warning", "rails", _OLD, also=(_NOT_ROUTABLE,)),
    ],
    "gid-index-pinned": [
        Row(_pin("3"), "NCCL_IB_GID_INDEX=3 (environment)", "info", "rails"),
        Row({"read /etc/nccl.conf": "NCCL_IB_GID_INDEX = 0x3\n"}, "=0x3 (/etc/nccl.conf)", "info", "rails"),
        Row(_pin("2"), "wrong on mlx5_0/1 (rail0), mlx5_1/1 (rail1)", "warning", "rails", also=(_NOT_ROUTABLE,)),
    ],
}  # fmt: skip
