"""The rules by which memories age: active, cooling, archived. Pure; `lifecycle` applies them.

| what | cools | is archived |
| --- | --- | --- |
| pinned, or processing | never | never |
| past its time to live | | at once |
| kept by an agent unasked | as below | `lifecycle.auto_days` unused, or over `lifecycle.auto_max` |
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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.engine.review.inbox import expiry

if TYPE_CHECKING:
    from holdfast.domain.change import Revision
    from holdfast.settings import Settings

_MOVED = frozenset({"state", "state_reason"})
_AGEING = frozenset({"active", "cooling"})


def next_state(
    memory: Memory, changed_at: datetime | None, now: datetime, settings: Settings
) -> tuple[str, str] | None:
    """The state a memory should move to and why; None where it should stay. `changed_at` is the
    result of `last_change`."""
    if memory.quarantine:
        return expiry(memory, now, settings)
    if memory.state not in _AGEING:
        return None
    state, reason = _target(memory, changed_at, now, settings)
    return None if state == memory.state else (state, reason)


def needs_revisions(memory: Memory) -> bool:
    """Whether only the revisions tell when a memory was last changed: the lifecycle may have moved
    it since, and that sets `updated_at` too."""
    return memory.version > 1 and (memory.state == "cooling" or bool(memory.state_reason))


def last_change(memory: Memory, revisions: Sequence[Revision]) -> datetime | None:
    """When a memory was last changed by anything but the lifecycle; None where it never was.
    `revisions` are only looked at where `needs_revisions` says so."""
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
    """Whether an agent kept it unasked; what was taken from a document goes with the document."""
    return memory.source == "extraction" and memory.trust != "user" and memory.parent is None


def last_access(memory: Memory) -> datetime:
    """When a memory was last accessed; one that never was counts from its creation."""
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
    # A key that is written every day holds a note of today.
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
