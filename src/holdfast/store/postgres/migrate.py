"""Bringing a database to the newest schema, and finding out what it offers.

Each step runs in a transaction of its own, under a lock, and is recorded with what was chosen then:
how many partitions, and whether Citus spreads the tables. Each row also says how old a Holdfast may
be that still understands the schema, so that two versions can work on one database during an
upgrade.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import psycopg

from holdfast.errors import InvalidSetting, StoreDamaged, StoreError, StoreReadOnly, StoreTooNew
from holdfast.store.postgres.connections import LOCK_CLASS
from holdfast.store.postgres.schema import (
    MIGRATIONS,
    NEWEST,
    PARTITIONS,
    PARTITIONS_MAX,
    SCHEMA,
    statements,
)

# pgvector's index scans that go on until enough rows pass the filter came with 0.8.
_VECTOR_FROM = (0, 8)
# The oldest server on which everything used here is there.
_SERVER_FROM = 140000
_MIGRATING = 1

_RECORD = f"""
CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    oldest integer NOT NULL,
    partitions integer NOT NULL,
    citus boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)"""


class Offered(NamedTuple):
    """What a database can do. `vector_schema` is where pgvector is, '' where it is not; `hasty`
    says that the server acknowledges before it has written, unless it is told otherwise."""

    version: int
    partitions: int
    citus: bool
    vector_schema: str
    hasty: bool


def prepare(
    connection: psycopg.Connection[Any],
    address: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
) -> Offered:
    """Makes or updates the tables where that is needed, and says what there is."""
    if partitions is not None and not 1 <= partitions <= PARTITIONS_MAX:
        raise InvalidSetting(f"A store has from 1 to {PARTITIONS_MAX} partitions.")
    _refuse_unfit(connection, address)
    version = _version(connection, address)
    if version < NEWEST:
        _migrate(connection, address, partitions or PARTITIONS, citus)
    row = connection.execute(
        f"SELECT version, partitions, citus FROM {SCHEMA}.migrations ORDER BY version DESC"
    ).fetchone()
    assert row is not None
    commit = connection.execute("SHOW synchronous_commit").fetchone()
    hasty = commit is not None and commit[0] == "off"
    return Offered(row[0], row[1], row[2], _vector_schema(connection), hasty)


def _refuse_unfit(connection: psycopg.Connection[Any], address: str) -> None:
    if connection.info.server_version < _SERVER_FROM:
        found = connection.info.parameter_status("server_version")
        raise StoreError(
            f"{address} is PostgreSQL {found}; Holdfast needs 14 or newer.",
            hint="Upgrade the server.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        name = address.rpartition("/")[2]
        raise StoreError(
            f"The database of {address} is encoded in {encoding}, which cannot hold every text.",
            hint=f"Make one with `createdb --encoding UTF8 --template template0 {name}`.",
        )


def _version(connection: psycopg.Connection[Any], address: str) -> int:
    """The schema that is there; 0 where none is."""
    row = connection.execute("SELECT to_regclass(%s)::text", (f"{SCHEMA}.migrations",)).fetchone()
    if row is None or row[0] is None:
        return 0
    row = connection.execute(
        f"SELECT version, oldest FROM {SCHEMA}.migrations ORDER BY version DESC"
    ).fetchone()
    if row is None:
        return 0
    version, oldest = row
    if oldest > NEWEST:
        raise StoreTooNew(
            f"The store {address} has schema {version}; this Holdfast knows up to {NEWEST}.",
            hint="Upgrade Holdfast, or name another database in store.url.",
        )
    return int(version)


def _migrate(
    connection: psycopg.Connection[Any], address: str, partitions: int, citus: bool
) -> None:
    for migration in MIGRATIONS:
        try:
            with connection.transaction():
                connection.execute(
                    "SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING)
                )
                # Another process may have migrated while we waited for the lock.
                if _version(connection, address) >= migration.version:
                    continue
                _apply(connection, address, migration.version, partitions, citus)
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


def _apply(
    connection: psycopg.Connection[Any], address: str, version: int, partitions: int, citus: bool
) -> None:
    if version == 1:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
            " AND relkind IN ('r', 'p') AND relname <> 'migrations' LIMIT 1",
            (SCHEMA,),
        ).fetchone()
        if found is not None:
            raise StoreDamaged(
                f"The schema `{SCHEMA}` of {address} has tables that are not Holdfast's"
                f" (`{found[0]}`); it was left as it is.",
                hint="Name another database in store.url.",
            )
        connection.execute(_RECORD)
    else:
        row = connection.execute(
            f"SELECT partitions, citus FROM {SCHEMA}.migrations ORDER BY version DESC"
        ).fetchone()
        assert row is not None
        partitions, citus = row
    connection.execute(f"SET LOCAL search_path = {SCHEMA}, public")
    migration = MIGRATIONS[version - 1]
    for statement in statements(migration, partitions=partitions, citus=citus):
        connection.execute(statement)
    connection.execute(
        f"INSERT INTO {SCHEMA}.migrations (version, name, oldest, partitions, citus)"
        " VALUES (%s, %s, %s, %s, %s)",
        (version, migration.name, migration.oldest, partitions, citus),
    )


def _vector_schema(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(
        "SELECT n.nspname, e.extversion FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return ""
    version = tuple(int(part) for part in row[1].split(".")[:2])
    return str(row[0]) if version >= _VECTOR_FROM else ""
