"""Builds and drops the HNSW index of the vectors of each large hub (pgvector).

The blobs in `vectors` are canonical. A hub with fewer than INDEX_FROM vectors is scanned exactly
and has no rows here. Above that, its vectors are also in `embeddings`, and the index finds the ones
worth measuring. `holdfast store index` builds it in small steps while the store is used; after
that, writers keep it up to date (see `reader`).

Each hub has its own index: in a shared one, the nearest vectors are mostly those of other hubs, and
have to be skipped one by one.

Dropping is for the time before many vectors are added, which is slow one by one, or for good. First
the hub is marked as not indexed, with the lock of its writers: from then on recall compares all
vectors, and writers add none. Then the index is dropped, and then its rows are deleted. A read that
began before sees its snapshot until it ends. Each step handles what an interrupted run has left.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import InvalidInput, NotFound, StoreBusy, StoreError, StoreReadOnly
from holdfast.store.postgres.advisory_locks import LOCK_CLASS, try_lock
from holdfast.store.postgres.connections import (
    Connection,
    connect,
    connect_to_stay,
)
from holdfast.store.postgres.errors import translated
from holdfast.store.postgres.extensions import how_to_install
from holdfast.store.postgres.migrate import StepRunner
from holdfast.store.postgres.schema import (
    EMBEDDINGS,
    SCHEMA,
    Index,
    embeddings_table,
    grant_to_users,
)
from holdfast.store.postgres.vectors import SCALE_BYTES, index_vectors, insert_embeddings

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.session import Session


# An exact scan of this many vectors of 384 dimensions takes about two milliseconds if they are in
# memory; an index saves that memory in each process.
INDEX_FROM = 20_000
# Passages that are added in one transaction; the hub's writers wait a quarter of a second.
# The index is built afterwards: adding rows to one takes several times as long.
_FILL_STEP = 2_000
# The default of pgvector. In a hub of 100,000, 128 finds 99.9 % of the ten nearest instead of
# 99.75, and takes 107 s of processor time instead of 59.
_EF_CONSTRUCTION = 64
# The maximum for an index of half-precision vectors.
_DIMENSIONS_MAX = 4_000
_MAKING = 2
# The lock for building and dropping indexes.
_INDEXING = 4
_PREFIX = f"{EMBEDDINGS}_hub_"
_MEMORY = re.compile(r"[1-9][0-9]{0,6}(kB|MB|GB)")


class Indexed(NamedTuple):
    """A hub and a model, after their index was built or dropped."""

    hub: str
    model: str
    vectors: int


def build(
    store: PostgresStore, *, hub: str = "", index_from: int = INDEX_FROM, memory: str = ""
) -> Iterator[Indexed]:
    """Builds the index of every hub that is large enough, or only of the one named. `memory` sets
    maintenance_work_mem ('2GB')."""
    if memory and not _MEMORY.fullmatch(memory):
        raise InvalidInput(f"`{memory}` is no amount of memory.", hint="Write it as 512MB or 2GB.")
    _make_table(store)
    with building(store) as connection:
        if memory:
            connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
        due, kept = _due(store, hub, index_from)
        drop_indexes(connection, kept=kept)
        builder = StepRunner(connection, store.address, citus=store.offered.citus)
        for one in due:
            _fill(store, one)
            builder.build(_index(store, one))
            yield Indexed(one.name, one.model_name, _finish(store, one))


@contextmanager
def building(store: PostgresStore) -> Iterator[Connection]:
    """A connection without timeouts that builds and drops indexes, under an exclusive lock."""
    with (
        translated(store.address),
        connect_to_stay(store._url) as connection,
        connect(store._url) as guard,
        try_lock(guard, LOCK_CLASS, _INDEXING) as mine,
    ):
        if not mine:
            raise StoreBusy(
                f"Another process builds the index of vectors in {store.address}.",
                hint="Wait until it is done.",
            )
        connection.execute(f"SET search_path = {store._search_path}")
        _refuse_non_owner(connection, store.address)
        connection.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        yield connection


def no_such_hub(name: str, address: str) -> NotFound:
    return NotFound(
        f"There is no hub {name} in {address}.",
        hint="List the hubs to see which there are.",
        command="`holdfast hub list` shows those there are.",
    )


def _refuse_non_owner(connection: Connection, address: str) -> None:
    row = connection.execute(
        "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = %s::regclass",
        (f"{SCHEMA}.{EMBEDDINGS}",),
    ).fetchone()
    if row is None or not row[0]:
        raise StoreReadOnly(
            f"This role may not build an index in {address}.",
            hint="Let the owner of the schema run `holdfast store index`.",
        )


class _Due(NamedTuple):
    """A hub that is large enough, its number, and a model of its vectors."""

    hub_id: str
    name: str
    hub: int
    model: int
    model_name: str
    length: int

    @property
    def index_name(self) -> str:
        return _index_name(self.hub, self.model, self.length)


def _index_name(hub: int, model: int, length: int) -> str:
    return f"{_PREFIX}{hub}_{model}_{length}"


def _due(store: PostgresStore, only: str, index_from: int) -> tuple[list[_Due], set[str]]:
    """Those that want an index, and the names of the indexes that others have."""
    due: list[_Due] = []
    kept: set[str] = set()
    with store.read() as reader:
        if only and reader.hub(only) is None:
            raise no_such_hub(only, store.address)
        session = reader._session
        for hub in reader.hubs():
            number = session.hub(hub.id)
            for model, name, size, indexed in session.all(
                "SELECT t.model, o.name, t.size, t.indexed FROM vector_totals t"
                " JOIN models o ON o.model = t.model WHERE t.hub_id = %(hub)s ORDER BY t.model",
                hub=number,
            ):
                if indexed:
                    kept.add(_index_name(number, model, indexed))
                elif size >= index_from and only in ("", hub.name):
                    length = _length(session, number, model)
                    if 0 < length <= _DIMENSIONS_MAX:
                        due.append(_Due(hub.id, hub.name, number, model, name, length))
    return due, kept


def _length(session: Session, hub: int, model: int) -> int:
    """The length of the vectors; that of most, should the model behind a name have changed."""
    found = session.value(
        "SELECT octet_length(v.vector) FROM vectors v WHERE v.hub_id = %(hub)s"
        " AND v.model = %(model)s GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
        hub=hub,
        model=model,
    )
    return (found or 0) - SCALE_BYTES


def _fill(store: PostgresStore, one: _Due) -> None:
    """Adds missing rows, one step at a time."""
    last = 0
    while True:
        with store.write(hub=one.hub_id) as writer:
            session = writer._session
            _plan_without(session, "nestloop", "hashjoin", "sort")
            missing = session.all(
                "SELECT DISTINCT v.passage FROM vectors v WHERE v.hub_id = %(hub)s"
                " AND v.model = %(model)s AND v.passage > %(last)s"
                " AND octet_length(v.vector) = %(bytes)s AND NOT EXISTS"
                " (SELECT 1 FROM embeddings e WHERE e.hub_id = %(hub)s AND e.model = %(model)s"
                # For both tables, so that both are read in order from here on.
                " AND e.passage > %(last)s"
                " AND e.passage = v.passage AND e.window_no = v.window_no)"
                " ORDER BY v.passage LIMIT %(step)s",
                hub=one.hub,
                model=one.model,
                last=last,
                bytes=one.length + SCALE_BYTES,
                step=_FILL_STEP,
            )
            index_vectors(session, one.hub, one.model, one.length, [row[0] for row in missing])
        if len(missing) < _FILL_STEP:
            return
        last = missing[-1][0]


def _plan_without(session: Session, *ways: str) -> None:
    """Disables join methods until the transaction ends. The server may have no statistics of tables
    that are just being filled, take them for tiny and compare all rows with each other; a hub of
    100,000 would take a quarter of an hour."""
    session.configure(**{f"enable_{way}": "off" for way in ways})


def _index(store: PostgresStore, one: _Due) -> Index:
    """The definition of the hub's index, on the partition that the hub is in."""
    halfvec = store.halfvec
    return Index(
        one.index_name,
        # On Citus the coordinator has the index built on every shard; those of other hubs are
        # empty.
        EMBEDDINGS if store.offered.citus else _partition_of(store, one),
        f"USING hnsw ((embedding::{halfvec.type}({one.length})) {halfvec.cosine_ops})"
        f" WITH (ef_construction = {_EF_CONSTRUCTION})"
        f" WHERE hub_id = {one.hub}::bigint AND model = {one.model}",
    )


