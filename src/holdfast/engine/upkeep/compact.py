"""Bringing what was added over time into a clean state, without a model: of long-term memories that
say the same, one stays and takes the place of the others.

Nothing is rewritten and nothing is lost. The others are archived, each with a link to the one that
stays, and have their history; one undo brings all of them back. Texts count as the same when their
words are the same in the same order; what only seems alike is left to a person or a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import TRUSTS, Memory
from holdfast.domain.query import Filter
from holdfast.engine.core import Scope
from holdfast.engine.writing.recorder import Recorder
from holdfast.text.clean import TAGS_MAX
from holdfast.text.facts.sameness import words_key

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.store.base import Reader

REASON = "compacted: it says the same as #{}"
# The metadata key with the ids of the memories that the remaining one replaces.
SOURCES = "compacted_from"
# Metadata is bounded; more than this many are found by their links in the other direction.
_SOURCES_MAX = 500
_BATCH = 500


class Merged(NamedTuple):
    """One memory that stays, and those it replaces."""

    survivor: Memory
    sources: tuple[Memory, ...]


class Compacted(NamedTuple):
    """What was merged, and the change set that takes it back; None where there was nothing to do,
    or it was a dry run. `notes` say what else there is to know."""

    merged: tuple[Merged, ...]
    change: str | None = None
    notes: tuple[str, ...] = ()


def compact(scope: Scope, *, dry_run: bool = False) -> Compacted:
    """Merges what says the same; a dry run only says what it would merge."""
    if dry_run:
        with scope.read() as reader:
            scope.require_hub(reader)
            return Compacted(tuple(_to_merge(_long_term(reader, scope.hub_id, scope.now()))))
    scope.require("write")
    scope.require("retire")
    with scope.write() as writer:
        scope.require_hub(writer)
        recorder = Recorder(scope, writer, "update", reason="compacted")
        merged = [
            _merge(recorder, group)
            for group in _to_merge(_long_term(writer, scope.hub_id, scope.now()))
        ]
    recorder.embed()
    return Compacted(tuple(merged), recorder.change.id if merged else None)


def _long_term(reader: Reader, hub_id: str, now: datetime) -> Iterable[Memory]:
    wanted = Filter(layers=("long_term",), states=("active", "cooling"), alive_at=now)
    after: tuple[int, int] | None = None
    while True:
        batch = reader.memories(hub_id, wanted, order="number", after=after, limit=_BATCH)
        yield from (memory for memory in batch if memory.current(now))
        if len(batch) < _BATCH:
            return
        after = (batch[-1].number, batch[-1].number)


def _to_merge(memories: Iterable[Memory]) -> list[Merged]:
    groups: dict[tuple[Any, ...], list[Memory]] = {}
    for memory in memories:
        groups.setdefault(sameness(memory), []).append(memory)
    found = [ranked(group) for group in groups.values() if len(group) > 1]
    merged = [Merged(order[0], tuple(replaceable(order))) for order in found]
    return sorted((one for one in merged if one.sources), key=lambda one: one.survivor.number)


def sameness(memory: Memory) -> tuple[Any, ...]:
    """What two memories have in common that say the same."""
    return (
        words_key(memory.content),
        # An event that happened twice is two events; what holds at another time is another fact.
        memory.speaker,
        (memory.occurred_at, memory.occurred_until),
        (memory.valid_from, memory.valid_until, memory.expires_at),
        # What one may see and another may not is never put together.
        memory.boundary,
        memory.owner if memory.boundary == "private" else None,
    )


def ranked(group: Sequence[Memory]) -> list[Memory]:
    """The one that stays first: pinned, known by a key, said by the most trusted voice, most used,
    oldest."""
    return sorted(
        group,
        key=lambda memory: (
            not memory.pinned,
            memory.key is None,
            TRUSTS.index(memory.trust),
            -memory.access_count,
            memory.number,
        ),
    )


def replaceable(order: Sequence[Memory]) -> list[Memory]:
    """Those that can go: not one that somebody may ask for by its key or its path."""
    return [m for m in order[1:] if m.key is None and m.source_path is None]


def _merge(recorder: Recorder, group: Merged) -> Merged:
    survivor, sources = group
    ids = [memory.id for memory in sources]
    before = survivor.metadata.get(SOURCES)
    known = list(before) if isinstance(before, list) else []
    tags = dict.fromkeys([*survivor.tags, *(tag for memory in sources for tag in memory.tags)])
    stays = recorder.revise(
        survivor,
        tags=tuple(tags)[:TAGS_MAX],
        supersedes=survivor.supersedes or ids[0],
        metadata={**survivor.metadata, SOURCES: [*known, *ids][-_SOURCES_MAX:]},
    )
    reason = REASON.format(stays.number)
    gone = [
        recorder.revise(memory, superseded_by=stays.id, state="archived", state_reason=reason)
        for memory in sources
    ]
    return Merged(stays, tuple(gone))
