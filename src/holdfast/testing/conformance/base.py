"""Shared by the tests of the contract: how a store is opened, and values to put into it.

`observe` asks a reader every question there is about a hub. Two observations that are equal mean
that nothing a caller can see differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.domain.change import Action, Change
from holdfast.domain.hub import Hub, PersonName
from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING, ORDERS, Filter
from holdfast.store.base import Reader, Store, Writer
from holdfast.store.values import IndexEntry, TermQuery, TextQuery
from holdfast.testing import START
from holdfast.text.analysis.terms import searchable, terms
from holdfast.text.clean import content_hash

if TYPE_CHECKING:
    from hypothesis import settings

HUB = "hub_a"
MODEL = "model-one"
RECORD_KIND = "thing"
# More than any kit hub holds.
_ALL = 10_000
# Turns of the conversation log, and no memory.
TURNS = Filter(layers=("turn",), turns=True)


def turns_found(reader: Reader, terms: Sequence[str], wanted: Filter = TURNS) -> list[str]:
    """The ids of what holds one of the terms, in alphabetical order."""
    found = reader.search_terms(HUB, TermQuery(tuple(terms)), wanted, limit=_ALL)
    return sorted({one.memory_id for one in found})


class StoreCase:
    """Opens the store that is on trial; every promise is a subclass of this."""

    def open_store(self, tmp_path: Path) -> Store:
        """A store with its state under `tmp_path`; a durable one that is opened again there has
        it."""
        raise NotImplementedError("Say in your class how the store is opened: open_store().")

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.open_store(tmp_path)
        with store.write() as writer:
            writer.add_hub(make_hub())
        yield store
        store.close()


def at(seconds: float) -> datetime:
    """A moment that many seconds after the kit's start."""
    return START + timedelta(seconds=seconds)


def examples(count: int) -> settings:
    """So many examples on one store: what was written for the others is in it too."""
    from hypothesis import HealthCheck, settings

    fixture, executors = HealthCheck.function_scoped_fixture, HealthCheck.differing_executors
    checks = [fixture, executors, HealthCheck.too_slow]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks)


def make_hub(hub_id: str = HUB, name: str = "", **fields: Any) -> Hub:
    return Hub(hub_id, name or hub_id.removeprefix("hub_"), PersonName("owner"), START)._replace(
        **fields
    )


def make_memory(number: int, content: str = "", *, hub_id: str = HUB, **fields: Any) -> Memory:
    """A memory with foreseeable id, times and content."""
    content = content or f"note number{number}"
    plain = Memory(
        id=f"mem_{number}",
        hub_id=hub_id,
        number=number,
        content=content,
        content_hash=content_hash(content),
        title=content[:40],
        owner="owner",
        created_at=at(number),
        updated_at=at(number),
    )
    return plain._replace(**fields)


def make_entries(memory: Memory, vectors: Sequence[Sequence[bytes]] = ()) -> list[IndexEntry]:
    """One passage a line of the content, the title's words in the head; `vectors` are those of
    the windows of each passage."""
    entries = []
    start = 0
    windows = sum(map(len, vectors)) or 1
    for ordinal, line in enumerate(memory.content.split("\n")):
        own = tuple(vectors[ordinal]) if ordinal < len(vectors) else ()
        end = start + len(line)
        head = (*terms(memory.title), *terms(" ".join(memory.tags)))
        body = tuple(terms(line))
        entries.append(IndexEntry(ordinal, start, end, ("Heading",), body, head, windows, own))
        start = end + 1
    return entries


def index(
    writer: Writer,
    memory: Memory,
    vectors: Sequence[Sequence[bytes]] = (),
    *,
    model: str = MODEL,
) -> None:
    entries = make_entries(memory, vectors)
    writer.index(memory.hub_id, memory.id, searchable(memory), entries, model)


def put(
    writer: Writer,
    memory: Memory,
    vectors: Sequence[Sequence[bytes]] = (),
    *,
    model: str = MODEL,
    change_id: str = "",
    action: Action = "remember",
) -> Memory:
    """Adds a memory as an engine does: row, change set, revision, index; numbers are taken."""
    change = Change(
        change_id or f"chg_{memory.number}", memory.hub_id, memory.created_at, "tester", action
    )
    hub = writer.hub_by_id(memory.hub_id)
    if hub is not None and hub.numbers < memory.number:
        writer.take_numbers(memory.hub_id, memory.number - hub.numbers)
    writer.add_memory(memory)
    if writer.change(memory.hub_id, change.id) is None:
        writer.add_change(change)
    writer.add_revision(memory.hub_id, change.id, memory.id, memory.version, memory.updated_at, {})
    if memory.forgotten_at is None:
        index(writer, memory, vectors, model=model)
    return memory


