"""Changing tables that are in use: what may be done at once, what is left for later, and what of
that is done. How the rest is done, `builder` knows.

What needs a table for itself gives up after LOCK_WAIT_MS and tries again later: behind a statement
that waits for a table, everybody else would wait too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import psycopg

from holdfast.errors import StoreBusy, StoreError
from holdfast.store.postgres.advisory_lock import LOCK_CLASS, holding, require_held
from holdfast.store.postgres.commit_marks import naps
from holdfast.store.postgres.hub_locks import take_turn
from holdfast.store.postgres.schema import Backfill, Check, Index, Step, create_index
from holdfast.store.postgres.tables import SCHEMA, search_path

if TYPE_CHECKING:
    from holdfast.store.postgres.schema import Migration


Connection = psycopg.Connection[Any]

# As long as anybody waits for a table because of us: about what a slow statement takes.
LOCK_WAIT_MS = 300
# A short change that takes longer than this was no short one; it is taken back.
_SHORT_MS = 5_000
# How long it is tried again and again; a transaction that goes on for longer is looked into.
TRY_S = 300.0
# Whoever opens the store only does what is done at once: tables of so many bytes are indexed in
# less time than a connection takes. The rest is left to `holdfast store migrate`.
SMALL_BYTES = 8 * 2**20
_AT_OPEN_MS = 100
# Rows filled in one transaction; the hub's writers wait for a few milliseconds.
BATCH = 500
BUILDING = 3

STEPS_TABLE = f"{SCHEMA}.migration_steps"
MAKE_STEPS_TABLE = f"""
CREATE TABLE {STEPS_TABLE} (
    version integer NOT NULL,
    step text NOT NULL,
    reached bigint,
    finished_at timestamptz,
    PRIMARY KEY (version, step)
)"""

IN_THE_WAY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


class Later(NamedTuple):
    """A step that waits, and the migration it belongs to."""

    version: int
    step: Step


@contextmanager
def by_our_names(connection: Connection) -> Iterator[None]:
    """A transaction in which names mean what we mean by them, whatever path the role was given. Not
    for the session, which a pooler may hand to somebody else."""
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path = {search_path()}")
        yield


def briefly(connection: Connection, work: Callable[[], None], *, wait_s: float = TRY_S) -> None:
    """Does a short piece of work in a transaction that waits for no lock longer than LOCK_WAIT_MS,
    and again until it has got them."""
    last: psycopg.Error | None = None
    for nap_s in naps(wait_s):
        try:
            with by_our_names(connection):
                send(connection, f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
                send(connection, f"SET LOCAL statement_timeout = {_SHORT_MS}")
                work()
            return
        except IN_THE_WAY as error:
            last = error
        time.sleep(nap_s)
    assert last is not None, "there is time for one attempt"
    raise last


def send(connection: Connection, statement: str, values: Any = None) -> psycopg.Cursor[Any]:
    """Every statement of a change goes through here; that is where a test listens."""
    return connection.execute(statement, values)


def waiting(connection: Connection, migrations: Iterable[Migration]) -> list[Later]:
    """What was left for later, and is not done."""
    later = [Later(one.version, step) for one in migrations for step in one.later]
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


def do_small(connection: Connection, later: Sequence[Later], *, citus: bool) -> list[Later]:
    """Does what is done at once, for whoever opens the store; returns what is left. Nobody waits
    here for others: what is not free is left too. So is what comes after it, and may stand on it.
    """
    left: list[Later] = []
    for one in later:
        if left:
            left.append(one)
            continue
        try:
            with by_our_names(connection):
                send(connection, f"SET LOCAL lock_timeout = {_AT_OPEN_MS}")
                small = not citus and _bytes(connection, one.step.table) <= SMALL_BYTES
                if not small or not _do_at_once(connection, one):
                    left.append(one)
        except (*IN_THE_WAY, psycopg.errors.InsufficientPrivilege):
            left.append(one)
    return left


def _do_at_once(connection: Connection, one: Later) -> bool:
    row = connection.execute(
        "SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, BUILDING)
    ).fetchone()
    if row is None or not row[0]:
        return False
    if _is_finished(connection, one):
        return True
    step = one.step
    if isinstance(step, Index):
        if _begun(connection, step):
            # Somebody builds it, or did not come to the end.
            return False
        send(connection, create_index(step, step.name, f"{SCHEMA}.{step.table}"))
    elif isinstance(step, Check):
        send(connection, f"{add_rule(step)} NOT VALID")
        send(connection, look_up_rule(step))
    else:
        for hub in hubs(connection, 0):
            while fill(connection, step, hub) == BATCH:
                pass
    note(connection, one)
    return True


def _is_finished(connection: Connection, one: Later) -> bool:
    row = connection.execute(
        f"SELECT 1 FROM {STEPS_TABLE} WHERE version = %s AND step = %s AND finished_at IS NOT NULL",
        (one.version, one.step.name),
    ).fetchone()
    return row is not None


def note(connection: Connection, one: Later, reached: int | None = None) -> None:
    """Notes that a step is finished, or how far it has come."""
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


def _begun(connection: Connection, index: Index) -> bool:
    row = connection.execute(
        "SELECT 1 FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('i', 'I')"
        " AND (relname = %s OR relname ~ ('^' || %s || '_[0-9]+$')) LIMIT 1",
        (SCHEMA, index.name, index.name),
    ).fetchone()
    return row is not None


def add_rule(check: Check) -> str:
    return f"ALTER TABLE {SCHEMA}.{check.table} ADD CONSTRAINT {check.name} CHECK ({check.rule})"


def look_up_rule(check: Check) -> str:
    return f"ALTER TABLE {SCHEMA}.{check.table} VALIDATE CONSTRAINT {check.name}"


def hubs(connection: Connection, after: int) -> list[int]:
    found = connection.execute(
        f"SELECT hub_id FROM {SCHEMA}.hubs WHERE hub_id > %s ORDER BY hub_id", (after,)
    ).fetchall()
    return [row[0] for row in found]


def fill(connection: Connection, backfill: Backfill, hub: int) -> int:
    """One batch, inside a transaction, in the turn of the hub's writers; how many it filled."""
    send(connection, f"SET LOCAL holdfast.hubs = '0,{hub}'")
    take_turn(connection, hub)
    return send(connection, backfill.statement, {"hub": hub, "most": BATCH}).rowcount


