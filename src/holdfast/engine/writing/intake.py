"""What one draft is, decided inside the write: new, a new version, a duplicate, a question for
review, or something that replaces another.

The order of the tests: source path, then key, then the file or page it is made from, then content.
The same path or key makes a new version; the same content (said in the same session, by the same
speaker, at the same time) is a duplicate and writes nothing. What is archived comes back when it is
remembered again. A new value of what an older memory says takes its place, where that is certain.
Transactions and batches are `remember`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import CLOSE_TO, Memory
from holdfast.domain.results import Duplicate, Quarantined, Remembered, Stored, Updated
from holdfast.domain.review import names_of, was_rejected, with_held, with_reason_of
from holdfast.engine.reading.lookup import find_memory
from holdfast.engine.writing import dedup
from holdfast.engine.writing.dedup import says_the_same, twin_of
from holdfast.engine.writing.drafts import Prepared, derived_title
from holdfast.engine.writing.edit import refuse_taken
from holdfast.engine.writing.recorder import Recorder
from holdfast.engine.writing.supersede import (
    doubted_by,
    ended_by,
    rivals_of,
    supersede,
    supersede_all,
)
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.engine.scope import Scope
    from holdfast.store.base import Writer

# What a push to the same path or key sets anew; pins, counters and history stay as they are.
_TAKEN_OVER = ("content", "content_hash", "content_type", "summary", "quarantine", "trust")
# And these only where the caller gave them.
_TAKEN_OVER_IF_GIVEN = (
    "title",
    "category",
    "tags",
    "kind",
    "stability",
    "boundary",
    "layer",
    "session",
    "speaker",
    "occurred_at",
    "occurred_until",
    "valid_from",
    "valid_until",
    "expires_at",
    "metadata",
    "key",
    "source_path",
)


def take_in(
    writer: Writer, recorder: Recorder, scope: Scope, item: Prepared, *, by_rule: bool = False
) -> Remembered:
    """Decides what one draft is, and writes it."""
    if item.memory.quarantine and (known := _looked_at(writer, item)) is not None:
        return Duplicate(known)
    twin = twin_of(writer, item.draft, item.memory)
    if item.memory.quarantine and (item.draft.supersedes or (twin and not twin.quarantine)):
        # What waits for review neither changes nor replaces what a trusted voice said.
        item = _apart(writer, scope, item)
        twin = twin_of(writer, item.draft, item.memory)
    if item.draft.supersedes is not None:
        previous = find_memory(writer, scope, item.draft.supersedes)
        if twin is not None and twin.id != previous.id:
            raise InvalidInput(
                f"#{twin.number} has this content, key or path already.",
                hint=f"Supersede with other words, or forget #{previous.number} instead.",
            )
        if twin is None:
            return supersede(recorder, item, previous)
    if twin is None:
        rivals = rivals_of(writer, recorder, item) if by_rule else []
        if (doubted := doubted_by(item, rivals)) is not None:
            # Once more, as what it is now: it may wait already, or a person has said no to it.
            return take_in(writer, recorder, scope, doubted)
        # A key that deletes nothing replaces nothing either: then both are there.
        ended = [one for one in ended_by(rivals) if recorder.may_retire(one.memory)]
        if ended:
            return supersede_all(recorder, item, ended)
        return _store(recorder, item, _still_close(writer, item, recorder))
    return renew(writer, recorder, item, twin)


def _looked_at(writer: Writer, item: Prepared) -> Memory | None:
    """The memory that shows these words already, or that a person has rejected: what would be held
    for review is then no question any more."""
    memory = item.memory
    if item.draft.supersedes is not None:
        return None
    for other in writer.memories_by_hash(memory.hub_id, memory.content_hash):
        shown = other.visible and other.state != "archived"
        held = names_of(other)
        named = (held.get("key") or other.key, held.get("source_path") or other.source_path)
        if (
            (shown or (was_rejected(other) and other.quarantine))
            and memory.key in (None, named[0])
            and memory.source_path in (None, named[1])
            and says_the_same(memory._replace(quarantine=other.quarantine, key=None), other)
        ):
            return other
    return None


def _apart(writer: Writer, scope: Scope, item: Prepared) -> Prepared:
    """The item without the names that a trusted voice's memory has; which they were is noted, so
    that it can take its place once a person has approved it."""
    nowhere: dict[str, Any] = {"key": None, "source_path": None, "supersedes": None}
    memory = item.memory
    held = {"key": memory.key, "source_path": memory.source_path}
    if item.draft.supersedes is not None:
        held["supersedes"] = find_memory(writer, scope, item.draft.supersedes).id
    noted = {name: value for name, value in held.items() if value is not None}
    metadata = with_held(memory.metadata, noted) if noted else memory.metadata
    return Prepared(
        item.draft._replace(**nowhere),
        memory._replace(**nowhere, metadata=metadata),
        None,
        item.facts,
    )


def _store(recorder: Recorder, item: Prepared, close: Memory | None) -> Remembered:
    new = item.memory
    if close is not None:
        link = {"id": close.id, "number": close.number}
        new = new._replace(metadata={**new.metadata, CLOSE_TO: link})
    memory = recorder.add(new, item.indexed)
    if memory.quarantine:
        return Quarantined(memory, recorder.change.id, memory.quarantine)
    return Stored(memory, recorder.change.id, close)


def _still_close(writer: Writer, item: Prepared, recorder: Recorder) -> Memory | None:
    """What was found close to it before the write began, where that still holds."""
    if item.close is None:
        return None
    found = writer.memories_by_id(item.memory.hub_id, [item.close]).get(item.close)
    holds = found is not None and found.visible and found.current(recorder.change.at)
    return found if holds else None


# ── a new version ────────────────────────────────────────────────────────────────────────────


def renew(writer: Writer, recorder: Recorder, item: Prepared, twin: Memory) -> Remembered:
    new = item.memory
    changes: dict[str, Any] = {}
    same = dedup.is_the_same_thing(new, twin)
    if new.content_hash != twin.content_hash and not same:
        changes = new_version(twin, new)
    for name in _TAKEN_OVER_IF_GIVEN:
        if getattr(item.draft, name) is not None:
            changes[name] = getattr(new, name)
    by_key = new.key is not None and new.key == twin.key
    if twin.source_path is not None and not by_key and new.source != "import":
        # The same words in a second file: the memory stays where it is known. Whoever walks a
        # folder and brings them in knows better: there it is a file that was moved.
        changes.pop("source_path", None)
    by_path = new.source_path is not None and new.source_path == twin.source_path
    if not (by_key or by_path) and twin.layer == "long_term":
        # Whoever says it once more does not mean to take it out of what is always shown.
        changes.pop("layer", None)
    if item.draft.pinned:
        changes["pinned"] = True
    if twin.state in ("archived", "cooling"):
        changes |= {"state": "active", "state_reason": ""}
    changes |= dedup.renewed(item.draft, new, twin, same=same)
    # Found by its path, it may be given a key that is another's.
    refuse_taken(writer, twin._replace(**changes))
    memory = recorder.revise(twin, item.indexed, **changes)
    if memory is twin:
        return Duplicate(twin)
    if memory.quarantine:
        return Quarantined(memory, recorder.change.id, memory.quarantine)
    return Updated(memory, recorder.change.id, twin)


def new_version(twin: Memory, new: Memory) -> dict[str, Any]:
    """What a memory takes over from words that are pushed to its key or its path."""
    changes = {name: getattr(new, name) for name in _TAKEN_OVER}
    if twin.quarantine or new.quarantine:
        changes["metadata"] = with_reason_of(twin.metadata, new.metadata)
    if twin.title == derived_title(twin):
        # A title that was taken from the old words goes with them.
        changes["title"] = new.title
    return changes
