"""Runs the migrations that a database lacks, and finds out what it can do.

Each migration runs in its own transaction, under a lock, and is recorded together with the number
of partitions and whether Citus distributes the tables. Each record also names the oldest schema
whose Holdfast still works with it, so that two versions can use one database during an upgrade.
Long work is not part of the transaction (see `migration_steps`): opening a store does the steps
that take no time and goes on without the rest, which `run_all` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import psycopg

from holdfast.errors import InvalidSetting, StoreError, StoreReadOnly, StoreTooNew
from holdfast.store.postgres import schema
from holdfast.store.postgres.checks import refuse_foreign_tables, refuse_unsupported
from holdfast.store.postgres.connections import connect_to_stay
from holdfast.store.postgres.extensions import is_worker, vector, worker_refusal
from holdfast.store.postgres.locks import LOCK_CLASS
from holdfast.store.postgres.migration_steps import (
    LOCK_CONFLICTS,
    MAKE_STEPS_TABLE,
    RETRY_S,
    PendingStep,
    Report,
    StepRunner,
    own_search_path,
    pending_steps,
    run_small_steps,
    send,
    with_short_locks,
)
from holdfast.store.postgres.schema import Migration, newest, statements
from holdfast.store.postgres.tables import PARTITIONS, PARTITIONS_MAX, SCHEMA

_MIGRATING = 1
# How long opening a store waits for locks where it can work without the newest schema.
_AT_OPEN_S = 0.2

_RECORD = f"""
CREATE TABLE {SCHEMA}.migrations (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    oldest integer NOT NULL,
    partitions integer NOT NULL,
    citus boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)"""


class Offered(NamedTuple):
    """What a database can do. `vector_schema` is the schema of pgvector, '' where it is not
    installed; `async_commit` says that the server acknowledges before it has written, unless a
    transaction asks for more; `timeout_ms` is the statement_timeout of the role, 0 where it has
    none; `later` are the steps that migrations left for later and that are not
    done."""

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
    connection: psycopg.Connection[Any],
    address: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
) -> Offered:
    """Creates or updates the tables where that is needed, and says what the database can do. Long
    steps are left for later."""
    found, offered = _update(connection, address, partitions=partitions, citus=citus)
    if not _is_enough(found):
        needed = ", ".join(schema.MIGRATIONS[found.version].needs)
        raise StoreError(
            f"Schema {found.version + 1} of {address} is made after {needed}, which takes long.",
            hint="Let the owner of the schema run `holdfast store migrate`, which does both. The"
            " Holdfast before works meanwhile.",
        )
    return offered


def _update(
    connection: psycopg.Connection[Any],
    address: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
    patient: bool = False,
) -> tuple[_Found, Offered]:
    """Runs the migrations that are missing, up to one that needs a step which is not done. With
    `patient`, waits for tables in use also where this Holdfast could work without the migration."""
    if partitions is not None and not 1 <= partitions <= PARTITIONS_MAX:
        raise InvalidSetting(f"A store has from 1 to {PARTITIONS_MAX} partitions.")
    refuse_unsupported(connection, address)
    found, offered = _look(connection, address)
    if found is None and is_worker(connection):
        raise StoreError(worker_refusal(address), hint="On Azure that is port 5432, not 7432.")
    enough = found is not None and _is_enough(found)
    if found is None or (found.version < newest() and (found.ours or not enough)):
        try:
            wait_s = _AT_OPEN_S if enough and not patient else RETRY_S
            _migrate(connection, address, partitions or PARTITIONS, citus, wait_s)
        except (StoreReadOnly, *LOCK_CONFLICTS):
            if patient or not enough:
                raise
        found, offered = _look(connection, address)
    assert found is not None
    assert offered is not None
    if found.ours:
        now, then = _split_at(offered.later, found.version)
        later = (*run_small_steps(connection, now, citus=found.citus), *then)
        return found, offered._replace(later=later)
    return found, offered


def _split_at(
    later: Sequence[PendingStep], version: int
) -> tuple[list[PendingStep], list[PendingStep]]:
    """The steps of migrations up to this version, and those of the others."""
    now = [one for one in later if one.version <= version]
    return now, [one for one in later if one.version > version]


def _look(
    connection: psycopg.Connection[Any], address: str
) -> tuple[_Found, Offered] | tuple[None, None]:
    """The installed schema and the features of the database; None where there is no schema."""
    with own_search_path(connection):
        found = _found(connection, address)
        if found is None:
            return None, None
        row = connection.execute(
            "SELECT setting::int, current_setting('synchronous_commit') = 'off'"
            " FROM pg_settings WHERE name = 'statement_timeout'"
        ).fetchone()
        assert row is not None
        timeout_ms, async_commit = row
        later = tuple(pending_steps(connection, schema.MIGRATIONS))
        where = vector(connection).schema
        return found, Offered(
            *(found.version, found.partitions, found.citus),
            *(where, async_commit, timeout_ms),
            later,
        )


def run_all(url: str, address: str, report: Report) -> Offered:
    """Runs all migrations and all steps that were left for later, while the store is used.
    Continues where an earlier run stopped."""
    with connect_to_stay(url) as connection, connect_to_stay(url) as guard:
        while True:
            found, offered = _update(connection, address, patient=True)
            if found.version >= newest() and not offered.later:
                return offered
            if not found.ours:
                raise StoreReadOnly(
                    f"The schema of {address} is not of this version, and the role may not change"
                    " it.",
                    hint="Let the owner of the schema run `holdfast store migrate`, on the"
                    " primary.",
                )
            builder = StepRunner(connection, address, citus=found.citus, report=report)
            builder.run(guard, partial(_still_to_do, connection, found.version))


def _still_to_do(connection: psycopg.Connection[Any], version: int) -> list[PendingStep]:
    with own_search_path(connection):
        return _split_at(pending_steps(connection, schema.MIGRATIONS), version)[0]


def _is_enough(found: _Found) -> bool:
    """Whether this Holdfast can work with the schema that is installed."""
    return all(one.version <= found.version for one in schema.MIGRATIONS if one.needed)


def _found(connection: psycopg.Connection[Any], address: str) -> _Found | None:
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


def _migrate(
    connection: psycopg.Connection[Any],
    address: str,
    partitions: int,
    citus: bool,
    wait_s: float,
) -> None:
    for migration in schema.MIGRATIONS:
        if migration.needs and not _needs_are_done(connection, address, migration):
            return
        if migration.version == 1 and citus:
            _create_schema_first(connection, address)

        def work(version: int = migration.version) -> None:
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING)
            )
            # Another process may have migrated while this one waited for the lock.
            found = _found(connection, address)
            if found is None or found.version < version:
                _apply(connection, address, version, partitions, citus)

        try:
            if migration.version == 1:
                # Nobody uses the tables yet, so there is no limit on the time.
                with own_search_path(connection):
                    work()
            else:
                with_short_locks(connection, work, wait_s=wait_s)
        except psycopg.errors.InsufficientPrivilege:
            raise _may_not_create(address) from None
        except psycopg.errors.ReadOnlySqlTransaction:
            raise StoreReadOnly(
                f"The tables of {address} are not there, or not of this version, and it can only be"
                " read.",
                hint="It may be a standby: open the primary once with this Holdfast.",
            ) from None


def _create_schema_first(connection: psycopg.Connection[Any], address: str) -> None:
    """Creates the schema in a transaction of its own. Citus creates tables on other nodes over
    connections of a superuser, which do not see a schema that is not committed."""
    try:
        with own_search_path(connection):
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING)
            )
            if not _schema_exists(connection):
                send(connection, f"CREATE SCHEMA {SCHEMA}")
    except psycopg.errors.InsufficientPrivilege:
        raise _may_not_create(address) from None


def _schema_exists(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", (SCHEMA,)
    ).fetchone()
    return row is not None


def _may_not_create(address: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"The tables of {address} are not there, or not of this version, and the role may not make"
        " them.",
        hint="Let an owner of the database run `holdfast store init` once, or"
        " `GRANT CREATE ON DATABASE … TO …`.",
    )


def _needs_are_done(
    connection: psycopg.Connection[Any], address: str, migration: Migration
) -> bool:
    """Whether the steps that a migration needs are done. Those that take no time are done now."""
    with own_search_path(connection):
        found = _found(connection, address)
        if found is None or found.version >= migration.version:
            return True
        todo, _ = _split_at(pending_steps(connection, schema.MIGRATIONS), migration.version - 1)
    left = run_small_steps(connection, todo, citus=found.citus)
    return not any(one.step.name in migration.needs for one in left)


def _apply(
    connection: psycopg.Connection[Any], address: str, version: int, partitions: int, citus: bool
) -> None:
    if version == 1:
        if not _schema_exists(connection):
            send(connection, f"CREATE SCHEMA {SCHEMA}")
        refuse_foreign_tables(connection, address)
        send(connection, _RECORD)
        send(connection, MAKE_STEPS_TABLE)
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
    migration = schema.MIGRATIONS[version - 1]
    made = list(statements(migration, partitions=partitions, citus=citus))
    if version > 1 and not citus:
        # In one round trip: users of the tables wait from the first lock to the commit.
        made = ["; ".join(made)] if made else []
    for statement in made:
        send(connection, statement)
    connection.execute(
        f"INSERT INTO {SCHEMA}.migrations (version, name, oldest, partitions, citus)"
        " VALUES (%s, %s, %s, %s, %s)",
        (version, migration.name, migration.oldest, partitions, citus),
    )
