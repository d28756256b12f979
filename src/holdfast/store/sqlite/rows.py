"""Converts rows of the tables to values and back, and caches them for the readers of one store; the
only place that knows the column order.

A row ends with its checksum, which is compared before the row is converted. Classes that a recall
never needs are imported where they are used, because imports cost start-up time.

A writer caches no rows: it may roll back, and it always reads and checks the whole row. Writers
cache the postings of terms (`PostingCache`). Readers cache:

- Terms: the document frequency of a term is not stored. FTS5 scans all postings of the term to
  count them, and all postings of all terms with a prefix to list those. Questions use the same
  terms and prefixes again and again.
- Memories: a recall reads two hundred memories, mostly the same ones each time. The checksum of a
  row covers everything except the counters, so a cached memory is valid as long as the row has the
  same checksum; then only the checksum and the counters are read.
- Snapshots: between two writes a connection sees the same state, and reads each part of it once.
  SQLite's `data_version` changes with every commit of any other connection, in any process.

A passage is never changed, and its number is never reused. So if a hub has its former passages and
some with higher numbers, the cached term counts are extended, and cached passages stay valid,
except those of memories with a new revision. A writer that changes a memory without a revision
takes a number of the revisions table, and leaves no row with that number, so that readers notice.
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
    """The tags of a row, interned: most memories share theirs with others."""
    return tuple(json.loads(written))


# The columns by which a cached memory is validated: its checksum, and its counters with their
# check.
CHECKED = (
    "m.checksum, m.access_count, m.shown_count, m.mention_count, m.accessed_at, m.counters_check"
)


def checked_columns(row: Row) -> Row:
    """The columns of CHECKED from a row of MEMORY_COLUMNS."""
    return (row[-2], *row[COUNTERS_AT:-2], row[-1])


def memory_to_row(memory: Memory) -> list[Any]:
    tags = dumps(list(memory.tags)) if memory.tags else "[]"
    return shared.memory_to_row(memory, tags, int(memory.pinned))


def field_to_column(name: str, plain: Any) -> Any:
    """Converts a field of a revision to the value of its column."""
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


# Every operation reads its hub once or twice, and hubs seldom change.
@lru_cache(maxsize=256)
def hub_from_row(row: Row) -> Hub:
    require_intact("hubs", row[0], row[:-1], row[-1])
    return shared.hub_from_row(row)


def hub_to_row(hub: Hub) -> Row:
    fields = (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.numbers, hub.state)
    return sealed("hubs", hub.id, fields)


# The most cached terms of one hub: about 10 MB.
_TERMS_MAX = 100_000
# A misspelled word is looked for among the terms that begin with the same two letters.
_FRONT = 2
# Cached counts are extended over at most this many additions.
_ADDITIONS_MAX = 256


class HubState(NamedTuple):
    """The state of a hub, by which changes are detected: its number, the totals of its passages,
    the highest numbers of its passages and memories, and the last number taken for a revision of
    any hub."""

    hub: int
    passages: int
    terms: int
    newest_passage: int
    newest_memory: int
    revisions: int

    def may_have_grown_from(self, before: HubState) -> bool:
        """Whether, as far as known, nothing of the earlier state was removed."""
        return self.hub == before.hub and all(map(ge, self, before))

    @property
    def of_words(self) -> tuple[int, ...]:
        """A value that changes whenever the terms of the hub do."""
        return self[:4]


class KnownTerms:
    """SQLite's cached terms of a hub in one state: the number of passages by term, and the terms by
    prefix and limit.

    States of a hub that grew from one another share one cache. Each entry has the number of
    additions that it includes, and is extended when a later state needs it."""

    def __init__(self, state: HubState | None = None, before: KnownTerms | None = None) -> None:
        self.state = state
        self._counts: dict[str, tuple[int, int]] = {} if before is None else before._counts
        self._vocabularies: dict[tuple[str, int], tuple[dict[str, int], int]]
        self._vocabularies = {} if before is None else before._vocabularies
        # Prefixes of two letters of which every term is cached, by the limit of that query.
        self._whole: dict[str, int] = {} if before is None else before._whole
        # For each addition, the number of passages with each of its terms.
        self._added: list[dict[str, int]] = [] if before is None else before._added
        self._upto = len(self._added)
        self._size: int = 0 if before is None else before._size

    def count(self, term: str) -> int | None:
        """The number of passages with a term; None if it is not cached."""
        count, at = self._counts.get(term, (0, -1))
        if not 0 <= at <= self._upto:
            limit = self._whole.get(term[:_FRONT])
            alike = None if limit is None else self.vocabulary(term[:_FRONT], limit)
            # If every term with its first letters is cached, it is one of them or in no passage.
            return None if alike is None else alike.get(term, 0)
        if at < self._upto:
            count += sum(held.get(term, 0) for held in self._added[at : self._upto])
            self._counts[term] = count, self._upto
        return count

    def keep_counts(self, counts: Mapping[str, int]) -> None:
        self._make_room(len(counts))
        self._counts.update((term, (count, self._upto)) for term, count in counts.items())

    def vocabulary(self, prefix: str, limit: int) -> dict[str, int] | None:
        """The terms with a prefix, and the number of passages with each; None if they are not
        cached."""
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
        if len(prefix) == _FRONT and len(found) < limit:
            self._whole[prefix] = limit

    def _make_room(self, terms: int) -> None:
        """Clears the cache if it would grow too large."""
        self._size += terms
        if self._size > _TERMS_MAX:
            self._counts.clear()
            self._vocabularies.clear()
            self._whole.clear()
            self._size = terms

    def with_passages(self, state: HubState, added: Iterable[Iterable[str]]) -> KnownTerms | None:
        """The cache of a later state with additional passages with these terms; None if they must
        be counted again."""
        if self._upto != len(self._added) or self._upto == _ADDITIONS_MAX:
            return None
        held: dict[str, int] = {}
        for terms in added:
            for term in set(terms):
                held[term] = held.get(term, 0) + 1
        self._added.append(held)
        return KnownTerms(state, self)


class TermCache:
    """The cached terms of the most recently used hubs. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, KnownTerms] = {}
        self._lock = threading.Lock()

    def at(
        self,
        state: HubState,
        added_since: Callable[[HubState], Iterable[Iterable[str]] | None],
    ) -> KnownTerms:
        """The cached terms of a state. `added_since` returns the terms of the passages added since
        another state; None if more has changed."""
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


