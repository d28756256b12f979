"""`holdfast store init` and `store migrate` (tables, extensions, and the rights of a role), and
`store check`: what a database, or a cluster, lacks to be the store. A check changes nothing, and
can be run before `store init`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from holdfast.errors import HoldfastError, InvalidSetting, NotFound, StoreError, StoreReadOnly
from holdfast.store.postgres import schema
from holdfast.store.postgres.checks import notes, security_warnings
from holdfast.store.postgres.connections import (
    READERS_MAX,
    WRITERS_MAX,
    connect,
    connect_to_stay,
    is_pooled,
)
from holdfast.store.postgres.errors import translated
from holdfast.store.postgres.extensions import (
    citus_version,
    cluster_problems,
    install_vector,
    is_worker,
    missing_note,
    worker_refusal,
)
from holdfast.store.postgres.migrate import (
    STEPS_TABLE,
    Offered,
    Report,
    prepare,
    refuse_unsupported,
    run_all,
)
from holdfast.store.postgres.schema import EMBEDDINGS, RIGHTS, SCHEMA, VIEWS, own_search_path
from holdfast.store.postgres.urls import address_of, complete

Connection = psycopg.Connection[Any]

_PER_PROCESS = READERS_MAX + WRITERS_MAX
# A role limit below this stops ordinary statements: a large memory is indexed, a hub is listed.
_TIMEOUT_LEAST_MS = 5_000


class Readiness(NamedTuple):
    """What keeps the store from working on a PostgreSQL server (`lacks`), and what an administrator
    should know."""

    address: str
    server: str
    lacks: tuple[str, ...]
    notes: tuple[str, ...]


def check_readiness(url: str, *, role: str = "") -> Readiness:
    """Examines the PostgreSQL database as the user of the URL, and for a role of programs."""
    address = address_of(url)
    with translated(address), connect(complete(url)) as connection:
        server = _server(connection)
        try:
            refuse_unsupported(connection, address)
        except HoldfastError as error:
            return Readiness(address, server, (f"{error.message} {error.hint}",), ())
        with own_search_path(connection):
            connection.execute("SET TRANSACTION READ ONLY")
            found = _installed(connection)
            lacks = [*_lacks(connection, address, role, found)]
            warnings = [*_notes(connection, address, role, found)]
    return Readiness(address, server, tuple(lacks), tuple(warnings))


class _Installed(NamedTuple):
    """Whether the tables are there, and distributed by Citus."""

    tables: bool
    citus: bool


def _server(connection: Connection) -> str:
    version = (connection.info.parameter_status("server_version") or "").partition(" ")[0]
    citus = citus_version(connection)
    return f"PostgreSQL {version}" + (f", Citus {citus}" if citus else "")


def _installed(connection: Connection) -> _Installed:
    row = connection.execute("SELECT to_regclass(%s)::text", (f"{SCHEMA}.migrations",)).fetchone()
    if row is None or row[0] is None:
        return _Installed(False, False)
    if not _ask(connection, f"SELECT has_table_privilege('{SCHEMA}.migrations', 'SELECT')"):
        return _Installed(True, False)
    return _Installed(
        True, bool(_ask(connection, f"SELECT bool_or(citus) FROM {SCHEMA}.migrations"))
    )


def _lacks(connection: Connection, address: str, role: str, found: _Installed) -> Iterator[str]:
    user = role or connection.info.user
    if is_worker(connection):
        yield worker_refusal(address)
        return
    if not found.tables:
        yield "The tables are not there yet. The owner of the database runs: holdfast store init"
        if not _ask(connection, "SELECT has_database_privilege(current_database(), 'CREATE')"):
            yield (
                f"`{connection.info.user}` may not create a schema in the database. Its owner runs:"
                f' GRANT CREATE ON DATABASE … TO "{connection.info.user}"'
            )
    elif not _ask(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", user):
        yield f"There is no role `{user}` on the server. Make it: CREATE ROLE … LOGIN PASSWORD '…'"
    elif missing := _missing_rights(connection, user):
        yield (
            f"`{user}` may not use {', '.join(missing)}. The owner of the schema runs:"
            f" holdfast store init --role {user}"
        )
    if _ask(connection, "SELECT pg_is_in_recovery()"):
        yield f"{address} is a standby. Name the primary, and the standby in store.read_url."
    elif _ask(connection, "SELECT current_setting('default_transaction_read_only') = 'on'"):
        yield (
            "default_transaction_read_only is on for this role or database, so nothing can be"
            f' written: ALTER ROLE "{user}" RESET default_transaction_read_only'
        )
    if _ask(connection, "SELECT current_setting('row_security') = 'off'"):
        yield (
            "row_security is off for this role or database, and the server refuses what a policy"
            f' would filter: ALTER ROLE "{user}" RESET row_security'
        )
    if found.citus:
        yield from cluster_problems(connection, address, role)


def _missing_rights(connection: Connection, user: str) -> list[str]:
    """The tables that a role cannot read and write. The search tables are read through views."""
    if not _ask(connection, "SELECT has_schema_privilege(%s, %s, 'USAGE')", user, SCHEMA):
        return [f"the schema {SCHEMA}"]
    checked = connection.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = %s::regnamespace"
        " AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition"
        " AND c.relname NOT LIKE 'migration%%' AND NOT ("
        " (has_table_privilege(%s, c.oid, 'SELECT') OR c.relname IN ('words', 'substrings'))"
        " AND (c.relkind = 'v' OR (has_table_privilege(%s, c.oid, 'INSERT')"
        " AND has_table_privilege(%s, c.oid, 'UPDATE')"
        " AND has_table_privilege(%s, c.oid, 'DELETE')))) ORDER BY 1",
        (SCHEMA, user, user, user, user),
    ).fetchall()
    return [row[0] for row in checked]


def _notes(connection: Connection, address: str, role: str, found: _Installed) -> Iterator[str]:
    yield from security_warnings(connection, address)
    if found.tables:
        yield from notes(connection, address)
    elif missing := missing_note(connection, address):
        yield missing
    if not found.tables and citus_version(connection):
        yield "Citus is installed. To spread the tables over its nodes: holdfast store init --citus"
    user = role or connection.info.user
    if _ask(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", user):
        yield from _role_notes(connection, user)
    slots = _setting(connection, "max_connections")
    if is_pooled(connection):
        yield (
            "A pooler is in front of the server. It has to work by transaction (pool_mode)."
            f" Set its max_client_conn to {_PER_PROCESS} for each Holdfast process, and run"
            " `store init` and `store migrate` on the server itself."
        )
    elif slots < 2 * _PER_PROCESS:
        yield (
            f"The server takes {slots} connections, and one Holdfast process uses up to"
            f" {_PER_PROCESS}. Raise max_connections, or put a pooler in front."
        )
    if _ask(connection, "SELECT current_setting('autovacuum') = 'off'"):
        yield "autovacuum is off: tables grow, and plans get worse. Turn it on."


def _role_notes(connection: Connection, user: str) -> Iterator[str]:
    bypasses = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
    if _ask(connection, bypasses, user):
        yield (
            f"Row level security does not hold for `{user}`, a superuser or a role with BYPASSRLS."
            " Let programs connect as a role of their own: holdfast store init --role NAME"
        )
    if not _ask(connection, "SELECT has_database_privilege(%s, current_database(), 'TEMP')", user):
        yield (
            f"`{user}` may not create temporary tables, so imports take longer. The owner of the"
            f' database runs: GRANT TEMP ON DATABASE … TO "{user}"'
        )
    timeout_ms = _setting(connection, "statement_timeout")
    if 0 < timeout_ms < _TIMEOUT_LEAST_MS:
        yield (
            f"statement_timeout is {timeout_ms} ms for this role or database; large writes are"
            f" stopped by it. Raise it: ALTER ROLE \"{user}\" SET statement_timeout = '60s'"
        )


def _ask(connection: Connection, query: str, *values: str) -> Any:
    row = connection.execute(query, values).fetchone()
    return None if row is None else row[0]


def _setting(connection: Connection, name: str) -> int:
    return int(_ask(connection, "SELECT setting FROM pg_settings WHERE name = %s", name))


class Initialised(NamedTuple):
    """What `holdfast store init` or `store migrate` has made of a PostgreSQL database: where it is,
    what its server offers, and warnings for its administrator."""

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
) -> Initialised:
    """Creates the tables in PostgreSQL where they are missing, installs extensions, and grants
    rights to a role."""
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
    return Initialised(address, offered, tuple(notes))


def migrate(url: str, *, report: Report) -> Initialised:
    """Runs all migrations of PostgreSQL, with the steps that they left for later."""
    address = address_of(url)
    with translated(address):
        return Initialised(address, run_all(complete(url), address, report), ())


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
    """Gives an existing role of PostgreSQL the rights that the store needs."""
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
    """The tables of the store in PostgreSQL, except those that record migrations."""
    for migration in schema.MIGRATIONS:
        yield from (table.name for table in (*migration.plain, *migration.tables))
