"""Rows of the tables to values and back, and what the readers of one store keep of them; the only
place that knows the column order.

A row that is read ends with its checksum, which is compared before anything is made of the row.
Values that a recall never meets are imported where they are made: their classes cost it time.

A writer keeps nothing: it may roll back what it wrote, and it always reads and checks the whole
row. Readers keep:

- Terms: how many passages hold a term is not stored. FTS5 walks all postings of the term to count
  them, and all postings of all terms with a prefix to list those. Questions ask for the same terms
  and prefixes again and again.
- Memories: a recall reads two hundred memories, mostly the same ones again and again. The checksum
  of a row covers all of it but the counters, so a cached memory is valid as long as the row has the
  same checksum; only the checksum and the counters are read then.
- Snapshots: between two writes a connection reads the same state, and what it has read of that
  state is read no more. SQLite's `data_version` changes with every commit of any other connection,
  in any process.

A passage is never changed, and its number is never used again. So where the passages of a hub are
those of before and some with higher numbers, terms are counted on from there, and the passages that
were read stay, but for those of memories that have a new revision. A writer that changes a memory
without a revision takes a number of the table of revisions, which leaves no row of that number.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from operator import ge
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from holdfast.domain.clock import to_micros
from holdfast.domain.memory import COUNTERS, TIMES, Memory
from holdfast.domain.records import field_from_plain
from holdfast.store import rows as shared
from holdfast.store.rows import (
    COUNTERS_AT,
    MEMORY_STORED,
    Row,
    are_counters_intact,
    dumps,
    from_micros,
    require_intact,
    sealed,
)
from holdfast.store.rows import MEMORY_COLUMNS as MEMORY_COLUMNS
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    import apsw

    from holdfast.domain.hub import Hub
    from holdfast.store.values import Candidate, VectorState

COLUMNS = ", ".join(MEMORY_STORED)
_PLACES = ", ".join("?" * len(MEMORY_STORED))
INSERT_MEMORY = f"INSERT INTO memories (hub, {COLUMNS}) VALUES (?, {_PLACES})"
UPDATE_MEMORY = f"UPDATE memories SET ({COLUMNS}) = ({_PLACES}) WHERE hub = ? AND id = ?"


def memory_from_row(row: Row, hub_id: str) -> Memory:
    return shared.memory_from_row(row, hub_id, _tags)


@lru_cache(maxsize=1_024)
def _tags(written: str) -> tuple[str, ...]:
    """The tags of a row: most memories share theirs with others."""
    return tuple(json.loads(written))


# What a memory that is kept is compared by: its checksum, and its counters with their check.
CHECKED = (
    "m.checksum, m.access_count, m.shown_count, m.mention_count, m.accessed_at, m.counters_check"
)


def checked_columns(row: Row) -> Row:
    """Of a row of MEMORY_COLUMNS, the columns of CHECKED."""
    return (row[-2], *row[COUNTERS_AT:-2], row[-1])


def memory_to_row(memory: Memory) -> list[Any]:
    tags = dumps(list(memory.tags)) if memory.tags else "[]"
    return shared.memory_to_row(memory, tags, int(memory.pinned))


def field_to_column(name: str, plain: Any) -> Any:
    """A field as a revision has it, as its column has it."""
    value = field_from_plain(name, plain)
    if value is None:
        return None
    if name in TIMES:
        return to_micros(value)
    if name == "pinned":
        return int(value)
    if name in ("tags", "origin"):
        return dumps(list(value))
    return dumps(dict(value)) if name == "metadata" else value


HUB_COLUMNS = "id, name, owner, created_at, numbers, state, checksum"


# Every operation reads its hub once or twice, and it seldom changes.
@lru_cache(maxsize=256)
def hub_from_row(row: Row) -> Hub:
    require_intact("hubs", row[0], row[:-1], row[-1])
    return shared.hub_from_row(row)


def hub_to_row(hub: Hub) -> Row:
    fields = (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.numbers, hub.state)
    return sealed("hubs", hub.id, fields)


# Terms kept of one hub: about 10 MB.
_TERMS_MAX = 100_000
# Entries are counted on over at most so many additions.
_ADDITIONS_MAX = 256


class HubState(NamedTuple):
    """What tells how a hub has changed: its number, the totals of its passages, the highest numbers
    of its passages and memories, and the last number that was taken for a revision of any hub."""

    hub: int
    passages: int
    terms: int
    newest_passage: int
    newest_memory: int
    revisions: int

    def may_have_grown_from(self, before: HubState) -> bool:
        """Whether nothing of the state before is known to be gone."""
        return self.hub == before.hub and all(map(ge, self, before))

    @property
    def of_words(self) -> tuple[int, ...]:
        """What changes whenever the terms of the hub do."""
        return self[:4]


class KnownTerms:
    """What is known of the terms of a hub in one state: the number of passages by term, and by
    prefix and limit the terms that begin with it.

    States of a hub that grew from one another share what is known. Each entry has the number of
    additions that it counts, and is counted on when a later state asks for it."""

    def __init__(self, state: HubState | None = None, before: KnownTerms | None = None) -> None:
        self.state = state
        self._counts: dict[str, tuple[int, int]] = {} if before is None else before._counts
        self._vocabularies: dict[tuple[str, int], tuple[dict[str, int], int]]
        self._vocabularies = {} if before is None else before._vocabularies
        # For each addition, how many passages hold each of its terms.
        self._added: list[dict[str, int]] = [] if before is None else before._added
        self._upto = len(self._added)
        self._size: int = 0 if before is None else before._size

    def count(self, term: str) -> int | None:
        """How many passages hold a term; None where that is not known."""
        count, at = self._counts.get(term, (0, -1))
        if not 0 <= at <= self._upto:
            return None
        if at < self._upto:
            count += sum(held.get(term, 0) for held in self._added[at : self._upto])
            self._counts[term] = count, self._upto
        return count

    def keep_counts(self, counts: Mapping[str, int]) -> None:
        self._make_room(len(counts))
        self._counts.update((term, (count, self._upto)) for term, count in counts.items())

    def vocabulary(self, prefix: str, limit: int) -> dict[str, int] | None:
        """The terms that begin with a prefix, and how many passages hold each; None where they are
        not known."""
        found, at = self._vocabularies.get((prefix, limit), ({}, -1))
        if not 0 <= at <= self._upto:
            return None
        if at == self._upto:
            return found
        more = dict(found)
        for held in self._added[at : self._upto]:
            for term, count in held.items():
                if term.startswith(prefix):
                    more[term] = more.get(term, 0) + count
        if len(more) > len(found):
            if len(more) > limit:
                return None
            # In the order of the index.
            more = dict(sorted(more.items()))
        self._vocabularies[prefix, limit] = more, self._upto
        return more

    def keep_vocabulary(self, prefix: str, limit: int, found: dict[str, int]) -> None:
        self._make_room(len(found))
        self._vocabularies[prefix, limit] = found, self._upto

    def _make_room(self, terms: int) -> None:
        """Forgets everything where so many more terms would be too many."""
        self._size += terms
        if self._size > _TERMS_MAX:
            self._counts.clear()
            self._vocabularies.clear()
            self._size = terms

    def with_passages(self, state: HubState, added: Iterable[Iterable[str]]) -> KnownTerms | None:
        """A later state, in which there are more passages with these terms; None where it is time
        to count anew."""
        if self._upto != len(self._added) or self._upto == _ADDITIONS_MAX:
            return None
        held: dict[str, int] = {}
        for terms in added:
            for term in set(terms):
                held[term] = held.get(term, 0) + 1
        self._added.append(held)
        return KnownTerms(state, self)


class TermCache:
    """What is known of the hubs that were asked last. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, KnownTerms] = {}
        self._lock = threading.Lock()

    def at(
        self,
        state: HubState,
        added_since: Callable[[HubState], Iterable[Iterable[str]] | None],
    ) -> KnownTerms:
        """What is known of a state. `added_since` gives the terms of the passages that were added
        since another state; None where more has changed."""
        with self._lock:
            known = self._known.pop(state.hub, None)
            if known is None or known.state is None:
                known = KnownTerms(state)
            elif known.state.of_words != state.of_words:
                added = added_since(known.state)
                later = None if added is None else known.with_passages(state, added)
                known = later or KnownTerms(state)
            self._known[state.hub] = known
            if len(self._known) > _HUBS_MAX:
                del self._known[next(iter(self._known))]
            return known


