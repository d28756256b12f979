"""Migrations of a PostgreSQL store while it is used: readers and writers go on, a migration that
was killed goes on where it stopped, one process does it, and two versions work on one database."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.query import ORDERS, Filter
from holdfast.errors import StoreReadOnly, StoreTooNew
from tests.postgres_server import ROLE, databases

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import (  # noqa: E402 - needs the extra `postgres`
    PostgresStore,
    migrate,
    rows,
)
from holdfast.store.postgres.initialise import grant  # noqa: E402
from holdfast.store.postgres.initialise import migrate as bring_up_to_date  # noqa: E402
from holdfast.store.postgres.migrate import run_all  # noqa: E402
from holdfast.store.postgres.schema import (  # noqa: E402
    MIGRATIONS,
    Backfill,
    Index,
    Migration,
    Table,
    _columns,
    newest,
)
from holdfast.testing.conformance.base import HUB, make_hub, make_memory, put  # noqa: E402
from tests.postgres_lint import long_locks, relies_on_steps  # noqa: E402
from tests.postgres_migrations import (  # noqa: E402
    COLUMN,
    FILL_MOODS,
    FILLED,
    KNOWN,
    LATER,
    NEXT,
    SCHEMA_PATH,
    SECOND,
)

ROOT = Path(__file__).parents[3]
# Long enough for a busy machine; nothing here takes as long where it works.
_WAIT_S = 30.0


def _known(monkeypatch: pytest.MonkeyPatch, migrations: tuple[Migration, ...]) -> None:
    monkeypatch.setattr(SCHEMA_PATH, migrations)


@pytest.fixture(scope="module")
def old() -> Iterator[str]:
    """A database of schema 1 with a few memories; each test has a copy."""
    databases().make_role()
    made = databases().make_empty()
    store = PostgresStore(databases().url(made), partitions=2)
    with store.write() as writer:
        for hub in (HUB, "hub_other"):
            writer.add_hub(make_hub(hub))
            for number in range(1, 13):
                put(writer, make_memory(number, hub_id=hub))
    store.close()
    with psycopg.connect(databases().url(made), autocommit=True) as connection:
        grant(connection, ROLE)
    yield made
    databases().drop(made)


@pytest.fixture
def name(old: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Such a database of a test's own; the second migration is known and not made."""
    made = f"{old}_copy"
    databases().execute(f"CREATE DATABASE {made} TEMPLATE {old}")
    _known(monkeypatch, KNOWN)
    monkeypatch.setattr(migrate, "_POLL_S", 0.02)
    yield made
    databases().drop(made)


@pytest.fixture
def ask(name: str) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    with psycopg.connect(databases().url(name), autocommit=True) as connection:
        yield lambda query: connection.execute(query).fetchall()


Ask = Callable[[str], list[tuple[Any, ...]]]


def _run(name: str, told: Callable[[str], None] = lambda what: None) -> None:
    bring_up_to_date(databases().url(name), report=told)


class _Beside(threading.Thread):
    """A migration that runs beside the test."""

    def __init__(self, name: str) -> None:
        super().__init__(daemon=True)
        self._name = name
        self.failed: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            _run(self._name)
        except BaseException as error:  # noqa: BLE001 - told by `end`
            self.failed = error

    def end(self) -> None:
        self.join(_WAIT_S)
        assert not self.is_alive()
        assert self.failed is None


@contextmanager
def _somebody(name: str, statement: str) -> Iterator[Any]:
    """Another program that has begun a transaction and does not end it."""
    with psycopg.connect(databases().url(name)) as connection:
        connection.execute(statement)
        yield connection
        connection.rollback()


_WRITING = "UPDATE holdfast.memories SET title = title WHERE number = 1"
_READING = "SELECT count(*) FROM holdfast.memories"


def _until(seen: Callable[[], object]) -> None:
    ends = time.monotonic() + _WAIT_S
    while not seen():
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.01)


