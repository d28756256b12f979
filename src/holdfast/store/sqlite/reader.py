"""Reading: one snapshot of the database, as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.errors import StoreError
from holdfast.store import rows as shared
from holdfast.store.sqlite import filters, rows, search
from holdfast.store.sqlite.records import RecordsReader
from holdfast.store.values import (
    Candidate,
    Lexicon,
    TermQuery,
    TextQuery,
    VectorRow,
    VectorState,
    first_named,
)
from holdfast.text.searchable import searchable
from holdfast.text.terms import trigram_text

if TYPE_CHECKING:
    from holdfast.domain.access import Viewer
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.mirror import Agreed, Clash
    from holdfast.domain.turn import Turn

# Lists of ids go in as one JSON array, so that the statement is the same, and prepared once,
# however long the list is.
# Rows are read so many at a time where it is not known how many are wanted: a page, mostly.
_BATCH = 32
_PASSAGE_COLUMNS = 'm.id, p.pk, p.ordinal, p.start, p."end", p.headings, p.body, p.head, p.windows'


class SqliteReader(RecordsReader):
    """The Reader of the contract, on one connection inside one transaction."""

    def __init__(self, connection: apsw.Connection, viewer: Viewer | None = None) -> None:
        self._connection = connection
        self._pks: dict[str, int] = {}
        # What the viewer may see, as a condition on `m`; written out, so that it can stand in any
        # statement without its own bindings.
        self._seen = "" if viewer is None else f" AND {filters.seen(viewer)}"
        # What has no boundary of its own is the hub's; nobody else sees any of it.
        self._of_hub = "" if viewer is None or "hub" in viewer.boundaries else " AND FALSE"

    def _pk(self, hub_id: str) -> int:
        pk = self._pks.get(hub_id)
        if pk is None:
            pk = self._one("SELECT pk FROM hubs WHERE id = ?", (hub_id,))
            pk = self._pks[hub_id] = -1 if pk is None else pk
        return pk

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql, values).get

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def _where(self, wanted: Filter) -> tuple[str, list[Any]]:
        conditions, values = filters.where(wanted)
        return conditions + self._seen, values

    # Hubs

    def hubs(self) -> list[Hub]:
        found = self._all(f"SELECT {rows.HUB_COLUMNS} FROM hubs ORDER BY name")
        return [shared.hub_from_row(row) for row in found]

    def hub(self, name: str) -> Hub | None:
        row = self._one(f"SELECT {rows.HUB_COLUMNS} FROM hubs WHERE name = ?", (name,))
        return None if row is None else shared.hub_from_row(row)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        row = self._one(f"SELECT {rows.HUB_COLUMNS} FROM hubs WHERE id = ?", (hub_id,))
        return None if row is None else shared.hub_from_row(row)

    # Memories

    def _memory(self, hub_id: str, condition: str, value: Any) -> Memory | None:
        row = self._one(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND {condition}{self._seen}",
            (self._pk(hub_id), value),
        )
        return None if row is None else rows.memory_from_row(row, hub_id)

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        return self._memory(hub_id, "m.id = ?", memory_id)

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        return self._memory(hub_id, "m.number = ?", number)

    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        return self._named(hub_id, "key", key, audience)

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        return self._named(hub_id, "source_path", source_path, audience)

    def _named(self, hub_id: str, column: str, name: str, audience: str | None) -> Memory | None:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND m.{column} = ? AND m.forgotten_at IS NULL{self._seen}",
            (self._pk(hub_id), name),
        )
        memories = (rows.memory_from_row(row, hub_id) for row in found)
        return first_named(memories, audience)

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND m.content_hash = ? AND m.forgotten_at IS NULL{self._seen}",
            (self._pk(hub_id), content_hash),
        )
        # Sorted here: with ORDER BY, SQLite compiles the statement anew at every call (40 µs
        # against 4), and walks the whole hub in the order of numbers where it is let.
        return sorted(
            (rows.memory_from_row(row, hub_id) for row in found), key=lambda memory: memory.number
        )

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """A look into a file is not worth being asked for."""

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
            f" ON m.hub = ? AND m.id = j.value{self._seen}",
            (shared.dumps(list(memory_ids)), self._pk(hub_id)),
        )
        return {row[0]: rows.memory_from_row(row, hub_id) for row in found}

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        conditions, values = self._where(wanted)
        column, down = filters.ORDERINGS[order]
        way = "DESC" if down else "ASC"
        if after is not None:
            conditions += f" AND ({column}, m.number) {'<' if down else '>'} (?, ?)"
            values += after
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub = ?{conditions}"
            f" ORDER BY {column} {way}, m.number {way} LIMIT ?",
            (self._pk(hub_id), *values, limit),
        )
        return [rows.memory_from_row(row, hub_id) for row in found]

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        conditions, values = self._where(wanted)
        found = self._all(
            f"SELECT m.id FROM memories m WHERE m.hub = ?{conditions} ORDER BY m.pinned DESC,"
            # Below zero, there is no limit.
            " max(m.updated_at, coalesce(m.accessed_at, 0)) DESC, m.number DESC LIMIT ?",
            (self._pk(hub_id), *values, -1 if limit is None else limit),
        )
        return [row[0] for row in found]

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        found = self._all(
            "SELECT NOT EXISTS (SELECT 1 FROM memories m WHERE hub = ? AND session = p.value ->> 0"
            " AND number > p.value ->> 1 AND number < p.value ->> 2 AND forgotten_at IS NULL"
            f" AND quarantine = ''{self._seen}) FROM json_each(?) p ORDER BY p.key",
            (self._pk(hub_id), shared.dumps(list(pairs))),
        )
        return [bool(row[0]) for row in found]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        # Jumps from one speaker to the next in the index, however many turns each has.
        first = "SELECT min(speaker) FROM memories m WHERE hub = ?1"
        found = self._all(
            "WITH RECURSIVE s (name) AS ("
            f" {first} AND speaker IS NOT NULL{self._seen}"
            " UNION ALL"
            f" SELECT ({first} AND speaker > s.name{self._seen}) FROM s WHERE s.name IS NOT NULL)"
            " SELECT name FROM s WHERE name IS NOT NULL LIMIT ?2",
            (self._pk(hub_id), limit),
        )
        return [row[0] for row in found]

    def statistics(self, hub_id: str) -> Statistics:
        hub = self._pk(hub_id)

        def counted(column: str) -> dict[str, int]:
            found = self._all(
                f"SELECT {column}, count(*) FROM memories m WHERE hub = ?{self._seen}"
                " AND forgotten_at IS NULL AND quarantine = '' GROUP BY 1 ORDER BY 2 DESC, 1",
                (hub,),
            )
            return dict(found)

        def count(table: str, only: str = "") -> int:
            return int(self._one(f"SELECT count(*) FROM {table} WHERE hub = ?{only}", (hub,)))

        totals = self._one(
            "SELECT count(*), count(forgotten_at), total(quarantine <> ''), total(pinned),"
            " total(octet_length(content)), min(created_at), max(created_at),"
            " total(forgotten_at IS NULL AND quarantine = '')"
            f" FROM memories m WHERE hub = ?{self._seen}",
            (hub,),
        )
        return Statistics(
            hub=self._one("SELECT name FROM hubs WHERE pk = ?", (hub,)) or "",
            memories=totals[0],
            visible=int(totals[7]),
            forgotten=totals[1],
            quarantined=int(totals[2]),
            pinned=int(totals[3]),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=count("revisions", self._of_seen("memory")),
            changes=count("changes", self._seen_changes),
            passages=count("passages", self._of_seen("memory")),
            vectors=self._count_vectors(hub),
            content_bytes=int(totals[4]),
            receipts=count("receipts", self._of_hub),
            oldest=None if totals[5] is None else from_micros(totals[5]),
            newest=None if totals[6] is None else from_micros(totals[6]),
            turns=count("turns", self._of_hub),
            conflicts=len(self.clashes(hub_id)),
        )

    def _count_vectors(self, hub: int) -> int:
        if not self._seen:
            return int(self._one("SELECT count(*) FROM vectors WHERE hub = ?", (hub,)))
        return int(
            self._one(
                "SELECT count(*) FROM vectors v JOIN passages p ON p.pk = v.passage"
                f" JOIN memories m ON m.pk = p.memory WHERE v.hub = ?{self._seen}",
                (hub,),
            )
        )

    # What belongs to a memory is seen by those who see the memory.

    def _of_seen(self, column: str) -> str:
        if not self._seen:
            return ""
        return f" AND EXISTS (SELECT 1 FROM memories m WHERE m.pk = {column}{self._seen})"

    @property
    def _seen_changes(self) -> str:
        """A change set is seen by those who see something that it changed, and, where nothing of
        it is left, by everyone."""
        if not self._seen:
            return ""
        touched = "FROM revisions r WHERE r.change = changes.pk"
        return (
            f" AND (EXISTS (SELECT 1 {touched}{self._of_seen('r.memory')})"
            f" OR NOT EXISTS (SELECT 1 {touched}))"
        )

    # History

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        hub = self._pk(hub_id)
        earlier = "AND pk < (SELECT pk FROM changes WHERE hub = ? AND id = ?)" if before else ""
        found = self._all(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes WHERE hub = ? {earlier}{self._seen_changes}"
            " ORDER BY pk DESC LIMIT ?",
            (hub, *((hub, before) if before else ()), limit),
        )
        return [shared.change_from_row(row, hub_id) for row in found]

    def _change(self, hub_id: str, condition: str, *values: Any) -> Change | None:
        row = self._one(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes"
            f" WHERE hub = ?{self._seen_changes} AND {condition}",
            (self._pk(hub_id), *values),
        )
        return None if row is None else shared.change_from_row(row, hub_id)

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._change(hub_id, "id = ?", change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        found = {one: self.change(hub_id, one) for one in change_ids}
        return {one: change for one, change in found.items() if change is not None}

    def last_undoable(self, hub_id: str) -> Change | None:
        return self._change(hub_id, "undoes IS NULL AND undone_by IS NULL ORDER BY pk DESC LIMIT 1")

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        hub = self._pk(hub_id)
        found = self._all(
            f"{rows.REVISIONS} WHERE r.memory ="
            f" (SELECT pk FROM memories m WHERE hub = ? AND id = ?{self._seen}) ORDER BY r.version",
            (hub, memory_id),
        )
        return [shared.revision_from_row(row) for row in found]

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        # One at a time: a statement costs next to nothing where there is no line to a server.
        found = {one: self.revisions(hub_id, one) for one in memory_ids}
        return {one: revisions for one, revisions in found.items() if revisions}

    def revisions_of(self, hub_id: str, change_id: str) -> list[Revision]:
        hub = self._pk(hub_id)
        found = self._all(
            f"{rows.REVISIONS} WHERE r.change = (SELECT pk FROM changes WHERE hub = ? AND id = ?)"
            f"{self._of_seen('r.memory')} ORDER BY r.pk",
            (hub, change_id),
        )
        return [shared.revision_from_row(row) for row in found]

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE hub = ? AND at > ?){self._seen} ORDER BY number",
            (self._pk(hub_id), to_micros(at)),
        )
        return [row[0] for row in found]

    def newest_revision(self, hub_id: str) -> int:
        # Of all hubs: their sequences are one, and the last row is found at once.
        return int(self._one("SELECT max(pk) FROM revisions") or 0)

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        # The plus keeps SQLite from walking all revisions of the hub: the few that are newer are
        # at the end of the table.
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE pk > ? AND +hub = ?){self._seen} ORDER BY number LIMIT ?",
            (sequence, self._pk(hub_id), limit),
        )
        return [row[0] for row in found]

    def scan_changes(self, hub_id: str) -> Iterator[Change]:
        for row in self._connection.execute(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes WHERE hub = ?{self._seen_changes}"
            " ORDER BY pk",
            (self._pk(hub_id),),
        ):
            yield shared.change_from_row(row, hub_id)

    def scan_revisions(self, hub_id: str) -> Iterator[Revision]:
        for row in self._connection.execute(
            f"{rows.REVISIONS} WHERE r.hub = ?{self._of_seen('r.memory')} ORDER BY r.pk",
            (self._pk(hub_id),),
        ):
            yield shared.revision_from_row(row)

    def receipts(self, hub_id: str) -> list[Receipt]:
        found = self._all(
            "SELECT memory_id, number, at, actor, reason, revisions FROM receipts"
            f" WHERE hub = ?{self._of_hub} ORDER BY pk",
            (self._pk(hub_id),),
        )
        return [shared.receipt_from_row(row) for row in found]

    # The conversation log and mirrored files

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        hub = self._pk(hub_id)
        conditions = self._of_hub
        values: list[Any] = []
        if session is not None:
            conditions += " AND session = ?"
            values.append(session)
        if before is not None:
            conditions += " AND pk < (SELECT pk FROM turns WHERE hub = ? AND id = ?)"
            values += [hub, before]
        found = self._all(
            f"SELECT {rows.TURN_COLUMNS} FROM turns WHERE hub = ?{conditions}"
            " ORDER BY pk DESC LIMIT ?",
            (hub, *values, limit),
        )
        return [shared.turn_from_row(row, hub_id) for row in found]

    def search_turns(self, hub_id: str, terms: Sequence[str], *, limit: int) -> list[Turn]:
        if not terms:
            return []
        hub = self._pk(hub_id)
        columns = ", ".join(f"t.{name}" for name in rows.TURN_COLUMNS.split(", "))
        each = [search.match_expression(hub, TermQuery((term,))) for term in terms]
        found = self._all(
            f"SELECT {columns} FROM (SELECT w.rowid AS pk, count(*) AS merit FROM json_each(?) q"
            "  CROSS JOIN turn_words w ON w.turn_words MATCH q.value"
            "  GROUP BY w.rowid ORDER BY merit DESC, pk DESC LIMIT ?) AS w"
            f" CROSS JOIN turns t ON t.pk = w.pk WHERE t.hub = ?{self._of_hub}"
            " ORDER BY w.merit DESC, t.pk DESC",
            (shared.dumps(list(dict.fromkeys(each))), limit, hub),
        )
        return [shared.turn_from_row(row, hub_id) for row in found]

    def scan_turns(self, hub_id: str) -> Iterator[Turn]:
        for row in self._connection.execute(
            f"SELECT {rows.TURN_COLUMNS} FROM turns WHERE hub = ?{self._of_hub} ORDER BY pk",
            (self._pk(hub_id),),
        ):
            yield shared.turn_from_row(row, hub_id)

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        from holdfast.domain.mirror import Agreed

        row = self._one(
            "SELECT path, text, at FROM agreed WHERE hub = ? AND path = ?",
            (self._pk(hub_id), path),
        )
        return None if row is None else Agreed(row[0], row[1], from_micros(row[2]))

    def scan_agreed(self, hub_id: str) -> Iterator[Agreed]:
        from holdfast.domain.mirror import Agreed

        for row in self._connection.execute(
            "SELECT path, text, at FROM agreed WHERE hub = ? ORDER BY path", (self._pk(hub_id),)
        ):
            yield Agreed(row[0], row[1], from_micros(row[2]))

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        open_only = "" if settled else " AND settled_at IS NULL"
        seen = ""
        if self._seen:
            same = "m.hub = c.hub AND m.id = c.memory_id"
            seen = f" AND EXISTS (SELECT 1 FROM memories m WHERE {same}{self._seen})"
        found = self._all(
            f"SELECT {rows.CLASH_COLUMNS} FROM clashes c WHERE hub = ?{open_only}{seen}"
            " ORDER BY pk",
            (self._pk(hub_id),),
        )
        return [shared.clash_from_row(row) for row in found]

    # Search

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        hub = self._pk(hub_id)
        totals = self._one("SELECT passages, terms FROM word_totals WHERE hub = ?", (hub,))
        frequency = {
            term: self._one(
                "SELECT doc FROM word_counts WHERE term = ?", (search.prefixed_term(hub, term),)
            )
            or 0
            for term in terms
        }
        passages, length = totals or (0, 0)
        return Lexicon(passages, length, frequency)

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        if not (query.terms or query.phrases or query.prefixes):
            return []
        hub = self._pk(hub_id)
        expression = search.match_expression(hub, query)
        conditions, values = self._where(wanted)
        reach = limit
        while True:
            # Ranking first and filtering after keeps the join off the many weak matches. Where
            # the filter then leaves too few, the next round reaches further.
            found = self._all(
                f"SELECT {_PASSAGE_COLUMNS} FROM"
                " (SELECT rowid AS pk, rank AS merit FROM words WHERE words MATCH ?"
                "  ORDER BY rank LIMIT ?) AS w"
                # CROSS keeps the order of the joins: from the few that match to their rows.
                " CROSS JOIN passages p ON p.pk = w.pk CROSS JOIN memories m ON m.pk = p.memory"
                f" WHERE m.hub = ?{conditions} ORDER BY w.merit, p.pk LIMIT ?",
                (expression, reach, hub, *values, limit),
            )
            if len(found) >= limit or self._matches_at_most(expression, reach):
                return [_candidate(row) for row in found]
            reach *= 8

    def _matches_at_most(self, expression: str, count: int) -> bool:
        reached = self._one(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
            (expression, count + 1),
        )
        return bool(reached <= count)

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        hub = self._pk(hub_id)
        conditions, values = self._where(wanted)
        expression = search.trigram_expression(hub, needle)
        source = "memories m"
        if not expression:
            # Too short for a trigram: every text that is in the index is looked at.
            conditions += " AND EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.pk)"
        else:
            source = (
                "(SELECT rowid AS pk FROM trigrams WHERE trigrams MATCH ?) AS t"
                " CROSS JOIN memories m ON m.pk = t.pk"
            )
        out: list[str] = []
        for row in self._connection.execute(
            f"SELECT {rows.MEMORY_COLUMNS} FROM {source} WHERE m.hub = ?{conditions}"
            " ORDER BY m.number DESC",
            (*([expression] if expression else []), hub, *values),
        ):
            memory = rows.memory_from_row(row, hub_id)
            if needle in searchable(memory):
                out.append(memory.id)
                if len(out) == limit:
                    break
        return out

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterator[Memory]:
        # Which rows, in order, before any content is read: sorting would carry it all along.
        keys = self._matching_keys(hub_id, query, wanted, order)
        for start in range(0, len(keys), _BATCH):
            batch = dict(keys[start : start + _BATCH])
            found = self._all(
                f"SELECT {rows.MEMORY_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
                " ON m.pk = j.value ORDER BY j.key",
                (shared.dumps(list(batch)),),
            )
            for row, by_words in zip(found, batch.values(), strict=True):
                memory = rows.memory_from_row(row, hub_id)
                # Trigrams only say that the text may hold it, and not where.
                if by_words or query.needle in trigram_text(memory.content):
                    yield memory

    def _matching_keys(
        self, hub_id: str, query: TextQuery, wanted: Filter, order: Order
    ) -> list[tuple[int, int]]:
        """The rows that may match, in order, each with whether its words do."""
        hub = self._pk(hub_id)
        conditions, values = self._where(wanted)
        column, down = filters.ORDERINGS[order]
        way = "DESC" if down else "ASC"
        words = search.body_expression(hub, query.terms)
        substring = search.trigram_expression(hub, query.needle)
        parts: list[str] = []
        given: list[Any] = []
        if substring:
            parts.append("SELECT rowid AS pk, 0 AS by_words FROM trigrams WHERE trigrams MATCH ?")
            given.append(substring)
        else:
            # Too short for a trigram: every text that is in the index may hold it.
            parts.append("SELECT memory AS pk, 0 AS by_words FROM passages WHERE hub = ?")
            given.append(hub)
        if words:
            parts.append(
                "SELECT p.memory, 1 FROM (SELECT rowid AS pk FROM words WHERE words MATCH ?) AS w"
                " CROSS JOIN passages p ON p.pk = w.pk"
            )
            given.append(words)
        return self._all(
            f"SELECT m.pk, t.by_words FROM (SELECT pk, max(by_words) AS by_words"
            f" FROM ({' UNION ALL '.join(parts)}) GROUP BY pk) AS t"
            f" CROSS JOIN memories m ON m.pk = t.pk WHERE m.hub = ?{conditions}"
            f" ORDER BY {column} {way}, m.number {way}",
            (*given, hub, *values),
        )

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        found = self._all(
            f"SELECT {_PASSAGE_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
            f" ON m.hub = ? AND m.id = j.value{self._seen}"
            " CROSS JOIN passages p ON p.memory = m.pk ORDER BY +m.number, p.ordinal",
            (shared.dumps(list(memory_ids)), self._pk(hub_id)),
        )
        return [_candidate(row) for row in found]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        conditions, values = self._where(wanted)
        found = self._all(
            f"SELECT {_PASSAGE_COLUMNS} FROM json_each(?) j CROSS JOIN passages p"
            " ON p.pk = j.value CROSS JOIN memories m ON m.pk = p.memory"
            f" WHERE m.hub = ?{conditions} ORDER BY p.pk",
            (shared.dumps(list(passage_ids)), self._pk(hub_id), *values),
        )
        return [_candidate(row) for row in found]

    # Vectors

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        row = self._one(
            "SELECT size, passages, newest, removals FROM vector_totals"
            " WHERE hub = ? AND model = ?",
            (self._pk(hub_id), model),
        )
        return VectorState(*(row or (0, 0, 0, 0)))

    def vector_models(self, hub_id: str) -> list[str]:
        found = self._all(
            "SELECT model FROM vector_totals WHERE hub = ? AND size > 0 ORDER BY model",
            (self._pk(hub_id),),
        )
        return [row[0] for row in found]

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        for row in self._connection.execute(
            'SELECT passage, "window", vector FROM vectors'
            ' WHERE hub = ? AND model = ? AND passage > ? ORDER BY passage, "window"',
            (self._pk(hub_id), model, after),
        ):
            yield VectorRow(*row)

    def vector_index(self, hub_id: str, model: str) -> int:
        return 0

    def nearest(
        self,
        hub_id: str,
        model: str,
        question: Sequence[float],
        *,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[VectorRow]:
        raise StoreError("This store has no index of vectors.")

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        found = self._all(
            'SELECT v.passage, v."window", v.vector FROM memories m'
            " JOIN passages p ON p.memory = m.pk"
            " JOIN vectors v ON v.passage = p.pk AND v.hub = m.hub AND v.model = ?"
            f' WHERE m.hub = ? AND m.id = ?{self._seen} ORDER BY p.ordinal, v."window"',
            (model, self._pk(hub_id), memory_id),
        )
        return [VectorRow(*row) for row in found]

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        found = self._all(
            f"SELECT {_PASSAGE_COLUMNS} FROM passages p JOIN memories m ON m.pk = p.memory"
            " WHERE p.hub = ? AND p.pk > ? AND NOT EXISTS (SELECT 1 FROM vectors v"
            " WHERE v.hub = p.hub AND v.model = ? AND v.passage = p.pk) ORDER BY p.pk LIMIT ?",
            (self._pk(hub_id), after, model, limit),
        )
        return [_candidate(row) for row in found]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        hub = self._pk(hub_id)
        passages = self._one("SELECT passages FROM word_totals WHERE hub = ?", (hub,)) or 0
        return int(passages - self.vector_state(hub_id, model).passages)


def _candidate(row: shared.Row) -> Candidate:
    headings = () if row[5] == "[]" else tuple(json.loads(row[5]))
    return Candidate(row[0], row[1], row[2], row[3], row[4], headings, row[6], row[7], row[8])
