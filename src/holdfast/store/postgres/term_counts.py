"""Counts the passages of a hub, their length, and the passages with each term.

The changes of one transaction are written once, at its end or before they are read: a row that is
updated a thousand times in one transaction leaves a thousand row versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from holdfast.store.postgres import bulk_copy
from holdfast.store.postgres.vectors import VectorsReader

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session

# The large tables with more than one index.
_ANALYSED = ("memories", "passages", "words", "substrings", "changes", "revisions", "terms")
_ANALYSED_FROM = 1_000
# ANALYZE takes a second at most, however large the tables are: as long as inserting this many.
_ALWAYS_ANALYSED_FROM = 10_000
# A hub that is less than this share of its table is one of many, and the planner's estimate is
# right.
_SHARE = 1 / 8
# Below this many terms, one statement that names them all is faster than a COPY.
_COPIED_FROM = 1_000


def _grown(before: int, after: int) -> bool:
    """Whether a hub has reached 1,000, 10,000, 100,000 … passages."""
    return after >= _ANALYSED_FROM and len(str(after)) > len(str(max(before, 0)))


class Counts:
    """The changes of one transaction to the counts of a hub."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.passages = 0
        self.length = 0


class CountingWriter(VectorsReader):
    """The part of the Writer that counts."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._counts: dict[int, Counts] = {}
        self._copier = bulk_copy.Copier(session)

    def _counts_of(self, hub: int) -> Counts:
        return self._counts.setdefault(hub, Counts())

    def _write_counts(self) -> None:
        waiting, self._counts = self._counts, {}
        for hub, counts in waiting.items():
            more = {name: n for name, n in counts.terms.items() if n > 0}
            fewer = {name: -n for name, n in counts.terms.items() if n < 0}
            # In one round trip, unless terms are copied, which a pipeline does not allow.
            few = len(more) < _COPIED_FROM
            with self._session.connection.pipeline() if few else nullcontext():
                self._count_terms(hub, more)
                self._uncount_terms(hub, fewer)
                counted = self._session.run(
                    "UPDATE hub_counts SET passages = passages + %(passages)s,"
                    " terms = terms + %(length)s WHERE hub_id = %(hub)s RETURNING passages",
                    passages=counts.passages,
                    length=counts.length,
                    hub=hub,
                )
            row = counted.fetchone()
            if row is not None and _grown(row[0] - counts.passages, row[0]):
                self._analyse(hub, row[0])

    def _analyse_if_large(self, hub: int) -> None:
        self._write_counts()
        passages = self._session.value(
            "SELECT passages FROM hub_counts WHERE hub_id = %(hub)s", hub=hub
        )
        if passages is not None and passages >= _ANALYSED_FROM:
            self._analyse(hub, passages)

    def _analyse(self, hub: int, passages: int) -> None:
        """Runs ANALYZE on the partitions of the hub. Autovacuum would do so up to a minute later,
        and until then the planner takes a large hub for a small one and reads all of it. On Citus
        it is left to autovacuum: a node's catalog cannot be joined with the hub's rows, nor a
        single shard analysed by its name."""
        if self._session.spread:
            return
        found = self._session.row(
            "SELECT p.tableoid::regclass::text, (SELECT c.reltuples FROM pg_class c"
            " WHERE c.oid = p.tableoid) FROM passages p WHERE p.hub_id = %(hub)s LIMIT 1",
            hub=hub,
        )
        if found is None:
            return
        table, known = found
        if passages < _ALWAYS_ANALYSED_FROM and passages < known * _SHARE:
            return
        part = table.rpartition(".")[2].removeprefix("passages")
        names = ", ".join(f"{one}{part}" for one in _ANALYSED)
        self._session.run(f"ANALYZE {names}")

    def _count_terms(self, hub: int, held: Mapping[str, int]) -> None:
        if not held:
            return
        names = sorted(held)
        added = " SET passages = terms.passages + excluded.passages"
        otherwise = f" ON CONFLICT (hub_id, term) DO UPDATE{added}"
        if len(names) >= _COPIED_FROM:
            many = [(hub, name, held[name]) for name in names]
            self._copier.send(bulk_copy.TERMS, many, otherwise=otherwise)
            return
        self._session.put(
            "INSERT INTO terms (hub_id, term, passages)"
            " SELECT %s, t.term, t.passages FROM unnest(%s::text[], %s::bigint[])"
            f" AS t (term, passages){otherwise}",
            (hub, names, [held[name] for name in names]),
        )

    def _uncount_terms(self, hub: int, held: Mapping[str, int]) -> None:
        if not held:
            return
        names = sorted(held)
        self._session.put(
            "UPDATE terms SET passages = terms.passages - t.passages"
            " FROM unnest(%s::text[], %s::bigint[]) AS t (term, passages)"
            " WHERE terms.hub_id = %s AND terms.term = t.term",
            (names, [held[name] for name in names], hub),
        )
        # No word of purged text may remain in the table.
        self._session.put(
            "DELETE FROM terms WHERE hub_id = %s AND term = ANY(%s::text[]) AND passages <= 0",
            (hub, names),
        )
