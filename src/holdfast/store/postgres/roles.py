"""A role for the programs that use the store: it reads and writes rows, and owns nothing.

Row level security holds for it (see wall.py): a transaction sees the hubs it has named and no
others, whatever its statements say. What is only searched it reads through views that do the same,
and not from the tables. The parts of a table are not granted, only the table itself: a part has no
wall of its own. What versions before could not do without is taken away here, and not by a
migration: whoever lets a role in knows that they are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from holdfast.errors import NotFound
from holdfast.store.postgres.derived import EMBEDDINGS
from holdfast.store.postgres.names import SCHEMA
from holdfast.store.postgres.online import STEPS_TABLE, briefly, by_our_names, send
from holdfast.store.postgres.schema import MIGRATIONS
from holdfast.store.postgres.wall import VIEWS, raise_wall

# The right to vacuum and to analyse without owning the table came with 17; a purge clears its rows
# away with it.
_MAINTAIN_FROM = 170000


def grant(connection: psycopg.Connection[Any], role: str) -> None:
    """Gives an existing role what the store needs."""
    name = sql.Identifier(role)
    rights = "SELECT, INSERT, UPDATE, DELETE"
    maintain = connection.info.server_version >= _MAINTAIN_FROM
    with by_our_names(connection):
        there = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
        if there is None:
            raise NotFound(
                f"There is no role `{role}` on the server.",
                hint=f"Make it first: CREATE ROLE {name.as_string(connection)} LOGIN PASSWORD '…'",
            )
        for part in (
            f"GRANT USAGE ON SCHEMA {SCHEMA}",
            *(
                f"GRANT {rights} ON {SCHEMA}.{table}"
                for table in (*tables(), *_sometimes(connection))
            ),
            f"GRANT SELECT ON {SCHEMA}.migrations",
            *_steps(connection),
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA}",
            # Of the parts too: it lets nobody read them.
            *([f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA}"] if maintain else []),
        ):
            connection.execute(sql.SQL("{} TO {}").format(sql.SQL(part), name))
        if not _owns(connection, role):
            _only_through_views(connection, name)
        open_tables = _unwalled(connection)
    for table in open_tables:
        _wall_writes(connection, table)


def _owns(connection: psycopg.Connection[Any], role: str) -> bool:
    """Whether the tables are the role's own: views read them with its rights, which stay."""
    row = connection.execute(
        "SELECT pg_get_userbyid(relowner) = %s FROM pg_class WHERE oid = %s::regclass",
        (role, f"{SCHEMA}.migrations"),
    ).fetchone()
    return row is not None and bool(row[0])


def _only_through_views(connection: psycopg.Connection[Any], role: sql.Identifier) -> None:
    """Takes back what roles were given before there were views; they come with the fourth
    migration."""
    for view in VIEWS:
        if not _is_there(connection, f"{SCHEMA}.{view.name}"):
            continue
        for part in (
            f"GRANT SELECT ON {SCHEMA}.{view.name} TO {{}}",
            f"REVOKE SELECT ON {SCHEMA}.{view.table} FROM {{}}",
            f"GRANT SELECT ({view.keys}) ON {SCHEMA}.{view.table} TO {{}}",
        ):
            connection.execute(sql.SQL(part).format(role))


def _unwalled(connection: psycopg.Connection[Any]) -> list[str]:
    """The tables whose policies do not hold yet; those come with the fifth migration."""
    found = connection.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = %s::regnamespace"
        " AND c.relname = ANY(%s) AND NOT c.relforcerowsecurity"
        " AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)",
        (SCHEMA, [view.table for view in VIEWS]),
    ).fetchall()
    return [row[0] for row in found]


def _wall_writes(connection: psycopg.Connection[Any], table: str) -> None:
    """Rows of the table are written for named hubs alone, from now on."""

    raised = "; ".join(raise_wall(f"{SCHEMA}.{table}"))

    def work() -> None:
        send(connection, raised)

    briefly(connection, work)


def _sometimes(connection: psycopg.Connection[Any]) -> list[str]:
    """The table that is made only where pgvector is."""
    return [EMBEDDINGS.name] if _is_there(connection, f"{SCHEMA}.{EMBEDDINGS.name}") else []


def _steps(connection: psycopg.Connection[Any]) -> list[str]:
    """What a migration left for later; the table comes with the third."""
    return [f"GRANT SELECT ON {STEPS_TABLE}"] if _is_there(connection, STEPS_TABLE) else []


def _is_there(connection: psycopg.Connection[Any], table: str) -> bool:
    there = connection.execute("SELECT to_regclass(%s)::text", (table,)).fetchone()
    return there is not None and there[0] is not None


def tables() -> Iterator[str]:
    """The tables of the store, without what records migrations."""
    for migration in MIGRATIONS:
        yield from (name for name, _ in migration.plain)
        yield from (table.name for table in migration.tables)
