"""PCI functions: which are network adapters and GPUs, and how near they are to each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from ..host import Host, Question
from ..unknown import Unknown, known_or, then

_DEVICES = "/sys/bus/pci/devices"
_BDF = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
#: classes of a GPU: display controller, and processing accelerator (AMD Instinct from MI300 on)
_GPU = ("0x03", "0x12")
_GPU_VENDORS = {"0x10de", "0x1002"}


@dataclass(frozen=True, slots=True, eq=False)
class PciFunction:
    """One function. `path` is the chain from the host bridge down; `model` vendor, device and subsystem."""

    address: str
    kind: str
    path: tuple[str, ...]
    model: tuple[str, ...]
    driver: str | None | Unknown
    is_vf: bool
    rdma: tuple[str, ...] | Unknown
    netdevs: tuple[str, ...] | Unknown
    #: the parts its driver made of it (auxiliary devices, as mlx5_core.rdma.0); read only where it has no other sign
    parts: tuple[str, ...] | Unknown = field(default_factory=lambda: Unknown("parts", "not-applicable"))

    @property
    def shows_nothing(self) -> bool:
        """Return whether a driver of this host has it, and made neither an interface nor an RDMA device of it here."""
        driver = known_or(self.driver, None)
        bound = driver is not None and not driver.startswith("vfio")
        return bound and known_or(self.rdma, ("?",)) == () and known_or(self.netdevs, ("?",)) == ()

    def __str__(self) -> str:
        return self.address


def pci_functions(host: Host) -> tuple[PciFunction, ...] | Unknown:
    """Return network adapters ("network") and GPUs ("gpu") of the node; no PCI bus at all is an empty tuple."""
    names = host.ask("list", _DEVICES)
    if isinstance(names, Unknown):
        return () if names.why == "missing" else names
    kinds = then(names, lambda n: _kinds(host, _texts(n)), f"list {_DEVICES}")
    if isinstance(kinds, Unknown):
        return kinds
    host.ask_all([question for name in kinds for question in _questions(name)])
    return _with_parts(host, tuple(_function(host, name, kind) for name, kind in kinds.items()))


def _with_parts(host: Host, functions: tuple[PciFunction, ...]) -> tuple[PciFunction, ...]:
    """Read the parts of adapters that show nothing, and of others of the same model to compare with."""
    models = {f.model for f in functions if f.kind == "network" and f.shows_nothing and not f.is_vf}
    alike = {f.address for f in functions if f.model in models and f.driver is not None}
    if not alike:
        return functions
    host.ask_all([("list", f"{_DEVICES}/{address}") for address in sorted(alike)])
    return tuple(replace(f, parts=_parts(host, f.address)) if f.address in alike else f for f in functions)


def _parts(host: Host, address: str) -> tuple[str, ...] | Unknown:
    def pick(names: Any) -> tuple[str, ...]:
        if "vendor" not in _texts(names):
            raise ValueError("not the directory of a PCI function")
        return tuple(name for name in names if re.fullmatch(r"\w+\.[\w-]+\.\d+", name))

    return then(host.ask("list", f"{_DEVICES}/{address}"), pick, f"list {_DEVICES}/{address}")


def _kinds(host: Host, names: list[str]) -> dict[str, str]:
    classes = host.ask_all([("read", f"{_DEVICES}/{name}/class") for name in names])
    vendors = host.ask_all([
        ("read", f"{_DEVICES}/{name}/vendor") for name, code in zip(names, classes, strict=True) if _is(code, *_GPU)
    ])  # fmt: skip
    makers = iter(vendors)
    found = {}
    for name, code in zip(names, classes, strict=True):
        if _is(code, "0x02"):
            found[name] = "network"
        elif _is(code, *_GPU) and known_or(next(makers), "") in _GPU_VENDORS:
            found[name] = "gpu"
    return found


def _is(code: Any, *prefixes: str) -> bool:
    return isinstance(code, str) and code.startswith(prefixes)


def _questions(name: str) -> list[Question]:
    base = f"{_DEVICES}/{name}"
    fields = ("vendor", "device", "subsystem_vendor", "subsystem_device")
    links = ("link", base), ("link", f"{base}/driver"), ("link", f"{base}/physfn")
    return [*(("read", f"{base}/{f}") for f in fields), *links, ("list", f"{base}/infiniband"), ("list", f"{base}/net")]


def _function(host: Host, name: str, kind: str) -> PciFunction:
    base = f"{_DEVICES}/{name}"
    *model, path, driver, physfn, _, _ = host.ask_all(_questions(name))
    nothing: tuple[str, ...] = ()
    return PciFunction(
        name,
        kind,
        then(path, lambda p: tuple(_BDF.findall(str(p))), "link") if not isinstance(path, Unknown) else nothing,  # type: ignore[arg-type]
        tuple(str(known_or(m, "?")) for m in model),
        None if isinstance(driver, Unknown) and driver.why == "missing" else then(driver, _base, f"link {base}/driver"),
        not isinstance(physfn, Unknown),
        names_in(host, f"{base}/infiniband"),
        names_in(host, f"{base}/net"),
    )


def names_in(host: Host, path: str) -> tuple[str, ...] | Unknown:
    """Return the names in a directory; one that is not there holds none."""
    names = host.ask("list", path)
    if isinstance(names, Unknown):
        return () if names.why == "missing" else names
    return then(names, lambda n: tuple(_texts(n)), f"list {path}")


def _texts(names: Any) -> list[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) and name and "/" not in name for name in names):
        raise TypeError("not a list of names")
    return names


def _base(path: Any) -> str:
    return str(path).rsplit("/", 1)[-1]


def hops_shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many bridges two functions have in common: the more, the nearer."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    return same
