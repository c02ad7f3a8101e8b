"""One node, from questions to a report: the same steps for the command line and for Slurm's prolog."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import catalogue, expect, recording
from .check import Check
from .facts import Node, Port, observe
from .finding import Finding, Severity, Verdict
from .host import Recorder
from .judge import conclude, judge
from .recording import Recording, Take
from .report.model import PortLine, Report
from .sources import command
from .sources.live import Live
from .unknown import Unknown, known_or

BUDGET_S = 30.0
#: An earlier run's counters count as a first sample when they are this old, in seconds.
_SAMPLE_AGE_S = (5.0, 86400.0)
_BOOT_ID = "read /proc/sys/kernel/random/boot_id"
_NAMESPACE = "link /proc/self/ns/net"


@dataclass(frozen=True, slots=True)
class Options:
    """How a node is checked. `interval` is seconds between two samples, 0 to use an earlier run's counters.

    `tools` are the vendors' tools that are asked.
    """

    profile: str | None = None
    config: Path | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    checks: tuple[Path, ...] = ()
    interval: float = 0.0
    budget: float = BUDGET_S
    fail_on: Severity = Severity.CRITICAL
    root: str = ""
    save: bool = True
    in_job: bool = True
    tools: frozenset[str] = command.QUICK


@dataclass(frozen=True, slots=True)
class Plan:
    """What is judged: the configuration, the checks that run, and the ids left out on purpose."""

    config: expect.Config
    catalogue: catalogue.Catalogue
    run: tuple[Check[Any], ...]
    excluded: tuple[str, ...]


def plan(options: Options, hostname: str) -> Plan:
    """Load configuration and checks. Raises ConfigError or CatalogueError."""
    config = expect.load(options.config, options.profile, hostname)
    found = catalogue.load_all(options.checks)
    only = found.matching(options.only, "--only") if options.only else frozenset(found.checks)
    only |= {link for name in only for link in found.checks[name].links if link in found.checks}
    left_out = found.matching(options.skip, "--skip") | found.matching(config.disable, f"{config.file}: checks.disable")
    found.matching(config.severity, f"{config.file}: checks.severity")
    found.matching(options.require, "--require")
    run = tuple(check for name, check in found.checks.items() if name in only - left_out)
    return Plan(config, found, run, tuple(sorted(only & left_out)))


def observe_live(live: Live, options: Options, rails: tuple[str, ...] | None) -> tuple[Recording, Node]:
    """Ask the machine once, or twice `interval` seconds apart; an earlier run's counters serve as the first sample.

    The node is the one that replaying the recording gives.
    """

    def sample(earlier: Recording | None) -> tuple[Recorder, Take, Node]:
        start = _take(live)
        seconds = start.monotonic - earlier.take.monotonic if earlier else None
        recorder = Recorder(live, earlier.answers if earlier else None, seconds)
        return recorder, start, observe(recorder, rails, in_job=options.in_job)

    first: Recording | None = None
    if options.interval:
        live.tools = command.NONE  # tools count nothing that is compared: asking once, with the last sample, will do
        recorder, start, _ = sample(None)
        live.tools = options.tools
        first = _only_counters(recorder, start)
        live.until.sleep(options.interval)
    elif options.save:
        first = _earlier(live)
    recorder, start, node = sample(first)
    if options.save:
        _save(_only_counters(recorder, start))
    before = {name: first.answers[name] for name in sorted(recorder.counters) if name in first.answers} if first else {}
    return Recording(recorder.answers, start, before, first.take if first else None), node


def check_recording(taken: Recording, options: Options, chosen: Plan) -> Report:
    """Judge a recording and return the report."""
    node = observe(taken.host(), chosen.config.expect.rails, in_job=options.in_job)
    return _report(node, taken, options, chosen, {})


def hostname_of(host: Any) -> str:
    """Return the node's name as the kernel has it, or "unknown"."""
    return str(known_or(host.ask("read", "/proc/sys/kernel/hostname"), "unknown"))


def check_live(options: Options, on_start: Callable[[Live], None] = lambda _: None) -> Report:
    """Check this machine within the budget. `on_start` gets the live host, to stop it on a signal."""
    begun = time.monotonic()
    with closing(Live(options.budget, options.root, tools=options.tools)) as live:
        on_start(live)
        [hostname] = live.ask_all([("read", "/proc/sys/kernel/hostname")])
        chosen = plan(options, str(known_or(hostname, "unknown")))
        taken, node = observe_live(live, options, chosen.config.expect.rails)
        left_out = tuple(live.left_out)
    seconds = time.monotonic() - begun
    return _report(node, taken, options, chosen, {"left_out": left_out, "seconds": seconds})


def _take(live: Live) -> Take:
    clock, boot = live.ask_all([("clock", ""), ("read", "/proc/sys/kernel/random/boot_id")])
    times = known_or(clock, {"wall": 0.0, "monotonic": 0.0})
    return Take(times["wall"], times["monotonic"], str(known_or(boot, "")))


def last_path() -> Path:
    """Return where the counters of the last run lie, for this user."""
    if os.geteuid() == 0:
        return Path("/var/lib/fabricdoctor/last")
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # noqa: PTH117  the XDG specification: relative paths are to be ignored
        state = os.path.expanduser("~/.local/state")  # noqa: PTH111
    return Path(state) / "fabricdoctor" / "last"


