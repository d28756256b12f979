"""The contract in plain Python: the model that tests hold other stores against.

A write copies the state, changes the copy and puts it in place at the end, so a reader's snapshot
is simply the state it started with. That costs time in proportion to the store at every write:
right for a model and for tests, wrong for anything large.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import EPOCH, to_micros
from holdfast.domain.hub import Hub, HubState, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Agreed, Clash
from holdfast.domain.query import Filter, Order
from holdfast.domain.turn import Turn
from holdfast.errors import DeadlineExceeded, NotFound, StoreClosed, StoreError
from holdfast.store.values import (
    Candidate,
    Capability,
    IndexEntry,
    Lexicon,
    Problem,
    Progress,
    TermQuery,
    VectorRow,
    VectorState,
)
from holdfast.text.terms import terms as terms_of

if TYPE_CHECKING:
    from holdfast.store.base import Store


def open_store(url: str) -> Store:
    """A store that is gone when it is closed."""
    return InMemoryStore()


class IndexedPassage:
    """A passage with what search knows of it, and its vectors by model."""

    __slots__ = ("entry", "memory_id", "pk", "vectors")

    def __init__(self, pk: int, memory_id: str, entry: IndexEntry, model: str) -> None:
        self.pk = pk
        self.memory_id = memory_id
        self.entry = entry
        self.vectors = {model: entry.vectors} if entry.vectors else {}

    def copy(self) -> IndexedPassage:
        twin = IndexedPassage(self.pk, self.memory_id, self.entry, "")
        twin.vectors = dict(self.vectors)
        return twin


class HubContents:
    """Everything of one hub."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.memories: dict[str, Memory] = {}
        self.changes: dict[str, Change] = {}
        self.revisions: list[Revision] = []
        self.receipts: list[Receipt] = []
        self.turns: dict[str, Turn] = {}
        self.agreed: dict[str, Agreed] = {}
        self.clashes: dict[str, Clash] = {}
        self.passages: dict[int, IndexedPassage] = {}
        self.texts: dict[str, str] = {}
        self.removals = 0

    def copy(self) -> HubContents:
        twin = HubContents(self.hub)
        twin.memories = dict(self.memories)
        twin.changes = dict(self.changes)
        twin.revisions = list(self.revisions)
        twin.receipts = list(self.receipts)
        twin.turns = dict(self.turns)
        twin.agreed = dict(self.agreed)
        twin.clashes = dict(self.clashes)
        twin.passages = {pk: passage.copy() for pk, passage in self.passages.items()}
        twin.texts = dict(self.texts)
        twin.removals = self.removals
        return twin


class State:
    """Everything of a store. A state that readers may have is never changed, only replaced."""

    def __init__(self) -> None:
        self.hubs: dict[str, HubContents] = {}
        self.sequence = 0

    def copy(self) -> State:
        twin = State()
        twin.hubs = {hub_id: hub.copy() for hub_id, hub in self.hubs.items()}
        twin.sequence = self.sequence
        return twin


class InMemoryStore:
    """A store in this process's memory."""

    capabilities = frozenset({Capability.DEADLINES, Capability.VECTORS})

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.RLock()
        self._writing = False
        self._closed = False

    def _ready(self) -> None:
        if self._closed:
            raise StoreClosed("The store is closed.", hint="Open it again with holdfast.open().")

    @contextmanager
    def read(self, *, deadline_s: float | None = None) -> Iterator[InMemoryReader]:
        self._ready()
        yield InMemoryReader(self._state, deadline_s)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[InMemoryWriter]:
        self._ready()
        with self._lock:
            self._ready()
            if self._writing:
                raise StoreError("A write was begun inside another write of the same thread.")
            self._writing = True
            try:
                state = self._state.copy()
                yield InMemoryWriter(state)
                self.keep(state)
                self._state = state
            finally:
                self._writing = False

    def keep(self, state: State) -> None:
        """Called with the state that a write leaves, before anyone sees it. A store that builds on
        this one saves it here; an error leaves everything as it was."""

    def check(self) -> list[Problem]:
        self._ready()
        out = []
        for hub in self._state.hubs.values():
            indexed = {passage.memory_id for passage in hub.passages.values()}
            for memory in hub.memories.values():
                if (memory.forgotten_at is None) != (memory.id in indexed):
                    what = f"the search index is wrong about memory #{memory.number}"
                    out.append(Problem(what, True, memory.id, hub.hub.id))
        return out

    def rescue(self) -> str:
        raise StoreError("A store in memory has nothing to be rescued from.")

    def settle(self) -> None:
        """Nothing to do: what was removed is gone."""
        self._ready()

    def backup(self, path: str, progress: Progress | None = None) -> None:
        raise StoreError(
            "A store in memory has no file to back up.", hint="Use `export` to write it out."
        )

    def close(self) -> None:
        self._closed = True


