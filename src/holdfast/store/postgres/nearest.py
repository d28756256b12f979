"""An index of the vectors of large hubs, kept by the server (pgvector, HNSW).

The blobs in `vectors` stay the truth. Below INDEX_FROM vectors a hub is scanned exactly by whoever
asks, and has no rows here. Above it, its vectors stand in `embeddings` a second time, and the index
names those worth measuring. Made by `holdfast store index`, in small steps beside readers and
writers; after that, writers keep it up to date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from holdfast.errors import StoreError
from holdfast.store.postgres.schema import EMBEDDINGS, SCHEMA, table_statements

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session
    from holdfast.store.postgres.store import PostgresStore

# An exact scan of so many vectors of 384 dimensions takes about two milliseconds where they are in
# memory; what that memory costs each process is what an index saves.
INDEX_FROM = 20_000
# Vectors added to the index in one transaction; the hub's writers wait for about a second.
_STEP = 1_000
_SCALE_BYTES = 4
# More dimensions than an index of half-precision vectors takes.
_DIMENSIONS_MAX = 4_000
_MAKING = 2

# A blob is a scale and then one byte a number, from -128 to 127.
_EMBEDDING = (
    "(SELECT array_agg(((get_byte(v.vector, i) # 128) - 128)::real ORDER BY i)"
    f" FROM generate_series({_SCALE_BYTES}, octet_length(v.vector) - 1) AS i)::halfvec"
)


class Indexed(NamedTuple):
    """One hub and model that the server searches by itself from now on."""

    hub: str
    model: str
    vectors: int


def copy(session: Session, hub: int, model: int, length: int, passages: Sequence[int]) -> None:
    """Adds the vectors of these passages to the index; those of another length do not fit it."""
    session.put(
        "INSERT INTO embeddings (hub_id, model, passage, window_no, embedding)"
        f" SELECT v.hub_id, v.model, v.passage, v.window_no, {_EMBEDDING} FROM vectors v"
        " WHERE v.hub_id = %s AND v.model = %s AND v.passage = ANY(%s::bigint[])"
        " AND octet_length(v.vector) = %s ON CONFLICT (hub_id, model, passage, window_no)"
        " DO NOTHING",
        (hub, model, list(passages), length + _SCALE_BYTES),
    )


def forget(session: Session, hub: int) -> None:
    """Takes a hub out of the index, where it is in one."""
    there = session.value("SELECT to_regclass('embeddings') IS NOT NULL")
    if there:
        session.put("DELETE FROM embeddings WHERE hub_id = %s", (hub,))


def build(store: PostgresStore, *, index_from: int = INDEX_FROM) -> Iterator[Indexed]:
    """Puts every hub that is large enough into the index, step by step."""
    _make_table(store)
    with store.read() as reader:
        hubs = reader.hubs()
    for hub in hubs:
        with store.read() as reader:
            due = reader._session.all(
                "SELECT t.model, o.name FROM vector_totals t JOIN models o ON o.model = t.model"
                " WHERE t.hub_id = %(hub)s AND t.size >= %(least)s AND t.indexed = 0"
                " ORDER BY t.model",
                hub=reader._session.hub(hub.id),
                least=index_from,
            )
        for model, name in due:
            length = _length(store, hub.id, model)
            if 0 < length <= _DIMENSIONS_MAX:
                _make_index(store, model, length)
                yield Indexed(hub.name, name, _fill(store, hub.id, model, length))


def _fill(store: PostgresStore, hub_id: str, model: int, length: int) -> int:
    """Adds what is missing, a step at a time; the last step says that all of it is there."""
    while True:
        with store.write(hub=hub_id) as writer:
            session = writer._session
            hub = session.hub(hub_id)
            missing = session.all(
                "SELECT DISTINCT v.passage FROM vectors v WHERE v.hub_id = %(hub)s"
                " AND v.model = %(model)s AND octet_length(v.vector) = %(bytes)s AND NOT EXISTS"
                " (SELECT 1 FROM embeddings e WHERE e.hub_id = %(hub)s AND e.model = %(model)s"
                " AND e.passage = v.passage AND e.window_no = v.window_no)"
                " ORDER BY v.passage LIMIT %(step)s",
                hub=hub,
                model=model,
                bytes=length + _SCALE_BYTES,
                step=_STEP,
            )
            copy(session, hub, model, length, [row[0] for row in missing])
            if len(missing) == _STEP:
                continue
            return int(
                session.value(
                    "UPDATE vector_totals SET indexed = %(length)s WHERE hub_id = %(hub)s"
                    " AND model = %(model)s RETURNING size",
                    length=length,
                    hub=hub,
                    model=model,
                )
            )


def _length(store: PostgresStore, hub_id: str, model: int) -> int:
    """How long the vectors are: most of them, should a model have been swapped behind its name."""
    with store.read() as reader:
        found = reader._session.value(
            "SELECT octet_length(v.vector) FROM vectors v WHERE v.hub_id = %(hub)s"
            " AND v.model = %(model)s GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
            hub=reader._session.hub(hub_id),
            model=model,
        )
    return (found or 0) - _SCALE_BYTES


def _make_table(store: PostgresStore) -> None:
    if not store.offered.vector_schema:
        raise StoreError(
            f"pgvector (0.8 or newer) is not installed in {store.address}.",
            hint="A superuser runs `CREATE EXTENSION vector`; then open the store again.",
        )
    with store.owning(_MAKING) as connection:
        if not _there(connection, EMBEDDINGS.name):
            for statement in table_statements(
                EMBEDDINGS, partitions=store.offered.partitions, citus=store.offered.citus
            ):
                connection.execute(statement)


def _make_index(store: PostgresStore, model: int, length: int) -> None:
    """The index of one model's vectors. Made before its rows come, so that nobody waits for it."""
    name = f"embeddings_{model}_{length}"
    with store.owning(_MAKING) as connection:
        if not _there(connection, name):
            connection.execute(
                f"CREATE INDEX {name} ON embeddings USING hnsw"
                f" ((embedding::halfvec({length})) halfvec_cosine_ops) WHERE model = {model}"
            )


def _there(connection: psycopg.Connection[Any], name: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.{name}",)).fetchone()
    return row is not None and row[0] is not None
