"""How memories age: active → cooling → archived, by rules on stability, category, age, access and
pin. The rules are pure; a dry run shows what they would do and why; a run is one change set.

| what | cools | is archived |
| --- | --- | --- |
| pinned, or processing | never | never |
| past its time to live | | at once |
| noticed by an agent | as below | `lifecycle.auto_days` unused, or over `lifecycle.auto_max` |
| daily, since last written | `lifecycle.daily_days` | `lifecycle.daily_archive_days` |
| stable | never | never |
| volatile | `lifecycle.volatile_days` unused | `lifecycle.archive_days` of cooling |
| evolving | `lifecycle.evolving_days` unused | `lifecycle.archive_days` of cooling |
| waiting for review | | `review.keep_days` after it was held |

Unused counts from the last access, change or creation, whichever is latest. Each doubling of the
access count (plus one) lengthens the time it takes to cool by half of it. A cooling memory that was
used again turns active. What an agent noticed by itself, and nobody said, is what it took from a
conversation and not from a document; above the cap the least recently used are archived.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.record import Record
from holdfast.domain.results import LifecycleMove
from holdfast.engine.core import Core, require_hub
from holdfast.engine.inbox import expiry, pending
from holdfast.engine.listing import scan_memories
from holdfast.engine.recorder import Recorder
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.store.base import Reader

_BATCH = 500


def next_state(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    """The state a memory should move to and why, or None where it should stay."""
    if memory.state not in ("active", "cooling"):
        return None
    if memory.expires_at is not None and memory.expires_at <= now:
        return "archived", "its time to live has passed"
    if memory.pinned:
        return ("active", "it is pinned") if memory.state == "cooling" else None
    if is_noticed(memory):
        days = _days(now - _last_use(memory))
        limit = settings["lifecycle.auto_days"]
        if days >= limit:
            return "archived", f"noticed by an agent, unused for {days} days (limit {limit})"
    if memory.category == "daily":
        return _next_daily(memory, now, settings)
    if memory.stability == "stable":
        return ("active", "it is stable") if memory.state == "cooling" else None
    return _next_by_use(memory, now, settings)


def is_noticed(memory: Memory) -> bool:
    """Whether an agent kept it unasked; what was taken from a document goes with the document."""
    return memory.source == "extraction" and memory.trust != "user" and memory.parent is None


def _last_use(memory: Memory) -> datetime:
    return memory.accessed_at or memory.created_at


def _next_daily(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    archive, cool = settings["lifecycle.daily_archive_days"], settings["lifecycle.daily_days"]
    days = _days(now - _written(memory, cool))
    if days >= archive:
        return "archived", f"a daily note, {days} days old (limit {archive})"
    if days >= cool and memory.state == "active":
        return "cooling", f"a daily note, {days} days old (limit {cool})"
    return None


def _written(memory: Memory, cool_days: int) -> datetime:
    """When a daily note was last written: a key that is used every day is a note of today."""
    first = memory.occurred_at or memory.created_at
    if memory.version == 1 or (memory.version == 2 and memory.state == "cooling"):
        return first
    if memory.state == "cooling":
        # The last change was the cooling itself, and it was due that many days after the writing.
        return max(first, memory.updated_at - timedelta(days=cool_days))
    return max(first, memory.updated_at)


def _next_by_use(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    base = settings[f"lifecycle.{memory.stability}_days"]
    limit = math.ceil(base * (1 + math.log2(1 + memory.access_count) / 2))
    # Cooling itself is a change of the row; what counts is when the memory was last of use.
    used = memory.accessed_at or memory.created_at
    if memory.state == "active":
        used = max(used, memory.updated_at)
    elif memory.version > 2:
        # It was changed before it cooled, so it cooled that many days after being of use.
        used = max(used, memory.updated_at - timedelta(days=limit))
    days = _days(now - used)
    archive = limit + settings["lifecycle.archive_days"]
    if memory.state == "active" and days >= limit:
        return "cooling", f"{memory.stability}, unused for {days} days (limit {limit})"
    if memory.state == "cooling" and days >= archive:
        return "archived", f"{memory.stability}, unused for {days} days (limit {archive})"
    if memory.state == "cooling" and days < limit and memory.accessed_at is not None:
        return "active", f"used {days} days ago"
    return None


def _step(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    """The same for what waits for review too."""
    rule = expiry if memory.quarantine else next_state
    return rule(memory, now, settings)


def _days(span: timedelta) -> int:
    return max(0, span // timedelta(days=1))


def lifecycle(
    core: Core, hub_id: str, hub: str, *, dry_run: bool = False, category: str | None = None
) -> list[LifecycleMove]:
    """Moves every memory that is due, or those of one category; with `dry_run`, only says what it
    would move. While another process is at it in this hub, there is nothing to do here."""
    if not dry_run:
        core.require("write")
    # The rules are the same for what is private to others, of which nothing is told.
    everyone = core.for_upkeep()
    due = _due(everyone, hub_id, hub, () if category is None else (category,))
    moves = sorted(due, key=lambda move: move.memory.number)
    if dry_run or not moves:
        return [move for move in moves if core.sees(move.memory)]
    with core.store.alone("lifecycle", hub_id) as mine:
        done = _moved(core, hub_id, hub, moves) if mine else []
    return sorted(
        (move for move in done if core.sees(move.memory)), key=lambda move: move.memory.number
    )


def _moved(core: Core, hub_id: str, hub: str, moves: list[LifecycleMove]) -> list[LifecycleMove]:
    """Moves these, a batch at a time, in one change set; those that were moved."""
    crowded = _crowded_out(core.settings)
    over = {move.memory.id: move.memory for move in moves if move.reason == crowded}
    done: list[LifecycleMove] = []
    change = None
    for start in range(0, len(moves), _BATCH):
        with core.for_upkeep().write(hub_id) as writer:
            require_hub(writer, hub_id, hub)
            recorder = Recorder(
                core, writer, hub_id, "lifecycle", reason="lifecycle rules", change=change
            )
            ids = [move.memory.id for move in moves[start : start + _BATCH]]
            for memory in writer.memories_by_id(hub_id, ids).values():
                # Judged again: someone may have used or changed it in the meantime.
                step = _step(memory, core.now(), core.settings)
                if memory.id in over and _is_unused_since(over[memory.id], memory):
                    step = "archived", crowded
                if step is not None and memory.forgotten_at is None:
                    moved = recorder.revise(memory, state=step[0], state_reason=step[1])
                    done.append(LifecycleMove(moved, *step))
            if recorder.written:
                change = recorder.change
    return done


# Once a day is often enough for rules that count in days.
_EVERY = timedelta(days=1)


def lifecycle_when_due(core: Core, hub_id: str, hub: str) -> list[LifecycleMove]:
    """Runs the rules where they have not run for a day, for who cannot count on anyone else."""
    with core.store.read() as reader:
        if _ran_today(core, reader, hub_id):
            return []
    with core.store.write(hub=hub_id) as writer:
        require_hub(writer, hub_id, hub)
        if _ran_today(core, writer, hub_id):
            return []
        # Noted before: two processes do not both look through the hub.
        writer.put_record(Record(hub_id, "upkeep", "lifecycle", core.now(), {}))
    return lifecycle(core, hub_id, hub)


def _ran_today(core: Core, reader: Reader, hub_id: str) -> bool:
    last = reader.record(hub_id, "upkeep", "lifecycle")
    return last is not None and core.now() - last.at < _EVERY


def _due(core: Core, hub_id: str, hub: str, categories: tuple[str, ...]) -> Iterator[LifecycleMove]:
    now = core.now()
    most = core.settings["lifecycle.auto_max"]
    # Of what agents noticed, those used last, the longest unused at the top; and their steps.
    noticed: list[tuple[datetime, int, Memory]] = []
    steps: dict[str, tuple[str, str]] = {}
    wanted = Filter(states=("active", "cooling"), categories=categories)
    for memory in scan_memories(core, hub_id, hub, wanted):
        step = next_state(memory, now, core.settings)
        archived = step is not None and step[0] == "archived"
        # The cap is on all categories together.
        if archived or categories or memory.pinned or not is_noticed(memory):
            if step is not None:
                yield LifecycleMove(memory, *step)
            continue
        if step is not None:
            steps[memory.id] = step
        heappush(noticed, (_last_use(memory), memory.number, memory))
        if len(noticed) > most:
            least = heappop(noticed)[2]
            steps.pop(least.id, None)
            yield LifecycleMove(least, "archived", _crowded_out(core.settings))
    for _, _, memory in noticed:
        if memory.id in steps:
            yield LifecycleMove(memory, *steps[memory.id])
    with core.read() as reader:
        held = list(pending(reader, hub_id, categories=categories))
    for memory in held:
        step = expiry(memory, now, core.settings)
        if step is not None:
            yield LifecycleMove(memory, *step)


def _crowded_out(settings: Settings) -> str:
    return f"noticed by an agent, and {settings['lifecycle.auto_max']} others were used later"


def _is_unused_since(seen: Memory, memory: Memory) -> bool:
    """Whether it still is what it was when it was counted."""
    same = _last_use(memory) == _last_use(seen) and memory.state in ("active", "cooling")
    return same and is_noticed(memory) and not memory.pinned
