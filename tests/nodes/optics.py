"""The memory of a pluggable module, constructed from the public layout (OIF CMIS)."""

from __future__ import annotations


def module(celsius: float = 48.5, received: float = 1.0, host: str = "4f1c4401") -> dict[str, str]:
    """Return an OSFP module's: 4 of 8 lanes used, `received` mW on each, and the application `host` (400GAUI-4).

    It warns above 70 °C and below 0.25 mW (-6 dBm).
    """
    dark = 4 * "0000"
    lower = f"19500007{'00' * 10}{_words(celsius, scale=256)}{'00' * 69}02{host}ff".ljust(256, "0")
    power = _words(3.2, 0.16, 2.5, 0.25, scale=10_000)  # high and low alarm, high and low warning
    limits = _words(75, -10, 70, 0, scale=256).ljust(96, "0") + power + "00" * 8 + power
    light = _words(*[1.2] * 4, scale=10_000) + dark + "00" * 16 + _words(*[received] * 4, scale=10_000) + dark
    return {
        "lower": lower,
        "upper": "00" * 16,
        "monitors": "0307",
        "thresholds": limits.ljust(144, "0"),
        "lanes": ("00" * 26 + light).ljust(148, "0"),
    }


def _words(*values: float, scale: int) -> str:
    return "".join(f"{round(value * scale) & 0xFFFF:04x}" for value in values)
