"""Runs the migrations that a database lacks, and finds out what it can do.

Each migration runs in its own transaction, under a lock, and is recorded together with the number
of partitions and whether Citus distributes the tables. Each record also names the oldest schema of
a Holdfast that still works with it, so that two versions can use one database during an upgrade.

A change that needs an exclusive lock gives up after LOCK_WAIT_MS and is tried again: behind a
statement that waits for a table lock, every later statement on that table waits too. Long work is
a step for later: opening a store goes on without it, and `run_all` does it while the store is used.

- Indexes of large tables are built concurrently, one partition at a time. An unfinished one is
  dropped and built again.
- Columns are filled in batches, with the lock of the hub's writers, and a commit for each batch.
- Constraints hold for new rows first; existing rows are validated without blocking anybody.

Finished steps are recorded, and the catalog and the rows show what exists, so a process that is
killed loses no more than the partition or batch that it was working on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import psycopg

from holdfast.errors import (
    InvalidSetting,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
)
from holdfast.store.postgres import schema
from holdfast.store.postgres.advisory_locks import LOCK_CLASS, lock_hub, require_held, try_lock
from holdfast.store.postgres.connections import SERVER_FROM, backoff, connect_to_stay
from holdfast.store.postgres.extensions import is_worker, vector, worker_refusal
from holdfast.store.postgres.schema import (
    PARTITIONS,
    PARTITIONS_MAX,
    SCHEMA,
    Backfill,
    Check,
    Index,
    Migration,
    Step,
    newest,
    own_search_path,
    search_path,
)

Connection = psycopg.Connection[Any]
Report: TypeAlias = Callable[[str], None]

# Advisory locks of the store: for creating and changing tables, and for the long steps.
_MIGRATING, _STEPS = 1, 3
# The longest that anybody waits for a table because of a migration: about one slow statement.
LOCK_WAIT_MS = 300
# A short change that takes longer than this is rolled back.
_SHORT_MS = 5_000
# How long a change is retried. A transaction that blocks it for longer needs an administrator.
RETRY_S = 300.0
# How long opening a store waits for locks where it can work without the newest schema.
_AT_OPEN_S = 0.2
# Rows filled in one transaction; the hub's writers wait a few milliseconds.
BATCH = 500
# How often to look whether another process is done.
_POLL_S = 0.5

STEPS_TABLE = f"{SCHEMA}.migration_steps"
_RECORDS = (
    f"""CREATE TABLE {SCHEMA}.migrations (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    oldest integer NOT NULL,
    partitions integer NOT NULL,
    citus boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)""",
    f"""CREATE TABLE {STEPS_TABLE} (
    version integer NOT NULL,
    step text NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (version, step)
)""",
)
_LOCK_CONFLICTS = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


class PendingStep(NamedTuple):
    """A step that is not done, and the migration it belongs to."""

    version: int
    step: Step


class Offered(NamedTuple):
    """The capabilities of a database. `vector_schema` is the schema of pgvector, '' if it is not
    installed; `async_commit` says that the server acknowledges before it has written, unless a
    transaction asks for more; `timeout_ms` is the statement_timeout of the role, 0 if it has
    none; `later` are the steps that are not done."""

    version: int
    partitions: int
    citus: bool
    vector_schema: str
    async_commit: bool
    timeout_ms: int
    later: tuple[PendingStep, ...] = ()


class _Found(NamedTuple):
    """The schema that is installed; `ours` says that this role may change it, on this server."""

    version: int
    oldest: int
    partitions: int
    citus: bool
    ours: bool


def prepare(
    connection: Connection,
    address: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
    patient: bool = False,
) -> Offered:
    """Creates or updates the tables where that is needed, and says what the database can do. With
    `patient`, waits for tables in use also where this Holdfast could work without the migration,
    and fails where the role may not run it."""
    if partitions is not None and not 1 <= partitions <= PARTITIONS_MAX:
        raise InvalidSetting(f"A store has from 1 to {PARTITIONS_MAX} partitions.")
    refuse_unsupported(connection, address)
    with own_search_path(connection):
        found = _found(connection, address)
    if found is None and is_worker(connection):
        raise StoreError(worker_refusal(address), hint="On Azure that is port 5432, not 7432.")
    enough = found is not None and _is_enough(found)
    if found is None or (found.version < newest() and (found.ours or not enough)):
        try:
            wait_s = _AT_OPEN_S if enough and not patient else RETRY_S
            _migrate(connection, address, partitions or PARTITIONS, citus, wait_s)
        except (StoreReadOnly, *_LOCK_CONFLICTS):
            if patient or not enough:
                raise
    with own_search_path(connection):
        found = _found(connection, address)
        assert found is not None
        later = tuple(pending_steps(connection))
        if patient and not found.ours and (later or found.version < newest()):
            raise StoreReadOnly(
                f"The schema of {address} is not of this version, and the role may not change it.",
                hint="Let the owner of the schema run `holdfast store migrate`, on the primary.",
            )
        row = connection.execute(
            "SELECT current_setting('synchronous_commit') = 'off', setting::int"
            " FROM pg_settings WHERE name = 'statement_timeout'"
        ).fetchone()
        assert row is not None
        where = vector(connection).schema
    async_commit, timeout_ms = row
    layout = found.version, found.partitions, found.citus
    return Offered(*layout, where, async_commit, timeout_ms, later)


def run_all(url: str, address: str, report: Report) -> Offered:
    """Runs all migrations and all steps that were left for later, while the store is used.
    Continues where an earlier run stopped."""
    with connect_to_stay(url) as connection, connect_to_stay(url) as guard:
        offered = prepare(connection, address, patient=True)
        if offered.later:
            StepRunner(connection, address, citus=offered.citus, report=report).run(guard)
        return offered._replace(later=())


def refuse_unsupported(connection: Connection, address: str) -> None:
    """Refuses a PostgreSQL server that is too old, or a database that is not UTF-8."""
    if connection.info.server_version < SERVER_FROM:
        found = connection.info.parameter_status("server_version")
        raise StoreError(
            f"{address} is PostgreSQL {found}; Holdfast needs {SERVER_FROM // 10_000} or newer.",
            hint="Upgrade the server.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        name = address.rpartition("/")[2]
        raise StoreError(
            f"The database of {address} is encoded in {encoding}, which cannot hold every text.",
            hint=f"Make one with `createdb --encoding UTF8 --template template0 {name}`.",
        )


def _refuse_foreign_tables(connection: Connection, address: str) -> None:
    """Refuses a schema of our name that already has tables."""
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
        " AND relkind IN ('r', 'p') LIMIT 1",
        (SCHEMA,),
    ).fetchone()
    if found is not None:
        raise StoreDamaged(
            f"The schema `{SCHEMA}` of {address} has tables that are not Holdfast's"
            f" (`{found[0]}`); it was left as it is.",
            hint="Name another database in store.url.",
        )


def _is_enough(found: _Found) -> bool:
    """Whether this Holdfast can work with the schema that is installed."""
    return all(one.version <= found.version for one in schema.MIGRATIONS if one.needed)


def _found(connection: Connection, address: str) -> _Found | None:
    """The schema that is installed, if there is one."""
    row = connection.execute("SELECT to_regclass(%s)::text", (f"{SCHEMA}.migrations",)).fetchone()
    if row is None or row[0] is None:
        return None
    row = connection.execute(
        "SELECT m.version, m.oldest, m.partitions, m.citus, pg_has_role(c.relowner, 'MEMBER')"
        f" AND NOT pg_is_in_recovery() FROM {SCHEMA}.migrations m, pg_class c"
        f" WHERE c.oid = '{SCHEMA}.migrations'::regclass ORDER BY m.version DESC LIMIT 1"
    ).fetchone()
    if row is None:
        return None
    found = _Found(*row)
    if found.oldest > newest():
        raise StoreTooNew(
            f"The store {address} has schema {found.version}; this Holdfast knows up to"
            f" {newest()}.",
            hint="Upgrade Holdfast, or name another database in store.url.",
        )
    return found


def pending_steps(connection: Connection) -> list[PendingStep]:
    """The steps that migrations left for later and that are not done."""
    later = [PendingStep(one.version, step) for one in schema.MIGRATIONS for step in one.later]
    row = connection.execute(
        "SELECT has_table_privilege(%s::regclass::oid, 'SELECT')", (STEPS_TABLE,)
    ).fetchone()
    if row is None or not row[0]:
        # A role that was granted the other tables by hand, and not this one, learns nothing.
        return []
    done = set(connection.execute(f"SELECT version, step FROM {STEPS_TABLE}").fetchall())
    return [one for one in later if (one.version, one.step.name) not in done]


def send(connection: Connection, statement: str, values: Any = None) -> psycopg.Cursor[Any]:
    """Sends every statement of a migration, so that tests can listen here."""
    return connection.execute(statement, values)


def with_short_locks(
    connection: Connection, work: Callable[[], object], *, wait_s: float = RETRY_S
) -> None:
    """Runs the short work of a migration in a transaction that waits for no lock longer than
    LOCK_WAIT_MS, and retries until it gets its locks."""
    last: psycopg.Error | None = None
    for nap_s in backoff(wait_s):
        try:
            with own_search_path(connection):
                send(connection, f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
                send(connection, f"SET LOCAL statement_timeout = {_SHORT_MS}")
                work()
            return
        except _LOCK_CONFLICTS as error:
            last = error
        time.sleep(nap_s)
    assert last is not None, "there is time for one attempt"
    raise last


# The short part of a migration


def _migrate(
    connection: Connection, address: str, partitions: int, citus: bool, wait_s: float
) -> None:
    for migration in schema.MIGRATIONS:

        def work(one: Migration = migration) -> None:
            _lock_migrations(connection)
            # Another process may have migrated while this one waited for the lock.
            found = _found(connection, address)
            if found is None or found.version < one.version:
                _apply(connection, address, one, partitions, citus)

        try:
            if migration.version == 1:
                if citus:
                    # Committed first: Citus creates tables on other nodes over connections of a
                    # superuser, which would not see it otherwise.
                    with own_search_path(connection):
                        _lock_migrations(connection)
                        _create_schema(connection)
                # Nobody uses the tables yet, so there is no limit on the time.
                with own_search_path(connection):
                    work()
            else:
                with_short_locks(connection, work, wait_s=wait_s)
        except psycopg.errors.InsufficientPrivilege:
            raise StoreReadOnly(
                f"The tables of {address} are not there, or not of this version, and the role may"
                " not make them.",
                hint="Let an owner of the database run `holdfast store init` once, or"
                " `GRANT CREATE ON DATABASE … TO …`.",
            ) from None
        except psycopg.errors.ReadOnlySqlTransaction:
            raise StoreReadOnly(
                f"The tables of {address} are not there, or not of this version, and it can only be"
                " read.",
                hint="It may be a standby: open the primary once with this Holdfast.",
            ) from None


def _lock_migrations(connection: Connection) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING))


def _create_schema(connection: Connection) -> None:
    there = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s"
    if connection.execute(there, (SCHEMA,)).fetchone() is None:
        send(connection, f"CREATE SCHEMA {SCHEMA}")


def _apply(
    connection: Connection, address: str, migration: Migration, partitions: int, citus: bool
) -> None:
    first = migration.version == 1
    if first:
        _create_schema(connection)
        _refuse_foreign_tables(connection, address)
        for statement in _RECORDS:
            send(connection, statement)
    else:
        row = connection.execute(
            f"SELECT partitions, citus FROM {SCHEMA}.migrations ORDER BY version DESC"
        ).fetchone()
        assert row is not None
        partitions, citus = row
    if citus:
        # Creating a table creates shards on every node, which takes long; nobody uses it yet.
        connection.execute("SET LOCAL statement_timeout = 0")
        # Tables that reference `hubs`, a reference table, need one connection to each node.
        connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    made = list(migration.statements(partitions=partitions, citus=citus))
    if not first and not citus:
        # In one round trip: users of the tables wait from the first lock to the commit.
        made = ["; ".join(made)] if made else []
    for statement in made:
        send(connection, statement)
    connection.execute(
        f"INSERT INTO {SCHEMA}.migrations (version, name, oldest, partitions, citus)"
        " VALUES (%s, %s, %s, %s, %s)",
        (migration.version, migration.name, migration.oldest, partitions, citus),
    )


# Steps for later


class StepRunner:
    """Does all steps that migrations left for later, in order, while the store is used."""

    def __init__(
        self, connection: Connection, address: str, *, citus: bool, report: Report = lambda _: None
    ) -> None:
        self._connection, self._address = connection, address
        self._citus, self._report = citus, report

    def run(self, guard: Connection) -> None:
        """Runs the steps, one process at a time: `guard` holds the lock. A process that finds it
        taken waits, and then does what is left."""
        reported = False
        while True:
            with try_lock(guard, LOCK_CLASS, _STEPS) as mine:
                if mine:
                    # A concurrent index build may take long and blocks nobody.
                    self._connection.execute(
                        "SET statement_timeout = 0; SET lock_timeout = 0;"
                        f" SET search_path = {search_path()}"
                    )
                    for one in pending_steps(self._connection):
                        require_held(guard)
                        self._do(one)
                    return
            if not reported:
                self._report("another process is at it; waiting")
                reported = True
            time.sleep(_POLL_S)

    def _do(self, one: PendingStep) -> None:
        step = one.step
        try:
            if isinstance(step, Index):
                self.build(step)
            elif isinstance(step, Check):
                self._check_constraint(step)
            else:
                self._fill_all(step)
        except _LOCK_CONFLICTS:
            raise StoreBusy(
                f"The table `{step.table}` of {self._address} was in use for as long as we try.",
                hint="A transaction of a program stays open (see pg_stat_activity). Run it again:"
                " it goes on where it stopped.",
            ) from None
        self._send(
            f"INSERT INTO {STEPS_TABLE} (version, step) VALUES (%s, %s)", (one.version, step.name)
        )

    def build(self, index: Index) -> None:
        """Builds an index of a table, or of one of its partitions, unless it exists."""
        parts = [] if self._citus else self._parts(index.table)
        if not parts:
            self._report(f"index {index.name} on {index.table}")
            # On Citus too: the coordinator sends the statement to every node.
            self._build_one(index, index.name, index.table)
            return
        if self._state(index.name) is True:
            return
        # The name of the index on each partition.
        names = {part: index.name + part.removeprefix(index.table) for part in parts}
        for number, part in enumerate(parts, 1):
            self._report(f"index {index.name} on {index.table}, part {number} of {len(parts)}")
            if not self._is_attached(index.name, part):
                self._build_one(index, names[part], part)
        # From here on it is fast: no rows are read, the partitions' indexes are only attached.
        if self._state(index.name) is None:
            self._send_briefly(index.statement(index.name, index.table, how="ONLY"))
        for part in parts:
            if not self._is_attached(index.name, part):
                self._send_briefly(
                    f"ALTER INDEX {SCHEMA}.{index.name} ATTACH PARTITION {SCHEMA}.{names[part]}"
                )
        if self._state(index.name) is not True:
            raise StoreError(
                f"The index `{index.name}` of {self._address} is not whole after it was built.",
                hint=f"Drop it (`DROP INDEX {SCHEMA}.{index.name}`) and run this again.",
            )

    def _build_one(self, index: Index, name: str, table: str) -> None:
        # The server may still be building it for a process that was killed: the result can be used.
        building = (
            "SELECT 1 FROM pg_stat_progress_create_index WHERE relid = %s::regclass"
            " AND datname = current_database()"
        )
        while self._rows(building, f"{SCHEMA}.{table}"):
            time.sleep(_POLL_S)
        state = self._state(name)
        if state is False:
            # Left by a process or server that died: it is written and never read.
            self._send(f"DROP INDEX CONCURRENTLY {SCHEMA}.{name}")
        if state is not True:
            self._send(index.statement(name, table, how="CONCURRENTLY"))

    def _state(self, name: str) -> bool | None:
        """Whether an index is valid; None if there is none of this name."""
        found = self._rows(
            "SELECT indisvalid AND indisready FROM pg_index WHERE indexrelid = to_regclass(%s)",
            f"{SCHEMA}.{name}",
        )
        return bool(found[0][0]) if found else None

    def _parts(self, table: str) -> list[str]:
        found = self._rows(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = %s::regclass ORDER BY length(c.relname), c.relname",
            f"{SCHEMA}.{table}",
        )
        return [row[0] for row in found]

    def _is_attached(self, name: str, part: str) -> bool:
        found = self._rows(
            "SELECT 1 FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid"
            " WHERE i.inhparent = to_regclass(%s) AND x.indrelid = %s::regclass",
            *(f"{SCHEMA}.{name}", f"{SCHEMA}.{part}"),
        )
        return bool(found)

    def _check_constraint(self, check: Check) -> None:
        self._report(f"rule {check.name} of {check.table}")
        alter = f"ALTER TABLE {SCHEMA}.{check.table}"
        # Dropped first, where an earlier run has added it and was stopped.
        self._send_briefly(
            f"{alter} DROP CONSTRAINT IF EXISTS {check.name},"
            f" ADD CONSTRAINT {check.name} CHECK ({check.rule}) NOT VALID"
        )
        self._send(f"{alter} VALIDATE CONSTRAINT {check.name}")

    def _fill_all(self, backfill: Backfill) -> None:
        hubs = self._rows(f"SELECT hub_id FROM {SCHEMA}.hubs ORDER BY hub_id")
        for number, (hub,) in enumerate(hubs, 1):
            self._report(f"{backfill.name} in {backfill.table}, hub {number} of {len(hubs)}")
            filled = BATCH
            while filled == BATCH:
                with self._connection.transaction():
                    self._send(f"SET LOCAL holdfast.hubs = '0,{hub}'")
                    lock_hub(self._connection, hub)
                    filled = self._send(backfill.statement, {"hub": hub, "most": BATCH}).rowcount

    def _rows(self, query: str, *values: str) -> list[Any]:
        return self._connection.execute(query, values).fetchall()

    def _send(self, statement: str, values: Any = None) -> psycopg.Cursor[Any]:
        return send(self._connection, statement, values)

    def _send_briefly(self, statement: str) -> None:
        with_short_locks(self._connection, lambda: self._send(statement))