def revise(
    writer: Writer, before: Memory, change_id: str, moment: datetime, **fields: Any
) -> Memory:
    """A new version of a memory, as an engine makes it."""
    after = before._replace(**fields, version=before.version + 1, updated_at=moment)
    if writer.change(before.hub_id, change_id) is None:
        writer.add_change(Change(change_id, before.hub_id, moment, "tester", "update"))
    writer.set_memory(after)
    changed = {name: (getattr(before, name), value) for name, value in fields.items()}
    writer.add_revision(before.hub_id, change_id, before.id, after.version, moment, changed)
    if after.forgotten_at is None:
        index(writer, after)
    else:
        writer.unindex(after.hub_id, after.id)
    return after


def observe(
    reader: Reader,
    hub_id: str,
    memories: Sequence[Memory],
    *,
    changes: Sequence[str] = (),
    model: str = MODEL,
) -> dict[str, Any]:
    """The answer of every reader method about one hub.

    The questions are made from `memories` and `changes`, whether the hub has them or not.
    """
    return {
        **_observe_rows(reader, hub_id, memories),
        **_observe_history(reader, hub_id, memories, changes),
        **_observe_search(reader, hub_id, memories),
        **_observe_vectors(reader, hub_id, memories, model),
        **_observe_log(reader, hub_id, memories),
        **_observe_records(reader, hub_id),
    }


def _observe_rows(reader: Reader, hub_id: str, memories: Sequence[Memory]) -> dict[str, Any]:
    keys = sorted({memory.key for memory in memories if memory.key is not None})
    paths = sorted({memory.source_path for memory in memories if memory.source_path is not None})
    sessions = sorted({memory.session for memory in memories if memory.session is not None})
    hub = reader.hub_by_id(hub_id)
    # Said before the others are asked: it must not change what they answer.
    reader.expect(hub_id, memories)
    return {
        "expect": None,
        "hub_by_id": hub,
        "hub": None if hub is None else reader.hub(hub.name),
        "hubs": [one for one in reader.hubs() if one.id == hub_id],
        "memory": [reader.memory(hub_id, memory.id) for memory in memories],
        "memory_by_number": [reader.memory_by_number(hub_id, m.number) for m in memories],
        "memory_by_key": [reader.memory_by_key(hub_id, key) for key in keys],
        "memory_by_path": [reader.memory_by_path(hub_id, path) for path in paths],
        "memories_by_hash": [reader.memories_by_hash(hub_id, m.content_hash) for m in memories],
        "memories_by_id": reader.memories_by_id(hub_id, [memory.id for memory in memories]),
        "memories": [
            reader.memories(hub_id, EVERYTHING, order=order, after=None, limit=_ALL)
            for order in ORDERS
        ],
        "ids_by_use": reader.ids_by_use(hub_id, EVERYTHING),
        "adjacent": reader.adjacent(hub_id, [(session, 0, _ALL) for session in sessions]),
        "speakers": reader.speakers(hub_id, limit=_ALL),
        "statistics": reader.statistics(hub_id),
    }


def _observe_history(
    reader: Reader, hub_id: str, memories: Sequence[Memory], changes: Sequence[str]
) -> dict[str, Any]:
    sets = [*(f"chg_{memory.number}" for memory in memories), *changes]
    return {
        "changes": reader.changes(hub_id, limit=_ALL),
        "change": [reader.change(hub_id, change_id) for change_id in sets],
        "changes_by_id": reader.changes_by_id(hub_id, sets),
        "last_undoable": reader.last_undoable(hub_id),
        "revisions": [reader.revisions(hub_id, memory.id) for memory in memories],
        "revisions_by_memory": reader.revisions_by_memory(
            hub_id, [memory.id for memory in memories]
        ),
        "revisions_of": [reader.revisions_of(hub_id, change_id) for change_id in sets],
        "changed_after": reader.changed_after(hub_id, at(-1)),
        # The mark itself may count every hub's revisions; what it finds is the hub's own.
        "newest_revision": reader.revised_since(hub_id, reader.newest_revision(hub_id), limit=_ALL),
        "revised_since": reader.revised_since(hub_id, 0, limit=_ALL),
        "scan_changes": list(reader.scan_changes(hub_id)),
        "scan_revisions": list(reader.scan_revisions(hub_id)),
        "receipts": reader.receipts(hub_id),
    }


