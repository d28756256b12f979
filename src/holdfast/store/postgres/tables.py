"""Where the tables are, and how one is created: partitioned by hub or distributed over nodes, with
row level security and rights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.postgres.row_security import policy_statements

SCHEMA = "holdfast"


def search_path() -> str:
    """The schemas in which names are looked up: ours alone.

    `public` is left out: somebody who may create functions in it could create one that matches a
    call better than the server's own. What pgvector defines is named with its schema (`Halfvec`).
    Temporary tables come last, so that none hides a table of ours.
    """
    return f'"{SCHEMA}", pg_temp'


class Halfvec(NamedTuple):
    """The half-precision vectors of pgvector, which is installed in `schema`. Their names are
    qualified: the nodes of Citus have another search_path."""

    schema: str

    @property
    def _quoted(self) -> str:
        return '"{}"'.format(self.schema.replace('"', '""'))

    @property
    def type(self) -> str:
        return f"{self._quoted}.halfvec"

    @property
    def distance(self) -> str:
        """The operator for the cosine distance."""
        return f"OPERATOR({self._quoted}.<=>)"

    @property
    def cosine_ops(self) -> str:
        """The operator class of an index for it."""
        return f"{self._quoted}.halfvec_cosine_ops"


# How many partitions a large table has. A hub is in one of them; sixteen keep the indexes of 10
# million memories small enough for memory, and query plans short.
PARTITIONS = 16
PARTITIONS_MAX = 256

# Sorts by code point, as every other store does, and faster than a language's collation would.
TEXT = 'text COLLATE "C"'


class Table(NamedTuple):
    """A table with a hub in every row. `large` ones are partitioned by hub; `secured` ones show
    only rows of the hubs that the transaction has named (see `row_security`)."""

    name: str
    columns: str
    large: bool = False
    secured: bool = True


def table_statements(table: Table, *, partitions: int, citus: bool) -> Iterator[str]:
    """The statements that create one table, its partitions and its row level security."""
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
    if table.secured:
        yield from policy_statements(table.name, citus=citus)


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
