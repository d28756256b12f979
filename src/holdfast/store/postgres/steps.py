"""What a migration leaves for later: work that takes long on a large table, in kinds that can be
done beside readers and writers. Knows what is wanted; how it is done, `online` knows.

The software must work without it: an index that is not there yet makes an answer slower, a column
that is not filled yet is read as empty, a rule that is not checked yet holds for new rows.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Index(NamedTuple):
    """An index. `what` is all that follows the name of the table: columns, kind, condition."""

    name: str
    table: str
    what: str
    unique: bool = False


class Backfill(NamedTuple):
    """Rows to be filled, hub by hub. The statement changes at most `%(most)s` rows of the hub
    `%(hub)s` that are not filled yet, and is sent until it changes fewer."""

    name: str
    table: str
    statement: str


class Check(NamedTuple):
    """A rule for the rows of a table: it holds for new rows at once, and is looked up for the
    others afterwards."""

    name: str
    table: str
    rule: str


Step: TypeAlias = Index | Backfill | Check


def create_index(index: Index, name: str, table: str, *, how: str = "") -> str:
    """The statement that makes it, under a name and on a table or one of its parts."""
    unique = "UNIQUE " if index.unique else ""
    concurrently = "CONCURRENTLY " if how == "beside others" else ""
    only = "ONLY " if how == "without parts" else ""
    return f"CREATE {unique}INDEX {concurrently}{name} ON {only}{table} {index.what}"
