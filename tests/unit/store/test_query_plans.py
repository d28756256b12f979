"""Every lookup goes straight to its rows: no statement walks a hub to find one memory.

SQLite says how it would run each statement; a plan that reads a whole table, or all of a hub,
is right only for the few statements that are asked for everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast import Holdfast
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.domain.query import ORDERS
from holdfast.engine.writing.redacting_store import unguarded
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import HashEmbedder, open_for_tests

# Statements that are asked for all of a hub, or of the store, and may read it.
READS_EVERYTHING = (
    "count(*)",
    "ORDER BY name",
    "ORDER BY pk",
    "ORDER BY t.pk",
    "ORDER BY r.pk",
    "ORDER BY m.number DESC, m.number",
    "ORDER BY m.number ASC, m.number",
    "ORDER BY m.updated_at",
    "ORDER BY coalesce",
    "max(created_at)",
    "max(pk) FROM passages WHERE hub = t.hub",  # the last row of an index
    "FROM receipts",
    "DELETE FROM clashes",  # a hub has a handful
    "NOT EXISTS (SELECT 1 FROM vectors v",
)
WALKS = ("SCAN", "(hub=?)")
HARMLESS = ("CONSTANT ROW", "VIRTUAL TABLE", "SCAN w", "SCAN s", "SUBQUERY", "json_each", "SCAN (")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    clock = SystemClock()
    with open_for_tests(tmp_path, clock=clock, ids=TimeIds(clock), embedder=HashEmbedder()) as m:
        yield m


def use_everything(memory: Holdfast) -> None:
    hub = memory.hub()
    hub.remember("Prefers tabs", key="indent", source_path="a.md", session="s", speaker="Nate")
    hub.remember_many([{"content": f"Turn {n} of Nate", "session": "s"} for n in range(5)])
    hub.remember("Prefers spaces", supersedes=1)
    hub.update(2, content="Changed")
    hub.pin(2)
    hub.archive(3)
    hub.forget(4)
    hub.undo()
    hub.get("indent")
    hub.recall("what did Nate say about turn 4?", explain=True)
    hub.recall("serByI")
    hub.related(2)
    hub.history(2)
    hub.access(2)
    hub.purge(6)
    hub.list(limit=2)


def test_no_statement_walks_a_hub_to_find_one_row(memory: Holdfast) -> None:
    store = unguarded(memory.core.store)
    assert isinstance(store, SqliteStore)
    memory.hub().remember("Here already")
    seen: set[str] = set()

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        seen.add(sql)
        return True

    store._writer.exec_trace = trace
    with store.read():
        pass
    for connection in store._idle:
        connection.exec_trace = trace
    use_everything(memory)
    statements = {s for s in seen if s.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE"))}
    assert len(statements) > 25
    store._writer.exec_trace = None
    walking = []
    for sql in sorted(statements):
        if any(part in sql for part in READS_EVERYTHING):
            continue
        for row in store._writer.execute(f"EXPLAIN QUERY PLAN {sql}", _nothing(sql)):
            detail = row[3]
            if any(walk in detail for walk in WALKS) and not any(ok in detail for ok in HARMLESS):
                walking.append((detail, sql))
    assert walking == []


def _nothing(sql: str) -> dict[str, None] | tuple[None, ...]:
    """A value for each place in a statement."""
    if named := re.findall(r":([a-z_]+)", sql):
        return dict.fromkeys(named)
    return (None,) * sql.count("?") if "?1" not in sql else (None, None)


@pytest.mark.parametrize("order", ORDERS)
def test_a_text_is_looked_up_and_its_row_found_by_key(memory: Holdfast, order: str) -> None:
    store = unguarded(memory.core.store)
    assert isinstance(store, SqliteStore)
    hub = memory.hub()
    hub.remember("Prefers spaces")
    seen: set[str] = set()

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        seen.add(sql)
        return True

    for connection in store._idle:
        connection.exec_trace = trace
    assert hub.search_text("efers sp", words=True, order=order)
    (looked_up,) = (sql for sql in seen if "by_words" in sql)
    values = (None,) * looked_up.count("?")
    plan = [row[3] for row in store._writer.execute(f"EXPLAIN QUERY PLAN {looked_up}", values)]
    assert "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)" in plan
    assert not [step for step in plan if "SCAN m" in step or "(hub=?)" in step]
