"""Conditions on metadata through the library, the command line, REST, tools and the client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import InvalidInput
from holdfast.testing import FixedClock, open_for_tests
from tests.edges.client.servers import served

NOTES = (
    ("The deploy of the billing service needs a review", {"team": "core", "priority": 3}),
    ("The deploy of the web shop is automatic", {"team": "web", "priority": 1}),
    ("The deploy of the old monolith is on Mondays", {"team": "core", "labels": ["old"]}),
)
CASES: tuple[tuple[Any, list[int]], ...] = (
    ({"team": "core"}, [1, 3]),
    ("team = core and priority >= 2", [1]),
    ({"OR": [{"priority": {"$lt": 2}}, {"labels": {"contains": "old"}}]}, [2, 3]),
    ("priority missing", [3]),
    ({"team": "x' OR 1=1 --"}, []),
)


def _stock(hub: Any) -> None:
    for content, metadata in NOTES:
        hub.remember(content, metadata=metadata)


def _numbers(found: Any) -> list[int]:
    return sorted(memory.number for memory in found)


@pytest.mark.parametrize(("where", "numbers"), CASES)
def test_recall_and_list_of_the_library(tmp_path: Path, where: Any, numbers: list[int]) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        _stock(hub)
        hits = hub.recall("deploy", where=where)
        assert _numbers(hit.memory for hit in hits) == _numbers(hub.list(where=where)) == numbers


def test_a_condition_applies_to_the_past_as_it_was(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.hub()
        _stock(hub)
        before = clock.now()
        clock.tick(days=1)
        hub.update(2, metadata={"team": "core"})
        assert _numbers(hub.list(where="team = core")) == [1, 2, 3]
        assert _numbers(hub.list(where="team = core", as_of=before)) == [1, 3]
        hits = hub.recall("deploy", where="team = core", as_of=before)
        assert _numbers(hit.memory for hit in hits) == [1, 3]


def test_a_wrong_condition_is_a_sentence(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory, pytest.raises(InvalidInput, match="not an operator"):
        memory.hub().recall("deploy", where={"team": {"$regex": "c"}})


def test_a_server_takes_both_forms(tmp_path: Path) -> None:
    with served(tmp_path) as server, holdfast.Client(server.url) as client:
        hub = client.hub()
        _stock(hub)
        for where, numbers in CASES:
            assert _numbers(hub.list(where=where)) == numbers
            hits = hub.recall("deploy", where=where)
            assert _numbers(hit.memory for hit in hits) == numbers


def test_the_tools_take_a_line_of_text(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        _stock(memory.hub())
        tools = holdfast.tools("holdfast", memory.hub(), all_tools=True)
        found = tools.call("recall", {"query": "deploy", "where": "team = web"})
        assert "web shop" in found.text
        assert "billing" not in found.text
        listed = tools.call("memory_list", {"where": "priority > 2"})
        assert "billing" in listed.text
        assert "web shop" not in listed.text
        wrong = tools.call("recall", {"query": "deploy", "where": "team ~ web"})
        assert "is not an operator" in wrong.text
