"""Bringing a database to the newest schema, and finding out what it offers.

Each migration runs in a transaction of its own, under a lock, and is recorded with what was chosen
then: how many partitions, and whether Citus spreads the tables. Each row also says how old a
Holdfast may be that still understands the schema, so that two versions can work on one database
during an upgrade. What takes long is no part of that transaction (see `online`): whoever opens the
store does what is done at once and goes on without the rest, which `finish` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import psycopg

from holdfast.errors import InvalidSetting, StoreError, StoreReadOnly, StoreTooNew
from holdfast.store.postgres import schema
from holdfast.store.postgres.advisory_lock import LOCK_CLASS
from holdfast.store.postgres.checks import refuse_foreign, refuse_unfit
from holdfast.store.postgres.connections import connect_to_stay
from holdfast.store.postgres.migration_steps import (
    IN_THE_WAY,
    MAKE_STEPS_TABLE,
    TRY_S,
    Builder,
    Later,
    Told,
    briefly,
    by_our_names,
    do_small,
    send,
    waiting,
)
from holdfast.store.postgres.pgvector import vector
from holdfast.store.postgres.schema import Migration, newest, statements
from holdfast.store.postgres.tables import PARTITIONS, PARTITIONS_MAX, SCHEMA

_MIGRATING = 1
# Who can do without the newest schema does not wait for it.
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
    """What a database can do. `vector_schema` is where pgvector is, '' where it is not; `hasty`
    says that the server acknowledges before it has written, unless it is told otherwise; `later`
    is what a migration left for later, and is not done."""

    version: int
    partitions: int
    citus: bool
    vector_schema: str
    hasty: bool
    later: tuple[Later, ...] = ()


class _Found(NamedTuple):
    """The schema that is there; `ours` says that this role may change it, on this server."""

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
    """Makes or updates the tables where that is needed, and says what there is. What takes long is
    left for later."""
    found, offered = _bring_up(connection, address, partitions=partitions, citus=citus)
    if not _is_enough(found):
        needed = ", ".join(schema.MIGRATIONS[found.version].needs)
        raise StoreError(
            f"Schema {found.version + 1} of {address} is made after {needed}, which takes long.",
            hint="Let the owner of the schema run `holdfast store migrate`, which does both. The"
            " Holdfast before works meanwhile.",
        )
    return offered


def _bring_up(
    connection: psycopg.Connection[Any],
    address: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
    patient: bool = False,
) -> tuple[_Found, Offered]:
    """Makes what is missing, up to a migration that stands on a step for later which is not done.
    Who is patient waits for tables that are in use, also for what could wait."""
    if partitions is not None and not 1 <= partitions <= PARTITIONS_MAX:
        raise InvalidSetting(f"A store has from 1 to {PARTITIONS_MAX} partitions.")
    refuse_unfit(connection, address)
    found, offered = _look(connection, address)
    enough = found is not None and _is_enough(found)
    if found is None or (found.version < newest() and (found.ours or not enough)):
        try:
            wait_s = _AT_OPEN_S if enough and not patient else TRY_S
            _migrate(connection, address, partitions or PARTITIONS, citus, wait_s)
        except (StoreReadOnly, *IN_THE_WAY):
            if patient or not enough:
                raise
        found, offered = _look(connection, address)
    assert found is not None
    assert offered is not None
    if found.ours:
        now, then = _of_made(offered.later, found.version)
        later = (*do_small(connection, now, citus=found.citus), *then)
        return found, offered._replace(later=later)
    return found, offered


def _of_made(later: Sequence[Later], version: int) -> tuple[list[Later], list[Later]]:
    """Steps of the migrations that are made, and those of the others."""
    now = [one for one in later if one.version <= version]
    return now, [one for one in later if one.version > version]


def _look(
    connection: psycopg.Connection[Any], address: str
) -> tuple[_Found, Offered] | tuple[None, None]:
    """What there is, and what it offers; nothing where there is no schema of ours."""
    with by_our_names(connection):
        found = _found(connection, address)
        if found is None:
            return None, None
        hasty = connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
        later = tuple(waiting(connection, schema.MIGRATIONS))
        where = vector(connection).schema
        return found, Offered(found.version, found.partitions, found.citus, where, hasty, later)


def finish(url: str, address: str, told: Told) -> Offered:
    """Brings the schema up to date and does what was left for later, beside whoever uses the
    store; goes on where another left off."""
    with connect_to_stay(url) as connection, connect_to_stay(url) as guard:
        while True:
            found, offered = _bring_up(connection, address, patient=True)
            if found.version >= newest() and not offered.later:
                return offered
            if not found.ours:
                raise StoreReadOnly(
                    f"The schema of {address} is not of this version, and the role may not change"
                    " it.",
                    hint="Let the owner of the schema run `holdfast store migrate`, on the"
                    " primary.",
                )
            builder = Builder(connection, address, citus=found.citus, told=told)
            builder.run(guard, partial(_still_to_do, connection, found.version))


def _still_to_do(connection: psycopg.Connection[Any], version: int) -> list[Later]:
    with by_our_names(connection):
        return _of_made(waiting(connection, schema.MIGRATIONS), version)[0]


def _is_enough(found: _Found) -> bool:
    """Whether nothing is missing that this Holdfast cannot do without."""
    return all(one.version <= found.version for one in schema.MIGRATIONS if one.needed)


def _found(connection: psycopg.Connection[Any], address: str) -> _Found | None:
    """The schema that is there, if there is one."""
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
        if migration.needs and not _stands(connection, address, migration):
            return

        def work(version: int = migration.version) -> None:
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING)
            )
            # Another process may have migrated while we waited for the lock.
            found = _found(connection, address)
            if found is None or found.version < version:
                _apply(connection, address, version, partitions, citus)

        try:
            if migration.version == 1:
                # Nobody uses the tables yet, and they take as long as they take.
                with by_our_names(connection):
                    work()
            else:
                briefly(connection, work, wait_s=wait_s)
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


def _stands(connection: psycopg.Connection[Any], address: str, migration: Migration) -> bool:
    """Whether what a migration stands on is there, which others left for later. Where it takes no
    time, it is made now."""
    with by_our_names(connection):
        found = _found(connection, address)
        if found is None or found.version >= migration.version:
            return True
        todo, _ = _of_made(waiting(connection, schema.MIGRATIONS), migration.version - 1)
    left = do_small(connection, todo, citus=found.citus)
    return not any(one.step.name in migration.needs for one in left)


def _apply(
    connection: psycopg.Connection[Any], address: str, version: int, partitions: int, citus: bool
) -> None:
    if version == 1:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        refuse_foreign(connection, address)
        connection.execute(_RECORD)
        connection.execute(MAKE_STEPS_TABLE)
    else:
        row = connection.execute(
            f"SELECT partitions, citus FROM {SCHEMA}.migrations ORDER BY version DESC"
        ).fetchone()
        assert row is not None
        partitions, citus = row
    if citus:
        # Making a table makes a part of it on every node, which is not short, and nobody uses it.
        connection.execute("SET LOCAL statement_timeout = 0")
        # Tables that stand on `hubs`, which every node has, come over one connection to each node.
        connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    migration = schema.MIGRATIONS[version - 1]
    made = list(statements(migration, partitions=partitions, citus=citus))
    if version > 1 and not citus:
        # All on one way: who uses the tables waits from the first lock to the end.
        made = ["; ".join(made)] if made else []
    for statement in made:
        send(connection, statement)
    connection.execute(
        f"INSERT INTO {SCHEMA}.migrations (version, name, oldest, partitions, citus)"
        " VALUES (%s, %s, %s, %s, %s)",
        (version, migration.name, migration.oldest, partitions, citus),
    )
