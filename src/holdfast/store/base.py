"""The contract of a store: transactions that read and write rows.

A store holds canonical state (hubs, memories, changes, revisions, receipts, turns of the
conversation log, the last synced state of mirrored files and their conflicts, records such as keys
and jobs) and derived state (passages with their index terms, substring index, vectors). It does not
know ranking, deduplication, lifecycle or undo: the engine decides, inside one `write()`, what the
rows should be. Every method except those on hubs and those for due records takes the hub as its
first argument, and reads or writes that hub only.

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
    """A consistent snapshot of the store, part of the contract of stores; valid until its `with`
    block ends."""

    def hubs(self) -> list[Hub]: ...
    def hub(self, name: str) -> Hub | None: ...
    def hub_by_id(self, hub_id: str) -> Hub | None: ...

    def memory(self, hub_id: str, memory_id: str) -> Memory | None: ...
    def memory_by_number(self, hub_id: str, number: int) -> Memory | None: ...
    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        """The memory with this key that is not forgotten. A key belongs to one memory per audience;
        without an audience, a private memory takes precedence over a shared one."""
        ...

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        """The same for a source path."""
        ...

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        """The memories with this hash that are not forgotten, oldest first."""
        ...

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Announces that these memories will be looked up by path, key and hash. It changes no
        result: a remote store may fetch them all in one round trip."""
        ...

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """The existing ones, in the given order."""
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
        """Memories in an order; `after` is the (sort value, number) of the last one seen."""
        ...

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        """The ids of the memories that match the filter: pinned ones first, then by last use
        (accessed or updated), and for equal times by descending number. With a limit, the first N.
        """
        ...

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        """For each (session, number, higher number): whether no visible memory of the session is
        between the two."""
        ...

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        """The speakers of this hub's memories and turns, in alphabetical order."""
        ...

    def statistics(self, hub_id: str) -> Statistics: ...

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        """Change sets, newest first."""
        ...

    def change(self, hub_id: str, change_id: str) -> Change | None: ...
    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        """The existing ones, in the given order."""
        ...

    def last_undoable(self, hub_id: str) -> Change | None:
        """The newest change set that is not an undo and has not been undone."""
        ...

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        """A memory's revisions, oldest first."""
        ...

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        """The revisions of many memories; a memory without any is left out."""
        ...

    def revisions_of(
        self, hub_id: str, change_id: str, *, limit: int | None = None
    ) -> list[Revision]:
        """The revisions of a change set, in the order of writing; with a limit, the first N."""
        ...

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        """The memories that have a revision later than `at`."""
        ...

    def newest_revision(self, hub_id: str) -> int:
        """A sequence number: revisions written later in this hub have a higher one. It may be that
        of another hub's revision, and is the same for every viewer."""
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
        """The existing ones, in the given order."""
        ...

    def turns_around(self, hub_id: str, turn_id: str, *, before: int, after: int) -> list[Turn]:
        """The turns of the same session before and after a turn, in order, without the turn
        itself."""
        ...

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each pair of existing turns: whether they belong to one session, and no other turn of
        it is between them."""
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
        """The ids of turns of a session, or in a period [since, until); oldest first. With a limit,
        the first N."""
        ...

    def log_size(self, hub_id: str) -> tuple[int, int, datetime | None, datetime | None]:
        """The number of turns, the bytes of their text, and the times of the first and the last
        turn."""
        ...

    def turns_by_speaker(self, hub_id: str, *, limit: int) -> list[tuple[str, int, datetime]]:
        """The named speakers of turns, with the number of their turns and the time of the last;
        most turns first, then by name."""
        ...

    def scan_turns(self, hub_id: str) -> Iterable[Turn]:
        """All turns, oldest first."""
        ...

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        """The last synced state of a file; the path is relative to the hub's folder."""
        ...

    def scan_agreed(self, hub_id: str) -> Iterable[Agreed]:
        """The last synced state of every file, by path."""
        ...

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        """The conflicts between store and files, oldest first; with `settled`, also resolved
        ones."""
        ...

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        """A key, a member, a job …; the hub is NO_HUB for records that belong to none."""
        ...

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None: ...
    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        """Records of a kind with ids above `after`, by id."""
        ...

    def count_records(self, hub_id: str, kind: str, *, limit: int) -> int:
        """The number of records of a kind; counts up to `limit`."""
        ...

    def scan_records(self, hub_id: str) -> Iterable[Record]:
        """All records, by kind and id."""
        ...

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        """The records that are due by a time, of every hub or of one, longest due first."""
        ...

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        """The first hub after this one with a due record of the kind; the order of hubs is always
        the same. The search is equally fast however many are due in one hub."""
        ...

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon: ...
    def vocabulary(self, hub_id: str, prefix: str, *, limit: int) -> dict[str, int]:
        """The first terms of the hub with this prefix, by code point, and how many passages contain
        each."""
        ...

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        """Candidates in approximate order; the store does not rank. Includes passages of turns if
        the filter matches turns."""
        ...

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        """The ids of memories with the folded needle in their folded text, newest first; then of
        turns, if the filter matches them and a word of the needle has at least three characters."""
        ...

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterable[Memory]:
        """Every memory with content that matches, in an order, read lazily."""
        ...

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        """The passages of memories, by number, then those of turns, in the order of logging, for
        the ids of either."""
        ...

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        """The passages with these ids, if their memory or turn matches the filter."""
        ...

    def vector_state(self, hub_id: str, model: str) -> VectorState: ...
    def vector_models(self, hub_id: str) -> list[str]:
        """The models of this hub's vectors, in alphabetical order."""
        ...

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        """Vectors of one model with passage ids above `after`, in order."""
        ...

    def vector_index(self, hub_id: str, model: str) -> int:
        """The length of the vectors that the store can search with an index of its own, which it
        has for large hubs. 0 if there is no index: then all vectors are read and compared."""
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
        """All vectors of the passages that are approximately nearest to the question, and of those
        in `also`, in the order of passages. Called only if there is an index."""
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
        """Deletes the hub and everything in it permanently."""
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
        """Adds a turn and its index entries (`store/rows.py`), so that search finds it at once.
        Without `words`, a store with Capability.LATE_WORDS leaves the entries to `index_turns`."""
        ...

    def index_turns(self, hub_id: str, turn_ids: Sequence[str]) -> None:
        """Adds the index entries of the turns that have none; the others are unchanged."""
        ...

    def drop_turns(self, hub_id: str, turn_ids: Sequence[str]) -> int:
        """Deletes turns and their derived state; returns how many."""
        ...

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        """Deletes all but the newest `keep` turns and their derived state; returns how many."""
        ...

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None: ...
    def drop_agreed(self, hub_id: str, path: str) -> None: ...
    def add_clash(self, hub_id: str, clash: Clash) -> None: ...
    def settle_clash(self, hub_id: str, clash_id: str, at: datetime) -> None: ...
    def put_record(self, record: Record) -> None:
        """Adds a record, or replaces the one with the same hub, kind and id; raises AlreadyExists
        if another has its lookup."""
        ...

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        """Deletes a record; returns whether it existed."""
        ...

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        """Compare-and-swap: replaces `before` by `after` if `before` is still stored; None means
        that there is no record. Both have the same hub, kind, id and lookup. Returns whether it was
        replaced.

        Records of no hub that are only written by this method need no lock: their writers do not
        read first."""
        ...

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None: ...
    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        """Overwrites the texts of an existing row of history, which is otherwise never changed, to
        remove what must not stay in it. Its id, time and owner stay."""
        ...

    def purge(self, hub_id: str, memory_id: str) -> int:
        """Permanently deletes the row, its revisions and derived state, conflicts that contain its
        text, and change sets that become empty; returns the number of revisions deleted."""
        ...

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        """Replaces the memory's derived state; `text` is what substring search matches."""
        ...

    def unindex(self, hub_id: str, memory_id: str) -> None: ...
    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        """Adds vectors of passages that still exist and have none of this model; others are
        ignored. All windows of a passage are passed in one call."""
        ...

    def drop_derived(self) -> None:
        """Empties and recreates all derived tables, including damaged ones."""
        ...

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None: ...
    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None: ...
    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        """Counts that these were mentioned again; this is not a change, so there is no revision."""
        ...


