"""The contract of a store: rows in, rows out, all or nothing.

A store holds canonical state (hubs, memories, changes, revisions, receipts, turns of the
conversation log, what mirrored files last agreed on and where they clash, records such as keys and
jobs) and derived state (passages with their index terms, substring index, vectors). It knows
nothing of ranking, dedup, lifecycle or undo: the engine decides, inside one `write()`, what the
rows should be. Every method but those on hubs themselves, and that for work that is due, takes the
hub first, and no method can reach across hubs.

Derived state can be dropped and rebuilt at any time; canonical state cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.hub import Hub, HubState, Statistics, Viewer
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Filter, Order
    from holdfast.domain.records import Agreed, Clash, Record, Turn
    from holdfast.store.values import (
        Candidate,
        Capability,
        IndexEntry,
        Lexicon,
        Problem,
        Progress,
        Rescued,
        TermQuery,
        TextQuery,
        VectorRow,
        VectorState,
    )


class Reader(Protocol):
    """A consistent view of the store, good until its `with` block ends."""

    def hubs(self) -> list[Hub]: ...
    def hub(self, name: str) -> Hub | None: ...
    def hub_by_id(self, hub_id: str) -> Hub | None: ...

    def memory(self, hub_id: str, memory_id: str) -> Memory | None: ...
    def memory_by_number(self, hub_id: str, number: int) -> Memory | None: ...
    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        """The one that is not forgotten. A key belongs to one memory for each audience; without
        one, a private memory goes before one that is shared."""
        ...

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        """The same by source path."""
        ...

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        """Those that are not forgotten, oldest first."""
        ...

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Says that these are about to be looked for, by path, key and hash. Changes no answer: a
        store that is far away may ask for all of them at once."""
        ...

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Those that are there, in the order in which they are asked for."""
        ...

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        """A run of memories in an order; `after` is the (sort value, number) of the last one."""
        ...

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        """The ids of the memories the filter admits: pinned ones first, then those that were used
        last (accessed or updated), and of these the highest number. With a limit, the first."""
        ...

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        """For each (session, number, higher number): whether no visible memory of the session is
        between the two."""
        ...

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        """Who speaks in this hub, in memories and in turns, in alphabetical order."""
        ...

    def statistics(self, hub_id: str) -> Statistics: ...

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        """Change sets, newest first."""
        ...

    def change(self, hub_id: str, change_id: str) -> Change | None: ...
    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        """Those that are there, in the order in which they are asked for."""
        ...

    def last_undoable(self, hub_id: str) -> Change | None:
        """The newest change set that is no undo and has not been undone."""
        ...

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        """A memory's revisions, oldest first."""
        ...

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        """The same of many; a memory without any is not in the answer."""
        ...

    def revisions_of(
        self, hub_id: str, change_id: str, *, limit: int | None = None
    ) -> list[Revision]:
        """The revisions of a change set in the order of writing; the first so many with a limit."""
        ...

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        """The memories that have a revision later than `at`."""
        ...

    def newest_revision(self, hub_id: str) -> int:
        """A mark of this moment: what is revised in this hub later has a higher sequence. It
        says nothing else: it may be the newest of all hubs, and is the same for every viewer."""
        ...

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        """Memories with a revision of a higher sequence, by number."""
        ...

    def scan_changes(self, hub_id: str) -> Iterable[Change]:
        """All change sets, oldest first."""
        ...

    def scan_revisions(self, hub_id: str) -> Iterable[Revision]:
        """All revisions, oldest first."""
        ...

    def receipts(self, hub_id: str) -> list[Receipt]: ...

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        """Turns of the conversation log, newest first; `before` is a turn's id."""
        ...

    def turns_by_id(self, hub_id: str, turn_ids: Sequence[str]) -> dict[str, Turn]:
        """Those that are there, in the order in which they are asked for."""
        ...

    def turns_around(self, hub_id: str, turn_id: str, *, before: int, after: int) -> list[Turn]:
        """So many turns of the same session before a turn and after it, in order, without it."""
        ...

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each pair of turns that are there: whether they are of one session, and no other turn
        of it is between them."""
        ...

    def turn_ids(
        self,
        hub_id: str,
        *,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """The ids of turns of a session, or said from a time on and before another; oldest first.
        With a limit, the first."""
        ...

    def log_size(self, hub_id: str) -> tuple[int, int, datetime | None, datetime | None]:
        """How many turns there are, the bytes of their text, and the times of the first and the
        last that was said."""
        ...

    def turns_by_speaker(self, hub_id: str, *, limit: int) -> list[tuple[str, int, datetime]]:
        """Who is named in turns, how many are theirs, and when the last was said; most turns first,
        and by name among as many."""
        ...

    def scan_turns(self, hub_id: str) -> Iterable[Turn]:
        """All turns, oldest first."""
        ...

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        """What store and file last agreed on; the path is relative to the hub's folder."""
        ...

    def scan_agreed(self, hub_id: str) -> Iterable[Agreed]:
        """The same of every file, by path."""
        ...

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        """Where they disagree, oldest first; with `settled`, also what has been settled."""
        ...

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        """A key, a member, a job …; the hub is NO_HUB for what belongs to none."""
        ...

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None: ...
    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        """Records of a kind with ids above `after`, by id."""
        ...

    def scan_records(self, hub_id: str) -> Iterable[Record]:
        """Those of every kind, by kind and id."""
        ...

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        """Those that are due by then, of every hub or of one, longest due first."""
        ...

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        """The first hub after this one in which a record of the kind is due by then; the order of
        hubs is always the same. However much is due in one, the next is found as fast."""
        ...

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon: ...
    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        """The first terms of the hub, by code point, that begin with this, and how many passages
        hold each."""
        ...

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        """Candidates in a rough order of merit; ranking is not the store's business. Passages of
        turns are among them where the filter admits turns."""
        ...

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        """Memories with the folded needle in their folded text, newest first; then turns, where the
        filter admits them and a word of the needle has at least three characters."""
        ...

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterable[Memory]:
        """Every memory with content that matches, in an order, read as far as it is asked for."""
        ...

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        """The passages of memories in the order of their numbers, then those of turns in the order
        in which they were logged, by the ids of either."""
        ...

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        """The passages with these ids, if the filter admits their memory or turn."""
        ...

    def vector_state(self, hub_id: str, model: str) -> VectorState: ...
    def vector_models(self, hub_id: str) -> list[str]:
        """The models that vectors of this hub are of, in alphabetical order."""
        ...

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        """Vectors of one model with passage ids above `after`, in order."""
        ...

    def vector_index(self, hub_id: str, model: str) -> int:
        """The length of the vectors that the store itself can search, which it does for hubs that
        are large; 0 where it cannot: then all of them are read and compared."""
        ...

    def nearest(
        self,
        hub_id: str,
        model: str,
        question: Sequence[float],
        *,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[VectorRow]:
        """All vectors of the passages that are about the nearest to the question, and of those
        named in `also`, in the order of passages. Asked only where there is an index."""
        ...

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        """The vectors of a memory or a turn, in order."""
        ...

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        """Passages with ids above `after` that have no vector of this model yet, in order."""
        ...

    def unembedded_count(self, hub_id: str, model: str) -> int: ...


class Writer(Reader, Protocol):
    """One transaction: everything in its `with` block happens, or nothing does."""

    def add_hub(self, hub: Hub) -> None: ...
    def rename_hub(self, hub_id: str, name: str) -> None: ...
    def set_hub_state(self, hub_id: str, state: HubState, numbers: int) -> None: ...
    def drop_hub(self, hub_id: str) -> None:
        """Everything of the hub goes, for good."""
        ...

    def take_numbers(self, hub_id: str, count: int) -> int:
        """Reserves `count` numbers and returns the first."""
        ...

    def add_memory(self, memory: Memory) -> None: ...
    def set_memory(self, memory: Memory) -> None: ...
    def add_change(self, change: Change) -> None: ...
    def mark_undone(self, hub_id: str, change_id: str, by: str | None) -> None: ...
    def add_revision(
        self,
        hub_id: str,
        change_id: str,
        memory_id: str,
        version: int,
        at: datetime,
        fields: Mapping[str, tuple[Any, Any]],
    ) -> None: ...
    def add_turn(self, turn: Turn, *, words: bool = True) -> None:
        """Adds a turn and its index entries (`store/rows.py`): search finds it at once. Without
        `words`, a store with Capability.LATE_WORDS leaves the entries to `index_turns`."""
        ...

    def index_turns(self, hub_id: str, turn_ids: Sequence[str]) -> None:
        """Adds the index entries of those turns that have none; the others are left as they are."""
        ...

    def drop_turns(self, hub_id: str, turn_ids: Sequence[str]) -> int:
        """Removes turns and all that is derived of them; returns how many went."""
        ...

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        """Removes all but the newest `keep` turns in the same way; returns how many went."""
        ...

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None: ...
    def drop_agreed(self, hub_id: str, path: str) -> None: ...
    def add_clash(self, hub_id: str, clash: Clash) -> None: ...
    def settle_clash(self, hub_id: str, clash_id: str, at: datetime) -> None: ...
    def put_record(self, record: Record) -> None:
        """Adds it, or replaces the one with its hub, kind and id; AlreadyExists where another has
        its lookup."""
        ...

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        """Whether it was there."""
        ...

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        """Puts a record in the place of what was there before, if that is still so: None is that
        there is none. Both have the same hub, kind, id and lookup. Whether it was done.

        Records of no hub that are written by this alone keep nobody waiting: a store need not
        hold anything for who does not look first."""
        ...

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None: ...
    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        """Puts the texts of this row in the place of those that the same row has: the one way to
        change what is history, for what must not stay in it. Its id, time and owner stay."""
        ...

    def purge(self, hub_id: str, memory_id: str) -> int:
        """Removes row, revisions and derived state for good, clashes that hold its text, and
        change sets that this leaves empty; returns how many revisions went."""
        ...

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        """Replaces the memory's derived state; `text` is what substring search sees."""
        ...

    def unindex(self, hub_id: str, memory_id: str) -> None: ...
    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        """Adds vectors of passages that still exist and have none of this model yet; others are
        passed over. A passage's windows come together, in one call."""
        ...

    def drop_derived(self) -> None:
        """Empties and recreates all derived tables, also damaged ones."""
        ...

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None: ...
    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None: ...
    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        """Notes that what these say was said once more; no change of them, so no revision."""
        ...


class Store(Protocol):
    """Stores memories. Thread-safe; readers do not wait for the writer."""

    @property
    def capabilities(self) -> frozenset[Capability]: ...
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> AbstractContextManager[Reader]:
        """A view of the store. With a viewer, what they may not see is not there: no memory, no
        revision, no change set of it alone, no count. Turns and receipts have no boundary and are
        seen like what has the boundary `hub`. What a cache is made of (lexicon, vectors) is the
        hub's; without a viewer it is all there, for upkeep.

        Of each hub it shows one moment. Whether that is the same moment for all hubs is a
        capability (SNAPSHOT): on a store that keeps hubs on several servers, a write to two of them
        may be seen in one and not yet in the other."""
        ...

    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> AbstractContextManager[Writer]:
        """One transaction. Where another is writing, its turn is waited for; without `wait`, that
        is StoreBusy at once. Only counters may be not durable: they need not survive a crash, and
        nobody waits for them.

        With a `hub` (an id), only that hub is touched, and what belongs to none: a store may then
        let writers of other hubs go on beside it. With NO_HUB, only what belongs to none is
        touched, and writers of all hubs may go on."""
        ...

    def alone(self, name: str, hub_id: str) -> AbstractContextManager[bool]:
        """For what only one may be at, over all processes and machines: whether nobody else is.
        Then it is ours until the block ends, or until this process does. Nobody waits here, and
        reads and writes are as free as before. A store that cannot tell (no Capability.ALONE) lets
        everybody in."""
        ...

    def skew(self) -> timedelta:
        """How much later it is by the clock of the store than by this machine's; nothing where the
        store has no clock of its own, or both agree within seconds."""
        ...

    def check(self) -> list[Problem]:
        """Looks at every promise the store makes about itself; empty means all is well."""
        ...

    def notes(self) -> list[str]:
        """What works, and would work better: each a sentence with the command that does it."""
        ...

    def rescue(self) -> Rescued:
        """Saves canonical state from a store in which rows are damaged, or derived state cannot
        even be dropped: damaged rows are repaired where that can be proven, and set aside where
        not. A store in a file keeps the damaged one, and derived state is empty afterwards; one on
        a server repairs rows in place and leaves what cannot be proven."""
        ...

    def settle(self) -> None:
        """Makes sure that nothing purged is left in logs or free space."""
        ...

    def backup(self, path: str, progress: Progress | None = None) -> None: ...
    def close(self) -> None: ...
