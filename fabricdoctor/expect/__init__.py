"""What this site wants, and where each value comes from."""

from .load import SITE_FILE, Config, load, profiles
from .model import Asked, Expect, UnsetExpectation, about, names, wanted
from .place import ConfigError

__all__ = [
    "SITE_FILE",
    "Asked",
    "Config",
    "ConfigError",
    "Expect",
    "UnsetExpectation",
    "about",
    "load",
    "names",
    "profiles",
    "wanted",
]
