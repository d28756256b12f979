"""Row level security: a transaction sees and writes rows of the hubs that it has named, whatever
its statements say. It is a second line of defence behind the conditions of the statements
themselves. It does not hold for superusers and roles with BYPASSRLS.

Defines the policies, and the views through which the search tables are read.
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
    View("named_substrings", "substrings", "hub_id, memory, grams", keys="hub_id, memory"),
)