# The most hubs with cached terms.
_HUBS_MAX = 8


# The most cached memories, of about 1.6 kB each.
_MEMORIES_MAX = 20_000
_CONTENT_CHARS_MAX = 2_000


class Kept(NamedTuple):
    """A cached memory, with its columns of CHECKED."""

    checked: Row
    memory: Memory

    def now(self, checked: Row) -> Memory | None:
        """The current memory, given its current columns of CHECKED; None if the whole row must be
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
    """The most recently read memories of all hubs of a SQLite store. Thread-safe."""

    def __init__(self) -> None:
        # Keyed by id only: if a copied hub has the same ids, the last one read is cached. Apart
        # from the memories, their columns of CHECKED cost Python's garbage collection nothing.
        self._memories: dict[str, Memory] = {}
        self._checked: dict[str, Row] = {}
        self._lock = threading.Lock()

    def find(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Kept]:
        """The cached ones, by id."""
        with self._lock:
            return {
                one: Kept(self._checked[one], memory)
                for one in memory_ids
                if (memory := self._memories.get(one)) is not None and memory.hub_id == hub_id
            }

    def keep(self, memories: Iterable[Kept]) -> None:
        """Caches these; removes the oldest entries if necessary."""
        with self._lock:
            for checked, memory in memories:
                if not is_kept(memory):
                    continue
                # Moved to the end, where it stays the longest.
                self._memories.pop(memory.id, None)
                self._memories[memory.id] = memory
                self._checked[memory.id] = checked
            # A twentieth at once: finding the first entry of a dict takes longer the more were
            # removed before it.
            over = len(self._memories) - _MEMORIES_MAX
            if over > 0:
                for first in list(islice(self._memories, over + _MEMORIES_MAX // 20)):
                    del self._memories[first], self._checked[first]


def is_kept(memory: Memory) -> bool:
    """Metadata is mutable, so a memory with metadata is not cached."""
    return not memory.metadata and len(memory.content) <= _CONTENT_CHARS_MAX


class HubRows:
    """The cached rows of one hub in one state of the SQLite file, as one viewer sees it."""

    def __init__(self) -> None:
        # The `data_version` and the state of the hub.
        self.version = -1
        self.state: HubState | None = None
        # By number, the passages that the usual filter matches at any time: of memories only, and
        # including turns.
        self.passages: dict[bool, dict[int, Candidate]] = {False: {}, True: {}}
        # By memory id, the rows that searches have joined with their memories: the columns of a
        # passage, the number of the memory's row, and the columns of CHECKED.
        self.noted: dict[str, Row] = {}
        self.memories: dict[str, Memory] = {}
        # By limit.
        self.speakers: dict[int, list[str]] = {}
        # By session and number, the number of the session's next memory.
        self.following: dict[tuple[str, int], int] = {}
        # By model.
        self.vector_states: dict[str, VectorState] = {}
        self.kinds_without_records: set[str] = set()
        self.terms: KnownTerms | None = None

    def forget(self) -> None:
        """Clears the parts that a later state could share."""
        self.passages, self.following = {False: {}, True: {}}, {}

    def forget_passages(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            for kept in self.passages.values():
                kept.pop(number, None)

    def begin(self, state: HubState | None) -> None:
        """Begins another state, with the parts that are still valid."""
        self.state, self.terms = state, None
        self.noted, self.memories, self.speakers, self.vector_states = {}, {}, {}, {}
        self.kinds_without_records = set()

    def __len__(self) -> int:
        return len(self.noted) + len(self.memories) + len(self.following)

    def make_room(self, rows_max: int) -> None:
        """Clears parts until at most this many rows are cached."""
        if len(self.noted) > rows_max:
            self.noted = {}
        if sum(map(len, self.passages.values())) > rows_max:
            self.passages = {False: {}, True: {}}
        if len(self.memories) > rows_max:
            self.memories = {}
        if len(self.following) > rows_max:
            self.following = {}


# The most cached rows of a kind, of all hubs and connections together; a passage takes about 1 kB,
# and most memories are also in the cache of memories.
_ROWS_MAX = 20_000
# The most pairs of hub and viewer of one connection with cached rows: the most recently used ones.
_VIEWS_MAX = 32


class Snapshot:
    """The cached rows of one SQLite connection in one state of the database."""

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
        """The cached rows of the state that the connection sees now."""
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


# The most cached postings and terms of a store together: about 4 MB.
_POSTINGS_MAX = 100_000


class PostingCache:
    """The postings of terms that the writers of one store have searched by: the numbers of the
    passages with a term, in their order, up to a limit. A hub's terms come up again and again, and
    FTS5 looks each one up in every segment of its index.

    Valid until another connection commits. Passages that a writer adds are added here too; whatever
    it removes, and a rollback, clears the cache. Used by one writer at a time."""

    def __init__(self) -> None:
        self._version = -1
        # By hub and limit, then by term.
        self._postings: dict[tuple[int, int], dict[str, list[int]]] = {}
        self._size = 0

    def of(self, version: int, hub: int, limit: int) -> dict[str, list[int]]:
        """The cached postings of a hub's terms, at the `data_version` of the writer's connection.
        The limit is that of the query, -1 for none."""
        if version != self._version or self._size > _POSTINGS_MAX:
            self.clear()
            self._version = version
        return self._postings.setdefault((hub, limit), {})

    def keep(self, hub: int, limit: int, postings: Mapping[str, list[int]]) -> None:
        self._postings[hub, limit].update(postings)
        self._size += len(postings) + sum(map(len, postings.values()))

    def add(self, hub: int, passage: int, terms: Iterable[str]) -> None:
        """Adds a new passage, which has a higher number than all others, to its terms."""
        for (of_hub, limit), postings in self._postings.items():
            if of_hub != hub:
                continue
            for term in postings.keys() & terms:
                if limit < 0 or len(postings[term]) < limit:
                    postings[term].append(passage)
                    self._size += 1

    def clear(self) -> None:
        self._postings, self._size = {}, 0


class Caches:
    """The caches of one open SQLite store."""

    def __init__(self) -> None:
        self.postings = PostingCache()
        self.terms = TermCache()
        self.memories = MemoryCache()
        self.snapshots = SnapshotCache()