def _partition_of(store: PostgresStore, one: _Due) -> str:
    with store.read() as reader:
        reader._session.hub(one.hub_id)
        part: str = reader._session.value(
            "SELECT e.tableoid::regclass::text FROM embeddings e WHERE e.hub_id = %(hub)s LIMIT 1",
            hub=one.hub,
        )
    return part.rpartition(".")[2]


def _finish(store: PostgresStore, one: _Due) -> int:
    """Applies changes since the rows were added, and marks the hub as indexed; with the lock of the
    hub's writers, which takes some seconds for a million."""
    with store.write(hub=one.hub_id) as writer:
        session = writer._session
        _plan_without(session, "nestloop")
        session.put(
            "DELETE FROM embeddings e WHERE e.hub_id = %s AND e.model = %s AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.hub_id = e.hub_id AND v.model = e.model"
            " AND v.passage = e.passage AND v.window_no = e.window_no)",
            (one.hub, one.model),
        )
        session.put(
            insert_embeddings(
                session.halfvec,
                " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.hub_id = v.hub_id"
                " AND e.model = v.model AND e.passage = v.passage AND e.window_no = v.window_no)",
            ),
            (one.hub, one.model, one.length + SCALE_BYTES),
        )
        return int(
            session.value(
                "UPDATE vector_totals SET indexed = %(length)s WHERE hub_id = %(hub)s"
                " AND model = %(model)s RETURNING size",
                length=one.length,
                hub=one.hub,
                model=one.model,
            )
        )


