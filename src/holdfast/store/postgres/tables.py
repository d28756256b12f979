"""How a table is made: in parts by hub, or spread over nodes, with its wall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.postgres.row_security import walled

SCHEMA = "holdfast"


def search_path(vector_schema: str = "") -> str:
    """Where names are looked up: our tables, and pgvector where it is. Not `public`, unless that is
    where: somebody who may make functions there could make one that fits better than the server's
    own. And temporary tables last, so that none stands before one of ours."""
    places = [SCHEMA, vector_schema] if vector_schema not in ("", SCHEMA) else [SCHEMA]
    quoted = ['"{}"'.format(place.replace('"', '""')) for place in places]
    return ", ".join([*quoted, "pg_temp"])


# How many tables each large table is made of. A hub lives in one of them, whole; sixteen keep the
# indexes of 10 million memories at a size that fits in memory, and a plan short.
PARTITIONS = 16
PARTITIONS_MAX = 256

# Sorts by code point, as every other store does, and faster than a language would.
TEXT = 'text COLLATE "C"'


class Table(NamedTuple):
    """A table that has a hub in every row. `large` ones are split by hub; `walled` ones show the
    rows of those hubs alone that the transaction has named (see `wall`)."""

    name: str
    columns: str
    large: bool = False
    walled: bool = True


def table_statements(table: Table, *, partitions: int, citus: bool) -> Iterator[str]:
    """The statements that make one table with its parts and its wall."""
    split = table.large and partitions > 1 and not citus
    yield f"CREATE TABLE {table.name} ({table.columns}\n)" + (
        " PARTITION BY HASH (hub_id)" if split else ""
    )
    if citus:
        yield f"SELECT create_distributed_table('{table.name}', 'hub_id')"
    elif split:
        for part in range(partitions):
            yield (
                f"CREATE TABLE {table.name}_{part} PARTITION OF {table.name}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
            )
    if table.walled:
        yield from walled(table.name, citus=citus)


RIGHTS = "SELECT, INSERT, UPDATE, DELETE"


def grant_to_users(table: str, rights: str = RIGHTS) -> str:
    """The statement that gives a table that is created later to the roles that use the others."""
    return f"""
DO $$
DECLARE one name;
BEGIN
    FOR one IN SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a, pg_roles r
        WHERE c.oid = '{SCHEMA}.records'::regclass AND a.privilege_type = 'INSERT'
        AND r.oid = a.grantee AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT {rights} ON {SCHEMA}.{table} TO %I', one);
    END LOOP;
END $$"""
