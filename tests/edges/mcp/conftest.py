"""A memory of its own for each test, without a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.agents.dialects import holdfast as ours
from tests.edges.mcp.sessions import ODD


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[holdfast.Holdfast]:
    settings = {"embed.model": "none", "time_zone": "UTC"}
    with holdfast.open(tmp_path / "home", settings=settings) as opened:
        yield opened


@pytest.fixture
def hub(memory: holdfast.Holdfast) -> HubMemory:
    return memory.hub("web", create=True)


@pytest.fixture
def odd_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "DIALECT", ODD)