class Store(Protocol):
    """Stores memories. Thread-safe; readers do not wait for the writer."""

    @property
    def capabilities(self) -> frozenset[Capability]: ...
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> AbstractContextManager[Reader]:
        """A snapshot of the store. With a viewer, everything that they may not see is hidden:
        memories, their revisions, change sets of those alone, counts. Turns and receipts have no
        boundary and are visible like memories with the boundary `hub`. The lexicon and the vectors,
        which are cached, cover the whole hub. Without a viewer everything is visible, for upkeep.

        Each hub is read from one snapshot. With the capability SNAPSHOT it is the same one for all
        hubs; in a store with hubs on several servers, a write to two of them may be visible in one
        and not yet in the other."""
        ...

    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> AbstractContextManager[Writer]:
        """One transaction. It waits while another one writes; without `wait`, it raises StoreBusy
        at once. Only counters are written with `durable` false: they need not survive a crash, and
        nobody waits for them.

        With a `hub` (an id), only that hub and records of no hub are written, and a store may let
        writers of other hubs run concurrently. With NO_HUB, only records of no hub are written,
        concurrently with writers of all hubs."""
        ...

    def alone(self, name: str, hub_id: str) -> AbstractContextManager[bool]:
        """A lock by name over all processes and machines, held until the block or the process ends.
        Yields whether it was acquired; it never waits, and does not block reads or writes. A store
        without Capability.ALONE always grants it."""
        ...

    def skew(self) -> timedelta:
        """The difference between the store's clock and this machine's; zero if the store has no
        clock of its own, or both agree within seconds."""
        ...

    def check(self) -> list[Problem]:
        """Checks every invariant of the store; an empty list means that all hold."""
        ...

    def notes(self) -> list[str]:
        """Suggestions for improvement: each a sentence with the command that does it."""
        ...

    def rescue(self) -> Rescued:
        """Saves the canonical state of a store with damaged rows, or with derived state that cannot
        be dropped. Damaged rows are repaired if the repair can be proven, and set aside otherwise.
        A store in a file keeps the damaged file, and derived state is empty afterwards; one on a
        server repairs rows in place and leaves those that cannot be proven."""
        ...

    def settle(self) -> None:
        """Clears purged data from logs and free pages."""
        ...

    def backup(self, path: str, progress: Progress | None = None) -> None: ...
    def close(self) -> None: ...
