"""How the server goes about a search: in a hub that it knows nothing of yet as in any other."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("psycopg")

from holdfast.domain.query import EVERYTHING
from holdfast.store.postgres import PostgresStore
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.values import TermQuery, VectorRow
from holdfast.testing.conformance.base import (
    HUB,
    MODEL,
    make_hub,
    make_memory,
    put,
)
from tests.postgres_server import database

_MEMORIES = 60


def _plans(reader: PostgresReader, part: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills with the plan of each statement from now on that has this part."""
    plans: list[str] = []
    session = reader._session
    ask = session.all

    def explained(statement: str, **values: Any) -> list[Any]:
        if part in statement:
            lines = ask(f"EXPLAIN (ANALYZE, COSTS OFF) {statement}", **values)
            plans.append("\n".join(line[0] for line in lines))
        return ask(statement, **values)

    monkeypatch.setattr(session, "all", explained)
    return plans


def test_no_match_is_compared_with_the_whole_hub_where_the_server_knows_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with database() as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
            for number in range(1, _MEMORIES + 1):
                put(writer, make_memory(number, content=f"the gate is blue {number}"), [[]])
        with store.read() as reader:
            plans = _plans(reader, "JOIN", monkeypatch)
            by_words = reader.search_terms(HUB, TermQuery(("gate", "blue")), EVERYTHING, limit=90)
            found = reader.candidates(HUB, [one.passage_id for one in by_words], EVERYTHING)
        store.close()
    assert len(by_words) == len(found) == _MEMORIES
    assert len(plans) == 2
    assert [plan for plan in plans if "Removed by Join Filter" in plan] == []


def test_new_vectors_are_not_compared_with_all_others_where_the_server_knows_nothing_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with database() as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
            for number in range(1, _MEMORIES + 1):
                put(writer, make_memory(number), [[bytes(8)] if number % 2 else []])
        with store.write(hub=HUB) as writer:
            plans = _plans(writer, "FROM vectors", monkeypatch)
            missing = writer.unembedded(HUB, MODEL, limit=_MEMORIES)
            writer.set_vectors(
                HUB, MODEL, [VectorRow(one.passage_id, 0, bytes(8)) for one in missing]
            )
            assert writer.unembedded(HUB, MODEL, limit=_MEMORIES) == []
        store.close()
    assert len(missing) == _MEMORIES // 2
    assert len(plans) == 3
    assert [plan for plan in plans if "Removed by Join Filter" in plan] == []
