"""What this site wants, and where each value comes from."""

from .model import Asked, Expect, UnsetExpectation, names, wanted

__all__ = ["Asked", "Expect", "UnsetExpectation", "names", "wanted"]