# Hubs whose terms are kept.
_HUBS_MAX = 8


# The last so many, of about 1.6 kB each.
_MEMORIES_MAX = 20_000
_CONTENT_CHARS_MAX = 2_000


class Kept(NamedTuple):
    """A memory, and the columns of CHECKED that it had."""

    checked: Row
    memory: Memory

    def now(self, checked: Row) -> Memory | None:
        """The memory as it is now that these are its columns; None where the whole row has to be
        read."""
        if checked == self.checked:
            return self.memory
        checksum, *counters, check = checked
        if checksum != self.checked[0] or not are_counters_intact(counters, check):
            return None
        *counts, accessed_at = counters
        accessed = None if accessed_at is None else from_micros(accessed_at)
        return Memory._make((*self.memory[: -len(COUNTERS)], *counts, accessed))


class MemoryCache:
    """The memories of all hubs of a store that were read last. Thread-safe."""

    def __init__(self) -> None:
        # By id alone: where a copied hub has the same ids, the one that was read last is kept.
        self._kept: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def find(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Kept]:
        """Those that are kept, by id."""
        kept = self._kept
        found = [(one, kept.get(one)) for one in memory_ids]
        return {one: there for one, there in found if there and there.memory.hub_id == hub_id}

    def keep(self, memories: Iterable[Kept]) -> None:
        """Keeps these instead of those that were kept first."""
        with self._lock:
            for one in memories:
                if not is_kept(one.memory):
                    continue
                # Put last, where it is kept the longest.
                self._kept.pop(one.memory.id, None)
                self._kept[one.memory.id] = one
            # A twentieth at once: to find the first of a dict takes longer the more were taken out
            # before it.
            over = len(self._kept) - _MEMORIES_MAX
            if over > 0:
                for first in list(islice(self._kept, over + _MEMORIES_MAX // 20)):
                    del self._kept[first]


def is_kept(memory: Memory) -> bool:
    """Metadata can be changed by who reads it, so a memory with metadata is not kept."""
    return not memory.metadata and len(memory.content) <= _CONTENT_CHARS_MAX


class HubRows:
    """What was read of one hub in one state of the database, as one viewer sees it."""

    def __init__(self) -> None:
        # Of which commit, and what the hub was like then.
        self.version = -1
        self.state: HubState | None = None
        # By their numbers, the passages that the usual filter admits at any time: of memories
        # alone, and with those of turns.
        self.passages: dict[bool, dict[int, Candidate]] = {False: {}, True: {}}
        # By memory id, the rows that searches have joined with their memories: the columns of a
        # passage, the number of the memory's row, and what a kept memory is compared by.
        self.noted: dict[str, Row] = {}
        self.memories: dict[str, Memory] = {}
        # By how many were asked for.
        self.speakers: dict[int, list[str]] = {}
        # By session and number, the number of the next memory of the session.
        self.following: dict[tuple[str, int], int] = {}
        # By model.
        self.vector_states: dict[str, VectorState] = {}
        self.kinds_without_records: set[str] = set()
        self.terms: KnownTerms | None = None

    def forget(self) -> None:
        """Forgets what a later state may have in common with this one."""
        self.passages, self.following = {False: {}, True: {}}, {}

    def forget_passages(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            for kept in self.passages.values():
                kept.pop(number, None)

    def begin(self, state: HubState | None) -> None:
        """Begins another state, with what is still right."""
        self.state, self.terms = state, None
        self.noted, self.memories, self.speakers, self.vector_states = {}, {}, {}, {}
        self.kinds_without_records = set()

    def __len__(self) -> int:
        return len(self.noted) + len(self.memories) + len(self.following)

    def make_room(self, rows_max: int) -> None:
        """Forgets what is more than this."""
        if len(self.noted) > rows_max:
            self.noted = {}
        if sum(map(len, self.passages.values())) > rows_max:
            self.passages = {False: {}, True: {}}
        if len(self.memories) > rows_max:
            self.memories = {}
        if len(self.following) > rows_max:
            self.following = {}


# Rows of a kind that are kept of all hubs and connections together; a passage takes about 1 kB, and
# most memories are kept as well by the cache of memories.
_ROWS_MAX = 20_000
# Hubs and viewers of one connection that rows are kept of, those that were asked last.
_VIEWS_MAX = 32


class Snapshot:
    """What one connection has read of one state of the database."""

    def __init__(self) -> None:
        self.version = -1
        # The numbers of hubs, by their ids.
        self.pks: dict[str, int] = {}
        self.hubs: dict[tuple[str, str], HubRows] = {}

    def of(self, hub_id: str, viewer: str) -> HubRows:
        rows = self.hubs.pop((hub_id, viewer), None)
        if rows is None:
            rows = HubRows()
        self.hubs[hub_id, viewer] = rows
        if len(self.hubs) > _VIEWS_MAX:
            del self.hubs[next(iter(self.hubs))]
        return rows


class SnapshotCache:
    """The last snapshot of each connection. Thread-safe, as a connection has one user at a time."""

    def __init__(self) -> None:
        self._snapshots: WeakKeyDictionary[apsw.Connection, Snapshot] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def at(self, connection: apsw.Connection, version: int) -> Snapshot:
        """What the connection has read of the state that it now sees."""
        with self._lock:
            snapshot = self._snapshots.get(connection)
            if snapshot is None:
                snapshot = self._snapshots[connection] = Snapshot()
            if snapshot.version != version:
                snapshot.version, snapshot.pks = version, {}
            share = _ROWS_MAX // max(1, sum(len(one.hubs) for one in self._snapshots.values()))
        for rows in snapshot.hubs.values():
            rows.make_room(share)
        return snapshot


class Caches:
    """The caches of one open store."""

    def __init__(self) -> None:
        self.terms = TermCache()
        self.memories = MemoryCache()
        self.snapshots = SnapshotCache()
