"""A memory with time held still, and a way to open it with sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.testing import open_for_tests

Opening = Callable[..., HubMemory]


@pytest.fixture
def open_with(tmp_path: Path) -> Iterator[Opening]:
    """Opens a hub with these sources, and a budget that no slow machine exceeds."""
    opened = []

    def start(sources: str, *, budget_ms: int = 60_000, home: str = "home") -> HubMemory:
        settings = {"sources.read": sources, "sources.budget_ms": budget_ms}
        memory = open_for_tests(tmp_path / home, settings=settings)
        opened.append(memory)
        return memory.hub("work", create=True)

    yield start
    for memory in opened:
        memory.close()
