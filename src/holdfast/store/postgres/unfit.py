"""What cannot hold a store: a server that is too old, a database that cannot hold every text, and a
schema of our name that is somebody else's. Looks, and changes nothing."""

from __future__ import annotations

from typing import Any

import psycopg

from holdfast.errors import StoreDamaged, StoreError
from holdfast.store.postgres.names import SCHEMA

# The oldest server on which everything used here is there.
SERVER_FROM = 140000


def refuse_unfit(connection: psycopg.Connection[Any], address: str) -> None:
    """Refuses a server or a database that will not do."""
    if connection.info.server_version < SERVER_FROM:
        found = connection.info.parameter_status("server_version")
        raise StoreError(
            f"{address} is PostgreSQL {found}; Holdfast needs {SERVER_FROM // 10_000} or newer.",
            hint="Upgrade the server.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        name = address.rpartition("/")[2]
        raise StoreError(
            f"The database of {address} is encoded in {encoding}, which cannot hold every text.",
            hint=f"Make one with `createdb --encoding UTF8 --template template0 {name}`.",
        )


def refuse_foreign(connection: psycopg.Connection[Any], address: str) -> None:
    """Refuses a schema in which others have tables."""
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
        " AND relkind IN ('r', 'p') LIMIT 1",
        (SCHEMA,),
    ).fetchone()
    if found is not None:
        raise StoreDamaged(
            f"The schema `{SCHEMA}` of {address} has tables that are not Holdfast's"
            f" (`{found[0]}`); it was left as it is.",
            hint="Name another database in store.url.",
        )
