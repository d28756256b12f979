"""The review inbox: which items are in it, and when they go by themselves.

An item is a memory with a reason in `quarantine` that is neither forgotten nor archived. What
becomes of items is decided in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.review import (
    AWAITS,
    CONTRADICTS,
    EXPIRED,
    KINDS,
    Item,
    is_pending,
    kind_of,
    names_of,
    with_code,
)
from holdfast.engine.core import Core, Scope
from holdfast.errors import InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.store.base import Reader

_BATCH = 500
# A memory has seldom more than two successors; this many would be a ring.
_CHAIN_MAX = 100


def expires_at(memory: Memory, settings: Settings) -> datetime:
    """When an item goes by itself: so many days after it was held, changed or brought back."""
    return memory.updated_at + timedelta(days=settings["review.keep_days"])


def expiry(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    """The step that the lifecycle takes with an item: the state it moves to and why."""
    if not is_pending(memory) or expires_at(memory, settings) > now:
        return None
    return "archived", with_code(
        EXPIRED, f"nobody looked at it for {settings['review.keep_days']} days"
    )


# Looking


def review(
    scope: Scope, *, kind: str | None = None, source: str | None = None, limit: int | None = None
) -> list[Item]:
    """The items, oldest first."""
    if limit is not None and limit < 1:
        raise InvalidInput(f"The limit is {limit}; it must be at least 1.")
    with scope.read() as reader:
        scope.require_hub(reader)
        found: list[Item] = []
        for memory in wanted_ones(reader, scope.hub_id, kind, source):
            if limit is not None and len(found) == limit:
                break
            found.append(item_of(scope.core, reader, memory))
        return found


def item_of(core: Core, reader: Reader, memory: Memory) -> Item:
    about = about_of(reader, memory)
    return Item(
        memory, kind_of(memory), memory.quarantine, about, expires_at(memory, core.settings)
    )


def count(scope: Scope, *, most: int | None = None) -> int:
    """How many items there are; counting ends at `most`, for who only shows it on the side."""
    with scope.read() as reader:
        scope.require_hub(reader)
        found = 0
        for _ in pending(reader, scope.hub_id):
            found += 1
            if found == most:
                break
        return found


def pending(
    reader: Reader, hub_id: str, *, source: str | None = None, categories: tuple[str, ...] = ()
) -> Iterator[Memory]:
    """The memories that are items, by number."""
    wanted = Filter(quarantined=True, came_from=source, categories=categories)
    after: tuple[Any, int] | None = None
    while True:
        batch = reader.memories(hub_id, wanted, order="number", after=after, limit=_BATCH)
        yield from (memory for memory in batch if memory.quarantine != AWAITS)
        if len(batch) < _BATCH:
            return
        after = (batch[-1].number, batch[-1].number)


def wanted_ones(
    reader: Reader, hub_id: str, kind: str | None, source: str | None
) -> Iterator[Memory]:
    """The same of one kind."""
    if kind is not None:
        clean.one_of(kind, KINDS, "kind")
    for memory in pending(reader, hub_id, source=source):
        if kind is None or kind_of(memory) == kind:
            yield memory


def about_of(reader: Reader, memory: Memory) -> Memory | None:
    """What approving it would change or replace, in its current version, and only between memories
    that the same people see."""
    names = names_of(memory)
    found = None
    if names.get("key"):
        found = reader.memory_by_key(memory.hub_id, names["key"], audience=memory.audience)
    if found is None and names.get("source_path"):
        path = names["source_path"]
        found = reader.memory_by_path(memory.hub_id, path, audience=memory.audience)
    other = names.get("supersedes")
    if kind_of(memory) in ("conflict", "low_trust"):
        other = memory.metadata.get(CONTRADICTS) or other
    if found is None and isinstance(other, str):
        found = _newest(reader, memory.hub_id, other)
    if found is None or found.id == memory.id or found.audience != memory.audience:
        return None
    return found if found.visible and found.state != "archived" else None


def _newest(reader: Reader, hub_id: str, memory_id: str) -> Memory | None:
    """The memory, or what took its place since."""
    memory = reader.memory(hub_id, memory_id)
    for _ in range(_CHAIN_MAX):
        if memory is None or memory.superseded_by is None:
            return memory
        memory = reader.memory(hub_id, memory.superseded_by)
    return None
