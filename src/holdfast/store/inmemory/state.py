"""The data of the in-memory store: plain dictionaries, copied whole for each write."""

from __future__ import annotations

import time

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import EPOCH
from holdfast.domain.hub import NOBODY, Hub, Viewer
from holdfast.domain.memory import Memory
from holdfast.domain.records import Agreed, Clash, Record, Turn, as_memory
from holdfast.errors import DeadlineExceeded
from holdfast.store.values import IndexEntry


class IndexedPassage:
    """A passage with its index entry, and its vectors by model."""

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
    """The contents of one hub."""

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

    def owner(self, owner_id: str) -> Memory:
        """The memory of a passage, or its turn as one."""
        memory = self.memories.get(owner_id)
        return as_memory(self.turns[owner_id]) if memory is None else memory

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

    def seen_by(self, viewer: Viewer) -> HubContents:
        """Only what the viewer may see: memories, their rows, and change sets that changed one of
        them or of which nothing is left."""
        twin = HubContents(self.hub)
        twin.memories = {key: one for key, one in self.memories.items() if viewer.sees(one)}
        mine = twin.memories
        touched = {one.change_id for one in self.revisions}
        twin.revisions = [one for one in self.revisions if one.memory_id in mine]
        changed = {one.change_id for one in twin.revisions}
        twin.changes = {
            key: one for key, one in self.changes.items() if key in changed or key not in touched
        }
        # Rows without a boundary belong to the hub.
        if "hub" in viewer.boundaries:
            twin.receipts = self.receipts
            twin.turns = self.turns
        twin.agreed = self.agreed
        twin.clashes = {key: one for key, one in self.clashes.items() if one.memory_id in mine}
        twin.passages = {
            pk: one
            for pk, one in self.passages.items()
            if one.memory_id in mine or one.memory_id in twin.turns
        }
        twin.texts = {
            key: text for key, text in self.texts.items() if key in mine or key in twin.turns
        }
        twin.removals = self.removals
        return twin


class State:
    """The contents of a store. A state that readers may have is never changed, only replaced."""

    def __init__(self) -> None:
        self.hubs: dict[str, HubContents] = {}
        self.records: dict[tuple[str, str, str], Record] = {}
        self.sequence = 0

    def copy(self) -> State:
        twin = State()
        twin.hubs = {hub_id: hub.copy() for hub_id, hub in self.hubs.items()}
        twin.records = dict(self.records)
        twin.sequence = self.sequence
        return twin


class Part:
    """Base of the parts of the Reader: one state, for one viewer, with a deadline."""

    def __init__(
        self, state: State, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> None:
        self._state = state
        self._viewer = viewer
        self._seconds = deadline_s
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s

    def _in_time(self) -> None:
        if self._ends is not None and time.monotonic() > self._ends:
            raise DeadlineExceeded(
                f"The read was stopped after {self._seconds:g} s; this is not an empty answer.",
                hint="Narrow the query, or raise recall.deadline_s.",
            )

    def _whole(self, hub_id: str) -> HubContents:
        """The whole hub."""
        self._in_time()
        hub = self._state.hubs.get(hub_id)
        return HubContents(Hub(hub_id, "", NOBODY, EPOCH)) if hub is None else hub

    def _hub(self, hub_id: str) -> HubContents:
        """The hub as the viewer sees it."""
        hub = self._whole(hub_id)
        return hub if self._viewer is None else hub.seen_by(self._viewer)

    def _ordered(self, hub_id: str) -> list[Memory]:
        return sorted(self._hub(hub_id).memories.values(), key=lambda memory: memory.number)