def _only_counters(recorder: Recorder, start: Take) -> Recording:
    """Keep what a later run compares: counters, and what tells that it is the same boot, namespace and driver load."""
    recorder.ask_all([("read", "/proc/sys/kernel/random/boot_id"), ("link", "/proc/self/ns/net")])
    names = recorder.counters | {name for name in recorder.answers if _is_identity(name)}
    return Recording({name: recorder.answers[name] for name in names if name in recorder.answers}, start)


def _is_identity(name: str) -> bool:
    return name in (_BOOT_ID, _NAMESPACE) or name.endswith("/ifindex")


def _earlier(live: Live) -> Recording | None:
    """Return the last run's counters when they are of this boot and driver load, and neither too new nor too old."""
    try:
        last = recording.load(last_path())
    except recording.RecordingError:
        return None
    age = _take(live).monotonic - last.take.monotonic
    names = [name for name in last.answers if _is_identity(name)]
    now = live.ask_all([(kind, key) for kind, _, key in (name.partition(" ") for name in names)])
    same = all(
        last.answers[name] == {"value": value}
        for name, value in zip(names, now, strict=True)
        if not isinstance(value, Unknown)
    )
    known = _BOOT_ID in names and not any(isinstance(value, Unknown) for value in now)
    return last if known and same and _SAMPLE_AGE_S[0] <= age <= _SAMPLE_AGE_S[1] else None


def _save(last: Recording) -> None:
    """Keep the counters for the next run. Failing to is no reason to fail: the next run has one sample, and says so."""
    path = last_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        recording.write(path, last.text())
    except OSError:
        return


def _report(node: Node, taken: Recording, options: Options, chosen: Plan, extra: Mapping[str, Any]) -> Report:
    left = options.budget - extra.get("seconds", 0.0)
    found = judge(chosen.run, node, chosen.config.expect, chosen.config.severity, left)
    found += [_left_out(name, chosen) for name in chosen.excluded]
    found += [
        Finding(Path(file).stem.replace("_", "-"), file, Verdict.BROKEN, Severity.WARNING, reason=why, why="broken")
        for file, why in chosen.catalogue.broken.items()
    ]
    report = Report(
        host=str(known_or(node.hostname, "unknown")),
        tool=taken.tool,
        taken=_iso(taken.take.wall),
        seconds=0.0,
        interval_s=None if taken.seconds is None else round(taken.seconds, 1),
        profile=chosen.config.profile,
        conclusion=conclude(found, fail_on=options.fail_on, require=options.require),
        findings=tuple(found),
        ports=_ports(node),
        hints=tuple(_hints(node, found, chosen)),
        expectations=_expectations(chosen.config),
    )
    return replace(report, **extra)


def _left_out(name: str, chosen: Plan) -> Finding:
    severity = chosen.catalogue.checks[name].severity
    return Finding(
        name, "node", Verdict.SKIPPED, severity, reason="left out by the command line or the site", why="excluded"
    )


def _iso(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall))


def _ports(node: Node) -> tuple[PortLine, ...] | None:
    ports = node.all_ports
    if isinstance(ports, Unknown):
        return None
    return tuple(PortLine(str(p), str(known_or(p.state, "unknown")), _rate(p), p.role) for p in ports)


def _rate(port: Port) -> str:
    if isinstance(port.rate_gbps, Unknown) or not known_or(port.active, default=False):
        return "-"
    return f"{port.rate_gbps:g} Gb/s"


def _expectations(config: expect.Config) -> dict[str, tuple[str, str]]:
    def text(value: object) -> str:
        return (
            str(sorted(value))
            if isinstance(value, frozenset)
            else str(list(value) if isinstance(value, tuple) else value)
        )

    return {name: (text(getattr(config.expect, name)), origin) for name, origin in config.origin.items()}


_NO_DEVICE = "There is no RDMA device in this network namespace. To see the adapters: lspci -nn -d ::0200"
_NO_PYVERBS = "Without pyverbs it cannot be told whether jobs can use the devices: apt-get install python3-pyverbs"
_ONE_SAMPLE = "Counters are judged by their growth, between two samples: fabricdoctor check --interval 10"
_NO_WISH = "Nothing says what this site wants, so only siblings were compared: fabricdoctor check --profile "


def _hints(node: Node, found: Iterable[Finding], chosen: Plan) -> list[str]:
    """Return what to do next: at most one sentence a reason, each ending in a command."""
    if not isinstance(node.all_devices, Unknown) and not node.all_devices:
        return [_NO_DEVICE]
    hints = []
    if any(f.source == "verbs.devices" and f.why == "missing" for f in found):
        hints.append(_NO_PYVERBS)
    if any(f.why == "one-sample" for f in found):
        hints.append(_ONE_SAMPLE)
    if chosen.config.profile is None and chosen.config.file is None:
        hints.append(_NO_WISH + _suggest(node))
    return hints


def _suggest(node: Node) -> str:
    """Return the profile that fits what is there: the link layer, and whether PFC is on."""
    ports, links = known_or(node.fabric_ports, ()), known_or(node.links, ())
    if ports and all(known_or(p.link_layer, "") == "InfiniBand" for p in ports):
        return "infiniband"
    return "roce-lossless" if any(known_or(link.pfc_priorities, frozenset()) for link in links) else "roce-lossy"
