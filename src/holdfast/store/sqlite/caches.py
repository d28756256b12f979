"""The caches that the readers of one store share. A writer uses none: it may roll back what it
wrote, and it always reads and checks the whole row.

Terms: how many passages hold a term is not stored. FTS5 walks all postings of the term to count
them, and all postings of all terms with a prefix to list those. Questions ask for the same terms
and prefixes again and again. The structure record of the index changes with each write to it, in
any process, so it tells whether what is cached is still right.

Memories: a recall reads two hundred memories, mostly the same ones again and again. The checksum of
a row covers all of it but the counters, so a cached memory is valid as long as the row has the same
checksum; only the checksum and the counters are read then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from holdfast.domain.clock import from_micros
from holdfast.domain.memory import COUNTERS, Memory
from holdfast.store.rows import Row, are_counters_intact

# The id of FTS5's structure record in the table of its blocks.
STRUCTURE_RECORD = 10
# Terms kept of one state of the index: about 10 MB.
_TERMS_MAX = 100_000


class KnownTerms:
    """What is known of one state of the index: the number of passages by term, and by prefix and
    limit the terms that begin with it. Terms and prefixes are written as the index has them."""

    def __init__(self, state: bytes | None = None) -> None:
        self.state = state
        self.passages: dict[str, int] = {}
        self.vocabularies: dict[tuple[str, int], dict[str, int]] = {}
        self._size = 0

    def make_room(self, terms: int) -> None:
        """Forgets everything where so many more terms would be too many."""
        self._size += terms
        if self._size > _TERMS_MAX:
            self.passages, self.vocabularies, self._size = {}, {}, terms


class TermCache:
    """What is known of the state that was asked for last. Thread-safe."""

    def __init__(self) -> None:
        self._known = KnownTerms()
        self._lock = threading.Lock()

    def at(self, state: bytes) -> KnownTerms:
        with self._lock:
            if self._known.state != state:
                self._known = KnownTerms(state)
            return self._known


# The last so many, of about 1.6 kB each.
_MEMORIES_MAX = 10_000
_CONTENT_CHARS_MAX = 2_000
# What is read of a memory that may be kept: its id, its checksum, and its counters with their
# check.
CHECKED = (
    "id",
    "checksum",
    "access_count",
    "shown_count",
    "mention_count",
    "accessed_at",
    "counters_check",
)


class Kept(NamedTuple):
    """A memory, and the columns of CHECKED that it had."""

    checked: Row
    memory: Memory

    def now(self, checked: Row) -> Memory | None:
        """The memory as it is now that these are its columns; None where the whole row has to be
        read."""
        if checked == self.checked:
            return self.memory
        counters, check = checked[2:-1], checked[-1]
        if checked[:2] != self.checked[:2] or not are_counters_intact(counters, check):
            return None
        *counts, accessed_at = counters
        accessed = None if accessed_at is None else from_micros(accessed_at)
        return Memory._make((*self.memory[: -len(COUNTERS)], *counts, accessed))


class MemoryCache:
    """The memories of all hubs of a store that were read last. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}
        self._lock = threading.Lock()

    def find(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Kept]:
        """Those that are kept, by id."""
        kept = self._kept
        found = ((one, kept.get((hub_id, one))) for one in memory_ids)
        return {one: there for one, there in found if there is not None}

    def keep(self, hub_id: str, memories: Iterable[Kept]) -> None:
        """Keeps these instead of those that were kept first. Metadata can be changed by who reads
        it, so a memory with metadata is not kept."""
        with self._lock:
            for one in memories:
                if one.memory.metadata or len(one.memory.content) > _CONTENT_CHARS_MAX:
                    continue
                # Put last, where it is kept the longest.
                self._kept.pop((hub_id, one.memory.id), None)
                self._kept[hub_id, one.memory.id] = one
            # Found together: to find the first of a dict takes longer the more were taken out
            # before it.
            for first in list(islice(self._kept, max(0, len(self._kept) - _MEMORIES_MAX))):
                del self._kept[first]


class Caches:
    """The caches of one open store."""

    def __init__(self) -> None:
        self.terms = TermCache()
        self.memories = MemoryCache()