def _building(ask: Ask, name: str) -> Callable[[], list[tuple[Any, ...]]]:
    """The backends that wait, in the middle of building an index, for a transaction to end."""
    return lambda: ask(
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE"
        f" '%INDEX CONCURRENTLY%' AND datname = '{name}'"
    )


def _indexes(ask: Ask) -> dict[str, bool]:
    """The indexes that migrations left for later, and whether they can be used."""
    found = ask("SELECT indexrelid::regclass::text, indisvalid FROM pg_index")
    named = {name.removeprefix("holdfast."): valid for name, valid in found}
    return {name: valid for name, valid in named.items() if name.startswith(tuple(LATER))}


# All of them: one on a table that is whole, the others on one in two parts.
WHOLE = dict.fromkeys(
    [
        *LATER,
        *(f"{name}_{part}" for name in LATER if name.startswith("memories") for part in (0, 1)),
    ],
    True,
)


def _use(store: PostgresStore, number: int) -> float:
    """Writes a memory and reads it back; how long that took."""
    began = time.monotonic()
    with store.write(hub=HUB) as writer:
        put(writer, make_memory(number))
    with store.read() as reader:
        assert reader.memory_by_number(HUB, number) is not None
    return time.monotonic() - began


# Beside readers and writers


def test_readers_and_writers_go_on_while_an_index_is_built(name: str, ask: Ask) -> None:
    store = PostgresStore(databases().url(name, ROLE))
    with _somebody(name, _WRITING):
        migration = _Beside(name)
        _until(_building(ask, name))
        # It stands in the middle of the table's index, and nobody notices.
        for number in range(100, 110):
            _use(store, number)
        assert _building(ask, name)()
        blocked = "SELECT pid FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
        waits = ask(f"{blocked} AND datname = '{name}' AND query NOT LIKE 'CREATE INDEX%'")
        assert waits == []
    migration.end()
    assert _indexes(ask) == WHOLE
    assert ask("SELECT count(*) FROM holdfast.migration_steps") == [(len(LATER),)]
    store.close()


def test_who_opens_the_store_meanwhile_does_not_wait_for_it(name: str, ask: Ask) -> None:
    with _somebody(name, _WRITING):
        migration = _Beside(name)
        _until(_building(ask, name))
        for user in ("postgres", ROLE):
            store = PostgresStore(databases().url(name, user))
            assert [one.step.name for one in store.offered.later] == LATER[1:]
            with store.read() as reader:
                assert len(reader.hubs()) == 2
            store.close()
    migration.end()
    store = PostgresStore(databases().url(name, ROLE))
    assert store.offered.later == ()
    store.close()