class InMemoryReader:
    """The Reader of the contract, on one state."""

    def __init__(self, state: State, deadline_s: float | None = None) -> None:
        self._state = state
        self._seconds = deadline_s
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s

    def _in_time(self) -> None:
        if self._ends is not None and time.monotonic() > self._ends:
            raise DeadlineExceeded(
                f"The read was stopped after {self._seconds:g} s; this is not an empty answer.",
                hint="Narrow the query, or raise recall.deadline_s.",
            )

    def _hub(self, hub_id: str) -> HubContents:
        self._in_time()
        hub = self._state.hubs.get(hub_id)
        return HubContents(Hub(hub_id, "", "", EPOCH)) if hub is None else hub

    def hubs(self) -> list[Hub]:
        return sorted((hub.hub for hub in self._state.hubs.values()), key=lambda hub: hub.name)

    def hub(self, name: str) -> Hub | None:
        return next((hub for hub in self.hubs() if hub.name == name), None)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        found = self._state.hubs.get(hub_id)
        return None if found is None else found.hub

    def _ordered(self, hub_id: str) -> list[Memory]:
        return sorted(self._hub(hub_id).memories.values(), key=lambda memory: memory.number)

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        return self._hub(hub_id).memories.get(memory_id)

    def _first(self, hub_id: str, **wanted: object) -> Memory | None:
        for memory in self._ordered(hub_id):
            if all(getattr(memory, name) == value for name, value in wanted.items()):
                return memory
        return None

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        return self._first(hub_id, number=number)

    def memory_by_key(self, hub_id: str, key: str) -> Memory | None:
        return self._first(hub_id, key=key, forgotten_at=None)

    def memory_by_path(self, hub_id: str, source_path: str) -> Memory | None:
        return self._first(hub_id, source_path=source_path, forgotten_at=None)

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        return [
            memory
            for memory in self._ordered(hub_id)
            if memory.content_hash == content_hash and memory.forgotten_at is None
        ]

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        memories = self._hub(hub_id).memories
        return {memory_id: memories[memory_id] for memory_id in memory_ids if memory_id in memories}

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        down = order in ("newest", "updated", "accessed")
        keyed = [(_sort_value(memory, order), memory) for memory in self._ordered(hub_id)]
        keyed.sort(key=lambda pair: pair[0], reverse=down)
        out = []
        for value, memory in keyed:
            self._in_time()
            past = after is None or (value < tuple(after) if down else value > tuple(after))
            if past and wanted.admits(memory):
                out.append(memory)
                if len(out) == limit:
                    break
        return out

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        visible = [m for m in self._hub(hub_id).memories.values() if m.visible]
        return [
            not any(m.session == session and low < m.number < high for m in visible)
            for session, low, high in pairs
        ]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        named = {memory.speaker for memory in self._hub(hub_id).memories.values()}
        return sorted(name for name in named if name is not None)[:limit]

    def statistics(self, hub_id: str) -> Statistics:
        state = self._hub(hub_id)
        everything = list(state.memories.values())
        visible = [memory for memory in everything if memory.visible]

        def counted(field: str) -> dict[str, int]:
            tally: dict[str, int] = {}
            for memory in visible:
                value = getattr(memory, field)
                tally[value] = tally.get(value, 0) + 1
            return dict(sorted(tally.items(), key=lambda pair: (-pair[1], pair[0])))

        created = [memory.created_at for memory in everything]
        return Statistics(
            hub=state.hub.name,
            memories=len(everything),
            visible=len(visible),
            forgotten=sum(memory.forgotten_at is not None for memory in everything),
            quarantined=sum(bool(memory.quarantine) for memory in everything),
            pinned=sum(memory.pinned for memory in everything),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=len(state.revisions),
            changes=len(state.changes),
            passages=len(state.passages),
            vectors=sum(
                len(rows)
                for passage in state.passages.values()
                for rows in passage.vectors.values()
            ),
            content_bytes=sum(len(memory.content.encode()) for memory in everything),
            receipts=len(state.receipts),
            oldest=min(created, default=None),
            newest=max(created, default=None),
            turns=len(state.turns),
            conflicts=len(self.clashes(hub_id)),
        )

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        newest_first = list(self._hub(hub_id).changes.values())[::-1]
        if before is None:
            return newest_first[:limit]
        ids = [change.id for change in newest_first]
        start = ids.index(before) + 1 if before in ids else len(ids)
        return newest_first[start : start + limit]

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._hub(hub_id).changes.get(change_id)

    def last_undoable(self, hub_id: str) -> Change | None:
        for change in reversed(self._hub(hub_id).changes.values()):
            if change.undoes is None and change.undone_by is None:
                return change
        return None

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        return [r for r in self._hub(hub_id).revisions if r.memory_id == memory_id]

    def revisions_of(self, hub_id: str, change_id: str) -> list[Revision]:
        return [r for r in self._hub(hub_id).revisions if r.change_id == change_id]

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        changed = {r.memory_id for r in self._hub(hub_id).revisions if r.at > at}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in changed]

    def scan_changes(self, hub_id: str) -> Iterable[Change]:
        return list(self._hub(hub_id).changes.values())

    def scan_revisions(self, hub_id: str) -> Iterable[Revision]:
        return list(self._hub(hub_id).revisions)

    def receipts(self, hub_id: str) -> list[Receipt]:
        return list(self._hub(hub_id).receipts)

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        newest_first = list(self._hub(hub_id).turns.values())[::-1]
        if before is not None:
            ids = [turn.id for turn in newest_first]
            newest_first = newest_first[ids.index(before) + 1 :] if before in ids else []
        return [t for t in newest_first if session is None or t.session == session][:limit]

    def search_turns(self, hub_id: str, terms: Sequence[str], *, limit: int) -> list[Turn]:
        wanted = set(terms)
        found = [
            (-len(wanted & set(terms_of(turn.content))), turn)
            for turn in self.turns(hub_id, limit=len(self._hub(hub_id).turns))
        ]
        found.sort(key=lambda pair: pair[0])
        return [turn for merit, turn in found if merit][:limit]

    def scan_turns(self, hub_id: str) -> Iterable[Turn]:
        return list(self._hub(hub_id).turns.values())

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        return self._hub(hub_id).agreed.get(path)

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        found = self._hub(hub_id).clashes.values()
        return [clash for clash in found if settled or clash.settled_at is None]

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        passages = list(self._hub(hub_id).passages.values())
        frequency = {
            term: sum(term in p.entry.body or term in p.entry.head for p in passages)
            for term in terms
        }
        length = sum(len(p.entry.body) + len(p.entry.head) for p in passages)
        return Lexicon(len(passages), length, frequency)

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        found: list[tuple[int, int, Candidate]] = []
        for passage in hub.passages.values():
            self._in_time()
            merit = _merit(passage.entry, query)
            if merit and wanted.admits(hub.memories[passage.memory_id]):
                found.append((-merit, passage.pk, _candidate(passage)))
        return [candidate for _, _, candidate in sorted(found)[:limit]]

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        out = []
        texts = self._hub(hub_id).texts
        for memory in reversed(self._ordered(hub_id)):
            self._in_time()
            if memory.id in texts and needle in texts[memory.id] and wanted.admits(memory):
                out.append(memory.id)
                if len(out) == limit:
                    break
        return out

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        hub = self._hub(hub_id)
        found = [p for p in hub.passages.values() if p.memory_id in set(memory_ids)]
        found.sort(key=lambda p: (hub.memories[p.memory_id].number, p.entry.ordinal))
        return [_candidate(passage) for passage in found]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        found = [hub.passages[pk] for pk in sorted(passage_ids) if pk in hub.passages]
        return [_candidate(p) for p in found if wanted.admits(hub.memories[p.memory_id])]

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        hub = self._hub(hub_id)
        sizes = {p.pk: len(p.vectors[model]) for p in hub.passages.values() if model in p.vectors}
        return VectorState(sum(sizes.values()), len(sizes), max(sizes, default=0), hub.removals)

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        for pk, passage in sorted(self._hub(hub_id).passages.items()):
            if pk > after:
                for window, vector in enumerate(passage.vectors.get(model, ())):
                    yield VectorRow(pk, window, vector)

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        passages = self._hub(hub_id).passages
        return [
            row
            for row in self.vectors(hub_id, model, after=0)
            if passages[row.passage_id].memory_id == memory_id
        ]

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        passages = self._hub(hub_id).passages.values()
        return [_candidate(p) for p in passages if p.pk > after and model not in p.vectors][:limit]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        return len(self.unembedded(hub_id, model, limit=len(self._hub(hub_id).passages)))


