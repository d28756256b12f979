"""The rules by which memories age: active, cooling, archived. The rules are pure functions. A run
finds the memories that should have another state and moves them as one change set; a dry run
returns the same moves and changes nothing.

| what | cools | is archived |
| --- | --- | --- |
| pinned, or processing | never | never |
| past its time to live | | at once |
| by an agent, unasked | as below | `lifecycle.auto_days` unused, or past `lifecycle.auto_max` |
| daily, since last written | `lifecycle.daily_days` | `lifecycle.daily_archive_days` |
| stable | never | never |
| volatile | `lifecycle.volatile_days` unused | `lifecycle.archive_days` of cooling |
| evolving | `lifecycle.evolving_days` unused | `lifecycle.archive_days` of cooling |
| waiting for review | | `review.keep_days` after it was held |

Unused counts from the last access, change or creation, whichever is latest. Each doubling of the
access count (plus one) lengthens the time it takes to cool by half of it.

The target state depends only on the settings, the clock and what happened to the memory, never on
its present state or on earlier runs. So one run reaches the right state, however late it comes, and
a second run changes nothing.

Also compacts long-term memories without a model: of those with the same words in the same
order, one stays and replaces the others, which are archived with a link to it. Nothing is
rewritten, and one undo brings all of them back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.hub import PersonName
from holdfast.domain.memory import TRUSTS, Memory
from holdfast.domain.query import Filter
from holdfast.domain.results import LifecycleMove, LifecycleMoves
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.listing import scan_memories
from holdfast.engine.review.inbox import expiry, pending
from holdfast.engine.upkeep import automatic
from holdfast.engine.upkeep.automatic import LifecycleRun
from holdfast.engine.writing.recorder import Recorder
from holdfast.store.values import every_memory
from holdfast.text.clean import TAGS_MAX
from holdfast.text.facts.statements import words_key

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.change import Change, Revision
    from holdfast.settings import Settings
    from holdfast.store.base import Reader


_MOVED = frozenset({"state", "state_reason"})
_AGEING = frozenset({"active", "cooling"})


def next_state(
    memory: Memory, changed_at: datetime | None, now: datetime, settings: Settings
) -> tuple[str, str] | None:
    """The state that the lifecycle should move a memory to, and the reason; None if it should stay.
    `changed_at` is the result of `last_change`."""
    if memory.quarantine:
        return expiry(memory, now, settings)
    if memory.state not in _AGEING:
        return None
    state, reason = _target(memory, changed_at, now, settings)
    return None if state == memory.state else (state, reason)


def needs_revisions(memory: Memory) -> bool:
    """Whether only the revisions show when a memory was last changed: the lifecycle may have moved
    it since, which also sets `updated_at`."""
    return memory.version > 1 and (memory.state == "cooling" or bool(memory.state_reason))


def last_change(memory: Memory, revisions: Sequence[Revision]) -> datetime | None:
    """When a memory was last changed by anything but the lifecycle; None if it never was.
    `revisions` are only used if `needs_revisions` is true."""
    if memory.version == 1:
        return None
    if not needs_revisions(memory):
        return memory.updated_at
    changes = [one.at for one in revisions if not (one.creates or _is_move(one))]
    return max(changes, default=None)


def _is_move(revision: Revision) -> bool:
    """Whether a revision is a move of the lifecycle between active and cooling: it sets the state
    with a reason, and nothing else. An undo and a restore clear the reason."""
    reason = revision.fields.get("state_reason", ("", ""))[1]
    states = revision.fields.get("state", ("", ""))
    return revision.fields.keys() <= _MOVED and bool(reason) and set(states) == _AGEING


def is_noticed(memory: Memory) -> bool:
    """Whether automatic memory stored it from a conversation, for the lifecycle. Facts from a
    document age with the document."""
    return memory.source == "extraction" and memory.trust != "user" and memory.parent is None


def last_access(memory: Memory) -> datetime:
    """When a memory was last accessed; by default, when it was created."""
    return memory.accessed_at or memory.created_at


def _target(
    memory: Memory, changed_at: datetime | None, now: datetime, settings: Settings
) -> tuple[str, str]:
    if memory.expires_at is not None and memory.expires_at <= now:
        return "archived", "its time to live has passed"
    if memory.pinned:
        return "active", "it is pinned"
    if is_noticed(memory):
        days = _days(now - last_access(memory))
        limit = settings["lifecycle.auto_days"]
        if days >= limit:
            return "archived", f"noticed by an agent, unused for {days} days (limit {limit})"
    if memory.category == "daily":
        return _daily_target(memory, changed_at, now, settings)
    if memory.stability == "stable":
        return "active", "it is stable"
    return _target_by_use(memory, changed_at, now, settings)


def _daily_target(
    memory: Memory, changed_at: datetime | None, now: datetime, settings: Settings
) -> tuple[str, str]:
    archive, cool = settings["lifecycle.daily_archive_days"], settings["lifecycle.daily_days"]
    # A key that is written every day contains a note of today.
    written = _latest(memory.occurred_at or memory.created_at, changed_at)
    days = _days(now - written)
    if days >= archive:
        return "archived", f"a daily note, {days} days old (limit {archive})"
    if days >= cool:
        return "cooling", f"a daily note, {days} days old (limit {cool})"
    return "active", f"a daily note, written {days} days ago"


def _target_by_use(
    memory: Memory, changed_at: datetime | None, now: datetime, settings: Settings
) -> tuple[str, str]:
    base = settings[f"lifecycle.{memory.stability}_days"]
    limit = math.ceil(base * (1 + math.log2(1 + memory.access_count) / 2))
    archive = limit + settings["lifecycle.archive_days"]
    days = _days(now - _latest(last_access(memory), changed_at))
    if days >= archive:
        return "archived", f"{memory.stability}, unused for {days} days (limit {archive})"
    if days >= limit:
        return "cooling", f"{memory.stability}, unused for {days} days (limit {limit})"
    return "active", f"used {days} days ago"


def _latest(first: datetime, second: datetime | None) -> datetime:
    return first if second is None else max(first, second)


def _days(span: timedelta) -> int:
    return max(0, span // timedelta(days=1))


_BATCH = 500
# The actor of automatic runs. `undo` without a change set reverts the caller's own last change, so
# it never reverts an automatic run by accident.
AUTOMATIC_ACTOR = PersonName("holdfast")


def lifecycle(
    scope: Scope, *, dry_run: bool = False, category: str | None = None
) -> LifecycleMoves:
    """Moves all memories that are due, or those of one category. Returns the moves of memories that
    the caller can see. Does nothing while another process runs it in this hub."""
    if dry_run:
        moves = _due(scope.acting(sees_all=True), category, scope.now())
        seen = [move for move in moves if scope.core.sees(move.memory)]
        return LifecycleMoves(sorted(seen, key=_by_number))
    scope.require("manage")
    scope.require("delete_any")
    return _run(scope, category)


def lifecycle_automatically(scope: Scope) -> LifecycleMoves:
    """Runs the lifecycle by itself, not for a caller; the run is one that `automatic.claim` has
    claimed."""
    return _run(scope.acting(AUTOMATIC_ACTOR, sees_all=True), None)


def _run(scope: Scope, category: str | None) -> LifecycleMoves:
    # The rules are the same for everyone's memories; the caller is shown the moves they can see.
    everyone = scope.acting(sees_all=True)
    now = scope.now()
    with scope.core.store.alone("lifecycle", scope.hub_id) as mine:
        if not mine:
            return LifecycleMoves()
        moves = sorted(_due(everyone, category, now), key=_by_number)
        done, change = _moved(scope, everyone, moves, now)
        if category is None:
            change_id = None if change is None else change.id
            automatic.note_run(scope.core, scope.hub_id, LifecycleRun(now, len(done), change_id))
    seen = [move for move in sorted(done, key=_by_number) if scope.core.sees(move.memory)]
    return LifecycleMoves(seen, None if change is None else change.id)


def _by_number(move: LifecycleMove) -> int:
    return move.memory.number


def _moved(
    scope: Scope, everyone: Scope, moves: Sequence[LifecycleMove], now: datetime
) -> tuple[list[LifecycleMove], Change | None]:
    """Moves memories in batches, as one change set. Each is checked again in the transaction that
    moves it, because it may have been used or changed in the meantime."""
    over_cap = _over_cap_reason(scope.settings)
    counted = {move.memory.id: move.memory for move in moves if move.reason == over_cap}
    done: list[LifecycleMove] = []
    change: Change | None = None
    for start in range(0, len(moves), _BATCH):
        with everyone.write() as writer:
            recorder = Recorder(
                scope,
                writer,
                "lifecycle",
                reason="lifecycle rules",
                change=change,
            )
            ids = [move.memory.id for move in moves[start : start + _BATCH]]
            found = [*writer.memories_by_id(scope.hub_id, ids).values()]
            for memory, changed_at in _with_last_change(writer, scope.hub_id, found):
                step = next_state(memory, changed_at, now, scope.settings)
                if memory.id in counted and _is_unused_since(counted[memory.id], memory):
                    step = "archived", over_cap
                if step is not None and memory.forgotten_at is None:
                    moved = recorder.revise(memory, state=step[0], state_reason=step[1])
                    done.append(LifecycleMove(moved, *step))
            if recorder.written:
                change = recorder.change
    return done, change


def _with_last_change(
    reader: Reader, hub_id: str, memories: Sequence[Memory]
) -> Iterator[tuple[Memory, datetime | None]]:
    """Each memory and when it was last changed by anything but the lifecycle."""
    moved = [memory.id for memory in memories if needs_revisions(memory)]
    revisions = reader.revisions_by_memory(hub_id, moved)
    for memory in memories:
        yield memory, last_change(memory, revisions.get(memory.id, []))


def _due(scope: Scope, category: str | None, now: datetime) -> Iterator[LifecycleMove]:
    """The moves that are due, in no order."""
    most = scope.settings["lifecycle.auto_max"]
    # A heap of the most recently used memories of automatic memory, with the least recently used on
    # top.
    kept: list[tuple[datetime, int, Memory]] = []
    steps: dict[str, tuple[str, str]] = {}
    for memory, changed_at in _candidates(scope, category):
        step = next_state(memory, changed_at, now, scope.settings)
        archived = step is not None and step[0] == "archived"
        # The limit applies to all categories together.
        if archived or category is not None or memory.pinned or not is_noticed(memory):
            if step is not None:
                yield LifecycleMove(memory, *step)
            continue
        if step is not None:
            steps[memory.id] = step
        heappush(kept, (last_access(memory), memory.number, memory))
        if len(kept) > most:
            least = heappop(kept)[2]
            steps.pop(least.id, None)
            yield LifecycleMove(least, "archived", _over_cap_reason(scope.settings))
    for _, _, memory in kept:
        if memory.id in steps:
            yield LifecycleMove(memory, *steps[memory.id])
    with scope.read() as reader:
        held = list(pending(reader, scope.hub_id, categories=_categories(category)))
    for memory in held:
        step = next_state(memory, None, now, scope.settings)
        if step is not None:
            yield LifecycleMove(memory, *step)


def _candidates(scope: Scope, category: str | None) -> Iterator[tuple[Memory, datetime | None]]:
    """Every memory that may move, except those held for review."""
    wanted = Filter(states=("active", "cooling"), categories=_categories(category))
    batch: list[Memory] = []
    for memory in scan_memories(scope, wanted):
        batch.append(memory)
        if len(batch) == _BATCH:
            yield from _looked_up(scope.core, scope.hub_id, batch)
            batch = []
    yield from _looked_up(scope.core, scope.hub_id, batch)


def _looked_up(
    core: Core, hub_id: str, memories: Sequence[Memory]
) -> list[tuple[Memory, datetime | None]]:
    with core.read() as reader:
        return list(_with_last_change(reader, hub_id, memories))


def _categories(category: str | None) -> tuple[str, ...]:
    return () if category is None else (category,)


def _over_cap_reason(settings: Settings) -> str:
    return f"noticed by an agent, and {settings['lifecycle.auto_max']} others were used later"


def _is_unused_since(seen: Memory, memory: Memory) -> bool:
    """Whether it is unused and unchanged since it was counted."""
    same = last_access(memory) == last_access(seen) and memory.state in ("active", "cooling")
    return same and is_noticed(memory) and not memory.pinned


REASON = "compacted: it says the same as #{}"
# The metadata key with the ids of the memories that the remaining one replaces.
SOURCES = "compacted_from"
# Metadata is limited in size; further ones are found by their links in the other direction.
_SOURCES_MAX = 500


class Merged(NamedTuple):
    """One memory that `compact` leaves, and those it replaces."""

    survivor: Memory
    sources: tuple[Memory, ...]


class Compacted(NamedTuple):
    """The result of `compact`: the merges, and the change set; None if there was nothing to do, or
    it was a dry run. `notes` are further messages."""

    merged: tuple[Merged, ...]
    change: str | None = None
    notes: tuple[str, ...] = ()


def compact(scope: Scope, *, dry_run: bool = False) -> Compacted:
    """Merges memories that say the same; a dry run only reports what it would merge."""
    if dry_run:
        with scope.read() as reader:
            return Compacted(tuple(_to_merge(_long_term(reader, scope.hub_id, scope.now()))))
    scope.require("write")
    scope.require("retire")
    with scope.write() as writer:
        recorder = Recorder(scope, writer, "update", reason="compacted")
        merged = [
            _merge(recorder, group)
            for group in _to_merge(_long_term(writer, scope.hub_id, scope.now()))
        ]
    recorder.embed()
    return Compacted(tuple(merged), recorder.change.id if merged else None)


def _long_term(reader: Reader, hub_id: str, now: datetime) -> Iterable[Memory]:
    wanted = Filter(layers=("long_term",), states=("active", "cooling"), alive_at=now)
    return (one for one in every_memory(reader, hub_id, wanted) if one.current(now))


def _to_merge(memories: Iterable[Memory]) -> list[Merged]:
    groups: dict[tuple[Any, ...], list[Memory]] = {}
    for memory in memories:
        groups.setdefault(sameness(memory), []).append(memory)
    found = [ranked(group) for group in groups.values() if len(group) > 1]
    merged = [Merged(order[0], tuple(replaceable(order))) for order in found]
    return sorted((one for one in merged if one.sources), key=lambda one: one.survivor.number)


def sameness(memory: Memory) -> tuple[Any, ...]:
    """The key by which `compact` groups memories that say the same."""
    return (
        words_key(memory.content),
        # An event that happened twice is two events; a fact of another period is another fact.
        memory.speaker,
        (memory.event_at, memory.occurred_until),
        (memory.valid_from, memory.valid_until, memory.expires_at),
        # Memories that different people may see are never merged.
        memory.boundary,
        memory.owner if memory.boundary == "private" else None,
    )


def ranked(group: Sequence[Memory]) -> list[Memory]:
    """A group for `compact` in order of preference: pinned, with a key, most trusted, most used,
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
    """The memories that may be merged into the first: none with a key or a path, which may be asked
    for."""
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