def test_what_needs_the_table_for_itself_lets_others_pass_and_tries_again(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(databases().url(name))
    tries: list[str] = []
    send = migrate.send

    def listening(connection: Any, statement: str, values: Any = None) -> Any:
        if statement.startswith("ALTER TABLE memories"):
            tries.append(statement)
        return send(connection, statement, values)

    monkeypatch.setattr("holdfast.store.postgres.migrate.send", listening)
    _known(monkeypatch, (*KNOWN, COLUMN))
    with _somebody(name, _READING):
        migration = _Beside(name)
        slowest, number = 0.0, 100
        while len(tries) < 3:
            slowest, number = max(slowest, _use(store, number)), number + 1
    migration.end()
    # Each write met it once at most: as long as one lock is waited for, and the work itself.
    # In seconds, not in what the software takes for short: that may be what is wrong.
    assert slowest < 2.6
    assert ask("SELECT count(mood) FROM holdfast.memories") == [(0,)]
    store.close()


def test_a_table_that_never_becomes_free_is_given_up_and_nothing_is_left_half_done(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(name)
    _known(monkeypatch, (*KNOWN, COLUMN))
    monkeypatch.setattr("holdfast.store.postgres.migrate.RETRY_S", 0.01)
    with _somebody(name, _READING), pytest.raises(Exception, match="for as long as we wait"):
        _run(name)
    assert ask("SELECT max(version) FROM holdfast.migrations") == [(SECOND.version,)]
    _run(name)
    assert ask("SELECT max(version) FROM holdfast.migrations") == [(NEXT,)]


# Killed, and twice at once

_SCRIPT = """
import sys
from holdfast.store.postgres import schema
from holdfast.store.postgres.initialise import migrate
from tests import postgres_migrations
schema.MIGRATIONS = (*postgres_migrations.KNOWN, *(
    getattr(postgres_migrations, one) for one in sys.argv[2:]))
migrate(sys.argv[1], report=lambda what: None)
"""


@contextmanager
def _process(name: str, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that migrates, with the migrations of the test that are named beside the second."""
    given = [sys.executable, "-c", _SCRIPT, databases().url(name), *more]
    process = subprocess.Popen(given, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_migration_that_is_killed_with_its_server_side_goes_on_where_it_stopped(
    name: str, ask: Ask
) -> None:
    with _somebody(name, _WRITING):
        for _ in range(2):
            with _process(name):
                _until(_building(ask, name))
            for (pid,) in _building(ask, name)():
                ask(f"SELECT pg_terminate_backend({pid})")
            _until(lambda: not _building(ask, name)())
            found = _indexes(ask)
            # What was built stays, and what was not is there but of no use.
            assert found["records_at"]
            assert found["memories_titles_0"] is False
    _run(name)
    assert _indexes(ask) == WHOLE


def test_a_migration_that_is_killed_while_it_changes_a_table_leaves_nothing_of_it(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(name)
    altering = (
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        f" AND query LIKE 'ALTER TABLE memories%' AND datname = '{name}'"
    )
    with _somebody(name, _READING), _process(name, "FILLED"):
        _until(lambda: ask(altering))
    _until(lambda: not ask(altering))
    assert ask("SELECT max(version) FROM holdfast.migrations") == [(SECOND.version,)]
    columns = "SELECT 1 FROM pg_attribute WHERE attname = 'mood' AND NOT attisdropped"
    assert ask(columns) == []
    _known(monkeypatch, (*KNOWN, FILLED))
    _run(name)
    assert ask("SELECT count(mood), count(*) FROM holdfast.memories") == [(24, 24)]


def test_what_the_server_goes_on_building_is_taken_over(name: str, ask: Ask) -> None:
    with _somebody(name, _WRITING):
        with _process(name):
            _until(_building(ask, name))
        # The process is gone; its backend does not know yet.
        assert _building(ask, name)()
        (built,) = ask("SELECT to_regclass('holdfast.memories_titles_0')::oid")
        migration = _Beside(name)
    migration.end()
    assert _indexes(ask) == WHOLE
    assert ask("SELECT to_regclass('holdfast.memories_titles_0')::oid") == [built]


def test_two_processes_that_migrate_do_it_once(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = migrate.send

    def listening(connection: Any, statement: str, values: Any = None) -> Any:
        sent.append(statement)
        return send(connection, statement, values)

    monkeypatch.setattr(migrate, "send", listening)
    with _somebody(name, _WRITING):
        both = [_Beside(name), _Beside(name)]
        _until(_building(ask, name))
    for migration in both:
        migration.end()
    assert _indexes(ask) == WHOLE
    made = [one for one in sent if one.startswith("CREATE INDEX CONCURRENTLY")]
    assert len(made) == len(set(made)) == 1 + 2 * len(LATER[1:])


# Rows and rules


def test_rows_are_filled_in_batches_and_a_rule_is_looked_up_afterwards(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    _known(monkeypatch, (*KNOWN, FILLED))
    monkeypatch.setattr(migrate, "BATCH", 5)
    seen: list[str] = []

    def told(what: str) -> None:
        seen.append(what)
        if what.startswith("moods") and what.endswith("hub 2 of 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _run(name, told)
    mood = "SELECT hub_id, count(mood), count(*) FROM holdfast.memories GROUP BY 1 ORDER BY 1"
    assert [row[1:] for row in ask(mood)] == [(12, 12), (0, 12)]
    seen.clear()
    _run(name, seen.append)
    assert "moods in memories, hub 2 of 2" in seen
    assert [row[1:] for row in ask(mood)] == [(12, 12), (12, 12)]
    rule = "SELECT convalidated FROM pg_constraint WHERE conname = 'mood_is_known'"
    assert {row[0] for row in ask(rule)} == {True}
    seen.clear()
    _run(name, seen.append)
    assert seen == []


def test_rows_are_filled_in_the_turn_of_the_hubs_writers(
    name: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(name)
    store = PostgresStore(databases().url(name, ROLE))
    _known(monkeypatch, (*KNOWN, FILLED))
    waits = (
        "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
        f" WHERE l.locktype = 'advisory' AND NOT l.granted AND a.datname = '{name}'"
    )
    with store.write(hub=HUB):
        migration = _Beside(name)
        _until(lambda: ask(waits))
    migration.end()
    store.close()


def test_no_migration_relies_on_a_step_that_may_not_be_done() -> None:
    assert relies_on_steps((*KNOWN, FILLED)) == []
    named = ("COMMENT ON INDEX memories_titles IS 'by title'",)
    (found,) = relies_on_steps((*KNOWN, Migration(NEXT, "a comment", oldest=1, after=named)))
    assert "memories_titles" in found


# What is done by whom


def test_a_role_that_owns_nothing_goes_on_without_what_it_may_not_make(name: str, ask: Ask) -> None:
    store = PostgresStore(databases().url(name, ROLE))
    assert store.offered.version == newest() - 1
    assert [one.step.name for one in store.offered.later] == LATER
    _use(store, 100)
    store.close()
    with pytest.raises(StoreReadOnly, match=r"may not change it.*store migrate"):
        bring_up_to_date(databases().url(name, ROLE), report=lambda what: None)
    assert set(_indexes(ask)) == set()


def test_what_is_left_for_later_is_told_to_who_asks(name: str) -> None:
    def told() -> list[str]:
        store = PostgresStore(databases().url(name, ROLE))
        try:
            return [note for note in store.notes() if "holdfast store migrate" in note]
        finally:
            store.close()

    (note,) = told()
    assert "memories_titles" in note
    _run(name)
    assert told() == []


# Two versions on one database

_OLD_HOLDFAST = """
import sys
import holdfast
with holdfast.open(sys.argv[1]) as memory:
    hub = memory.hub(sys.argv[3], create=True)
    hub.remember(sys.argv[2])
    print(hub.recall("office", limit=1)[0].memory.content)
"""


def _old_holdfast(home: Path, url: str, text: str, hub: str) -> subprocess.CompletedProcess[str]:
    """A process of this code, which does not know the migrations of the test."""
    return subprocess.run(
        [sys.executable, "-c", _OLD_HOLDFAST, url, text, hub],
        env={"HOLDFAST_HOME": str(home), "HOLDFAST_EMBED_MODEL": "none"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_WAIT_S * 2,
    )


def test_the_holdfast_before_works_on_while_the_schema_is_brought_up_to_date(
    name: str, ask: Ask, tmp_path: Path
) -> None:
    url = databases().url(name)
    with _somebody(name, _WRITING):
        migration = _Beside(name)
        _until(_building(ask, name))
        during = _old_holdfast(tmp_path, url, "The office is in Bonn", "mine")
    migration.end()
    assert during.stdout.strip() == "The office is in Bonn", during.stderr
    store = PostgresStore(url)
    assert store.offered.later == ()
    with store.read() as reader:
        found = reader.hub("mine")
        assert found is not None
        assert reader.memory_by_number(found.id, 1) is not None
    store.close()


def test_the_holdfast_before_works_on_a_newer_schema_that_it_understands(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _known(monkeypatch, (*KNOWN, COLUMN))
    _run(name)
    after = _old_holdfast(tmp_path, databases().url(name, ROLE), "The office is in Bonn", "later")
    assert after.stdout.strip() == "The office is in Bonn", after.stderr


def test_a_role_that_was_let_in_before_may_use_a_table_that_a_migration_adds(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("labels", _columns("hub_id int8; id text"), ("PRIMARY KEY (hub_id, id)",))
    _known(monkeypatch, (*KNOWN, Migration(NEXT, "labels", oldest=1, tables=(table,))))
    _run(name)
    with psycopg.connect(databases().url(name, ROLE), autocommit=True) as connection:
        connection.execute("SET holdfast.hubs = '0,1'")
        connection.execute("INSERT INTO holdfast.labels VALUES (1, 'one')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO holdfast.labels VALUES (2, 'two')")
        connection.execute("SET holdfast.hubs = '0,2'")
        assert connection.execute("SELECT count(*) FROM holdfast.labels").fetchone() == (0,)


def test_a_holdfast_that_is_too_old_for_the_schema_says_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaking = Migration(NEXT, "another shape", oldest=NEXT, before=COLUMN.before)
    with monkeypatch.context() as newer:
        _known(newer, (*KNOWN, breaking))
        _run(name)
    with pytest.raises(
        StoreTooNew, match=f"schema {NEXT}; this Holdfast knows up to {SECOND.version}"
    ):
        PostgresStore(databases().url(name))


# What a migration may say


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX one ON memories (hub_id)",
        "CREATE UNIQUE INDEX one ON memories (hub_id)",
        "REINDEX TABLE memories",
        "DROP INDEX memories_hash",
        "ALTER TABLE memories ADD COLUMN at timestamptz DEFAULT clock_timestamp()",
        "ALTER TABLE memories ADD COLUMN n bigint GENERATED ALWAYS AS (number + 1) STORED",
        "ALTER TABLE memories ADD COLUMN n bigint UNIQUE",
        "ALTER TABLE memories ADD CONSTRAINT c CHECK (number > 0)",
        "ALTER TABLE memories ADD FOREIGN KEY (hub_id) REFERENCES hubs (hub_id)",
        "ALTER TABLE memories ALTER COLUMN number TYPE numeric",
        "ALTER TABLE memories ALTER number SET DATA TYPE numeric",
        "ALTER TABLE memories ALTER COLUMN key SET NOT NULL",
        "ALTER TABLE memories SET LOGGED",
        "VACUUM FULL memories",
        "CLUSTER memories",
        "LOCK TABLE memories",
        "UPDATE memories SET title = ''",
    ],
)
def test_a_statement_that_would_keep_everybody_waiting_is_known(statement: str) -> None:
    assert long_locks(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE memories ADD COLUMN mood text",
        "ALTER TABLE memories ADD COLUMN mood text NOT NULL DEFAULT ''",
        "ALTER TABLE memories ADD CONSTRAINT c CHECK (number > 0) NOT VALID",
        "CREATE INDEX CONCURRENTLY one ON memories (hub_id)",
        "CREATE INDEX one ON ONLY memories (hub_id)",
        FILL_MOODS.statement,
    ],
)
def test_a_statement_that_is_short_is_let_pass(statement: str) -> None:
    assert long_locks(statement) == []


def test_no_migration_after_the_first_keeps_a_table_in_use_for_long() -> None:
    later = (*MIGRATIONS[1:], SECOND, FILLED)
    made_here = {table.name for step in later for table in step.tables}
    for migration in later:
        for citus in (False, True):
            for statement in migration.statements(citus=citus):
                # Nobody uses a table that the migration itself creates.
                if not any(f" {table} " in f"{statement} " for table in made_here):
                    assert long_locks(statement) == [], statement
        for step in migration.later:
            if isinstance(step, Index):
                for how in ("CONCURRENTLY", "ONLY"):
                    assert long_locks(step.statement(step.name, step.table, how=how)) == []
            elif isinstance(step, Backfill):
                assert long_locks(step.statement) == []


def test_what_is_sent_to_tables_in_use_is_short_too(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _known(monkeypatch, (*KNOWN, FILLED))
    sent: set[str] = set()
    send = migrate.send

    def listening(connection: Any, statement: str, values: Any = None) -> Any:
        sent.add(statement)
        return send(connection, statement, values)

    monkeypatch.setattr(migrate, "send", listening)
    _run(name)
    assert any("CONCURRENTLY" in one for one in sent)
    assert any("VALIDATE" in one for one in sent)
    assert {one: wrong for one in sent if (wrong := long_locks(one))} == {}


# What the indexes are for


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (
            "SELECT m.id FROM memories m WHERE m.hub_id = 1 AND m.forgotten_at IS NULL"
            " AND coalesce(m.occurred_at, m.created_at) >= 5"
            " ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.number DESC LIMIT 9",
            "coalesce",
        ),
        (
            "SELECT m.id FROM memories m WHERE m.hub_id = 1 AND m.forgotten_at IS NULL"
            " ORDER BY m.updated_at DESC, m.number DESC LIMIT 9",
            "updated_at",
        ),
        (
            "SELECT m.id FROM memories m WHERE m.hub_id = 1 AND m.forgotten_at IS NULL ORDER BY"
            " m.pinned DESC, greatest(m.updated_at, m.accessed_at) DESC, m.number DESC LIMIT 9",
            "greatest",
        ),
        (
            "SELECT r.id FROM records r WHERE r.hub_id = 1 AND r.kind = 'job' AND r.due <= 9"
            " ORDER BY r.due, r.id LIMIT 1",
            "records_due_in_hub",
        ),
    ],
)
def test_the_indexes_answer_what_they_are_for(statement: str, index: str) -> None:
    made = databases().make()
    try:
        with psycopg.connect(databases().url(made)) as connection:
            connection.execute(
                "SET search_path = holdfast; SET enable_seqscan = off; SET enable_sort = off;"
                " SET enable_bitmapscan = off"
            )
            plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {statement}"))
    finally:
        databases().give_back(made)
    assert index in plan
    assert "Sort" not in plan


def test_a_list_in_any_order_is_read_as_far_as_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    made = databases().make()
    store = PostgresStore(databases().url(made))
    try:
        with store.write() as writer:
            writer.add_hub(make_hub())
        plans: dict[str, str] = {}
        with store.read() as reader:
            session = reader._session
            # An empty table is read in whatever way, unless by its index.
            for way in ("seqscan", "bitmapscan", "sort"):
                session.run(f"SELECT set_config('enable_{way}', 'off', true)")
            ask = session.all
            monkeypatch.setattr(
                session, "all", lambda sql, **values: ask(f"EXPLAIN {sql}", **values)
            )
            monkeypatch.setattr(rows, "memory_from_row", lambda row, hub_id: row[0])
            for order, after in product(ORDERS, (None, (7, 3))):
                found = reader.memories(HUB, Filter(), order=order, after=after, limit=9)
                plans[f"{order} after {after}"] = "\n".join(str(line) for line in found)
    finally:
        store.close()
        databases().give_back(made)
    assert len(plans) == 2 * len(ORDERS)
    assert all("Index" in plan for plan in plans.values())
    assert {name: plan for name, plan in plans.items() if "Sort" in plan} == {}


def test_finishing_twice_finds_nothing_to_do(name: str) -> None:
    url = databases().url(name)
    seen: list[str] = []
    assert run_all(url, "it", seen.append).later == ()
    assert seen
    seen.clear()
    assert run_all(url, "it", seen.append).later == ()
    assert seen == []
