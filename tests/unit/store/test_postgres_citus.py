"""The store on Citus: the same tables, spread over nodes by hub. Run where the server has the
extension (HOLDFAST_TEST_POSTGRES names one), and skipped elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.errors import StoreBusy
from tests.postgres_server import ROLE, database, databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.api.memory import open as open_memory  # noqa: E402
from holdfast.store.postgres import PostgresStore  # noqa: E402
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.store.postgres.migrate import prepare  # noqa: E402
from holdfast.store.postgres.session import LISTENERS  # noqa: E402
from holdfast.testing.conformance.base import HUB, make_hub, make_memory, put  # noqa: E402
from tests.postgres_lint import OF_HUBS  # noqa: E402


@pytest.fixture
def name() -> Iterator[str]:
    """A database with Citus and a store in it, and the role of programs let in."""
    needs(extension="citus")
    made = databases()
    made.make_role()
    found = made.make_empty()
    made.execute("CREATE EXTENSION citus", found)
    told = initialise(made.url(found), citus=True, role=ROLE)
    assert told.offered.citus
    yield found
    made.drop(found)


def test_every_table_of_a_hub_is_spread_by_it(name: str) -> None:
    with psycopg.connect(databases().url(name)) as connection:
        found = connection.execute(
            "SELECT table_name::text, distribution_column FROM citus_tables"
        ).fetchall()
    spread = {table.rpartition(".")[2] for table, column in found if column == "hub_id"}
    assert spread >= OF_HUBS


def test_a_life_on_many_nodes_is_the_same(name: str, tmp_path: Path) -> None:
    """As the role that programs use, which is behind the wall on every node."""
    settings = {"embed.model": "none", "store.url": databases().url(name, ROLE)}
    with open_memory(tmp_path, settings=settings) as memory:
        hubs = [memory.create_hub(f"hub-{number}") for number in range(4)]
        for hub in hubs:
            hub.remember(f"The office of {hub.name} is in Bonn", key="office")
            hub.remember_many([f"Box {number} is in the attic" for number in range(40)])
            hub.log_turn("user", "Where is box 7?")
        for hub in hubs:
            (found,) = hub.recall("office", limit=1)
            assert hub.name in found.memory.content
            changed = hub.update("office", content="It is in Ulm now", reason="moved")
            assert changed.version == 2
            assert len(hub.history("office")) == 2
            assert len(hub.turns()) == 1
            assert hub.statistics().memories == 41
        memory.delete_hub(hubs[0].name)
        assert len(memory.hubs()) == 4 - 1 + ("default" in {hub.name for hub in memory.hubs()})
        assert memory.core.store.check() == []


# What Citus does with a table, on a server without it: it is heeded that all goes one by one.
_STANDS_FOR = """
CREATE SCHEMA holdfast;
CREATE FUNCTION holdfast.create_reference_table(text) RETURNS text LANGUAGE sql
    AS $$SELECT 1 / (current_setting('citus.multi_shard_modify_mode') = 'sequential')::int || $1$$;
CREATE FUNCTION holdfast.create_distributed_table(text, text) RETURNS text LANGUAGE sql
    AS $$SELECT holdfast.create_reference_table($1)$$;
"""


def test_the_tables_are_made_over_one_connection_to_each_node() -> None:
    """Else Citus refuses the second that stands on a table which every node has."""
    found = databases().make_empty()
    try:
        with psycopg.connect(databases().url(found), autocommit=True) as connection:
            connection.execute(_STANDS_FOR)
            assert prepare(connection, "here", citus=True).citus
            made = connection.execute(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace"
                " AND relkind = 'r' AND relname = ANY(%s)",
                (list(OF_HUBS),),
            ).fetchone()
        assert made == (len(OF_HUBS),)
    finally:
        databases().drop(found)


def test_writers_of_a_hub_take_turns_at_one_node() -> None:
    """Here one server is taken for many: a lock that is asked for beside a table would be that of
    the node which is asked for the table."""
    with database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE holdfast.migrations SET citus = true")
        store = PostgresStore(url)
        sent: list[str] = []
        try:
            with store.write() as writer:
                writer.add_hub(make_hub())
            LISTENERS.append(sent.append)
            with store.write(hub=HUB), ThreadPoolExecutor(1) as pool, pytest.raises(StoreBusy):
                pool.submit(_write, store).result()
            _write(store)
        finally:
            LISTENERS.remove(sent.append)
            store.close()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("UPDATE holdfast.migrations SET citus = false")
    locks = [statement for statement in sent if "advisory" in statement]
    assert locks and not any(" FROM " in statement for statement in locks)


def _write(store: PostgresStore) -> None:
    with store.write(hub=HUB, wait=False) as writer:
        put(writer, make_memory(1))