Told: TypeAlias = Callable[[str], None]

# Looking whether another process is done.
_LOOK_S = 0.5


class Builder:
    """Does everything that was left for later, in the order of the steps, beside everybody else."""

    def __init__(self, connection: Connection, address: str, *, citus: bool, told: Told) -> None:
        self._connection, self._address, self._citus, self._told = connection, address, citus, told

    def run(self, guard: Connection, ask: Callable[[], list[Later]]) -> None:
        """One process at a time: the guard holds the lock. Who finds another at it waits, and
        does what is left."""
        said = False
        while True:
            with holding(guard, LOCK_CLASS, BUILDING) as mine:
                if mine:
                    # An index of a large table takes as long as it takes; its waits keep nobody
                    # from reading or writing.
                    self._connection.execute(
                        "SET statement_timeout = 0; SET lock_timeout = 0;"
                        f" SET search_path = {search_path()}"
                    )
                    for one in ask():
                        require_held(guard)
                        self._do(one)
                    return
            if not said:
                self._told("another process is at it; waiting")
                said = True
            time.sleep(_LOOK_S)

    def _do(self, one: Later) -> None:
        step = one.step
        try:
            if isinstance(step, Index):
                self.build(step)
            elif isinstance(step, Check):
                self._look_up(step)
            else:
                self._fill_all(one, step)
            note(self._connection, one)
        except IN_THE_WAY:
            raise StoreBusy(
                f"The table `{step.table}` of {self._address} was in use for as long as we try.",
                hint="A transaction of a program stays open (see pg_stat_activity). Run it again:"
                " it goes on where it stopped.",
            ) from None

    # Indexes

    def build(self, index: Index) -> None:
        """Builds an index of a table, or of one of its parts, unless it is there."""
        table = f"{SCHEMA}.{index.table}"
        parts = [] if self._citus else self._parts(index.table)
        if not parts:
            self._told(f"index {index.name} on {index.table}")
            # On Citus, too: one statement, which the coordinator sends to every node.
            self._build_one(index, index.name, index.table)
            return
        if self._state(index.name) is True:
            return
        for number, part in enumerate(parts, 1):
            self._told(f"index {index.name} on {index.table}, part {number} of {len(parts)}")
            if not self._is_attached(index.name, part):
                self._build_one(index, _of_part(index, part), part)
        # From here on it takes a moment: nothing is read, the parts only become one.
        if self._state(index.name) is None:
            make = create_index(index, index.name, table, how="without parts")
            briefly(self._connection, lambda: self._send(make))
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
        briefly(self._connection, lambda: self._send(attach))

    def _build_one(self, index: Index, name: str, table: str) -> None:
        self._wait_for_build(table)
        state = self._state(name)
        if state is False:
            # Left by a process or a server that died; nobody reads it, everybody writes it.
            self._send(f"DROP INDEX CONCURRENTLY {SCHEMA}.{name}")
        if state is not True:
            self._send(create_index(index, name, f"{SCHEMA}.{table}", how="beside others"))

    def _wait_for_build(self, table: str) -> None:
        """Until the server is done with an index of this table whose builder was killed: it goes
        on, and what it builds is good."""
        building = (
            "SELECT 1 FROM pg_stat_progress_create_index WHERE relid = %s::regclass"
            " AND datname = current_database()"
        )
        while self._connection.execute(building, (f"{SCHEMA}.{table}",)).fetchone() is not None:
            time.sleep(_LOOK_S)

    def _state(self, name: str) -> bool | None:
        """Whether an index can be used; None where there is none of this name."""
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

    # Rules and rows

    def _look_up(self, check: Check) -> None:
        self._told(f"rule {check.name} of {check.table}")
        there = self._connection.execute(
            "SELECT 1 FROM pg_constraint WHERE conname = %s AND conrelid = %s::regclass",
            (check.name, f"{SCHEMA}.{check.table}"),
        ).fetchone()
        if there is None:
            briefly(self._connection, lambda: self._send(f"{add_rule(check)} NOT VALID"))
        self._send(look_up_rule(check))

    def _fill_all(self, one: Later, backfill: Backfill) -> None:
        row = self._connection.execute(
            f"SELECT reached FROM {STEPS_TABLE} WHERE version = %s AND step = %s",
            (one.version, backfill.name),
        ).fetchone()
        todo = hubs(self._connection, 0 if row is None else int(row[0] or 0))
        for number, hub in enumerate(todo, 1):
            self._told(f"{backfill.name} in {backfill.table}, hub {number} of {len(todo)}")
            filled = BATCH
            while filled == BATCH:
                with self._connection.transaction():
                    filled = fill(self._connection, backfill, hub)
                    if filled < BATCH:
                        note(self._connection, one, reached=hub)

    def _send(self, statement: str) -> None:
        send(self._connection, statement)


def _of_part(index: Index, part: str) -> str:
    """The name of an index on one part of its table."""
    return index.name + part.removeprefix(index.table)
