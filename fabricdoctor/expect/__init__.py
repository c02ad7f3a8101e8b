"""What this site wants, and where each value comes from."""

from .model import Expect, UnsetExpectation, wanted

__all__ = ["Expect", "UnsetExpectation", "wanted"]
