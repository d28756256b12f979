"""The store contract in plain Python: the reference that tests compare other stores with.

A write copies the state, changes the copy and replaces the state at the end, so that a reader's
snapshot is the state it started with. Each write takes time in proportion to the whole store, which
is right for a reference and for tests, and wrong for anything large.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.hub import Hub, HubState
from holdfast.domain.memory import Memory
from holdfast.domain.records import NO_HUB, Agreed, Clash, Record, Turn
from holdfast.errors import AlreadyExists, NotFound, StoreClosed, StoreError
from holdfast.store.inmemory.reader import HubContents, IndexedPassage, InMemoryReader, State
from holdfast.store.rows import turn_entries
from holdfast.store.values import (
    Capability,
    IndexEntry,
    Problem,
    Progress,
    Rescued,
    StoreDefaults,
    VectorRow,
    WriterDefaults,
)
from holdfast.text.analysis.terms import trigram_text

if TYPE_CHECKING:
    from holdfast.domain.hub import Viewer
    from holdfast.store.base import Store


class InMemoryWriter(InMemoryReader, WriterDefaults):
    """The whole Writer."""

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
        records = self._state.records
        self._state.records = {at: one for at, one in records.items() if one.hub_id != hub_id}

    def take_numbers(self, hub_id: str, count: int) -> int:
        own = self._own(hub_id)
        first = own.hub.numbers + 1
        own.hub = own.hub._replace(numbers=own.hub.numbers + count)
        return first

    def add_memory(self, memory: Memory) -> None:
        own = self._own(memory.hub_id)
        numbers = (other.number for other in own.memories.values())
        if memory.id in own.memories or memory.number in numbers:
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
        """Refuses a key or source path that another memory of the audience has, unless
        forgotten."""
        if memory.forgotten_at is not None:
            return
        for other in self._own(memory.hub_id).memories.values():
            alike = other.forgotten_at is None and other.audience == memory.audience
            if other.id != memory.id and alike:
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

    def index_turns(self, hub_id: str, turn_ids: Sequence[str]) -> None:
        pass  # `add_turn` has done it.

    def add_turn(self, turn: Turn, *, words: bool = True) -> None:
        own = self._own(turn.hub_id)
        own.turns[turn.id] = turn
        self._index_turn(own, turn)

    def _index_turn(self, own: HubContents, turn: Turn) -> None:
        own.texts[turn.id] = trigram_text(turn.content)
        for entry in turn_entries(turn.content):
            pk = self._next()
            own.passages[pk] = IndexedPassage(pk, turn.id, entry, "")

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        turns = list(self._own(hub_id).turns)
        return self.drop_turns(hub_id, turns[: max(0, len(turns) - keep)])

    def drop_turns(self, hub_id: str, turn_ids: Sequence[str]) -> int:
        own = self._own(hub_id)
        gone = [one for one in turn_ids if one in own.turns]
        for turn_id in gone:
            self.unindex(hub_id, turn_id)
            del own.turns[turn_id]
        return len(gone)

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

    def put_record(self, record: Record) -> None:
        if record.hub_id != NO_HUB:
            self._own(record.hub_id)
        if record.lookup is not None:
            other = self.record_by_lookup(record.hub_id, record.kind, record.lookup)
            if other is not None and other.id != record.id:
                raise AlreadyExists(f"Another {record.kind} has the lookup {record.lookup!r}.")
        self._state.records[record.hub_id, record.kind, record.id] = record

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        return self._state.records.pop((hub_id, kind, record_id), None) is not None

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None:
        self._own(hub_id).receipts.append(receipt)

    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        own = self._own(hub_id)
        if isinstance(row, Change):
            if row.id in own.changes:
                own.changes[row.id] = own.changes[row.id]._replace(reason=row.reason)
        elif isinstance(row, Turn):
            if row.id in own.turns:
                own.turns[row.id] = row
                self.unindex(hub_id, row.id)
                self._index_turn(own, row)
        elif isinstance(row, Clash):
            if row.id in own.clashes:
                own.clashes[row.id] = own.clashes[row.id]._replace(
                    in_store=row.in_store, in_file=row.in_file
                )
        elif isinstance(row, Receipt):
            own.receipts = [
                one._replace(reason=row.reason)
                if (one.memory_id, one.at) == (row.memory_id, row.at)
                else one
                for one in own.receipts
            ]
        else:
            own.revisions = [
                one._replace(fields=dict(row.fields)) if one.sequence == row.sequence else one
                for one in own.revisions
            ]

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
            for turn in hub.turns.values():
                self._index_turn(hub, turn)

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        self._count(hub_id, memory_ids, "access_count", accessed_at=at)

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, "shown_count")

    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, "mention_count")

    def _count(self, hub_id: str, memory_ids: Sequence[str], name: str, **new: Any) -> None:
        memories = self._own(hub_id).memories
        for memory_id in memory_ids:
            if (one := memories.get(memory_id)) is not None:
                memories[memory_id] = one._replace(**{name: getattr(one, name) + 1}, **new)


def open_store(url: str) -> Store:
    """A store that is gone when it is closed."""
    return InMemoryStore()


class InMemoryStore(StoreDefaults):
    """A store in this process's memory."""

    capabilities = frozenset({Capability.DEADLINES, Capability.SNAPSHOT, Capability.VECTORS})

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.RLock()
        self._writing = False
        self._closed = False

    def _ready(self) -> None:
        if self._closed:
            raise StoreClosed("The store is closed.", hint="Open it again with holdfast.open().")

    @contextmanager
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> Iterator[InMemoryReader]:
        self._ready()
        yield InMemoryReader(self._state, deadline_s, viewer)

    @contextmanager
    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> Iterator[InMemoryWriter]:
        self._ready()
        with self._lock:
            self._ready()
            if self._writing:
                raise StoreError("A write was begun inside another write of the same thread.")
            self._writing = True
            try:
                state = self._state.copy()
                yield InMemoryWriter(state, viewer=viewer)
                self.keep(state)
                self._state = state
            finally:
                self._writing = False

    def keep(self, state: State) -> None:
        """Called with the state after a write, before anyone sees it. A store that extends this one
        saves it here; an error discards the write."""

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

    def notes(self) -> list[str]:
        return []

    def rescue(self) -> Rescued:
        raise StoreError("A store in memory has nothing to be rescued from.")

    def settle(self) -> None:
        """Does nothing: removed rows are gone."""
        self._ready()

    def backup(self, path: str, progress: Progress | None = None) -> None:
        raise StoreError(
            "A store in memory has no file to back up.", hint="Use `export` to write it out."
        )

    def close(self) -> None:
        self._closed = True
