"""`holdfast store init` and `store migrate`: tables, extensions, and the rights of a role.

The role of programs reads and writes rows and owns nothing. Row level security holds for it (see
row_security.py), and it reads the search tables through views; on Citus, where views do not give
rights, it may read them itself. Partitions are not granted, only the table itself, because a
partition has no policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from holdfast.errors import InvalidSetting, NotFound, StoreError, StoreReadOnly
from holdfast.store.postgres import schema
from holdfast.store.postgres.checks import security_warnings
from holdfast.store.postgres.citus import citus_version
from holdfast.store.postgres.connections import connect_to_stay
from holdfast.store.postgres.errors import translated
from holdfast.store.postgres.migrate import Offered, prepare, run_all
from holdfast.store.postgres.migration_steps import STEPS_TABLE, Report, own_search_path
from holdfast.store.postgres.pgvector import install_vector, missing_note
from holdfast.store.postgres.row_security import VIEWS
from holdfast.store.postgres.table_definitions import EMBEDDINGS
from holdfast.store.postgres.tables import RIGHTS, SCHEMA
from holdfast.store.postgres.urls import address_of, complete


class Prepared(NamedTuple):
    """The database as it is now, and warnings for its administrator."""

    address: str
    offered: Offered
    notes: tuple[str, ...]


def initialise(
    url: str,
    *,
    partitions: int | None = None,
    citus: bool = False,
    role: str = "",
    report: Report = lambda what: None,
) -> Prepared:
    """Creates the tables where they are missing, installs extensions, and grants rights to a
    role."""
    if citus and partitions is not None:
        raise InvalidSetting("On Citus the tables are spread over nodes, not parted.")
    address = address_of(url)
    with translated(address), connect_to_stay(complete(url)) as connection:
        if citus:
            _refuse_without_citus(connection, address)
        prepare(connection, address, partitions=partitions, citus=citus)
        install_vector(connection)
        offered = run_all(complete(url), address, report)
        if role:
            _refuse_non_owner(connection, address, role)
            grant(connection, role)
        with own_search_path(connection):
            missing = missing_note(connection, address)
            notes = [missing] if missing else []
            notes += security_warnings(connection, address)
    if partitions is not None and offered.partitions != partitions:
        notes.append(
            f"The tables were made before, in {offered.partitions} parts; that cannot be changed."
        )
    if citus and not offered.citus:
        notes.append("The tables were made before, without Citus; that cannot be changed.")
    if role:
        notes.append(f"The role `{role}` may read and write, and sees the hubs it has named.")
    return Prepared(address, offered, tuple(notes))


def migrate(url: str, *, report: Report) -> Prepared:
    """Runs all migrations, with the steps that they left for later."""
    address = address_of(url)
    with translated(address):
        return Prepared(address, run_all(complete(url), address, report), ())


def _refuse_non_owner(connection: psycopg.Connection[Any], address: str, role: str) -> None:
    """Refuses to grant rights as a role that is not the owner: the server would only warn."""
    with own_search_path(connection):
        row = connection.execute(
            "SELECT pg_get_userbyid(relowner), pg_has_role(relowner, 'USAGE') FROM pg_class"
            " WHERE oid = %s::regclass",
            (f"{SCHEMA}.migrations",),
        ).fetchone()
    if row is not None and not row[1]:
        raise StoreReadOnly(
            f"The tables of {address} belong to `{row[0]}`, so this role cannot let `{role}` in.",
            hint=f"Connect as `{row[0]}`: holdfast store init --url"
            f" postgresql://{row[0]}@… --role {role}",
        )


def _refuse_without_citus(connection: psycopg.Connection[Any], address: str) -> None:
    if not citus_version(connection):
        raise StoreError(
            f"Citus is not installed in {address}.",
            hint="Run `CREATE EXTENSION citus` there as a superuser (it must stand in"
            " shared_preload_libraries), or leave --citus out.",
        )


# The right to vacuum and analyse without owning the table came with 17; a purge removes its dead
# rows with it.
_MAINTAIN_FROM = 170000


def grant(connection: psycopg.Connection[Any], role: str) -> None:
    """Gives an existing role the rights that the store needs."""
    name = sql.Identifier(role)
    with own_search_path(connection):
        there = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
        if there is None:
            raise NotFound(
                f"There is no role `{role}` on the server.",
                hint=f"Make it first: CREATE ROLE {name.as_string(connection)} LOGIN PASSWORD '…'",
            )
        for part in _grants(connection):
            connection.execute(sql.SQL("{} TO {}").format(sql.SQL(part), name))


def _grants(connection: psycopg.Connection[Any]) -> Iterator[str]:
    yield f"GRANT USAGE ON SCHEMA {SCHEMA}"
    searched = {} if _is_on_citus(connection) else {view.table: view for view in VIEWS}
    for table in (*table_names(), *_optional_tables(connection)):
        if table not in searched:
            yield f"GRANT {RIGHTS} ON {SCHEMA}.{table}"
    for view in searched.values():
        yield f"GRANT INSERT, UPDATE, DELETE, SELECT ({view.keys}) ON {SCHEMA}.{view.table}"
    for view in VIEWS:
        yield f"GRANT SELECT ON {SCHEMA}.{view.name}"
    yield f"GRANT SELECT ON {SCHEMA}.migrations, {STEPS_TABLE}"
    yield f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA}"
    if connection.info.server_version >= _MAINTAIN_FROM:
        # On partitions too: it gives no right to read them.
        yield f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA}"


def _is_on_citus(connection: psycopg.Connection[Any]) -> bool:
    """Whether the tables were created to be distributed."""
    row = connection.execute(f"SELECT bool_or(citus) FROM {SCHEMA}.migrations").fetchone()
    return row is not None and bool(row[0])


def _optional_tables(connection: psycopg.Connection[Any]) -> list[str]:
    """The table that exists only where pgvector is used."""
    there = connection.execute(
        "SELECT to_regclass(%s)::text", (f"{SCHEMA}.{EMBEDDINGS}",)
    ).fetchone()
    return [] if there is None or there[0] is None else [EMBEDDINGS]


def table_names() -> Iterator[str]:
    """The tables of the store, except those that record migrations."""
    for migration in schema.MIGRATIONS:
        yield from (name for name, _ in migration.plain)
        yield from (table.name for table in migration.tables)
