"""What the planner makes of the statements that a life of a hub sends: each reads the rows of its
hub alone. Beside the rules for their text (postgres_lint.py), which cannot see what a join or a
view becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")

from holdfast.api.memory import open as open_memory  # noqa: E402
from tests.postgres_plans import without_hub  # noqa: E402
from tests.postgres_wire import Sent, wire  # noqa: E402

# The reads that are about all hubs: the list of hubs, what is due, and the hub by its name, which
# on one server is a join (on Citus it is asked of `hubs` first, see test_citus_lint.py).
OF_ALL_HUBS = {"records": " r.due <= ", "hub_counts": "FROM hubs h JOIN hub_counts c"}


def _live(home: Path, url: str) -> None:
    with open_memory(home, settings={"embed.model": "none", "store.url": url}) as memory:
        hub = memory.create_hub("life")
        hub.remember_many([f"Box {number} is in the attic" for number in range(120)])
        hub.remember("The office is in Bonn", key="office", tags=["work"], session="s1")
        hub.update("office", content="The office is in Ulm", reason="moved")
        hub.recall("where is the office")
        hub.recall('"in the attic" -box', limit=3)
        hub.search_text("ttic")
        hub.list(limit=5)
        hub.history("office")
        hub.undo()
        hub.log_turn("user", "Where is box 7?", session="s1")
        hub.turns()
        hub.statistics()
        hub.forget(3)
        hub.restore(3)
        hub.purge(4)
        assert memory.core.store.check() == []
        memory.delete_hub("life")


def test_every_plan_reads_the_rows_of_one_hub(tmp_path: Path) -> None:
    with database(ROLE) as url, wire(url) as proxy:
        _live(tmp_path, proxy.url)
        name = proxy.url.rpartition("/")[2].partition("?")[0]
        with psycopg.connect(databases().url(name), autocommit=True) as connection:
            found = without_hub(connection, proxy.sent)
    assert len({one.sql for one in proxy.sent}) > 80
    rest = {
        (table, sql)
        for table, statements in found.items()
        for sql in statements
        if OF_ALL_HUBS.get(table, "\\0") not in sql
    }
    assert rest == set()


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("SELECT m.id FROM memories m WHERE m.id = $1", {"memories"}),
        ("SELECT w.length FROM named_words w WHERE w.memory = $1", {"words"}),
        (
            "SELECT m.id FROM memories m JOIN passages p ON p.memory = m.number"
            " WHERE m.hub_id = $1",
            {"passages"},
        ),
        ("DELETE FROM turns WHERE place = $1", {"turns"}),
        ("SELECT m.id FROM memories m WHERE m.hub_id = $1 AND m.id = $2", set()),
        (
            "SELECT m.id FROM memories m JOIN passages p ON p.hub_id = m.hub_id"
            " AND p.memory = m.number WHERE m.hub_id = $1",
            set(),
        ),
    ],
)
def test_a_plan_that_reads_other_hubs_is_seen(statement: str, tables: set[str]) -> None:
    with database() as url, psycopg.connect(url, autocommit=True) as connection:
        assert set(without_hub(connection, [Sent(statement)])) == tables
