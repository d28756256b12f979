"""The schema on PostgreSQL: the hub leads every key, migrations run once, and what is not ours, or
too new, is left alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.errors import InvalidSetting, StoreDamaged, StoreError, StoreReadOnly, StoreTooNew
from tests.postgres_server import ROLE, database, databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.store.postgres.schema import MIGRATIONS, newest  # noqa: E402
from holdfast.testing.conformance.base import make_hub, make_memory, put  # noqa: E402
from tests.postgres_lint import OF_HUBS, WHOLE, faults  # noqa: E402


@pytest.fixture
def empty() -> Iterator[str]:
    """The name of a database with nothing in it."""
    name = databases().make_empty()
    yield name
    databases().drop(name)


@pytest.fixture(scope="module")
def catalog() -> Iterator[Any]:
    """A connection to a database that has the schema."""
    name = databases().make()
    with psycopg.connect(databases().url(name), autocommit=True) as connection:
        yield connection
    databases().give_back(name)


def _ask(connection: Any, query: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(query).fetchall()
    return found


# Every table of ours: its oid, its name, and the columns of a key in order.
_OURS = "relnamespace = 'holdfast'::regnamespace AND NOT relispartition"


def test_every_table_has_the_hub_first_in_every_key(catalog: Any) -> None:
    names = {
        row[0]
        for row in _ask(
            catalog, f"SELECT relname FROM pg_class WHERE {_OURS} AND relkind IN ('r', 'p')"
        )
    }
    assert names == OF_HUBS | WHOLE
    unique = _ask(
        catalog,
        "SELECT t.relname, i.indexrelid::regclass::text, a.attname FROM pg_index i"
        f" JOIN pg_class t ON t.oid = i.indrelid AND {_OURS}"
        " LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]"
        " WHERE i.indisunique",
    )
    assert {(table, index) for table, index, first in unique if first != "hub_id"} == {
        ("hubs", "holdfast.hubs_id_key"),
        ("hubs", "holdfast.hubs_name_key"),
        ("models", "holdfast.models_pkey"),
        ("models", "holdfast.models_name_key"),
        ("migrations", "holdfast.migrations_pkey"),
        ("migration_steps", "holdfast.migration_steps_pkey"),
    }
    keyed = {table for table, index, _ in unique if index.endswith("_pkey")}
    assert keyed == names


def test_every_foreign_key_has_the_hub_first(catalog: Any) -> None:
    foreign = _ask(
        catalog,
        "SELECT c.conname, a.attname, b.attname FROM pg_constraint c"
        f" JOIN pg_class t ON t.oid = c.conrelid AND {_OURS}"
        " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
        " JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]"
        " WHERE c.contype = 'f'",
    )
    assert foreign
    assert [one for one in foreign if one[1:] != ("hub_id", "hub_id")] == []


def test_there_are_no_triggers_rules_or_functions_of_ours(catalog: Any) -> None:
    assert _ask(catalog, "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal") == []
    rules = "SELECT rulename FROM pg_rules WHERE schemaname = 'holdfast'"
    assert _ask(catalog, rules) == []
    # Those of pgvector, which may be there, are not ours.
    functions = (
        "SELECT proname FROM pg_proc p WHERE pronamespace = 'holdfast'::regnamespace"
        " AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass"
        " AND objid = p.oid AND deptype = 'e')"
    )
    assert _ask(catalog, functions) == []


def test_every_index_begins_with_the_hub_or_holds_it_in_its_terms(catalog: Any) -> None:
    first = _ask(
        catalog,
        "SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i"
        f" JOIN pg_class t ON t.oid = i.indrelid AND {_OURS}"
        " JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]"
        f" WHERE NOT i.indisunique",
    )
    others = {name.removeprefix("holdfast.") for name, column in first if column != "hub_id"}
    assert others == {
        "records_due",
        "records_due_in_hub",
        "words_words",
        "substrings_grams",
    }


def test_what_shows_rows_is_behind_the_wall(catalog: Any) -> None:
    open_tables = {
        row[0]
        for row in _ask(
            catalog,
            f"SELECT relname FROM pg_class WHERE {_OURS} AND relkind IN ('r', 'p')"
            " AND NOT (relrowsecurity AND relforcerowsecurity)",
        )
    }
    # Lists of hubs and models.
    assert open_tables == WHOLE | {"hub_counts"}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT m.id FROM memories m WHERE m.id = %(id)s",
        "SELECT m.id FROM memories m JOIN passages p ON p.memory = m.number"
        " WHERE m.hub_id = %(hub)s",
        "DELETE FROM words WHERE memory = %s",
        "SELECT w.memory FROM words w WHERE w.hub_id = %(hub)s",
        "SELECT w.memory FROM named_words w WHERE w.memory = %(memory)s",
        "UPDATE memories SET state = 'archived'",
        "INSERT INTO turns (id, hub_id) VALUES (%s, %s)",
        "INSERT INTO records (hub_id, id) VALUES (%s, %s) ON CONFLICT (id) DO NOTHING",
        "SELECT 1 FROM records r WHERE r.hub_id = %(hub)s FOR UPDATE SKIP LOCKED",
        "MERGE INTO memories m USING x ON m.hub_id = x.hub_id",
        "TRUNCATE memories",
    ],
)
def test_the_rules_for_statements_can_be_broken(statement: str) -> None:
    assert faults(statement)


def test_a_schema_for_citus_has_no_partitions_and_spreads_every_table() -> None:
    made = [one for step in MIGRATIONS for one in step.statements(citus=True)]
    assert not any("PARTITION" in one for one in made)
    spread = {one.split("'")[1] for one in made if "create_distributed_table" in one}
    whole = {one.split("'")[1] for one in made if "create_reference_table" in one}
    assert (spread, whole) == (OF_HUBS, WHOLE - {"migrations", "migration_steps"})


def test_the_wall_on_citus_needs_no_subquery_and_keeps_the_same_apart(empty: str) -> None:
    """Citus takes no subquery in a policy of a table that it spreads."""
    made = [one for step in MIGRATIONS for one in step.statements(citus=True)]
    walls = {one.split()[4]: one for one in made if one.startswith("CREATE POLICY")}
    assert walls and not any("(SELECT" in wall for wall in walls.values())
    databases().make_role()
    with psycopg.connect(databases().url(empty), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE memories (hub_id bigint);"
            " INSERT INTO memories VALUES (1), (2), (3);"
            " ALTER TABLE memories ENABLE ROW LEVEL SECURITY;"
            f" GRANT SELECT, INSERT ON memories TO {ROLE}"
        )
        connection.execute(walls["memories"])
        connection.execute(f"SET ROLE {ROLE}")
        assert _ask(connection, "SELECT hub_id FROM memories") == []
        connection.execute("SET holdfast.hubs = '0,1,3'")
        assert _ask(connection, "SELECT hub_id FROM memories ORDER BY hub_id") == [(1,), (3,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO memories VALUES (2)")


# Migrations


def test_stores_that_are_opened_at_once_make_the_tables_once(empty: str) -> None:
    failed: list[BaseException] = []
    start = threading.Barrier(3)

    def open_one() -> None:
        try:
            start.wait(30)
            PostgresStore(databases().url(empty), partitions=2).close()
        except BaseException as error:  # noqa: BLE001 - told by the assertion below
            failed.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with psycopg.connect(databases().url(empty)) as connection:
        recorded = _ask(connection, "SELECT version, partitions, citus FROM holdfast.migrations")
    assert recorded == [(step.version, 2, False) for step in MIGRATIONS]


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_store_has_as_many_partitions_as_it_was_made_with(empty: str, partitions: int) -> None:
    PostgresStore(databases().url(empty), partitions=partitions).close()
    # Later openings do not ask again.
    store = PostgresStore(databases().url(empty), partitions=8)
    assert store.offered.partitions == partitions
    store.close()


@pytest.mark.parametrize("partitions", [0, -1, 257])
def test_a_number_of_partitions_out_of_bounds_is_refused(empty: str, partitions: int) -> None:
    with pytest.raises(InvalidSetting, match="from 1 to 256"):
        PostgresStore(databases().url(empty), partitions=partitions)


def test_a_schema_that_is_too_new_is_refused_and_one_that_is_still_understood_is_not(
    empty: str,
) -> None:
    url = databases().url(empty)
    PostgresStore(url, partitions=1).close()
    add = "INSERT INTO holdfast.migrations (version, name, oldest, partitions, citus)"
    databases().execute(f"{add} VALUES ({newest() + 1}, 'later', {newest()}, 1, false)", empty)
    PostgresStore(url).close()
    databases().execute(f"{add} VALUES ({newest() + 2}, 'latest', {newest() + 1}, 1, false)", empty)
    with pytest.raises(StoreTooNew, match=rf"schema {newest() + 2}.*up to {newest()}"):
        PostgresStore(url)


def test_a_migration_that_fails_leaves_nothing(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = MIGRATIONS[0]._replace(after=(*MIGRATIONS[0].after, "SELECT 1 / 0"))
    monkeypatch.setattr("holdfast.store.postgres.schema.MIGRATIONS", (broken,))
    with pytest.raises(StoreError):
        PostgresStore(databases().url(empty), partitions=1)
    with psycopg.connect(databases().url(empty)) as connection:
        assert _ask(connection, "SELECT to_regnamespace('holdfast')") == [(None,)]
    monkeypatch.undo()
    PostgresStore(databases().url(empty), partitions=1).close()


def test_tables_of_somebody_else_are_left_alone(empty: str) -> None:
    databases().execute("CREATE SCHEMA holdfast; CREATE TABLE holdfast.mine (a int)", empty)
    with pytest.raises(StoreDamaged, match="not Holdfast's"):
        PostgresStore(databases().url(empty))


def test_a_role_that_may_not_make_tables_is_told_who_must(empty: str) -> None:
    databases().make_role()
    with pytest.raises(StoreReadOnly, match="may not make them"):
        PostgresStore(databases().url(empty, ROLE))


def test_a_database_that_cannot_hold_every_text_is_refused() -> None:
    name = databases().make_empty(encoding="LATIN1")
    try:
        with pytest.raises(StoreError, match=r"LATIN1.*UTF8"):
            PostgresStore(databases().url(name))
    finally:
        databases().drop(name)


def test_a_hub_that_has_grown_is_looked_at_before_anybody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without statistics the server takes it for a small one and reads all of it."""
    needs(version=170000)  # before, only its owner may have a table looked at
    monkeypatch.setattr("holdfast.store.postgres.write_buffer._ANALYSED_FROM", 10)
    with database(ROLE) as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
            for number in range(1, 13):
                put(writer, make_memory(number))
        store.close()
        name = url.partition("@/")[2].partition("?")[0]
        with psycopg.connect(databases().url(name)) as connection:
            known = _ask(
                connection,
                "SELECT c.relname FROM pg_class c JOIN pg_statistic s ON s.starelid = c.oid"
                " WHERE c.relnamespace = 'holdfast'::regnamespace AND c.reltuples = 12"
                " GROUP BY 1",
            )
    tables = {row[0].rstrip("0123456789").rstrip("_") for row in known}
    assert {"memories", "passages", "words", "substrings"} <= tables


def test_a_hub_that_is_one_of_many_in_its_tables_is_not_looked_at_each_time(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking takes a second, and the server takes a hub like all others for what it is."""
    monkeypatch.setattr("holdfast.store.postgres.write_buffer._ANALYSED_FROM", 10)
    store = PostgresStore(databases().url(empty), partitions=1)
    looked_at = []
    for hub_id, count in (("hub_first", 120), ("hub_small", 12), ("hub_second", 40)):
        sent: list[str] = []
        monkeypatch.setattr("holdfast.store.postgres.session.LISTENERS", [sent.append])
        with store.write() as writer:
            writer.add_hub(make_hub(hub_id))
        for start in (1, 10):
            with store.write() as writer:
                for number in range(start, 10 if start == 1 else count + 1):
                    put(writer, make_memory(number, hub_id=hub_id))
        if any(statement.startswith("ANALYZE") for statement in sent):
            looked_at.append(hub_id)
    store.close()
    assert looked_at == ["hub_first", "hub_second"]