def _observe_search(reader: Reader, hub_id: str, memories: Sequence[Memory]) -> dict[str, Any]:
    words = sorted({term for memory in memories for term in terms(memory.content)})
    needles = sorted({searchable(memory)[:12] for memory in memories})
    query = TermQuery(tuple(words))
    found = reader.search_terms(hub_id, query, EVERYTHING, limit=_ALL) if words else []
    return {
        "lexicon": reader.lexicon(hub_id, words),
        "vocabulary": [reader.vocabulary(hub_id, word[:2], limit=_ALL) for word in words],
        "search_terms": sorted(found, key=lambda one: one.passage_id),
        "search_substring": [
            reader.search_substring(hub_id, needle, EVERYTHING, limit=_ALL) for needle in needles
        ],
        "matching": [
            list(reader.matching(hub_id, TextQuery(needle, tuple(words[:1])), EVERYTHING, order=o))
            for needle in needles
            for o in ORDERS
        ],
        "passages": reader.passages(hub_id, [memory.id for memory in memories]),
        "candidates": reader.candidates(hub_id, range(1, 500), EVERYTHING),
    }


def _observe_log(reader: Reader, hub_id: str, memories: Sequence[Memory]) -> dict[str, Any]:
    words = sorted({term for memory in memories for term in terms(memory.content)})
    ids = reader.turn_ids(hub_id)
    found = reader.search_terms(hub_id, TermQuery(tuple(words)), TURNS, limit=_ALL)
    return {
        "turns": [*reader.turns(hub_id, limit=_ALL), *sorted(one.memory_id for one in found)],
        "turns_by_id": reader.turns_by_id(hub_id, ids),
        "turns_around": [reader.turns_around(hub_id, one, before=2, after=2) for one in ids],
        "adjacent_turns": reader.adjacent_turns(hub_id, list(pairwise(ids))),
        "turn_ids": ids,
        "log_size": [one for one in reader.log_size(hub_id) if one],
        "turns_by_speaker": reader.turns_by_speaker(hub_id, limit=_ALL),
        "scan_turns": list(reader.scan_turns(hub_id)),
        "agreed": reader.agreed(hub_id, "MEMORY.md"),
        "scan_agreed": list(reader.scan_agreed(hub_id)),
        "clashes": reader.clashes(hub_id, settled=True),
    }


def _observe_records(reader: Reader, hub_id: str) -> dict[str, Any]:
    found = reader.records(hub_id, RECORD_KIND, limit=_ALL)
    return {
        "records": found,
        "record": [reader.record(hub_id, RECORD_KIND, one.id) for one in found],
        "count_records": reader.count_records(hub_id, RECORD_KIND, limit=_ALL),
        "scan_records": list(reader.scan_records(hub_id)),
        "record_by_lookup": [
            reader.record_by_lookup(hub_id, RECORD_KIND, one.lookup)
            for one in found
            if one.lookup is not None
        ],
        "due_records": [
            one
            for one in reader.due_records(RECORD_KIND, at(_ALL), limit=_ALL)
            if one.hub_id == hub_id
        ],
        "due_hub": _is_due(reader, hub_id),
    }


def _is_due(reader: Reader, hub_id: str) -> bool:
    """Whether the hub is among those in which something is due, walked through one by one."""
    found = reader.due_hub(RECORD_KIND, at(_ALL))
    while found not in (None, hub_id):
        found = reader.due_hub(RECORD_KIND, at(_ALL), after=str(found))
    return found is not None


def _observe_vectors(
    reader: Reader, hub_id: str, memories: Sequence[Memory], model: str
) -> dict[str, Any]:
    length = reader.vector_index(hub_id, model)
    asked = [1.0] * length
    return {
        "vector_models": reader.vector_models(hub_id),
        "vector_index": length,
        # Only a store that has an index of its own is asked.
        "nearest": reader.nearest(hub_id, model, asked, limit=_ALL) if length else [],
        "vector_state": reader.vector_state(hub_id, model),
        "vectors": list(reader.vectors(hub_id, model, after=0)),
        "vectors_of": [reader.vectors_of(hub_id, model, memory.id) for memory in memories],
        "unembedded": reader.unembedded(hub_id, model, limit=_ALL),
        "unembedded_count": reader.unembedded_count(hub_id, model),
    }


def differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The differences of two observations; easier to read than both in full."""
    return {name: (one[name], two[name]) for name in one if one[name] != two[name]}
