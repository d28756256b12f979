"""`--store postgres` does what it says: homes are on a server, in this process and in others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests.homes.databases import lent, on_postgres

QUIET = {"embed.model": "none"}


def _is_on_a_server(memory: holdfast.Holdfast) -> bool:
    return getattr(memory.core.store, "address", "").startswith("postgresql://")


def test_each_home_has_a_database_that_its_processes_share(tmp_path: Path) -> None:
    with on_postgres():
        for name in ("one", "two"):
            with holdfast.open(tmp_path / name, settings=QUIET) as memory:
                assert _is_on_a_server(memory)
                memory.hub().remember(f"The house is called {name}")
        told = subprocess.run(
            [sys.executable, "-m", "holdfast", "recall", "--words", "house"],
            env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "two")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "The house is called two" in told.stdout
        assert "The house is called one" not in told.stdout
        assert len(lent().in_use()) >= 2
    assert not list(tmp_path.rglob("memory.db"))


def test_a_home_that_would_be_in_memory_is_on_the_server(tmp_path: Path) -> None:
    with (
        on_postgres(),
        holdfast.open(tmp_path, settings={**QUIET, "store.url": "memory:"}) as memory,
    ):
        assert _is_on_a_server(memory)


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_database_that_is_lent_again_is_empty(tmp_path: Path) -> None:
    for _ in range(2):
        with on_postgres(), holdfast.open(tmp_path / "home", settings=QUIET) as memory:
            assert memory.hubs() == []
            assert memory.hub().remember("Prefers tabs").memory.number == 1
    with holdfast.open(tmp_path / "home", settings=QUIET) as memory:
        assert not _is_on_a_server(memory)
