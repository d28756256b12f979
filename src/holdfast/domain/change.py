"""The history of memories: change sets, revisions, receipts, and how to walk back in time.

A revision holds only the fields it changed, old and new. The row is the newest state; any older
one is reached by undoing revisions from the newest back, so a memory that never changed costs
nothing but a line that says when it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

from holdfast.domain.memory import AWAITS, BOUNDARIES, REVISED, Memory
from holdfast.system.named_tuple import NamedTuple

Action: TypeAlias = Literal[
    "remember",
    "update",
    "supersede",
    "pin",
    "unpin",
    "archive",
    "forget",
    "restore",
    "lifecycle",
    "consolidate",
    "import",
    "undo",
]


class Change(NamedTuple):
    """A change set: what was done at once, and can be undone at once."""

    id: str
    hub_id: str
    at: datetime
    actor: str
    action: Action
    reason: str = ""
    undoes: str | None = None
    undone_by: str | None = None


class Revision(NamedTuple):
    """One change of one memory: the fields it set, as name → (old, new).

    The first revision of a memory has no fields: before it, there was nothing.
    """

    sequence: int
    change_id: str
    memory_id: str
    version: int
    at: datetime
    fields: Mapping[str, tuple[Any, Any]]

    @property
    def creates(self) -> bool:
        return self.version == 1


class Entry(NamedTuple):
    """An entry of a memory's history: the change set, and the memory before and after it."""

    change: Change
    revision: Revision
    before: Memory | None
    after: Memory


class Receipt(NamedTuple):
    """The record of a purge, without any of the content."""

    memory_id: str
    number: int
    at: datetime
    actor: str
    reason: str
    revisions: int


def changed_fields(before: Memory, after: Memory) -> dict[str, tuple[Any, Any]]:
    """The fields of a revision that differ, as name → (old, new)."""
    return {
        name: (old, new)
        for name in REVISED
        if (old := getattr(before, name)) != (new := getattr(after, name))
    }


def retires(before: Memory, fields: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether a change takes a memory out of what people find, though it can be brought back:
    archived, superseded, held for review, ended or made to expire sooner, or shown to fewer people.
    A question that waits for a decision is no memory yet; answering it puts it away."""
    if before.quarantine == AWAITS:
        return False
    for name, (old, new) in fields.items():
        match name:
            case "state" if new == "archived":
                return True
            case "superseded_by" | "quarantine" if new and not old:
                return True
            case "expires_at" | "valid_until" if new and (old is None or new < old):
                return True
            # Notes of the day are archived after some days, however much they are used.
            case "category" if new == "daily":
                return True
            case "boundary" if BOUNDARIES.index(new) < BOUNDARIES.index(old):
                return True
    return False


def entries(
    head: Memory, revisions: Sequence[Revision], changes: Mapping[str, Change]
) -> list[Entry]:
    """The memory's history, oldest first, from its newest state and its revisions in order."""
    out: list[Entry] = []
    after = head
    for index in range(len(revisions) - 1, -1, -1):
        revision = revisions[index]
        earlier = revisions[index - 1] if index else None
        before = None if earlier is None else _undone(after, revision, earlier)
        out.append(Entry(changes[revision.change_id], revision, before, after))
        if before is not None:
            after = before
    out.reverse()
    return out


def as_of(head: Memory, revisions: Iterable[Revision], at: datetime) -> Memory | None:
    """The memory as it was at a past time, by its revisions, or None if it did not exist yet.

    `revisions` are all of the memory's, in order.
    """
    kept = list(revisions)
    state = head
    while kept and kept[-1].at > at:
        later = kept.pop()
        if not kept:
            return None
        state = _undone(state, later, kept[-1])
    return state if kept else None


def _undone(after: Memory, revision: Revision, earlier: Revision) -> Memory:
    old = {name: pair[0] for name, pair in revision.fields.items()}
    return after._replace(**old, version=earlier.version, updated_at=earlier.at)
