"""Reports to render: small ones by hand, and any number of odd ones from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable

from fabricdoctor.finding import Fault, Finding, Severity, Verdict
from fabricdoctor.judge import conclude
from fabricdoctor.report.model import PortLine, Report

CRITICAL, WARNING, INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO
EVIL = ("\x1b[31mred", "a|b", "`tick`", "<script>", "é→…“x”", "\udce9", "\u202eback", "@team #1", "tab\there", "\x9b2J")


def rail(number: int) -> str:
    return f"mlx5_{number}/1 (rail{number})"


def fault(check: str, subject: str, fault: Fault, severity: Severity = CRITICAL, folded_under: str = "") -> Finding:
    return Finding(check, subject, Verdict.FAULT, severity, fault, folded_under=folded_under)


def ok(check: str, subject: str) -> Finding:
    return Finding(check, subject, Verdict.OK, CRITICAL)


def unknown(check: str, subject: str, source: str, detail: str, severity: Severity = WARNING) -> Finding:
    return Finding(
        check, subject, Verdict.UNKNOWN, severity, reason=f"{source}: {detail}", why="missing", source=source
    )


def unset(check: str, subject: str, name: str) -> Finding:
    reason = f"no expectation: {name}"
    return Finding(check, subject, Verdict.SKIPPED, WARNING, reason=reason, why="no-expectation", expectation=name)


def report(findings: Iterable[Finding] = (), ports: tuple[PortLine, ...] | None = (), **more: object) -> Report:
    found = tuple(findings)
    base = {
        "host": "gpu017",
        "tool": "fabricdoctor 0.1.0",
        "taken": "2025-03-01T03:00:00Z",
        "seconds": 1.25,
        "interval_s": 30.0,
        "profile": "roce",
        "conclusion": conclude(found),
    }
    return Report(**(base | more), findings=found, ports=ports)


def wrong_priority(number: int) -> Finding:
    fix = f"dcb pfc set dev rail{number} prio-pfc all:off 3:on"
    return fault("pfc-on-wrong-priority", rail(number), Fault("PFC on [0]", "PFC on [3]", fix))


def full() -> Report:
    """Something of everything."""
    slow = Fault("100 Gb/s on rail5, 4 lanes", "400 Gb/s as on its siblings", "mlxlink -d mlx5_5 -m", odd=(rail(5),))
    cable = Fault(
        "FEC errors rise: 1.2e-7 per bit over 30 s", "below 1e-8", "mlxlink -d mlx5_5 -c\nmlxlink -d mlx5_5 -m"
    )
    limit = Fault("locked memory is limited to 64 KiB", "unlimited", "systemctl edit slurmd  # LimitMEMLOCK=infinity")
    why = "no pyverbs in this interpreter nor in /usr/bin/python3; install python3-pyverbs"
    findings = [
        fault("memlock-low", "limits", limit, WARNING),
        *(wrong_priority(n) for n in range(8)),
        fault("ecn-off", rail(2), Fault("ECN off", "ECN on", "x"), WARNING, "pfc-on-wrong-priority"),
        fault("rail-slower", "rails", slow),
        fault("cable-errors", rail(5), cable, INFO),
        *(unknown(check, rail(n), f"verbs mlx5_{n}", why) for check in ("gid-missing", "mtu-low") for n in range(8)),
        unknown("driver-hung", rail(1), "devlink health mlx5_1", "timeout", CRITICAL),
        Finding("acs-on", "0000:1a:00.0", Verdict.BROKEN, INFO, reason="KeyError: 'x'", why="broken"),
        *(unset("mtu-off", rail(n), "mtu") for n in range(8)),
        unset("trust-wrong", "rails", "trust"),
        Finding("fw-old", "node", Verdict.SKIPPED, INFO, reason="fw: needs-root", why="needs-root", source="fw"),
        *(ok("port-down", rail(n)) for n in range(8)),
    ]
    ports = (*(PortLine(rail(n), "ACTIVE", "400 Gb/s", "fabric") for n in range(8)),)
    storage = PortLine("mlx5_8/1 (ens3)", "ACTIVE", "100 Gb/s", "not the rails' group: CX6, Ethernet, 100 Gb/s")
    return report(
        findings,
        (*ports, storage),
        hints=("To keep what this node has as the site's expectations: fabricdoctor learn --output site.toml",),
        left_out=("lldp rail7",),
        expectations={"lossless_priorities": ("[3]", "profile roce")},
    )


def generated(seed: int) -> Report:
    """A report nobody would write: any data, any mixture."""
    rng = random.Random(seed)  # noqa: S311

    def words() -> str:
        return " ".join(rng.choice((*EVIL, "port", "x" * rng.randint(1, 90))) for _ in range(rng.randint(1, 12)))

    def finding() -> Finding:
        check, verdict = f"check-{rng.randrange(30)}", rng.choice(list(Verdict))
        subject = rng.choice((rail(rng.randrange(12)), rng.choice(EVIL), "node"))
        base = Finding(check, subject, verdict, rng.choice(list(Severity)))
        if verdict is Verdict.FAULT:
            odd = tuple(rail(rng.randrange(9)) for _ in range(rng.randrange(3)))
            seen = Fault(words(), f"{words()}\n{words()}", f"{words()}\n{words()}", odd=odd)
            return fault(check, subject, seen, base.severity, rng.choice(("", f"check-{rng.randrange(30)}")))
        return (
            base
            if verdict is Verdict.OK
            else Finding(check, subject, verdict, base.severity, reason=words(), why=words()[:20], source=words()[:30])
        )

    ports = tuple(PortLine(words(), "DOWN", "", rng.choice(("fabric", words()))) for _ in range(rng.randrange(4)))
    found = [finding() for _ in range(rng.randrange(40))]
    return report(
        found,
        rng.choice((None, ports)),
        host=words()[:30],
        hints=(words(),),
        left_out=(words(),),
        expectations={"mtu": (words(), words())},
        profile=rng.choice((None, words())),
        interval_s=None,
    )
