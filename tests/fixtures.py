"""Fixtures that most tests use: a clock that stands still, a memory on the store a user has, and a
hub in it. A test that needs others defines its own of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.testing import FixedClock, open_for_tests


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path, clock=clock) as opened:
        yield opened


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return memory.create_hub("work")