class InMemoryWriter(InMemoryReader):
    """The Writer of the contract, on a state that nobody else sees yet."""

    def _own(self, hub_id: str) -> HubContents:
        if hub_id not in self._state.hubs:
            raise NotFound(f"There is no hub {hub_id}.")
        return self._state.hubs[hub_id]

    def _next(self) -> int:
        self._state.sequence += 1
        return self._state.sequence

    def add_hub(self, hub: Hub) -> None:
        if self.hub(hub.name) is not None or hub.id in self._state.hubs:
            raise StoreError(f"There is a hub {hub.name} ({hub.id}) already.")
        self._state.hubs[hub.id] = HubContents(hub)

    def rename_hub(self, hub_id: str, name: str) -> None:
        own = self._own(hub_id)
        taken = self.hub(name)
        if taken is not None and taken.id != hub_id:
            raise StoreError(f"There is a hub {name} already.")
        own.hub = own.hub._replace(name=name)

    def set_hub_state(self, hub_id: str, state: HubState, numbers: int) -> None:
        own = self._own(hub_id)
        own.hub = own.hub._replace(state=state, numbers=numbers)

    def drop_hub(self, hub_id: str) -> None:
        self._state.hubs.pop(hub_id, None)

    def take_numbers(self, hub_id: str, count: int) -> int:
        own = self._own(hub_id)
        first = own.hub.numbers + 1
        own.hub = own.hub._replace(numbers=own.hub.numbers + count)
        return first

    def add_memory(self, memory: Memory) -> None:
        own = self._own(memory.hub_id)
        if memory.id in own.memories or self.memory_by_number(memory.hub_id, memory.number):
            raise StoreError(f"Memory {memory.id} (#{memory.number}) is there already.")
        self._refuse_taken(memory)
        own.memories[memory.id] = memory

    def set_memory(self, memory: Memory) -> None:
        own = self._own(memory.hub_id)
        if memory.id not in own.memories:
            raise NotFound(f"There is no memory {memory.id} to be changed.")
        self._refuse_taken(memory)
        own.memories[memory.id] = memory

    def _refuse_taken(self, memory: Memory) -> None:
        """A key and a source path belong to one memory that is not forgotten."""
        if memory.forgotten_at is not None:
            return
        for other in self._own(memory.hub_id).memories.values():
            if other.id != memory.id and other.forgotten_at is None:
                if memory.key is not None and memory.key == other.key:
                    raise StoreError(f"The key {memory.key} belongs to {other.id}.")
                if memory.source_path is not None and memory.source_path == other.source_path:
                    raise StoreError(f"The path {memory.source_path} belongs to {other.id}.")

    def add_change(self, change: Change) -> None:
        own = self._own(change.hub_id)
        if change.id in own.changes:
            raise StoreError(f"The change set {change.id} is there already.")
        own.changes[change.id] = change

    def mark_undone(self, hub_id: str, change_id: str, by: str | None) -> None:
        changes = self._own(hub_id).changes
        if change_id in changes:
            changes[change_id] = changes[change_id]._replace(undone_by=by)

    def add_revision(
        self,
        hub_id: str,
        change_id: str,
        memory_id: str,
        version: int,
        at: datetime,
        fields: Mapping[str, tuple[Any, Any]],
    ) -> None:
        own = self._own(hub_id)
        if change_id not in own.changes or memory_id not in own.memories:
            raise NotFound(f"There is no {change_id} or no {memory_id} for this revision.")
        own.revisions.append(
            Revision(self._next(), change_id, memory_id, version, at, dict(fields))
        )

    def add_turn(self, turn: Turn) -> None:
        self._own(turn.hub_id).turns[turn.id] = turn

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        own = self._own(hub_id)
        gone = max(0, len(own.turns) - keep)
        own.turns = dict(list(own.turns.items())[gone:])
        return gone

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None:
        self._own(hub_id).agreed[agreed.path] = agreed

    def drop_agreed(self, hub_id: str, path: str) -> None:
        self._own(hub_id).agreed.pop(path, None)

    def add_clash(self, hub_id: str, clash: Clash) -> None:
        self._own(hub_id).clashes[clash.id] = clash

    def settle_clash(self, hub_id: str, clash_id: str, at: datetime) -> None:
        clashes = self._own(hub_id).clashes
        if clash_id in clashes:
            clashes[clash_id] = clashes[clash_id]._replace(settled_at=at)

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None:
        self._own(hub_id).receipts.append(receipt)

    def purge(self, hub_id: str, memory_id: str) -> int:
        own = self._own(hub_id)
        self.unindex(hub_id, memory_id)
        kept = [r for r in own.revisions if r.memory_id != memory_id]
        gone = len(own.revisions) - len(kept)
        touched = {r.change_id for r in own.revisions if r.memory_id == memory_id}
        emptied = touched - {r.change_id for r in kept}
        own.changes = {key: c for key, c in own.changes.items() if key not in emptied}
        own.revisions = kept
        memory = own.memories.pop(memory_id, None)
        said = None if memory is None else memory.content
        own.clashes = {
            key: clash
            for key, clash in own.clashes.items()
            if clash.memory_id != memory_id and said not in (clash.in_store, clash.in_file)
        }
        return gone

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        self.unindex(hub_id, memory_id)
        own = self._own(hub_id)
        if memory_id not in own.memories:
            raise NotFound(f"There is no memory {memory_id} to be indexed.")
        if entries:
            own.texts[memory_id] = text
        for entry in entries:
            pk = self._next()
            own.passages[pk] = IndexedPassage(pk, memory_id, entry, model)

    def unindex(self, hub_id: str, memory_id: str) -> None:
        own = self._own(hub_id)
        gone = [pk for pk, p in own.passages.items() if p.memory_id == memory_id]
        own.texts.pop(memory_id, None)
        for pk in gone:
            own.removals += sum(map(len, own.passages.pop(pk).vectors.values()))

    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        passages = self._own(hub_id).passages
        grouped: dict[int, list[VectorRow]] = {}
        for row in vectors:
            grouped.setdefault(row.passage_id, []).append(row)
        for pk, rows in grouped.items():
            if pk in passages and model not in passages[pk].vectors:
                ordered = sorted(rows, key=lambda row: row.window)
                passages[pk].vectors[model] = tuple(row.vector for row in ordered)

    def drop_derived(self) -> None:
        for hub in self._state.hubs.values():
            hub.removals += len(hub.passages)
            hub.passages.clear()
            hub.texts.clear()

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        memories = self._own(hub_id).memories
        for memory_id in memory_ids:
            if (one := memories.get(memory_id)) is not None:
                count = one.access_count + 1
                memories[memory_id] = one._replace(access_count=count, accessed_at=at)

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        memories = self._own(hub_id).memories
        for memory_id in memory_ids:
            if (one := memories.get(memory_id)) is not None:
                memories[memory_id] = one._replace(shown_count=one.shown_count + 1)


def _sort_value(memory: Memory, order: Order) -> tuple[int, int]:
    if order == "updated":
        return to_micros(memory.updated_at), memory.number
    if order == "accessed":
        at = memory.accessed_at
        return 0 if at is None else to_micros(at), memory.number
    return memory.number, memory.number


def _candidate(passage: IndexedPassage) -> Candidate:
    entry = passage.entry
    return Candidate(
        passage.memory_id,
        passage.pk,
        entry.ordinal,
        entry.start,
        entry.end,
        entry.headings,
        " ".join(entry.body),
        " ".join(entry.head),
        entry.windows,
    )


def _merit(entry: IndexEntry, query: TermQuery) -> int:
    """How many of the terms the passage holds; 0 where it does not fit the query at all."""
    both = (entry.body, entry.head)
    if any(_holds(words, phrase) for phrase in query.excluded for words in both):
        return 0
    for phrase in query.phrases:
        if not any(_holds(words, phrase) for words in both):
            return 0
    merit = sum(term in words for term in query.terms for words in both)
    merit += sum(w.startswith(front) for front in query.prefixes for words in both for w in words)
    return merit + len(query.phrases)


def _holds(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    if len(phrase) == 2:
        return phrase in set(pairwise(words))
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words)))
