"""Changes tables that are in use: short changes with a lock timeout, and the long steps that
migrations leave for later.

A change that needs an exclusive lock gives up after LOCK_WAIT_MS and is tried again: behind a
statement that waits for a table lock, every later statement on that table waits too.

- Indexes of large tables are built concurrently, one partition at a time. An unfinished one is
  dropped and built again.
- Columns are filled in batches, with the lock of the hub's writers, and a commit for each batch.
- Constraints hold for new rows first; existing rows are validated without blocking anybody.

Finished steps are recorded, and the catalog shows what exists, so a process that is killed loses no
more than the partition or batch that it was working on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import psycopg

from holdfast.errors import StoreBusy, StoreError
from holdfast.store.postgres.locks import LOCK_CLASS, lock_hub, require_held, try_lock
from holdfast.store.postgres.schema import Backfill, Check, Index, Step, create_index
from holdfast.store.postgres.session import backoff
from holdfast.store.postgres.tables import SCHEMA, search_path

if TYPE_CHECKING:
    from holdfast.store.postgres.schema import Migration


Connection = psycopg.Connection[Any]

# The longest that anybody waits for a table because of a migration: about one slow statement.
LOCK_WAIT_MS = 300
# A short change that takes longer than this is rolled back.
_SHORT_MS = 5_000
# How long a change is retried. A transaction that blocks it for longer needs an administrator.
RETRY_S = 300.0
# Opening a store does only the steps that take no time: a table of this size is indexed faster than
# a connection is made. The rest is left to `holdfast store migrate`.
SMALL_BYTES = 8 * 2**20
_AT_OPEN_MS = 100
# Rows filled in one transaction; the hub's writers wait a few milliseconds.
BATCH = 500
STEPS_LOCK = 3

STEPS_TABLE = f"{SCHEMA}.migration_steps"
MAKE_STEPS_TABLE = f"""
CREATE TABLE {STEPS_TABLE} (
    version integer NOT NULL,
    step text NOT NULL,
    reached bigint,
    finished_at timestamptz,
    PRIMARY KEY (version, step)
)"""

LOCK_CONFLICTS = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


class PendingStep(NamedTuple):
    """A step that is not done, and the migration it belongs to."""

    version: int
    step: Step


@contextmanager
def own_search_path(connection: Connection) -> Iterator[None]:
    """A transaction with our search_path, whatever the role's is. The setting is local to the
    transaction because a pooler may hand the session to somebody else."""
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path = {search_path()}")
        yield


def with_short_locks(
    connection: Connection, work: Callable[[], None], *, wait_s: float = RETRY_S
) -> None:
    """Runs short work in a transaction that waits for no lock longer than LOCK_WAIT_MS, and retries
    until it gets its locks."""
    last: psycopg.Error | None = None
    for nap_s in backoff(wait_s):
        try:
            with own_search_path(connection):
                send(connection, f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
                send(connection, f"SET LOCAL statement_timeout = {_SHORT_MS}")
                work()
            return
        except LOCK_CONFLICTS as error:
            last = error
        time.sleep(nap_s)
    assert last is not None, "there is time for one attempt"
    raise last


def send(connection: Connection, statement: str, values: Any = None) -> psycopg.Cursor[Any]:
    """Sends every statement of a change, so that tests can listen here."""
    return connection.execute(statement, values)


def pending_steps(connection: Connection, migrations: Iterable[Migration]) -> list[PendingStep]:
    """The steps that migrations left for later and that are not done."""
    later = [PendingStep(one.version, step) for one in migrations for step in one.later]
    row = connection.execute(
        "SELECT has_table_privilege(%s::regclass::oid, 'SELECT')", (STEPS_TABLE,)
    ).fetchone()
    if row is None or not row[0]:
        # A role that was granted the other tables by hand, and not this one, learns nothing.
        return []
    found = connection.execute(
        f"SELECT version, step FROM {STEPS_TABLE} WHERE finished_at IS NOT NULL"
    )
    done = set(found.fetchall())
    return [one for one in later if (one.version, one.step.name) not in done]


def run_small_steps(
    connection: Connection, later: Sequence[PendingStep], *, citus: bool
) -> list[PendingStep]:
    """Does the steps that take no time, for a process that opens the store; returns those that are
    left. It does not wait for others: a step whose table is locked is left, and so are the steps
    after it, which may depend on it.
    """
    left: list[PendingStep] = []
    for one in later:
        if left:
            left.append(one)
            continue
        try:
            with own_search_path(connection):
                send(connection, f"SET LOCAL lock_timeout = {_AT_OPEN_MS}")
                small = not citus and _bytes(connection, one.step.table) <= SMALL_BYTES
                if not small or not _run_at_once(connection, one):
                    left.append(one)
        except (*LOCK_CONFLICTS, psycopg.errors.InsufficientPrivilege):
            left.append(one)
    return left


def _run_at_once(connection: Connection, one: PendingStep) -> bool:
    row = connection.execute(
        "SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, STEPS_LOCK)
    ).fetchone()
    if row is None or not row[0]:
        return False
    if _is_finished(connection, one):
        return True
    step = one.step
    if isinstance(step, Index):
        if _index_exists(connection, step):
            # Another process is building it, or did not finish.
            return False
        send(connection, create_index(step, step.name, f"{SCHEMA}.{step.table}"))
    elif isinstance(step, Check):
        send(connection, f"{add_constraint(step)} NOT VALID")
        send(connection, validate_constraint(step))
    else:
        for hub in hubs_after(connection, 0):
            while fill_batch(connection, step, hub) == BATCH:
                pass
    record_step(connection, one)
    return True


def _is_finished(connection: Connection, one: PendingStep) -> bool:
    row = connection.execute(
        f"SELECT 1 FROM {STEPS_TABLE} WHERE version = %s AND step = %s AND finished_at IS NOT NULL",
        (one.version, one.step.name),
    ).fetchone()
    return row is not None


def record_step(connection: Connection, one: PendingStep, reached: int | None = None) -> None:
    """Records that a step is finished, or which hub it has reached."""
    send(
        connection,
        f"INSERT INTO {STEPS_TABLE} (version, step, reached, finished_at)"
        " VALUES (%s, %s, %s, CASE WHEN %s THEN now() END) ON CONFLICT (version, step)"
        " DO UPDATE SET reached = excluded.reached, finished_at = excluded.finished_at",
        (one.version, one.step.name, reached, reached is None),
    )


def _bytes(connection: Connection, table: str) -> int:
    name = f"{SCHEMA}.{table}"
    row = connection.execute(
        "SELECT pg_relation_size(%(name)s::regclass)"
        " + coalesce((SELECT sum(pg_relation_size(relid))"
        " FROM pg_partition_tree(%(name)s::regclass) WHERE isleaf), 0)",
        {"name": name},
    ).fetchone()
    assert row is not None
    return int(row[0])


def _index_exists(connection: Connection, index: Index) -> bool:
    row = connection.execute(
        "SELECT 1 FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('i', 'I')"
        " AND (relname = %s OR relname ~ ('^' || %s || '_[0-9]+$')) LIMIT 1",
        (SCHEMA, index.name, index.name),
    ).fetchone()
    return row is not None


def add_constraint(check: Check) -> str:
    return f"ALTER TABLE {SCHEMA}.{check.table} ADD CONSTRAINT {check.name} CHECK ({check.rule})"


def validate_constraint(check: Check) -> str:
    return f"ALTER TABLE {SCHEMA}.{check.table} VALIDATE CONSTRAINT {check.name}"


def hubs_after(connection: Connection, after: int) -> list[int]:
    found = connection.execute(
        f"SELECT hub_id FROM {SCHEMA}.hubs WHERE hub_id > %s ORDER BY hub_id", (after,)
    ).fetchall()
    return [row[0] for row in found]


def fill_batch(connection: Connection, backfill: Backfill, hub: int) -> int:
    """Fills one batch inside a transaction, with the lock of the hub's writers; returns the number
    of rows."""
    send(connection, f"SET LOCAL holdfast.hubs = '0,{hub}'")
    lock_hub(connection, hub)
    return send(connection, backfill.statement, {"hub": hub, "most": BATCH}).rowcount


Report: TypeAlias = Callable[[str], None]

# How often to look whether another process is done.
_POLL_S = 0.5


class StepRunner:
    """Does all steps that were left for later, in order, while the store is used."""

    def __init__(
        self, connection: Connection, address: str, *, citus: bool, report: Report
    ) -> None:
        self._connection, self._address = connection, address
        self._citus, self._report = citus, report

    def run(self, guard: Connection, ask: Callable[[], list[PendingStep]]) -> None:
        """Runs the steps, one process at a time: `guard` holds the lock. A process that finds it
        taken waits, and then does what is left."""
        reported = False
        while True:
            with try_lock(guard, LOCK_CLASS, STEPS_LOCK) as mine:
                if mine:
                    # A concurrent index build may take long and blocks nobody.
                    self._connection.execute(
                        "SET statement_timeout = 0; SET lock_timeout = 0;"
                        f" SET search_path = {search_path()}"
                    )
                    for one in ask():
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
                self._fill_all(one, step)
            record_step(self._connection, one)
        except LOCK_CONFLICTS:
            raise StoreBusy(
                f"The table `{step.table}` of {self._address} was in use for as long as we try.",
                hint="A transaction of a program stays open (see pg_stat_activity). Run it again:"
                " it goes on where it stopped.",
            ) from None

    # Indexes

    def build(self, index: Index) -> None:
        """Builds an index of a table, or of one of its partitions, unless it exists."""
        table = f"{SCHEMA}.{index.table}"
        parts = [] if self._citus else self._parts(index.table)
        if not parts:
            self._report(f"index {index.name} on {index.table}")
            # On Citus too: the coordinator sends the statement to every node.
            self._build_one(index, index.name, index.table)
            return
        if self._state(index.name) is True:
            return
        for number, part in enumerate(parts, 1):
            self._report(f"index {index.name} on {index.table}, part {number} of {len(parts)}")
            if not self._is_attached(index.name, part):
                self._build_one(index, _of_part(index, part), part)
        # From here on it is fast: no rows are read, the partitions' indexes are only attached.
        if self._state(index.name) is None:
            make = create_index(index, index.name, table, how="only")
            with_short_locks(self._connection, lambda: self._send(make))
        for part in parts:
            if not self._is_attached(index.name, part):
                self._attach(index.name, _of_part(index, part))
        if self._state(index.name) is not True:
            raise StoreError(
                f"The index `{index.name}` of {self._address} is not whole after it was built.",
                hint=f"Drop it (`DROP INDEX {SCHEMA}.{index.name}`) and run this again.",
            )

    def _attach(self, name: str, of_part: str) -> None:
        attach = f"ALTER INDEX {SCHEMA}.{name} ATTACH PARTITION {SCHEMA}.{of_part}"
        with_short_locks(self._connection, lambda: self._send(attach))

    def _build_one(self, index: Index, name: str, table: str) -> None:
        self._wait_for_build(table)
        state = self._state(name)
        if state is False:
            # Left by a process or server that died: it is written and never read.
            self._send(f"DROP INDEX CONCURRENTLY {SCHEMA}.{name}")
        if state is not True:
            self._send(create_index(index, name, f"{SCHEMA}.{table}", how="concurrently"))

    def _wait_for_build(self, table: str) -> None:
        """Waits while the server is still building an index of this table for a process that was
        killed: the result can be used."""
        building = (
            "SELECT 1 FROM pg_stat_progress_create_index WHERE relid = %s::regclass"
            " AND datname = current_database()"
        )
        while self._connection.execute(building, (f"{SCHEMA}.{table}",)).fetchone() is not None:
            time.sleep(_POLL_S)

    def _state(self, name: str) -> bool | None:
        """Whether an index is valid; None where there is none of this name."""
        row = self._connection.execute(
            "SELECT indisvalid AND indisready FROM pg_index WHERE indexrelid = to_regclass(%s)",
            (f"{SCHEMA}.{name}",),
        ).fetchone()
        return None if row is None else bool(row[0])

    def _parts(self, table: str) -> list[str]:
        found = self._connection.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = %s::regclass ORDER BY length(c.relname), c.relname",
            (f"{SCHEMA}.{table}",),
        ).fetchall()
        return [row[0] for row in found]

    def _is_attached(self, name: str, part: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM pg_inherits i JOIN pg_index x ON x.indexrelid = i.inhrelid"
            " WHERE i.inhparent = to_regclass(%s) AND x.indrelid = %s::regclass",
            (f"{SCHEMA}.{name}", f"{SCHEMA}.{part}"),
        ).fetchone()
        return row is not None

    # Constraints and rows

    def _check_constraint(self, check: Check) -> None:
        self._report(f"rule {check.name} of {check.table}")
        there = self._connection.execute(
            "SELECT 1 FROM pg_constraint WHERE conname = %s AND conrelid = %s::regclass",
            (check.name, f"{SCHEMA}.{check.table}"),
        ).fetchone()
        if there is None:
            with_short_locks(
                self._connection, lambda: self._send(f"{add_constraint(check)} NOT VALID")
            )
        self._send(validate_constraint(check))

    def _fill_all(self, one: PendingStep, backfill: Backfill) -> None:
        row = self._connection.execute(
            f"SELECT reached FROM {STEPS_TABLE} WHERE version = %s AND step = %s",
            (one.version, backfill.name),
        ).fetchone()
        todo = hubs_after(self._connection, 0 if row is None else int(row[0] or 0))
        for number, hub in enumerate(todo, 1):
            self._report(f"{backfill.name} in {backfill.table}, hub {number} of {len(todo)}")
            filled = BATCH
            while filled == BATCH:
                with self._connection.transaction():
                    filled = fill_batch(self._connection, backfill, hub)
                    if filled < BATCH:
                        record_step(self._connection, one, reached=hub)

    def _send(self, statement: str) -> None:
        send(self._connection, statement)


def _of_part(index: Index, part: str) -> str:
    """The name of an index on one partition of its table."""
    return index.name + part.removeprefix(index.table)
