"""RoCE rails with the NCCL settings in force: which GID index NCCL would use on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..unknown import Unknown, known_or, then
from .gid import nccl_choice
from .nccl import NcclSettings, Setting
from .port import Port

#: The first NCCL that chooses the index itself; before it, the index is 0 unless it is set (src/transport/net_ib.cc).
_CHOOSES = (2, 21)
#: The first NCCL that passes over indexes of other network namespaces; reading one of those is EINVAL.
_PASSES_OVER = (2, 26)
_PINNED = "NCCL_IB_GID_INDEX"
_ELSEWHERE = Unknown(_PINNED, "not-applicable", "a job's own settings are not seen here")


def _at_least(version: str | None, wanted: tuple[int, int]) -> bool:
    """Return whether this NCCL is that or later; one that the site does not tell is."""
    return version is None or tuple(int(part) for part in version.split(".")[:2]) >= wanted


def _zero(settings: NcclSettings) -> int | Unknown:
    """Return the index that an NCCL before 2.21 uses when none is set; outside of a job, the job may yet set one."""
    return 0 if settings.in_job else _ELSEWHERE


@dataclass(frozen=True, slots=True, eq=False)
class RailPort:
    """A RoCE rail together with the NCCL settings in force."""

    port: Port
    nccl: NcclSettings | Unknown

    def gid_index(self, version: str | None) -> int | Unknown:
        """Return the GID index that this version of NCCL would use: the one that is set, else its own choice."""
        if isinstance(self.nccl, Unknown):
            return self.nccl
        if isinstance(self.port.gids, Unknown):
            return self.port.gids
        pinned, roce = (self.nccl.number(*n) for n in ((_PINNED, -1), ("NCCL_IB_ROCE_VERSION_NUM", 2)))
        if isinstance(pinned, Unknown) or pinned >= 0:
            return pinned
        if not _at_least(version, _CHOOSES):
            return _zero(self.nccl)
        if isinstance(roce, Unknown):
            return roce
        family = self.nccl.text("NCCL_IB_ADDR_FAMILY", "AF_INET")
        choice = nccl_choice(self.port.gids, family, f"RoCE v{roce}", self.nccl.text("NCCL_IB_ADDR_RANGE", ""))
        return choice if self.nccl.in_job or not self._better_than(choice) else _ELSEWHERE

    def _better_than(self, index: int | Unknown) -> bool:
        """Return whether other GIDs are usable and this one is not: a job on an IPv6 fabric sets the family itself."""
        usable = [gid.index for gid in known_or(self.port.usable_gids, ())]
        return bool(usable) and not isinstance(index, Unknown) and index not in usable

    def hidden_gids(self, version: str | None) -> int | Unknown:
        """Return how many slots before the first visible GID this NCCL would stumble over, looking for its own."""
        if _at_least(version, _PASSES_OVER) or not _at_least(version, _CHOOSES):
            return 0
        pinned = then(self.nccl, lambda nccl: nccl.number(_PINNED, -1))
        if isinstance(pinned, Unknown):
            return pinned
        return 0 if pinned >= 0 else then(self.port.gids, lambda gids: min((g.index for g in gids), default=0))

    def __str__(self) -> str:
        return str(self.port)


@dataclass(frozen=True, slots=True, eq=False)
class NcclRails:
    """The RoCE rails as one group, together with the NCCL settings in force."""

    ports: tuple[Port, ...]
    nccl: NcclSettings | Unknown

    @property
    def pinned(self) -> tuple[int, Setting] | None | Unknown:
        """Return the GID index that is set for all rails, and where; None when none is."""
        if isinstance(self.nccl, Unknown):
            return self.nccl
        setting, index = self.nccl.get(_PINNED), self.nccl.number(_PINNED, -1)
        if isinstance(index, Unknown):
            return index
        return None if setting is None or index < 0 else (index, setting)

    def nccl_chooses(self, version: str | None) -> bool:
        """Return whether this version of NCCL chooses the index itself, unless one is set."""
        return _at_least(version, _CHOOSES)

    def one_index(self, version: str | None) -> int | None | Unknown:
        """Return the index that NCCL uses on every rail alike, None when it chooses one for each."""
        if isinstance(self.pinned, Unknown):
            return self.pinned
        if self.pinned is not None:
            return self.pinned[0]
        return None if self.nccl_chooses(version) else then(self.nccl, _zero)

    @property
    def usable_indexes(self) -> Mapping[str, frozenset[int]] | Unknown:
        """Return the indexes of routable RoCE v2 GIDs, by active port."""
        found = {}
        for port in self.ports:
            active, usable = port.active, port.usable_gids
            if isinstance(active, Unknown):
                return active
            if not active:
                continue
            if isinstance(usable, Unknown):
                return usable
            found[str(port)] = frozenset(gid.index for gid in usable)
        return found

    def __str__(self) -> str:
        return "rails"
