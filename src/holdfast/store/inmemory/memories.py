"""Reading hubs and memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory
from holdfast.domain.query import DOWNWARDS, Filter, Order, place_in
from holdfast.store.inmemory.part import Part
from holdfast.store.values import first_named


class MemoriesReader(Part):
    """The part of the Reader that is about hubs and memories."""

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
