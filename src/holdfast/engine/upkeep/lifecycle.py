"""Runs the lifecycle: finds the memories whose state should be another by `lifecycle_rules`, and
moves them as one change set. A dry run returns the same moves and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.domain.names import PersonName
from holdfast.domain.query import Filter
from holdfast.domain.results import LifecycleMove, LifecycleMoves
from holdfast.engine.core import Core
from holdfast.engine.reading.listing import scan_memories
from holdfast.engine.review.inbox import pending
from holdfast.engine.scope import Scope
from holdfast.engine.upkeep import lifecycle_due
from holdfast.engine.upkeep.lifecycle_due import LifecycleRun
from holdfast.engine.upkeep.lifecycle_rules import (
    is_noticed,
    last_access,
    last_change,
    needs_revisions,
    next_state,
)
from holdfast.engine.writing.recorder import Recorder

if TYPE_CHECKING:
    from holdfast.domain.change import Change
    from holdfast.settings import Settings
    from holdfast.store.base import Reader

_BATCH = 500
# Who acts in an automatic run. `undo` without a change set takes back what the caller did last, so
# it never takes back an automatic run by accident.
AUTOMATIC_ACTOR = PersonName("holdfast")


def lifecycle(
    scope: Scope, *, dry_run: bool = False, category: str | None = None
) -> LifecycleMoves:
    """Moves every memory that is due, or those of one category. Returns the moves of memories that
    the caller can see. Does nothing while another process runs it in this hub."""
    if dry_run:
        moves = _due(scope.acting(sees_all=True), category, scope.now())
        seen = [move for move in moves if scope.core.sees(move.memory)]
        return LifecycleMoves(sorted(seen, key=_by_number))
    scope.require("manage")
    scope.require("delete_any")
    return _run(scope, category)


def lifecycle_automatically(scope: Scope) -> LifecycleMoves:
    """The same for a run that nobody asked for; see `lifecycle_due.claim`."""
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
            lifecycle_due.note_run(
                scope.core, scope.hub_id, LifecycleRun(now, len(done), change_id)
            )
    seen = [move for move in sorted(done, key=_by_number) if scope.core.sees(move.memory)]
    return LifecycleMoves(seen, None if change is None else change.id)


def _by_number(move: LifecycleMove) -> int:
    return move.memory.number


def _moved(
    scope: Scope, everyone: Scope, moves: Sequence[LifecycleMove], now: datetime
) -> tuple[list[LifecycleMove], Change | None]:
    """Moves these, a batch at a time, in one change set. Each is judged again in the transaction
    that moves it, since it may have been used or changed in the meantime."""
    over_cap = _over_cap_reason(scope.settings)
    counted = {move.memory.id: move.memory for move in moves if move.reason == over_cap}
    done: list[LifecycleMove] = []
    change: Change | None = None
    for start in range(0, len(moves), _BATCH):
        with everyone.write() as writer:
            scope.require_hub(writer)
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
    # Of what agents kept unasked, the last used, with the least recently used on top of the heap.
    kept: list[tuple[datetime, int, Memory]] = []
    steps: dict[str, tuple[str, str]] = {}
    for memory, changed_at in _candidates(scope, category):
        step = next_state(memory, changed_at, now, scope.settings)
        archived = step is not None and step[0] == "archived"
        # The cap is on all categories together.
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
    """Every memory that may move, but those that wait for review."""
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
    """Whether it still is what it was when it was counted."""
    same = last_access(memory) == last_access(seen) and memory.state in ("active", "cooling")
    return same and is_noticed(memory) and not memory.pinned
