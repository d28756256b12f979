"""Taking the server's index of vectors away: before many are added, which is slow one by one, or
for good.

Beside readers and writers, hub by hub. First it is said, in the turn of the hub's writers, that
there is no index: from then on recall compares all vectors, and writers add none. A read that began
before sees the rows of its moment until it ends. Then the index goes, and the rows after it. Each
step finds what an earlier run has left: a process that was killed is made up for by the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.store.postgres.vector_index import Indexed, building, drop_indexes, no_such_hub

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session
    from holdfast.store.postgres.store import PostgresStore

# Rows taken away in one transaction: the hub's writers wait for less than a tenth of a second.
_STEP = 5_000


class _Hub(NamedTuple):
    """A hub, and its number in every row."""

    id: str
    name: str
    number: int


def drop(store: PostgresStore, *, hub: str = "") -> Iterator[Indexed]:
    """Takes away the index of one hub, or of all; tells of each that had one."""
    hubs, is_made = _found(store, hub)
    if not is_made:
        return
    with building(store) as connection:
        for one in hubs:
            said = _say_it_has_none(store, one)
            drop_indexes(connection, hub=one.number)
            _take_rows(store, one)
            yield from said
        if not hub:
            # Also those of hubs that are gone.
            drop_indexes(connection)


def _found(store: PostgresStore, name: str) -> tuple[list[_Hub], bool]:
    """The hubs that are meant, and whether there was ever an index."""
    with store.read() as reader:
        named = reader.hub(name) if name else None
        if name and named is None:
            raise no_such_hub(name, store.address)
        hubs = reader.hubs() if named is None else [named]
        is_made = reader._session.value("SELECT to_regclass('embeddings') IS NOT NULL")
        return [_Hub(one.id, one.name, reader._session.hub(one.id)) for one in hubs], bool(is_made)


def _say_it_has_none(store: PostgresStore, one: _Hub) -> list[Indexed]:
    with store.read() as reader:
        if not _indexed(reader._session, one):
            # Small hubs are not kept waiting.
            return []
    with store.write(hub=one.id) as writer:
        had = _indexed(writer._session, one)
        writer._session.put(
            "UPDATE vector_totals SET indexed = 0 WHERE hub_id = %s AND indexed > 0", (one.number,)
        )
    return had


def _indexed(session: Session, one: _Hub) -> list[Indexed]:
    session.hub(one.id)
    found = session.all(
        "SELECT o.name, t.size FROM vector_totals t JOIN models o ON o.model = t.model"
        " WHERE t.hub_id = %(hub)s AND t.indexed > 0 ORDER BY o.name",
        hub=one.number,
    )
    return [Indexed(one.name, model, size) for model, size in found]


def _take_rows(store: PostgresStore, one: _Hub) -> None:
    last = (0, 0)
    while True:
        with store.read() as reader:
            reader._session.hub(one.id)
            some = reader._session.all(
                "SELECT e.model, e.passage FROM embeddings e WHERE e.hub_id = %(hub)s"
                " AND (e.model, e.passage) > (%(model)s, %(passage)s)"
                " ORDER BY e.model, e.passage LIMIT %(step)s",
                hub=one.number,
                model=last[0],
                passage=last[1],
                step=_STEP,
            )
        if not some:
            return
        with store.write(hub=one.id) as writer:
            writer._session.put(
                "DELETE FROM embeddings WHERE hub_id = %s AND (model, passage) > (%s, %s)"
                " AND (model, passage) <= (%s, %s)",
                (one.number, *last, *some[-1]),
            )
        last = some[-1]
