"""What tests share: the checks that come with the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabricdoctor import catalogue
from fabricdoctor.check import Check

CHECKS = Path(__file__).parents[1] / "checks"


@pytest.fixture(scope="session")
def checks() -> dict[str, Check[Any]]:
    found = catalogue.load([CHECKS])
    assert not found.broken
    return found.checks
