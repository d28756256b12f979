"""The Reader of the store contract on one state, which no write changes any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import DOWNWARDS, Filter, Order, place_in
from holdfast.domain.records import Agreed, Clash, Record, Turn
from holdfast.store.inmemory.search import SearchReader
from holdfast.store.inmemory.state import Part
from holdfast.store.single_writer import ReaderDefaults
from holdfast.store.values import first_named
from holdfast.text.terms import terms as terms_of


class MemoriesReader(Part):
    """The part of the Reader for hubs and memories."""

    def hubs(self) -> list[Hub]:
        return sorted((hub.hub for hub in self._state.hubs.values()), key=lambda hub: hub.name)

    def hub(self, name: str) -> Hub | None:
        return next((hub for hub in self.hubs() if hub.name == name), None)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        found = self._state.hubs.get(hub_id)
        return None if found is None else found.hub

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        return self._hub(hub_id).memories.get(memory_id)

    def _such(self, hub_id: str, **wanted: object) -> Iterable[Memory]:
        for memory in self._ordered(hub_id):
            if all(getattr(memory, name) == value for name, value in wanted.items()):
                yield memory

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        return next(iter(self._such(hub_id, number=number)), None)

    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        return first_named(self._such(hub_id, key=key, forgotten_at=None), audience)

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        return first_named(self._such(hub_id, source_path=source_path, forgotten_at=None), audience)

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
        down = order in DOWNWARDS
        keyed = [(place_in(memory, order), memory) for memory in self._ordered(hub_id)]
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

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        found = [memory for memory in self._ordered(hub_id) if wanted.admits(memory)]
        found.sort(key=lambda one: (one.pinned, one.last_use, one.number), reverse=True)
        return [memory.id for memory in found[:limit]]

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        visible = [m for m in self._hub(hub_id).memories.values() if m.visible]
        return [
            not any(m.session == session and low < m.number < high for m in visible)
            for session, low, high in pairs
        ]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        named = {memory.speaker for memory in self._hub(hub_id).memories.values()}
        return sorted(name for name in named if name is not None)[:limit]


class HistoryReader(Part):
    """The part of the Reader for changes, revisions and receipts."""

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        newest_first = list(self._hub(hub_id).changes.values())[::-1]
        if before is None:
            return newest_first[:limit]
        ids = [change.id for change in newest_first]
        start = ids.index(before) + 1 if before in ids else len(ids)
        return newest_first[start : start + limit]

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._hub(hub_id).changes.get(change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        changes = self._hub(hub_id).changes
        return {one: changes[one] for one in change_ids if one in changes}

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

    def newest_revision(self, hub_id: str) -> int:
        return self._state.sequence

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        later = {r.memory_id for r in self._hub(hub_id).revisions if r.sequence > sequence}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in later][:limit]

    def scan_changes(self, hub_id: str) -> Iterable[Change]:
        return list(self._hub(hub_id).changes.values())

    def scan_revisions(self, hub_id: str) -> Iterable[Revision]:
        return list(self._hub(hub_id).revisions)

    def receipts(self, hub_id: str) -> list[Receipt]:
        return list(self._hub(hub_id).receipts)


class LogReader(Part):
    """The part of the Reader for turns and mirrored files."""

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

    def scan_agreed(self, hub_id: str) -> Iterable[Agreed]:
        return [one for _, one in sorted(self._hub(hub_id).agreed.items())]

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        found = self._hub(hub_id).clashes.values()
        return [clash for clash in found if settled or clash.settled_at is None]


class RecordsReader(Part):
    """The part of the Reader for records; a viewer makes no difference to them."""

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        return self._state.records.get((hub_id, kind, record_id))

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        found = (one for one in self._of_kind(hub_id, kind) if one.lookup == lookup)
        return next(found, None)

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        return [one for one in self._of_kind(hub_id, kind) if one.id > after][:limit]

    def _of_kind(self, hub_id: str, kind: str) -> list[Record]:
        found = self._state.records.values()
        mine = [one for one in found if one.hub_id == hub_id and one.kind == kind]
        return sorted(mine, key=lambda one: one.id)

    def scan_records(self, hub_id: str) -> Iterable[Record]:
        found = (one for one in self._state.records.values() if one.hub_id == hub_id)
        return sorted(found, key=lambda one: (one.kind, one.id))

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        waiting = [
            (one.due, one.hub_id, one.id, one)
            for one in self._state.records.values()
            if one.kind == kind
            and one.due is not None
            and one.due <= by
            and hub_id in (None, one.hub_id)
        ]
        return [entry[3] for entry in sorted(waiting, key=lambda entry: entry[:3])][:limit]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        found = {one.hub_id for one in self.due_records(kind, by, limit=len(self._state.records))}
        return min((hub for hub in found if hub > after), default=None)


class InMemoryReader(
    MemoriesReader, HistoryReader, LogReader, RecordsReader, SearchReader, ReaderDefaults
):
    """The whole Reader."""

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
