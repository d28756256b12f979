"""Promotes a line of the journal to long-term memory in the write that notes it: what a person says
of themselves or orders for the future at once, other facts when they were said often enough.

The line stays in the journal of its day. The long-term memory points to it and to the turn it was
taken from, and one undo takes back both. `passes.consolidation` promotes what needs more time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import MADE_FROM, SAID_AT, Memory

# When it happened, in the metadata of a line of a journal, whose own time is when it was said.
EVENT = "event"
# Categories whose facts last longer than events do: said twice is enough.
_LASTING = frozenset({"preference", "person", "decision", "routine", "core"})
_MENTIONS_LASTING, _MENTIONS_OTHER = 2, 3


def as_long_term(line: Memory) -> Memory:
    """The long-term memory of a line of the journal; its id, number and times are set when it is
    added. A fact that was not dated holds since it was said, at the latest."""
    said_at = line.occurred_at or line.created_at
    event = event_of(line.metadata)
    metadata = {name: value for name, value in line.metadata.items() if name != EVENT}
    metadata |= {MADE_FROM: [line.id], SAID_AT: to_text(said_at)}
    since = event[0] if event and event[0] <= said_at else None
    return line._replace(
        layer="long_term",
        source_path=None,
        parent=line.id,
        kind="semantic" if line.kind == "episodic" and event is None else line.kind,
        stability="stable" if event is None else line.stability,
        occurred_at=event[0] if event else None,
        occurred_until=event[1] if event else None,
        valid_from=since or (None if event else said_at),
        supersedes=None,
        metadata=metadata,
        version=1,
        access_count=0,
        shown_count=0,
        mention_count=1,
        accessed_at=None,
    )


def event_of(metadata: Mapping[str, Any]) -> tuple[datetime, datetime | None] | None:
    """When the event of a line happened; None where the line names no time."""
    event = metadata.get(EVENT)
    if not isinstance(event, Mapping) or not isinstance(event.get("at"), str):
        return None
    until = event.get("until")
    try:
        return from_text(event["at"]), from_text(until) if isinstance(until, str) else None
    except ValueError:  # Metadata may be edited.
        return None


def is_said_often(line: Memory) -> bool:
    """Whether a line was said often enough to last, however long ago it was said first."""
    if line.kind == "episodic":
        return False
    least = _MENTIONS_LASTING if line.category in _LASTING else _MENTIONS_OTHER
    return line.mention_count >= least
