"""Changing tables that are in use: what may be done at once, what is left for later, and what of
that is done. How the rest is done, `builder` knows.

What needs a table for itself gives up after LOCK_WAIT_MS and tries again later: behind a statement
that waits for a table, everybody else would wait too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from holdfast.store.postgres.commit_marks import naps
from holdfast.store.postgres.connections import LOCK_CLASS
from holdfast.store.postgres.hub_locks import take_turn
from holdfast.store.postgres.names import SCHEMA, search_path
from holdfast.store.postgres.steps import Backfill, Check, Index, Step, create_index

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
