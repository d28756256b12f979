"""A server and a client for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from tests.edges.client.servers import Served, served


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes of what was pushed go to a home of the test's own."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "client-home"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "served") as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[holdfast.Client]:
    with holdfast.Client(server.url) as client:
        yield client
