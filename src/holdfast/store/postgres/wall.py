"""The second wall: a transaction sees and writes rows of the hubs it has named, whatever its
statements say. Policies, the views of what is only searched, and who has rights to what comes
later. Superusers, and roles that may pass it by, do not meet it.

Knows conditions and the names of tables; nothing of their columns beyond the hub, but those that a
view shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.postgres.names import SCHEMA

# The array is made once a statement; on Citus, which takes no subquery in a policy, wherever it is
# compared.
_NAMED = "hub_id = ANY (ARRAY(SELECT unnest(string_to_array("
_NAMED += "current_setting('holdfast.hubs', true), ','))::bigint))"
_NAMED_CITUS = (
    "hub_id = ANY (string_to_array(current_setting('holdfast.hubs', true), ',')::bigint[])"
)

# What is due is asked of all hubs; that one read says so.
DUE = "current_setting('holdfast.due', true) = 'all'"


def named(*, citus: bool) -> str:
    """The condition for a row of a hub that the transaction has named."""
    return _NAMED_CITUS if citus else _NAMED


def raise_wall(table: str) -> tuple[str, ...]:
    """The statements from which on the policies of a table hold, for its owner too."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
    )


def walled(table: str, *, citus: bool) -> Iterator[str]:
    """The statements that put a new table behind the wall."""
    mine = named(citus=citus)
    # Of `records`, the fourth migration makes two policies.
    seen = f"({mine} OR {DUE})" if table == "records" else mine
    yield from raise_wall(table)
    yield f"CREATE POLICY named_hubs ON {table} USING ({seen}) WITH CHECK ({mine})"


class View(NamedTuple):
    """A table that is only searched, as it is read: the rows of the hubs that are named. A policy
    would keep its index from being used (docs/decisions/postgres-search.md); the conditions of a
    plain view are joined with those of who reads it. `keys` are the columns by which rows are found
    that are to be taken away: who may not read the table may read these. What is written has
    policies (the fifth migration), since a condition that always holds keeps no index from being
    used."""

    name: str
    table: str
    columns: str
    keys: str

    @property
    def statement(self) -> str:
        return f"CREATE VIEW {self.name} AS SELECT {self.columns} FROM {self.table} WHERE {{named}}"

    @property
    def write_policies(self) -> tuple[str, ...]:
        on, mine = f"ON {self.table} FOR", "({named})"
        return (
            f"CREATE POLICY read_through_view {on} SELECT USING (true)",
            f"CREATE POLICY named_hubs_added {on} INSERT WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_changed {on} UPDATE USING {mine} WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_removed {on} DELETE USING {mine}",
        )


VIEWS = (
    View(
        "named_words",
        "words",
        "hub_id, passage, memory, length, words",
        keys="hub_id, passage, memory",
    ),
    View("named_substrings", "substrings", "hub_id, memory, grams", keys="hub_id, memory"),
    View("named_turn_words", "turn_words", "hub_id, place, words", keys="hub_id, place"),
)

# Before the fifth schema, many rows went by COPY straight into tables that are only searched, and
# no table whose policies hold takes that. So they hold from the start where nobody has written yet,
# and elsewhere from `store init --role` on (see roles.py).
RAISED_WHERE_NEW = f"""
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM hubs) THEN
        {"; ".join(part for view in VIEWS for part in raise_wall(view.table))};
    END IF;
END $$"""

# A table that comes later is for the roles that use the others; a view is only read.
SAME_RIGHTS = f"""
DO $$
DECLARE one name;
BEGIN
    FOR one IN SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a, pg_roles r
        WHERE c.oid = '{SCHEMA}.records'::regclass AND a.privilege_type = 'INSERT'
        AND r.oid = a.grantee AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON {SCHEMA}.{{table}} TO %I', one);
    END LOOP;
END $$"""
TO_BE_READ = SAME_RIGHTS.replace("SELECT, INSERT, UPDATE, DELETE", "SELECT")
