"""The tables, as ordered migrations: each runs once, in a transaction, and is recorded. What takes
long on tables that are in use is a step for later (see `steps`).

One schema for plain PostgreSQL, for managed ones and for Citus. `hub_id` leads every primary key,
unique key and foreign key, and never changes, so that a hub can live in any partition or on any
node. There are no triggers of our own, no sequences that an order between hubs would hang on, and
nothing that locks rows of two hubs. `hubs` and `models` are small tables that every node has whole.

Canonical tables come first (`canonical`); derived ones can be emptied and built again (`derived`).
How a table is made `tables` knows, and what keeps hubs apart `wall`. A released migration is never
edited: a change of mind is a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.postgres import canonical, derived
from holdfast.store.postgres.steps import Index, Step
from holdfast.store.postgres.tables import PARTITIONS, TEXT, Table, table_statements
from holdfast.store.postgres.wall import (
    DUE,
    RAISED_WHERE_NEW,
    SAME_RIGHTS,
    TO_BE_READ,
    VIEWS,
    named,
)


class Migration(NamedTuple):
    """One step. `plain` are the small tables that every node has whole; `after` is what follows
    the tables: indexes, sequences that are not named in a table. From the second on, these are
    short, because whoever uses the tables waits for them; what is not short is `later`."""

    version: int
    name: str
    oldest: int  # the oldest schema whose Holdfast can still work with this one
    plain: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # `{named}` is the condition of the wall
    later: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()  # what ones before left for later, and this one stands on
    can_wait: bool = False  # a Holdfast that knows it works without it too

    @property
    def needed(self) -> bool:
        """Whether a Holdfast that knows it cannot do without."""
        return not self.can_wait and bool(self.plain or self.tables or self.before or self.after)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "hubs, memories, history, the log, mirrored files, records; passages, words, vectors",
        oldest=1,
        before=(
            "CREATE SEQUENCE hub_ids",
            "CREATE SEQUENCE model_ids",
            # What is written later has a higher place; within a hub, where writers take turns, the
            # order of places is the order of writing.
            "CREATE SEQUENCE places",
            "CREATE SEQUENCE passage_ids",
        ),
        plain=canonical.WHOLE,
        tables=(*canonical.TABLES, *derived.TABLES),
        after=(*canonical.INDEXES, *derived.INDEXES),
    ),
    Migration(
        2,
        "marks of writes, for who has lost the line while one was being committed",
        oldest=1,
        tables=(
            # A row for each thread that has written; those of no hub have hub 0 (see failover.py).
            Table(
                "commits",
                f"""
    hub_id bigint NOT NULL,
    place {TEXT} NOT NULL,
    mark bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (hub_id, place)""",
            ),
        ),
        after=(SAME_RIGHTS.format(table="commits"),),
    ),
    Migration(
        3,
        "indexes for the jobs of a hub, and for memories by time and by use",
        oldest=1,
        later=(
            # Which hubs have work that is due, and what is due in one of them, however much waits
            # in the others. It does not begin with the hub, since hubs are what is asked for.
            Index(
                "records_due_in_hub",
                "records",
                "(kind, hub_id, due, id) WHERE due IS NOT NULL",
            ),
            # A span of time in a large hub, and lists by when things happened.
            Index(
                "memories_happened",
                "memories",
                "(hub_id, coalesce(occurred_at, created_at), number) WHERE forgotten_at IS NULL",
            ),
            Index(
                "memories_updated",
                "memories",
                "(hub_id, updated_at, number) WHERE forgotten_at IS NULL",
            ),
            # What an agent is shown when it begins: what was used last, of however many.
            Index(
                "memories_used",
                "memories",
                "(hub_id, pinned, greatest(updated_at, accessed_at), number)"
                " WHERE forgotten_at IS NULL",
            ),
        ),
    ),
    Migration(
        4,
        "a wall for what is only searched; what is due in all hubs can be read and not written",
        oldest=1,
        after=(
            "ALTER POLICY named_hubs ON records USING ({named}) WITH CHECK ({named})",
            f"CREATE POLICY due_in_all ON records FOR SELECT USING ({DUE})",
            *(view.statement for view in VIEWS),
            # Who may read the tables goes on reading them until `store init --role`: an older
            # Holdfast does.
            *(TO_BE_READ.format(table=view.name) for view in VIEWS),
        ),
    ),
    Migration(
        5,
        "a wall for writing what is only searched; an index for memories by their last use",
        oldest=1,
        after=(*(one for view in VIEWS for one in view.write_policies), RAISED_WHERE_NEW),
        later=(
            # Lists by when something was last used.
            Index(
                "memories_accessed",
                "memories",
                "(hub_id, coalesce(accessed_at, 0), number) WHERE forgotten_at IS NULL",
            ),
        ),
        can_wait=True,
    ),
)

NEWEST = MIGRATIONS[-1].version

# Emptied by drop_derived; `turn_words` is filled again from the turns at once.
DERIVED = (
    "passages",
    "words",
    "substrings",
    "turn_words",
    "terms",
    "vectors",
    "vector_totals",
)
# Everything of a hub, in an order in which it can be taken away.
OF_A_HUB = (
    *DERIVED,
    "revisions",
    "changes",
    "memories",
    "receipts",
    "turns",
    "agreed",
    "clashes",
    "records",
    "commits",
    "hub_counts",
)


def statements(
    migration: Migration, *, partitions: int = PARTITIONS, citus: bool = False
) -> Iterator[str]:
    """The statements of one migration, in order."""
    yield from migration.before
    for name, columns in migration.plain:
        yield f"CREATE TABLE {name} ({columns}\n)"
        if citus:
            yield f"SELECT create_reference_table('{name}')"
    for table in migration.tables:
        yield from table_statements(table, partitions=partitions, citus=citus)
    mine = named(citus=citus)
    yield from (statement.replace("{named}", mine) for statement in migration.after)
