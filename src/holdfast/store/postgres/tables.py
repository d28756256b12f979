"""Where the tables are, and how one is created: partitioned by hub or distributed over nodes, with
rights and row level security.

Row level security: a transaction sees and writes rows of the hubs that it has named, whatever its
statements say. It is a second line of defence behind the conditions of the statements themselves,
and does not hold for superusers and roles with BYPASSRLS. The policies are defined here, and the
views through which the search tables are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# The array is built once a statement. Citus takes no subquery in a policy, so there it is built for
# every comparison.
_NAMED = "hub_id = ANY (ARRAY(SELECT unnest(string_to_array("
_NAMED += "current_setting('holdfast.hubs', true), ','))::bigint))"
_NAMED_CITUS = (
    "hub_id = ANY (string_to_array(current_setting('holdfast.hubs', true), ',')::bigint[])"
)

# Due records are read from all hubs; the transaction that does so sets this.
DUE = "current_setting('holdfast.due', true) = 'all'"


def named(*, citus: bool) -> str:
    """The condition for a row of a hub that the transaction has named."""
    return _NAMED_CITUS if citus else _NAMED


def enable_row_security(table: str) -> tuple[str, ...]:
    """The statements that make the policies of a table hold, for its owner too."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
    )


def policy_statements(table: str, *, citus: bool) -> Iterator[str]:
    """The statements that restrict a new table to the hubs that the transaction has named."""
    mine = named(citus=citus)
    yield from enable_row_security(table)
    yield f"CREATE POLICY named_hubs ON {table} USING ({mine}) WITH CHECK ({mine})"


class View(NamedTuple):
    """A search table, and the view through which it is read: the rows of the named hubs.

    A policy for reading would keep the search index from being used
    (docs/decisions/postgres-search.md); the planner joins the conditions of a plain view with those
    of the query. Writes have policies. `keys` are the columns that a role may read in the table
    itself, to find the rows that it deletes.

    Citus replaces a view by its query and reads the shard with the rights of the caller, so there a
    role may read the table, and a policy for reading restricts it.
    """

    name: str
    table: str
    columns: str
    keys: str

    @property
    def statements(self) -> tuple[str, ...]:
        """Creates the view and the policies. `{named}` is the condition for the named hubs,
        `{read}` that of the policy for reading."""
        on, mine = f"ON {self.table} FOR", "({named})"
        return (
            f"CREATE VIEW {self.name} AS SELECT {self.columns} FROM {self.table} WHERE {{named}}",
            f"CREATE POLICY read_through_view {on} SELECT USING ({{read}})",
            f"CREATE POLICY named_hubs_added {on} INSERT WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_changed {on} UPDATE USING {mine} WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_removed {on} DELETE USING {mine}",
            *enable_row_security(self.table),
        )


VIEWS = (
    View(
        "named_words",
        "words",
        "hub_id, passage, memory, turn, length, words",
        keys="hub_id, passage, memory, turn",
    ),
    View(
        "named_substrings",
        "substrings",
        "hub_id, passage, memory, turn, grams",
        keys="hub_id, passage, memory, turn",
    ),
)


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
