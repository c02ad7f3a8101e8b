"""What error correction could and could not repair on a link, by difference of two samples."""

from __future__ import annotations

from typing import Any

from ..host import Host
from ..unknown import Unknown, then
from .counters import Counter, count, counter
from .vendors import EthNames, eth_names

_ABSENT = ("unsupported", "missing", "not-applicable")


def uncorrectable(host: Host, name: str, driver: str | Unknown) -> int | Unknown:
    """Return the blocks that were lost."""
    return _growth(host, name, "uncorrectable", driver)


def corrected_bits(host: Host, name: str, driver: str | Unknown) -> int | Unknown:
    return _growth(host, name, "corrected_bits", driver)


def _growth(host: Host, name: str, member: str, driver: str | Unknown) -> int | Unknown:
    """Return the growth of one of ethtool's FEC statistics, else of the driver's own counter for it."""
    answer = host.ask("ethtool.fec", name)
    told = then(answer, lambda a: member in a["stats"], f"ethtool.fec {name}")
    if isinstance(told, Unknown) and told.why not in _ABSENT:
        return told
    if not isinstance(told, Unknown) and told:
        return then(_nested(host, name, member), lambda c: c.delta)
    names = then(driver, eth_names)
    if isinstance(names, Unknown) and names.why not in _ABSENT:
        return names
    own = getattr(names, f"fec_{member}") if isinstance(names, EthNames) else ""
    return _own(host, name, own)


def _nested(host: Host, name: str, member: str) -> Counter | Unknown:
    def pick(answer: Any) -> int:
        return count(answer["stats"][member])

    source = f"ethtool.fec {name} {member}"
    now = then(host.ask("ethtool.fec", name), pick, source)
    before = then(host.earlier("ethtool.fec", name), pick, source)
    seconds = host.seconds()
    for value in (now, before, seconds):
        if isinstance(value, Unknown):
            return value
    return Counter(source, before, now, seconds)  # type: ignore[arg-type]


def _own(host: Host, name: str, statistic: str) -> int | Unknown:
    """Return the growth of the driver's counter; where the adapter has no such counter it is not applicable."""
    source = f"ethtool.stats {name}"
    stats = host.ask("ethtool.stats", name)
    if isinstance(stats, Unknown) and stats.why not in _ABSENT:
        return stats
    if not statistic or isinstance(stats, Unknown) or statistic not in stats:
        return Unknown(source, "not-applicable", "the driver does not count what error correction does")
    return then(counter(host, "ethtool.stats", name, statistic), lambda c: c.delta)
