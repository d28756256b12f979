"""The Reader of the store contract: hubs and memories by name, number, key and path, lists and
counts; beside vectors (`vectors`), searches (`search`), and what both SQL stores share
(`store.sql`). Records that belong to no hub have hub_id 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import to_micros
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.store.filters import ORDERINGS
from holdfast.store.postgres import rows
from holdfast.store.postgres.session import SessionPart
from holdfast.store.postgres.vectors import VectorsReader
from holdfast.store.rows import from_micros
from holdfast.store.values import first_named

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Answer, Session


# The length of the indexed prefix of a speaker's name (see `schema`).
_FRONT_CHARS = 200


# The fields by which a memory is looked up before it is written.
_HASHED = "ARRAY(SELECT hashtextextended(n, 0) FROM unnest(%(names)s::text[]) AS n)"
_EXPECTED = {
    "content_hash": "m.content_hash = ANY(%(names)s::text[])",
    "key": f"m.key_hash = ANY({_HASHED})",
    "source_path": f"m.path_hash = ANY({_HASHED})",
}
# Below this many memories, single lookups are faster: the first hit ends the search.
_EXPECTED_FROM = 3


class _Group(NamedTuple):
    """A row of the GROUP BY for statistics."""

    state: str
    category: str
    kind: str
    layer: str
    pinned: bool
    forgotten: bool
    held: bool
    seen: bool
    memories: int
    content_bytes: int
    oldest: int
    newest: int


class MemoriesReader(SessionPart):
    """The part of PostgreSQL's Reader that is about hubs and memories; their history is mostly
    shared with the other SQL store."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        # Hub, field and value of lookups that are known to find nothing. Only a writer of this
        # transaction can change that: a reader has one snapshot, a writer has the hub's lock.
        self._absent: set[tuple[str, str, str | None]] = set()

    # Hubs

    def hubs(self) -> list[Hub]:
        return [rows.hub_from_row(row) for row in self._session.all(f"{rows.HUBS} ORDER BY h.name")]

    def hub(self, name: str) -> Hub | None:
        return self._hub("name", name)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        session = self._session
        number = session.known_hub(hub_id)
        if number is None and session.may_name(hub_id):
            return self._named_hub(hub_id)
        return self._hub("id", hub_id) if number is None else self._numbered_hub(number)

    def _hub(self, column: str, value: str) -> Hub | None:
        if self._session.spread:
            # The join would ask every shard which of them has the hub.
            number = self._session.value(
                f"SELECT h.hub_id FROM hubs h WHERE h.{column} = %(value)s", value=value
            )
            return None if number is None else self._numbered_hub(number)
        row = self._session.row(f"{rows.HUBS} WHERE h.{column} = %(value)s", value=value)
        return None if row is None else rows.hub_from_row(row)

    def _numbered_hub(self, number: int) -> Hub | None:
        return self._noted_hub(self._session.row(rows.NUMBERED_HUB, number=number))

    def _named_hub(self, hub_id: str) -> Hub | None:
        """A hub that is read next: it is named in the same round trip."""
        session = self._session
        if not session.spread:
            row = session.row(rows.NAMED_HUB, hub=hub_id)
            if row is not None:
                session.note_hub(hub_id, row[7])
            return self._noted_hub(row)
        number = session.value("SELECT h.hub_id FROM hubs h WHERE h.id = %(hub)s", hub=hub_id)
        if number is None:
            return None
        with session.connection.pipeline():
            session.name_hub(hub_id, number)
            found = session.run(rows.NUMBERED_HUB, number=number)
        return self._noted_hub(found.fetchone())

    def _noted_hub(self, row: Any) -> Hub | None:
        if row is None:
            return None
        number, passages, terms = row[7:10]
        self._note(("passages", number), (passages, terms))
        hub = rows.hub_from_row(row)
        self._note_numbers(number, hub.numbers)
        return hub

    def _note_numbers(self, hub: int, numbers: int) -> None:
        """Notes how many numbers of a hub are given out; a reader gives out none."""

    # Memories

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        found = self._select(hub_id, f" AND m.id = %(id)s{self._seen}", id=memory_id)
        return found[0] if found else None

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        found = self._select(hub_id, f" AND m.number = %(number)s{self._seen}", number=number)
        return found[0] if found else None

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Finds out in one query which paths, keys and hashes do not exist; mostly nearly all."""
        if len(memories) < _EXPECTED_FROM:
            return
        hub = self._session.hub(hub_id)
        for name, is_one in _EXPECTED.items():
            asked = {value for memory in memories if (value := getattr(memory, name)) is not None}
            if not asked:
                continue
            found = self._session.all(
                f"SELECT m.{name} FROM memories m WHERE m.hub_id = %(hub)s AND {is_one}"
                " AND m.forgotten_at IS NULL",
                hub=hub,
                names=sorted(asked),
            )
            absent = asked.difference(row[0] for row in found)
            self._absent.update((hub_id, name, value) for value in absent)

    def _is_absent(self, hub_id: str, name: str, value: str) -> bool:
        return (hub_id, name, value) in self._absent

    def _note_present(self, memory: Memory) -> None:
        """Forgets the absence of a memory that a writer has created or renamed."""
        for name in _EXPECTED if self._absent else ():
            self._absent.discard((memory.hub_id, name, getattr(memory, name)))

    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        if self._is_absent(hub_id, "key", key):
            return None
        found = self._select(
            hub_id,
            " AND m.key_hash = hashtextextended(%(key)s, 0) AND m.key = %(key)s"
            f" AND m.forgotten_at IS NULL{self._seen}",
            key=key,
        )
        return first_named(found, audience)

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        if self._is_absent(hub_id, "source_path", source_path):
            return None
        found = self._select(
            hub_id,
            " AND m.path_hash = hashtextextended(%(path)s, 0) AND m.source_path = %(path)s"
            f" AND m.forgotten_at IS NULL{self._seen}",
            path=source_path,
        )
        return first_named(found, audience)

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        if self._is_absent(hub_id, "content_hash", content_hash):
            return []
        return self._select(
            hub_id,
            f" AND m.content_hash = %(hash)s AND m.forgotten_at IS NULL{self._seen}"
            " ORDER BY m.number",
            hash=content_hash,
        )

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        if not memory_ids:
            return {}
        found = self._select(hub_id, f" AND m.id = ANY(%(ids)s){self._seen}", ids=list(memory_ids))
        there = {memory.id: memory for memory in found}
        # In the order asked for; the server returns rows in any order.
        return {one: there[one] for one in memory_ids if one in there}

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        conditions, values = rows.where(wanted)
        column, down = ORDERINGS[order]
        way = "DESC" if down else "ASC"
        if after is not None:
            conditions += (
                f" AND ({column}, m.number) {'<' if down else '>'} (%(last)s, %(last_number)s)"
            )
            values |= {"last": after[0], "last_number": after[1]}
        return self._select(
            hub_id,
            f"{conditions}{self._seen} ORDER BY {column} {way}, m.number {way} LIMIT %(limit)s",
            limit=limit,
            **values,
        )

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        conditions, values = rows.where(wanted)
        found = self._session.all(
            f"SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s{conditions}{self._seen}"
            # LIMIT NULL means no limit.
            " ORDER BY m.pinned DESC, greatest(m.updated_at, m.accessed_at) DESC, m.number DESC"
            " LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            limit=limit,
            **values,
        )
        return [row[0] for row in found]

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        if not pairs:
            return []
        sessions, lows, highs = zip(*pairs, strict=True)
        found = self._session.all(
            "SELECT NOT EXISTS (SELECT 1 FROM memories m WHERE m.hub_id = %(hub)s"
            " AND m.session_hash = hashtextextended(p.session, 0) AND m.session = p.session"
            " AND m.number > p.low AND m.number < p.high AND m.forgotten_at IS NULL"
            f" AND m.quarantine = ''{self._seen})"
            " FROM unnest(%(sessions)s::text[], %(lows)s::bigint[], %(highs)s::bigint[])"
            " WITH ORDINALITY AS p (session, low, high, place) ORDER BY p.place",
            hub=self._session.hub(hub_id),
            sessions=list(sessions),
            lows=list(lows),
            highs=list(highs),
        )
        return [row[0] for row in found]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        of_turns = self._speakers_in("turns", "speaker", self._of_hub, hub_id, limit)
        names = self._speakers_in("memories", "speaker_front", self._seen, hub_id, limit)
        if any(len(name) == _FRONT_CHARS for name in names):
            names = self._long_speakers(hub_id, limit)
        return sorted({*names, *of_turns})[:limit]

    def _speakers_in(
        self, table: str, column: str, seen: str, hub_id: str, limit: int
    ) -> list[str]:
        # A loose index scan: jumps from one speaker to the next, however many rows each has.
        first = f"SELECT min(m.{column}) FROM {table} m WHERE m.hub_id = %(hub)s"
        found = self._session.all(
            "WITH RECURSIVE s (name) AS ("
            f" ({first} AND m.speaker IS NOT NULL{seen})"
            " UNION ALL"
            f" SELECT ({first} AND m.speaker IS NOT NULL AND m.{column} > s.name{seen})"
            " FROM s WHERE s.name IS NOT NULL)"
            " SELECT name FROM s WHERE name IS NOT NULL LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            limit=limit,
        )
        return [row[0] for row in found]

    def _long_speakers(self, hub_id: str, limit: int) -> list[str]:
        found = self._session.all(
            "SELECT DISTINCT m.speaker FROM memories m WHERE m.hub_id = %(hub)s"
            f" AND m.speaker IS NOT NULL{self._seen} ORDER BY m.speaker LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            limit=limit,
        )
        return [row[0] for row in found]

    # Counts

    def statistics(self, hub_id: str) -> Statistics:
        hub = self._session.hub(hub_id)
        self._write_counts()
        groups = self._groups(hub)
        seen = [group for group in groups if group.seen]
        # If the viewer sees everything, rows of memories are counted without joining them.
        whole = len(seen) == len(groups) and not self._of_hub
        visible = [group for group in seen if not (group.forgotten or group.held)]

        def counted(column: str) -> dict[str, int]:
            found: Counter[str] = Counter()
            for group in visible:
                found[getattr(group, column)] += group.memories
            return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

        def count(table: str, only: str = "") -> int:
            return int(
                self._session.value(
                    f"SELECT count(*) FROM {table} WHERE {table}.hub_id = %(hub)s{only}", hub=hub
                )
            )

        name = self._session.value("SELECT name FROM hubs WHERE hub_id = %(hub)s", hub=hub)
        return Statistics(
            hub=name or "",
            memories=sum(group.memories for group in seen),
            visible=sum(group.memories for group in visible),
            forgotten=sum(group.memories for group in seen if group.forgotten),
            quarantined=sum(group.memories for group in seen if group.held),
            pinned=sum(group.memories for group in seen if group.pinned),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=count("revisions", "" if whole else self._of_seen("revisions")),
            changes=count("changes", "" if whole else self._seen_changes("changes")),
            passages=count("passages")
            if whole
            else count("passages", f" AND memory IS NOT NULL{self._of_seen('passages')}")
            + count("passages", f" AND turn IS NOT NULL{self._of_hub}"),
            vectors=self._count_vectors(hub, whole=whole),
            content_bytes=int(sum(group.content_bytes for group in seen)),
            receipts=count("receipts", self._of_hub),
            oldest=min((from_micros(group.oldest) for group in seen), default=None),
            newest=max((from_micros(group.newest) for group in seen), default=None),
            turns=count("turns", self._of_hub),
            conflicts=len(self.clashes(hub_id)),
        )

    def _groups(self, hub: int) -> list[_Group]:
        """The counts of memories by all counted fields, in one scan."""
        seen = f"true{self._seen}"
        found = self._session.all(
            "SELECT m.state, m.category, m.kind, m.layer, m.pinned, m.forgotten_at IS NOT NULL,"
            f" m.quarantine <> '', ({seen}), count(*), sum(octet_length(m.content)),"
            " min(m.created_at), max(m.created_at) FROM memories m WHERE m.hub_id = %(hub)s"
            " GROUP BY 1, 2, 3, 4, 5, 6, 7, 8",
            hub=hub,
        )
        return [_Group(*row) for row in found]

    def _count_vectors(self, hub: int, *, whole: bool) -> int:
        if whole:
            total = "SELECT coalesce(sum(size), 0) FROM vector_totals WHERE hub_id = %(hub)s"
            return int(self._session.value(total, hub=hub))
        return int(
            self._session.value(
                "SELECT count(*) FROM vectors v"
                " JOIN passages p ON p.hub_id = v.hub_id AND p.passage = v.passage"
                " LEFT JOIN memories m ON m.hub_id = p.hub_id AND m.number = p.memory"
                f" WHERE v.hub_id = %(hub)s AND ((p.memory IS NOT NULL{self._seen})"
                f" OR (p.turn IS NOT NULL{self._of_hub}))",
                hub=hub,
            )
        )

    # History

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        found = self._session.all(
            "SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s AND m.number IN"
            " (SELECT r.memory FROM revisions r WHERE r.hub_id = %(hub)s AND r.at > %(at)s)"
            f"{self._seen} ORDER BY m.number",
            hub=self._session.hub(hub_id),
            at=to_micros(at),
        )
        return [row[0] for row in found]

    def newest_revision(self, hub_id: str) -> int:
        newest = self._session.value(
            "SELECT max(r.sequence) FROM revisions r WHERE r.hub_id = %(hub)s",
            hub=self._session.hub(hub_id),
        )
        return int(newest or 0)

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        found = self._session.all(
            "SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s AND m.number IN"
            " (SELECT r.memory FROM revisions r WHERE r.hub_id = %(hub)s"
            " AND r.sequence > %(sequence)s)"
            f"{self._seen} ORDER BY m.number LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            sequence=sequence,
            limit=limit,
        )
        return [row[0] for row in found]

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        if not pairs:
            return []
        ones, twos = zip(*pairs, strict=True)
        found = self._session.all(
            "SELECT a.session IS NOT DISTINCT FROM b.session AND NOT EXISTS"
            " (SELECT 1 FROM turns t WHERE t.hub_id = %(hub)s"
            " AND (t.session_hash = a.session_hash OR a.session IS NULL)"
            " AND t.session IS NOT DISTINCT FROM a.session"
            " AND t.place > least(a.place, b.place) AND t.place < greatest(a.place, b.place))"
            " FROM unnest(%(ones)s::text[], %(twos)s::text[]) WITH ORDINALITY AS p (one, two, at)"
            " JOIN turns a ON a.hub_id = %(hub)s AND a.id = p.one"
            " JOIN turns b ON b.hub_id = %(hub)s AND b.id = p.two ORDER BY p.at",
            hub=self._session.hub(hub_id),
            ones=list(ones),
            twos=list(twos),
        )
        return [row[0] for row in found]


class Rows(MemoriesReader, VectorsReader):
    """All that a reader and a writer of PostgreSQL read."""


class PostgresReader(Rows):
    """One snapshot of the PostgreSQL database."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers: dict[object, Any] = {}

    def _once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        # A snapshot does not change. A recall needs the same few figures in five places, and each
        # query is a round trip.
        if question not in self._answers:
            self._answers[question] = ask()
        answer: Answer = self._answers[question]
        return answer

    def _note(self, question: object, answer: object) -> None:
        self._answers.setdefault(question, answer)
