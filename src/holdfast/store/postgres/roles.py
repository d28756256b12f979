"""Rights for the role of programs that use the store: it reads and writes rows, and owns nothing.

Row level security holds for it (see wall.py): a transaction sees the hubs that it has named and no
others. It reads the search tables through views that do the same. Partitions are not granted, only
the table itself, because a partition has no policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from holdfast.errors import NotFound
from holdfast.store.postgres import schema
from holdfast.store.postgres.derived import EMBEDDINGS
from holdfast.store.postgres.migration_steps import STEPS_TABLE, by_our_names
from holdfast.store.postgres.names import SCHEMA
from holdfast.store.postgres.row_security import RIGHTS, VIEWS

# The right to vacuum and analyse without owning the table came with 17; a purge removes its dead
# rows with it.
_MAINTAIN_FROM = 170000


def grant(connection: psycopg.Connection[Any], role: str) -> None:
    """Gives an existing role the rights that the store needs."""
    name = sql.Identifier(role)
    with by_our_names(connection):
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
    searched = {view.table for view in VIEWS}
    for table in (*tables(), *_sometimes(connection)):
        if table not in searched:
            yield f"GRANT {RIGHTS} ON {SCHEMA}.{table}"
    for view in VIEWS:
        yield f"GRANT INSERT, UPDATE, DELETE, SELECT ({view.keys}) ON {SCHEMA}.{view.table}"
        yield f"GRANT SELECT ON {SCHEMA}.{view.name}"
    yield f"GRANT SELECT ON {SCHEMA}.migrations, {STEPS_TABLE}"
    yield f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA}"
    if connection.info.server_version >= _MAINTAIN_FROM:
        # On partitions too: it gives no right to read them.
        yield f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA}"


def _sometimes(connection: psycopg.Connection[Any]) -> list[str]:
    """The table that exists only where pgvector is used."""
    there = connection.execute(
        "SELECT to_regclass(%s)::text", (f"{SCHEMA}.{EMBEDDINGS.name}",)
    ).fetchone()
    return [] if there is None or there[0] is None else [EMBEDDINGS.name]


def tables() -> Iterator[str]:
    """The tables of the store, without what records migrations."""
    for migration in schema.MIGRATIONS:
        yield from (name for name, _ in migration.plain)
        yield from (table.name for table in migration.tables)
