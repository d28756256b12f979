"""The values that are passed to and from a store; and default methods for stores with a single
writer on this machine, which have no round trips to save, no vector index, no clock of their own,
and no writer between a read and a write. A store for several machines implements all of this
itself.

Separate from the contract itself (base.py), which only type checkers load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.domain.query import place_in
from holdfast.errors import AlreadyExists, StoreError
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.domain.change import Revision
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Filter, Order
    from holdfast.domain.records import Record
    from holdfast.store.base import Reader


class Capability(StrEnum):
    """An optional feature of a store. Check the capability, never the type of the store."""

    DURABLE = "durable"  # an acknowledged write survives kill -9
    MULTI_PROCESS = "multi_process"  # several processes may have it open at once
    MACHINES = "machines"  # several machines may use it at once
    DEADLINES = "deadlines"  # a read can be stopped in the middle
    SNAPSHOT = "snapshot"  # a read is one snapshot of all hubs; without it, of each hub
    BACKUP = "backup"  # an online, consistent copy
    VECTORS = "vectors"  # stores vectors beside the passages
    NEAREST = "nearest"  # can search the vectors of a large hub by itself
    LATE_WORDS = "late_words"  # a turn may be added without its words: `Writer.index_turns`
    ALONE = "alone"  # can tell whether a lock is held, and releases that of a killed process


class IndexEntry(NamedTuple):
    """The index entry of one passage. `body` and `head` are index terms in order; head terms come
    from the title, headings, tags and key. `vectors` are those of its windows, in order; `windows`
    is how many windows the whole memory has."""

    ordinal: int
    start: int
    end: int
    headings: tuple[str, ...]
    body: tuple[str, ...]
    head: tuple[str, ...]
    windows: int = 1
    vectors: tuple[bytes, ...] = ()


class Lexicon(NamedTuple):
    """The word statistics of a hub in a store: the number of passages, their length, and the
    document frequency of each term."""

    passages: int
    terms: int
    frequency: Mapping[str, int]

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a term. One is added inside the logarithm, so that a
        word in every passage still counts a little."""
        return self.rarity_of(self.frequency[term])

    def rarity_of(self, held: int) -> float:
        """The inverse document frequency of a term that so many passages have."""
        return math.log(1 + (max(self.passages, held, 1) - held + 0.5) / (held + 0.5))

    def rarest(self, terms: Iterable[str], postings_max: int) -> tuple[str, ...]:
        """The terms that occur in the hub, rarest first, as long as their passages together are at
        most this many."""
        held, out = 0, []
        for term in sorted(set(terms), key=lambda term: (self.frequency[term], term)):
            held += self.frequency[term]
            if held > postings_max:
                break
            if self.frequency[term]:
                out.append(term)
        return tuple(out)


class TermQuery(NamedTuple):
    """Finds passages that contain at least one of `terms` (all phrases of `phrases`, none of
    `excluded`)."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    # Terms of a single character in a script without spaces, which match the words that they begin.
    prefixes: tuple[str, ...] = ()
    # A hint that sorting by the rarity of the shared terms is sufficient, as for short texts of
    # about the same length. A store may ignore it.
    by_rarity: bool = False
    # A hint that the rarest terms are sufficient: those that at most this many passages contain
    # together. Counting them before would be a second search.
    postings_max: int | None = None
    # A hint that there are no more matches than the limit, so that they need no order.
    unordered: bool = False

    def of_rarest(self, lexicon: Lexicon) -> TermQuery:
        """The query reduced to its rarest terms, by a lexicon of all of them."""
        if self.postings_max is None:
            return self
        return self._replace(terms=lexicon.rarest(self.terms, self.postings_max), postings_max=None)


class TextQuery(NamedTuple):
    """Finds memories with the folded `needle` in their content, or with a passage that contains all
    of `terms`. Without terms, only the needle counts."""

    needle: str
    terms: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A passage that may answer, with the terms that ranking needs. `memory_id` is the id of its
    memory or turn."""

    memory_id: str
    passage_id: int
    ordinal: int
    start: int
    end: int
    headings: tuple[str, ...]
    body: str
    head: str
    windows: int


