"""The memories that belong in MEMORY.md. Reading all of them is most of what a sync costs, so what
was read is kept, and of the next sync only what has changed since: every change is a revision in a
change set, so the store can say which ones to look at again.

Counters (shown, accessed) move without a change set, and are not to be trusted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from holdfast.domain.query import Filter
from holdfast.files.stamp import Token

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Store

_WANTED = Filter(layers=("long_term",), states=("active", "cooling"))
_BATCH = 500
# With more change sets, or more memories in them, reading everything is about as fast.
_CHANGES_MAX = 32
_REVISIONS_MAX = 500
# Some 2 KB each: more would be too much to hold for a file that nobody reads to its end.
_KEPT_MAX = 20_000


class Known(NamedTuple):
    """The hub's state when they were read, and the memories by id, in the order of their numbers;
    of some of them the end is known beforehand."""

    token: Token
    memories: dict[str, Memory]
    ending: frozenset[str]

    def at(self, now: datetime) -> dict[str, Memory]:
        """Those that hold at this moment."""
        over = {one for one in self.ending if not self.memories[one].current(now)}
        if not over:
            return self.memories
        return {key: memory for key, memory in self.memories.items() if key not in over}


_KNOWN: WeakKeyDictionary[Store, dict[str, Known]] = WeakKeyDictionary()


def known_memories(
    store: Store, reader: Reader, hub_id: str, token: Token, now: datetime
) -> dict[str, Memory]:
    """The memories that belong in the file, by id; nobody may change what is returned. The reader
    is of this store, sees everything in it, and `token` is the state that it sees."""
    kept = _KNOWN.setdefault(store, {})
    known = kept.get(hub_id)
    if known is None or known.token != token:
        known = (known and _later(reader, hub_id, known, token)) or _read(reader, hub_id, token)
        if len(known.memories) <= _KEPT_MAX:
            kept[hub_id] = known
        else:
            kept.pop(hub_id, None)
    return known.at(now)


def our_memories(core: Core, reader: Reader, hub_id: str) -> list[Memory]:
    """The memories that belong in the file, by number."""
    now = core.now()
    return [memory for memory in _wanted(reader, hub_id) if memory.current(now)]


def _read(reader: Reader, hub_id: str, token: Token) -> Known:
    found = _wanted(reader, hub_id)
    out = {memory.id: memory for memory in found if memory.superseded_by is None}
    return Known(token, out, _ending(out))


def _wanted(reader: Reader, hub_id: str) -> Iterator[Memory]:
    """Those that may belong in the file, by number."""
    after: tuple[int, int] | None = None
    while True:
        batch = reader.memories(hub_id, _WANTED, order="number", after=after, limit=_BATCH)
        yield from batch
        if len(batch) < _BATCH:
            return
        after = (batch[-1].number, batch[-1].number)


def _later(reader: Reader, hub_id: str, before: Known, token: Token) -> Known | None:
    """What was known, with what has changed since; None where that cannot be told."""
    touched = _touched_since(reader, hub_id, before.token, token)
    if touched is None:
        return None
    rows = reader.memories_by_id(hub_id, sorted(touched))
    new = sum(memory.number > before.token.numbers for memory in rows.values())
    if new != token.numbers - before.token.numbers:
        # An older change set has grown, so its memories would have to be looked at as well.
        return None
    out = dict(before.memories)
    for one in touched:
        memory = rows.get(one)
        if memory is not None and _WANTED.admits(memory) and memory.superseded_by is None:
            out[one] = memory
        else:
            out.pop(one, None)
    if out.keys() - before.memories.keys():
        out = dict(sorted(out.items(), key=lambda pair: pair[1].number))
    again = {one: out[one] for one in touched if one in out}
    return Known(token, out, (before.ending - touched) | _ending(again))


def _touched_since(reader: Reader, hub_id: str, before: Token, now: Token) -> set[str] | None:
    """The memories that have a revision since; None where there are too many, or some are purged,
    which leaves no revision."""
    if before.purged != now.purged:
        return None
    touched: set[str] = set()
    for change in reader.changes(hub_id, limit=_CHANGES_MAX):
        if change.id == before.change:
            return touched
        touched.update(one.memory_id for one in reader.revisions_of(hub_id, change.id))
        if len(touched) > _REVISIONS_MAX:
            return None
    return None


def _ending(memories: dict[str, Memory]) -> frozenset[str]:
    return frozenset(
        one
        for one, memory in memories.items()
        if memory.expires_at is not None or memory.valid_until is not None
    )
