"""The PostgreSQL schema, as ordered migrations.

Each migration runs once, in its own transaction, and is recorded in the table `migrations`. Work
that takes long on tables in use is left for later, as a step (see `migration_steps`). A released
migration is never edited: a later change is a new migration.

One schema serves plain PostgreSQL, managed servers and Citus. `hub_id` leads every primary key,
unique key and foreign key, and never changes, so that a hub can live in any partition or on any
node. There are no triggers, no sequences whose order matters between hubs, and nothing that locks
rows of two hubs. `hubs` and `models` are small tables that every node has whole.

`table_definitions` lists the tables, `tables` says how one is created, and `row_security` how hubs
are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from holdfast.store.postgres import table_definitions as definitions
from holdfast.store.postgres.tables import (
    DUE,
    PARTITIONS,
    VIEWS,
    Table,
    grant_to_users,
    named,
    table_statements,
)


class Index(NamedTuple):
    """An index. `what` is what follows the name of the table: columns, kind, condition."""

    name: str
    table: str
    what: str
    unique: bool = False


class Backfill(NamedTuple):
    """Fills a column, hub by hub. The statement changes at most `%(most)s` rows of the hub
    `%(hub)s` that are not filled yet, and is repeated until it changes fewer."""

    name: str
    table: str
    statement: str


class Check(NamedTuple):
    """A check constraint. It holds for new rows at once and is validated for the others later."""

    name: str
    table: str
    rule: str


Step: TypeAlias = Index | Backfill | Check


def create_index(index: Index, name: str, table: str, *, how: str = "") -> str:
    """The statement that creates the index, under a name, on a table or one of its partitions."""
    unique = "UNIQUE " if index.unique else ""
    concurrently = "CONCURRENTLY " if how == "concurrently" else ""
    only = "ONLY " if how == "only" else ""
    return f"CREATE {unique}INDEX {concurrently}{name} ON {only}{table} {index.what}"


class Migration(NamedTuple):
    """One step of the schema.

    `plain` are the small tables that every node has whole; `after` is what follows the tables:
    indexes, views, policies. From the second migration on these statements must be short, because
    readers and writers wait for them; what takes long goes into `later`.
    """

    version: int
    name: str
    oldest: int  # the oldest schema whose Holdfast can still work with this one
    plain: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # with `{named}` and `{read}` as conditions (see row_security)
    later: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()  # steps in `later` of earlier migrations that must be done first

    @property
    def needed(self) -> bool:
        """Whether a Holdfast that knows this migration cannot work without it. It can work without
        the steps that are left for later."""
        return bool(self.plain or self.tables or self.before or self.after)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "the first schema",
        oldest=1,
        before=(
            "CREATE SEQUENCE hub_ids",
            "CREATE SEQUENCE model_ids",
            # Rows that are written later have a higher place. Writers of one hub take turns, so
            # within a hub the order of places is the order of writing.
            "CREATE SEQUENCE places",
            "CREATE SEQUENCE passage_ids",
        ),
        plain=definitions.REFERENCE_TABLES,
        tables=(*definitions.CANONICAL_TABLES, *definitions.DERIVED_TABLES),
        after=(
            *definitions.CANONICAL_INDEXES,
            *definitions.DERIVED_INDEXES,
            f"CREATE POLICY due_in_all ON records FOR SELECT USING ({DUE})",
            *(statement for view in VIEWS for statement in view.statements),
        ),
    ),
)


def newest() -> int:
    """The version that this Holdfast writes."""
    return MIGRATIONS[-1].version


# Emptied by drop_derived; turns are indexed again at once.
DERIVED = (
    "passages",
    "words",
    "substrings",
    "terms",
    "vectors",
    "vector_totals",
)
# All tables with rows of a hub, in the order in which they can be deleted.
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
        if migration.version > 1:
            yield grant_to_users(table.name)
    mine = named(citus=citus)
    read = mine if citus else "true"
    for statement in migration.after:
        yield statement.replace("{named}", mine).replace("{read}", read)
