"""The lifecycle runs by itself behind an MCP server, a moment after the first answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.edges.mcp.server import Options, make_server
from holdfast.engine.upkeep import automatic as upkeep
from holdfast.engine.upkeep.automatic import upkeep_of
from holdfast.testing import FixedClock, open_for_tests
from tests.edges.mcp.sessions import call, text_of


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    """A memory in which the lifecycle has something to do."""
    monkeypatch.setattr(upkeep, "_PAUSE_S", 0.0)
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        memory.hub().remember("Volatile note", stability="volatile")
        clock.tick(days=20)
        yield memory


def state(memory: Holdfast) -> str:
    upkeep_of(memory.core).wait()
    return memory.hub().get(1).state


def test_it_runs_after_the_first_answer(old: Holdfast) -> None:
    assert "Volatile note" in text_of(call(make_server(old.hub()), "recall", {"query": "note"}))
    assert state(old) == "cooling"


def test_a_server_that_only_reads_leaves_everything_as_it_is(old: Holdfast) -> None:
    server = make_server(old.hub(), Options(read_only=True))
    assert "Volatile note" in text_of(call(server, "recall", {"query": "note"}))
    assert state(old) == "active"


def test_where_a_worker_lives_it_is_left_to_the_worker(old: Holdfast) -> None:
    old.core.set_has_worker(True)
    call(make_server(old.hub()), "recall", {"query": "note"})
    assert state(old) == "active"