class VectorRow(NamedTuple):
    """The vector of one window of a passage, as stored."""

    passage_id: int
    window: int
    vector: bytes


class VectorState(NamedTuple):
    """The state of a hub's vectors, by which a cache checks whether it is current: the number of
    vectors and of their passages, the newest passage, and the number of vectors removed so far."""

    size: int
    passages: int
    newest: int
    removals: int


def first_named(found: Iterable[Memory], audience: str | None) -> Memory | None:
    """From memories with one key or path: the one of the audience, or the private one first."""
    order = sorted(found, key=lambda memory: (not memory.audience, memory.number))
    wanted = (memory for memory in order if audience is None or memory.audience == audience)
    return next(wanted, None)


class Problem(NamedTuple):
    """A problem that `check` found. Problems of derived state are repaired by rebuilding it; others
    are not. One that is `outside` is not damage of the store, but of something around it."""

    what: str
    derived: bool
    memory_id: str = ""
    hub_id: str = ""
    outside: bool = False


class Rescued(NamedTuple):
    """The result of a rescue: the name of the kept damaged store, the file with the rows set aside
    (empty if there are none), and sentences about what was repaired or set aside."""

    kept: str
    aside: str
    notes: tuple[str, ...]


Progress = Callable[[int, int], None]  # (done, total)

# Rows read at a time by `every_memory` and `every_record`.
BATCH = 500
# The size of the first batch: most lists of records are short, and reading further rows would be
# useless.
_RECORDS_FIRST = 16


def every_memory(
    reader: Reader,
    hub_id: str,
    wanted: Filter,
    *,
    order: Order = "number",
    after: tuple[int, int] | None = None,
) -> Iterator[Memory]:
    """The memories of a store that match a filter, in order, read in batches."""
    while True:
        batch = reader.memories(hub_id, wanted, order=order, after=after, limit=BATCH)
        yield from batch
        if len(batch) < BATCH:
            return
        after = place_in(batch[-1], order)


def every_record(reader: Reader, hub_id: str, kind: str, prefix: str = "") -> Iterator[Record]:
    """The records of a kind with ids that have this prefix, by id, read in batches."""
    after, limit = prefix, _RECORDS_FIRST
    while True:
        batch = reader.records(hub_id, kind, limit=limit, after=after)
        for one in batch:
            if not one.id.startswith(prefix):
                return
            yield one
        if len(batch) < limit:
            return
        after, limit = batch[-1].id, min(BATCH, limit * 4)


class ReaderDefaults:
    """Methods of the Reader contract."""

    if TYPE_CHECKING:

        def revisions(self, hub_id: str, memory_id: str) -> list[Revision]: ...
        def records(
            self, hub_id: str, kind: str, *, limit: int, after: str = ""
        ) -> list[Record]: ...

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Does nothing: single lookups are cheap here."""

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        found = {one: self.revisions(hub_id, one) for one in memory_ids}
        return {one: revisions for one, revisions in found.items() if revisions}

    def count_records(self, hub_id: str, kind: str, *, limit: int) -> int:
        return len(self.records(hub_id, kind, limit=limit))

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


class WriterDefaults:
    """Methods of the Writer contract."""

    if TYPE_CHECKING:

        def record(self, hub_id: str, kind: str, record_id: str) -> Record | None: ...
        def put_record(self, record: Record) -> None: ...
        def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool: ...

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        one = before or after
        assert one is not None, "there is something to be put, or to be taken away"
        if self.record(one.hub_id, one.kind, one.id) != before:
            return False
        if after is None:
            return self.drop_record(one.hub_id, one.kind, one.id)
        try:
            self.put_record(after)
        except AlreadyExists:
            return False
        return True


class StoreDefaults:
    """Methods of the Store contract."""

    if TYPE_CHECKING:

        def _ready(self) -> None: ...

    @contextmanager
    def alone(self, name: str, hub_id: str) -> Iterator[bool]:
        # Always granted: a lock could outlive a killed process; leases in records expire instead.
        self._ready()
        yield True

    def skew(self) -> timedelta:
        return timedelta()