def drop_indexes(
    connection: Connection, *, hub: int | None = None, kept: Collection[str] = ()
) -> None:
    """Drops the indexes of one hub, or of all, except those in `kept`: of hubs that are gone or
    have new vectors."""
    found = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind IN ('i', 'I') AND starts_with(c.relname, %s)",
        (SCHEMA, _PREFIX if hub is None else f"{_PREFIX}{hub}_"),
    ).fetchall()
    for (name,) in found:
        if name not in kept:
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}.{name}")


def _make_table(store: PostgresStore) -> None:
    with store.owning(_MAKING) as connection:
        if not store.offered.vector_schema:
            raise StoreError(
                f"pgvector (0.8 or newer) is not installed in {store.address}.",
                hint=f"To have it, {how_to_install(connection)}",
            )
        row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.{EMBEDDINGS}",)).fetchone()
        if row is None or row[0] is None:
            if store.offered.citus:
                connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
            for statement in embeddings_table(store.halfvec).statements(
                partitions=store.offered.partitions, citus=store.offered.citus
            ):
                connection.execute(statement)
            # From now on writers add to it, or delete a hub from it.
            connection.execute(grant_to_users(EMBEDDINGS))


# Rows deleted in one transaction; the hub's writers wait less than a tenth of a second.
_DROP_STEP = 5_000


class _Hub(NamedTuple):
    """A hub and its number."""

    id: str
    name: str
    number: int


def drop(store: PostgresStore, *, hub: str = "") -> Iterator[Indexed]:
    """Drops the index of one hub, or of all; yields each that had one."""
    hubs, is_made = _found(store, hub)
    if not is_made:
        return
    with building(store) as connection:
        for one in hubs:
            dropped = _mark_not_indexed(store, one)
            drop_indexes(connection, hub=one.number)
            _delete_rows(store, one)
            yield from dropped
        if not hub:
            # Also those of deleted hubs.
            drop_indexes(connection)


def _found(store: PostgresStore, name: str) -> tuple[list[_Hub], bool]:
    """The hubs that are meant, and whether the table of the index exists."""
    with store.read() as reader:
        named = reader.hub(name) if name else None
        if name and named is None:
            raise no_such_hub(name, store.address)
        hubs = reader.hubs() if named is None else [named]
        is_made = reader._session.value("SELECT to_regclass('embeddings') IS NOT NULL")
        return [_Hub(one.id, one.name, reader._session.hub(one.id)) for one in hubs], bool(is_made)


def _mark_not_indexed(store: PostgresStore, one: _Hub) -> list[Indexed]:
    with store.read() as reader:
        if not _indexed(reader._session, one):
            # No lock for a hub without an index.
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


def _delete_rows(store: PostgresStore, one: _Hub) -> None:
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
                step=_DROP_STEP,
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
