"""Stores drafts: all or none in one transaction, or any number in batches, as one change set.

`store_draft` decides inside the transaction what a draft is: new, a new version, a duplicate, held
for review, or the successor of an older memory. It compares the source path, then the key, then the
file or page that it is made from, then the content. The same path or key makes a new version; the
same content (in the same session, by the same speaker, at the same time) is a duplicate and writes
nothing. An archived memory becomes active when it is remembered again. A new value of what an older
memory says supersedes it, if that is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change
from holdfast.domain.memory import CLOSE_TO, DESCRIPTIVE, Draft, Memory
from holdfast.domain.results import (
    Duplicate,
    Quarantined,
    Remembered,
    Stored,
    Superseded,
    Updated,
    names_of,
    was_rejected,
    with_held,
    with_reason_of,
)
from holdfast.engine.core import Scope
from holdfast.engine.reading.lookup import find_memory
from holdfast.engine.writing import origins
from holdfast.engine.writing.drafts import (
    Prepared,
    derived_title,
    prepare,
    says_the_same,
    twin_of,
)
from holdfast.engine.writing.recorder import Recorder
from holdfast.engine.writing.supersede import (
    close_to,
    doubted_by,
    ended_by,
    rivals_of,
    supersede,
    supersede_all,
    supersede_by_known,
    with_candidates,
    with_close,
)
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.store.base import Writer


# The most drafts in one transaction: enough to be fast, few enough that another process does not
# wait long for its turn to write.
BATCH_MAX = 1_000

# A speaker says a few things at once. A longer list comes from elsewhere, and searching for rivals
# of each would take longer than everything else.
_STATED_MAX = 50
# A longer text describes several events at several times.
_EVENT_CHARS_MAX = 240


def remember(scope: Scope, draft: Draft, *, by_rule: bool = False) -> Remembered:
    """Stores one draft, as a change set of its own."""
    return remember_many(scope, [draft], by_rule=by_rule)[0]


def remember_many(
    scope: Scope,
    drafts: Sequence[Draft],
    *,
    reason: str = "",
    first_is_parent: bool = False,
    by_rule: bool = False,
) -> list[Remembered]:
    """Stores all drafts or none, in one transaction and one change set.

    With `first_is_parent`, the new ones become parts of the first. With `by_rule`, a new value
    supersedes an old one automatically; the sync of a file names explicitly what is removed.
    """
    by_rule = by_rule and not first_is_parent and len(drafts) <= _STATED_MAX
    now = scope.now()
    if by_rule:
        drafts = [_with_event(scope, draft, now) for draft in drafts]
    prepared = list(prepare(scope, drafts, now))
    by_rule = by_rule and scope.settings["supersede.enabled"]
    if by_rule:
        prepared = with_candidates(scope, prepared)
    with scope.write() as writer:
        writer.expect(scope.hub_id, memories_of(prepared))
        if by_rule:
            prepared = with_close(writer, prepared)
        recorder = Recorder(scope, writer, "remember", reason=reason)
        results: list[Remembered] = []
        for item in prepared:
            if first_is_parent and results:
                parent = results[0].memory.id
                item = _with_parent(item, parent)
            results.append(store_with_facts(writer, recorder, scope, item, by_rule=by_rule))
    recorder.embed()
    return results


def _with_event(scope: Scope, draft: Draft, now: datetime) -> Draft:
    """The draft with the time that its words refer to today; the words stay unchanged."""
    said = isinstance(draft.content, str) and draft.content_type in (None, "text")
    if not said or draft.occurred_at is not None or draft.source == "import" or draft.attachment:
        return draft
    # A journal line belongs to the day it was written.
    if draft.layer == "journal" or len(draft.content) > _EVENT_CHARS_MAX:
        return draft
    # Imported here, because many texts are longer.
    from holdfast.text.dates import event_in, may_have_event

    if not may_have_event(draft.content):
        return draft
    event = event_in(draft.content, at=scope.core.local_clock(now))
    if event is None:
        return draft
    return draft._replace(occurred_at=event.since, occurred_until=event.until)


def remember_stream(
    scope: Scope, drafts: Iterable[Draft], *, reason: str = ""
) -> Iterator[Remembered]:
    """Stores any number of drafts in batches, all as one change set.

    Each batch is on disk before its results are yielded.
    """
    change: Change | None = None
    coming = iter(drafts)
    while batch := list(islice(coming, BATCH_MAX)):
        prepared = list(prepare(scope, batch))
        with scope.write() as writer:
            writer.expect(scope.hub_id, memories_of(prepared))
            unfinished = change and _still_open(writer, change)
            recorder = Recorder(scope, writer, "remember", reason=reason, change=unfinished)
            results = [store_with_facts(writer, recorder, scope, item) for item in prepared]
        recorder.embed()
        if recorder.written:
            change = recorder.change
        yield from results


def memories_of(prepared: Sequence[Prepared]) -> list[Memory]:
    """The memories that will be looked up: those of the drafts, and the facts that were found in
    them."""
    return [one.memory for item in prepared for one in (item, *item.facts)]


def _still_open(writer: Writer, change: Change) -> Change | None:
    """The change set as it is now; None if it was undone or emptied by a purge since the last
    batch. The next batch is then a change set of its own."""
    current = writer.change(change.hub_id, change.id)
    return None if current is None or current.undone_by is not None else current


def store_with_facts(
    writer: Writer,
    recorder: Recorder,
    scope: Scope,
    item: Prepared,
    *,
    by_rule: bool = False,
) -> Remembered:
    """Stores one draft with what follows from it: the job that reads its file or page, and its
    facts."""
    if item.draft.parent is not None:
        item = _with_parent(item, _parent(writer, scope, item))
    result = store_draft(writer, recorder, scope, item, by_rule=by_rule)
    if item.draft.attachment is not None or item.draft.fetch:
        from holdfast.engine.writing import extraction

        extraction.begin(scope.core, writer, item.draft, result)
    if isinstance(result, Stored | Updated | Superseded):
        parent = result.memory.id
        for fact in item.facts:
            pointing = _with_parent(fact, parent)
            if twin_of(writer, fact.draft, fact.memory) is None:
                store_draft(writer, recorder, scope, pointing)
    # Also a memory that was held already, or rejected: the caller must not assume that it is known.
    scope.core.held.note(result.memory)
    return result


def _parent(writer: Writer, scope: Scope, item: Prepared) -> str:
    """The id of the memory that a draft is part of, in the same hub; raises NotFound."""
    try:
        return find_memory(writer, scope, item.draft.parent or "").id
    except NotFound as error:
        hint = "Name a memory of this hub as the parent, or none."
        raise NotFound(f"The parent is missing. {error.message}", hint=hint) from None


def _with_parent(item: Prepared, parent: str) -> Prepared:
    """The item as part of another memory, whatever its draft named."""
    draft = item.draft._replace(parent=None)
    return item._replace(draft=draft, memory=item.memory._replace(parent=parent))


# Fields that a push to the same path or key overwrites; pins, counters and history stay.
_TAKEN_OVER = ("content", "content_hash", "content_type", "summary", "quarantine", "trust")
# Fields that it overwrites only if the caller gave them.
_TAKEN_OVER_IF_GIVEN = (*DESCRIPTIVE, "source_path")


def store_draft(
    writer: Writer, recorder: Recorder, scope: Scope, item: Prepared, *, by_rule: bool = False
) -> Remembered:
    """Decides whether a draft is new, a version of a memory or a duplicate, and writes it."""
    if item.memory.quarantine and (known := _shown_or_rejected(writer, item)) is not None:
        return Duplicate(known)
    twin = twin_of(writer, item.draft, item.memory)
    if item.memory.quarantine and (item.draft.supersedes or (twin and not twin.quarantine)):
        # A memory that is held for review neither changes nor replaces a trusted one.
        item = _without_names(writer, scope, item)
        twin = twin_of(writer, item.draft, item.memory)
    if item.draft.supersedes is not None:
        previous = find_memory(writer, scope, item.draft.supersedes)
        if twin is not None and twin.id != previous.id:
            return _superseded_by_twin(writer, recorder, item, twin, previous)
        if twin is None:
            return supersede(recorder, item, previous)
    if twin is None:
        rivals = rivals_of(writer, recorder, item) if by_rule else []
        if (doubted := doubted_by(item, rivals)) is not None:
            # Again, now held for review: the same one may be held already, or a person may have
            # rejected it.
            return store_draft(writer, recorder, scope, doubted)
        # A caller who may not delete may not supersede either: then both stay.
        ended = [one for one in ended_by(rivals) if recorder.may_retire(one.memory)]
        if ended:
            return supersede_all(recorder, item, ended)
        return _store(recorder, item, _still_close(writer, item, recorder))
    return renew(writer, recorder, item, twin)


def _superseded_by_twin(
    writer: Writer, recorder: Recorder, item: Prepared, twin: Memory, previous: Memory
) -> Remembered:
    """The same words again, now with what they replace: as the answer to the first time says."""
    if twin.content_hash != item.memory.content_hash:
        raise InvalidInput(
            f"#{twin.number} has this key or path already.",
            hint=f"Supersede #{twin.number}, or leave the key or path out.",
        )
    if previous.superseded_by == twin.id:
        return renew(writer, recorder, item, twin)
    known = renew(writer, recorder, item, twin).memory
    return supersede_by_known(recorder, known, previous)


def _shown_or_rejected(writer: Writer, item: Prepared) -> Memory | None:
    """The memory with these words that is visible already, or that a person has rejected: then
    there is nothing to hold for review any more."""
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


def _without_names(writer: Writer, scope: Scope, item: Prepared) -> Prepared:
    """The item without a key or path that a trusted memory has. They are noted in its metadata, so
    that it can replace that memory once a person has approved it."""
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
    """The memory that was found to be close to it before any draft was stored, if that still
    holds."""
    close = close_to(writer, item)
    if close is None:
        return None
    found = writer.memories_by_id(item.memory.hub_id, [close]).get(close)
    return found if found is not None and found.in_force(recorder.change.at) else None


# ── a new version ────────────────────────────────────────────────────────────────────────────


def renew(writer: Writer, recorder: Recorder, item: Prepared, twin: Memory) -> Remembered:
    new = item.memory
    changes: dict[str, Any] = {}
    same = origins.is_the_same_thing(new, twin)
    if new.content_hash != twin.content_hash and not same:
        changes = new_version(twin, new)
    for name in _TAKEN_OVER_IF_GIVEN:
        if getattr(item.draft, name) is not None:
            changes[name] = getattr(new, name)
    by_key = new.key is not None and new.key == twin.key
    if twin.source_path is not None and not by_key and new.source != "import":
        # The same words in a second file: the memory keeps its path. In a pass over a folder, the
        # file was moved.
        changes.pop("source_path", None)
    by_path = new.source_path is not None and new.source_path == twin.source_path
    if not (by_key or by_path) and twin.layer == "long_term":
        # Repeated, in a journal for example, it stays in long-term memory.
        changes.pop("layer", None)
    if item.draft.pinned:
        changes["pinned"] = True
    if twin.state in ("archived", "cooling"):
        changes |= {"state": "active", "state_reason": ""}
    changes |= origins.renewed(item.draft, new, twin, same=same)
    # It was found by its path, so its new key may belong to another memory.
    from holdfast.engine.writing.edit import refuse_taken

    refuse_taken(writer, twin._replace(**changes))
    memory = recorder.revise(twin, item.indexed, **changes)
    if memory is twin:
        return Duplicate(twin)
    if memory.quarantine:
        return Quarantined(memory, recorder.change.id, memory.quarantine)
    return Updated(memory, recorder.change.id, twin)


def new_version(twin: Memory, new: Memory) -> dict[str, Any]:
    """The changes of a memory whose key or path is pushed again."""
    changes = {name: getattr(new, name) for name in _TAKEN_OVER}
    if twin.quarantine or new.quarantine:
        changes["metadata"] = with_reason_of(twin.metadata, new.metadata)
    if twin.title == derived_title(twin):
        # A title that was derived from the old words is replaced.
        changes["title"] = new.title
    return changes
