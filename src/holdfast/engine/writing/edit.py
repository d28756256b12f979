"""Changes to memories: update, pin, archive, forget, restore, purge, access, and moves to another
hub.

All can be undone except purge, which deletes the row, its revisions and everything derived from
them, and leaves a receipt without content. A move writes memories to the other hub first, then
forgets them here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Action, Receipt
from holdfast.domain.memory import ATTACHMENT, AWAITS, DESCRIPTIVE, GIVEN_TIMES, Draft, Memory
from holdfast.domain.records import Record
from holdfast.engine import late_words, traces
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.engine.writing import origins
from holdfast.engine.writing.drafts import (
    clean_fields,
    clean_label,
    derived_title,
    refuse_backwards,
    refuse_deep,
)
from holdfast.engine.writing.indexing import Indexed, indexed
from holdfast.engine.writing.recorder import Recorder, import_recorder
from holdfast.errors import AlreadyExists, Conflict, InvalidInput, StoreError, StoreReadOnly
from holdfast.text import clean
from holdfast.text.classify.titles import summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Attachment
    from holdfast.store.base import Reader, Writer


EDITABLE = frozenset({*DESCRIPTIVE, "content", "summary", "content_type", "pinned", "trust"})
# Fields that may be set to None; the others always have a value.
_CLEARABLE = frozenset({"key", "session", "speaker", *GIVEN_TIMES})
# Fields that must be unique among memories.
_NAMES = frozenset({"key", "boundary"})
_SPANS = frozenset({"occurred_at", "occurred_until", "valid_from", "valid_until"})


def update(
    scope: Scope,
    reference: Reference,
    changes: dict[str, Any],
    *,
    expected_version: int | None = None,
    reason: str = "",
) -> Memory:
    """Sets fields of a memory; a nullable field set to None is cleared."""
    new = _checked(scope.core, changes)
    reason = clean_label("reason", reason)
    with scope.read() as reader:
        seen = find_memory(reader, scope, reference)
    # The text is embedded before the transaction begins; if the memory changes in between, it is
    # embedded again after it.
    index = _index_of(scope.core, seen, new)
    # Finding the memory again checks its hub; looking up the hub first would be another round trip.
    with scope.core.write(scope.hub_id) as writer:
        memory = find_memory(writer, scope, seen.id)
        if expected_version is not None and memory.version != expected_version:
            raise Conflict(
                f"Memory #{memory.number} is at version {memory.version}, not {expected_version}.",
                hint="Read it again, then change what is there now.",
            )
        refuse_other_boundary(scope.core, memory, new.get("boundary"))
        if not _NAMES.isdisjoint(new):
            refuse_taken(writer, memory._replace(**{n: new[n] for n in _NAMES & new.keys()}))
        if not _SPANS.isdisjoint(new):
            refuse_backwards(memory._replace(**new))
        if "metadata" in new and ATTACHMENT in memory.metadata:
            # An update cannot change which file a memory was made from.
            new["metadata"] = {**new["metadata"], ATTACHMENT: memory.metadata[ATTACHMENT]}
        recorder = Recorder(scope, writer, "update", reason=reason)
        fresh = index if memory.version == seen.version else None
        after = recorder.revise(memory, fresh, **completed(memory, new))
        if after.content != memory.content:
            recorder.supersede_twins(memory, after)
    recorder.embed()
    return after


def _checked(core: Core, changes: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - EDITABLE)
    if unknown:
        clean.one_of(unknown[0], tuple(sorted(EDITABLE)), "field")
    if not changes:
        raise InvalidInput("Say what to change, for example content=….")
    refuse_deep(changes.get("metadata"))
    changes = {**changes, **core.redactor.changed(changes)}
    new = clean_fields({name: value for name, value in changes.items() if value is not None})
    if new.get("title") == "":
        raise InvalidInput("The title cannot be empty.", hint="Leave it out to keep what is there.")
    if changes.get("content") is not None:
        bytes_max = core.settings["content.bytes_max"]
        new["content"] = clean.clean_content(changes["content"], bytes_max=bytes_max)
    for name, value in changes.items():
        if value is None:
            if name not in _CLEARABLE:
                raise InvalidInput(f"The {name} cannot be empty.")
            new[name] = None
    return new


def completed(memory: Memory, new: dict[str, Any]) -> dict[str, Any]:
    """The changes of an edit with those that follow from new content: its hash, and title and
    summary if they were derived."""
    if "content" not in new or new["content"] == memory.content:
        return new
    after = memory._replace(**new)
    out = {**new, "content_hash": clean.content_hash(after.content)}
    if "title" not in new and memory.title == derived_title(memory):
        out["title"] = derived_title(after)
    if "summary" not in new and memory.summary == summary_of(memory.content):
        out["summary"] = summary_of(after.content)
    return out


def _index_of(core: Core, memory: Memory, new: dict[str, Any]) -> Indexed | None:
    after = memory._replace(**completed(memory, new))
    return indexed(after, core) if after != memory else None


def refuse_other_boundary(core: Core, memory: Memory, boundary: str | None) -> None:
    """Refuses a change of boundary of somebody else's memory: only its owner can make it private,
    and only a manager of the hub can change who else sees it."""
    if boundary in (None, memory.boundary) or memory.owner == core.actor:
        return
    core.require("manage", memory)
    if boundary == "private":
        raise InvalidInput(
            f"Memory #{memory.number} is {memory.owner}'s, who alone can make it private.",
            hint="Forget it instead, or keep a private one of your own.",
        )


def refuse_taken(reader: Reader, memory: Memory) -> None:
    """Refuses a key or a source path that another memory has."""
    if memory.key is not None:
        other = reader.memory_by_key(memory.hub_id, memory.key, audience=memory.audience)
        if other is not None and other.id != memory.id:
            raise AlreadyExists(
                f"The key `{memory.key}` belongs to memory #{other.number}.",
                hint=f"Choose another key, or forget #{other.number} first.",
            )
    if memory.source_path is not None:
        path = memory.source_path
        other = reader.memory_by_path(memory.hub_id, path, audience=memory.audience)
        if other is not None and other.id != memory.id:
            raise AlreadyExists(
                f"The path {memory.source_path} belongs to memory #{other.number}.",
                hint=f"Forget #{other.number} first.",
            )


def _revise(
    scope: Scope,
    references: Sequence[Reference],
    action: Action,
    reason: str,
    *,
    forgotten: bool = False,
    import_run: str | None = None,
    **new: Any,
) -> list[Memory]:
    reason = clean_label("reason", reason)
    # A moved memory is still known, with the same words, in the other hub.
    hides = "forgotten_at" in new and reason != MOVED
    if hides:
        late_words.index_late_turns(scope.core, scope.hub_id, wait=True)
    with scope.write() as writer:
        if import_run is None:
            recorder = Recorder(scope, writer, action, reason=reason)
        else:
            recorder = import_recorder(scope, writer, import_run, reason=reason)
        if "forgotten_at" in new and new["forgotten_at"] is not None:
            new["forgotten_at"] = recorder.change.at
        meant = _ids_of(writer, scope, references, forgotten=forgotten)
        done: dict[str, Memory] = {}
        for memory in _read_each(writer, scope.hub_id, meant):
            fields = new
            if memory.quarantine == AWAITS and "quarantine" in new:
                _refuse_undecided(memory)
                fields = {**new, "quarantine": AWAITS}
            if memory.forgotten_at is not None and new.get("forgotten_at", "") is None:
                refuse_taken(writer, memory)
            after = recorder.revise(memory, **fields)
            done[memory.id] = after
            if memory.forgotten_at is None and after.forgotten_at is not None:
                reinstate_previous(writer, recorder, after)
                if hides:
                    done |= _forget_traces(scope, writer, recorder, after)
            elif memory.forgotten_at is not None and after.forgotten_at is None:
                replace_previous(writer, recorder, after)
                if hides:
                    done |= _restore_traces(writer, recorder, memory)
    recorder.embed()
    return [done[memory_id] for memory_id in meant]


def _forget_traces(
    scope: Scope, writer: Writer, recorder: Recorder, gone: Memory
) -> dict[str, Memory]:
    """Hides the twins and turns that repeat a forgotten memory; returns the twins forgotten with
    it, by id."""
    traces.withhold(scope, writer, gone, recorder.change.at)
    out = {}
    for twin in traces.twins(writer, gone):
        if scope.core.allows_delete(twin):
            out[twin.id] = recorder.revise(twin, forgotten_at=recorder.change.at)
            traces.withhold(scope, writer, out[twin.id], recorder.change.at)
    return out


def _restore_traces(writer: Writer, recorder: Recorder, back: Memory) -> dict[str, Memory]:
    """The reverse of `_forget_traces`; `back` is the memory as it was while it was forgotten."""
    traces.show_again(writer, back)
    out = {}
    for twin in traces.forgotten_twins(writer, back):
        with suppress(AlreadyExists):
            refuse_taken(writer, twin)
            out[twin.id] = recorder.revise(twin, forgotten_at=None)
            traces.show_again(writer, twin)
    return out


def _ids_of(
    reader: Reader, scope: Scope, references: Sequence[Reference], *, forgotten: bool
) -> list[str]:
    """The ids of the memories that a batch names. All are looked up before the first is changed,
    because a change may give a key to another memory."""
    return [find_memory(reader, scope, one, forgotten=forgotten).id for one in references]


def _read_each(reader: Reader, hub_id: str, meant: Sequence[str]) -> Iterator[Memory]:
    """Yields each memory once, read just before its turn: a change to one may change another."""
    for memory_id in dict.fromkeys(meant):
        memory = reader.memory(hub_id, memory_id)
        assert memory is not None
        yield memory


def _refuse_undecided(memory: Memory) -> None:
    """Refuses to restore a question that still needs a person's decision."""
    if memory.forgotten_at is None and memory.state != "archived":
        raise Conflict(
            f"Memory #{memory.number} {AWAITS}.",
            hint="Answer it with one of its options.",
            command=f"`holdfast decide {memory.number} OPTION` answers it.",
        )


def pin(scope: Scope, reference: Reference, pinned: bool) -> Memory:
    action: Action = "pin" if pinned else "unpin"
    return _revise(scope, [reference], action, "", pinned=pinned)[0]


def archive(scope: Scope, references: Sequence[Reference], reason: str) -> list[Memory]:
    return _revise(scope, references, "archive", reason, state="archived", state_reason=reason)


def forget(
    scope: Scope, references: Sequence[Reference], reason: str, *, import_run: str | None = None
) -> list[Memory]:
    """Hides memories; restore or undo brings them back. With `import_run`, the id of its change
    set, as a part of an import."""
    return _revise(
        scope, references, "forget", reason, import_run=import_run, forgotten_at=scope.now()
    )


def restore(scope: Scope, references: Sequence[Reference], reason: str) -> list[Memory]:
    """Brings back memories that were forgotten, archived, or held for review."""
    return _revise(
        scope,
        references,
        "restore",
        reason,
        forgotten=True,
        forgotten_at=None,
        state="active",
        state_reason="",
        quarantine="",
    )


# The record that says when something was last purged in a hub.
PURGES = "purges"


def purge(
    scope: Scope,
    references: Sequence[Reference],
    reason: str,
    *,
    also: Callable[[Writer], None] | None = None,
) -> list[Receipt]:
    """Deletes memories permanently, and calls `also` in the same transaction. Twins that are not
    among them are forgotten. `clear_purged` then clears the freed pages of the store's file."""
    # Imported here, because nothing else on this path needs it.
    from holdfast.engine import idempotency

    out, texts = [], []
    reason = clean_label("reason", reason)
    late_words.index_late_turns(scope.core, scope.hub_id, wait=True)
    with scope.write() as writer:
        meant = _ids_of(writer, scope, references, forgotten=True)
        for memory in _read_each(writer, scope.hub_id, meant):
            scope.core.require_delete(memory)
            recorder = Recorder(scope, writer, "update", reason="its successor was purged")
            reinstate_previous(writer, recorder, memory)
            if memory.forgotten_at is None:
                beside = Recorder(scope, writer, "forget", reason="the same was purged")
                _forget_traces(scope, writer, beside, memory)
            origins.release(writer, scope.hub_id, memory.id, scope.now())
            texts.append(memory.content)
            revisions = writer.purge(scope.hub_id, memory.id)
            receipt = scope.core.redactor.row(
                Receipt(memory.id, memory.number, scope.now(), scope.actor, reason, revisions)
            )
            writer.add_receipt(scope.hub_id, receipt)
            out.append(receipt)
        if also is not None:
            also(writer)
        idempotency.blank(writer, scope.hub_id, [one.memory_id for one in out], texts)
        if out:
            # One row that listeners poll: there are many receipts, and they seldom change.
            mark = {"purge": scope.core.ids.next("purge")}
            writer.put_record(Record(scope.hub_id, PURGES, PURGES, scope.now(), mark))
    return out


def reinstate_previous(writer: Writer, recorder: Recorder, gone: Memory) -> None:
    """Makes the memory that `gone` had superseded current again.

    If `gone` has a successor itself, that one stays current, and nothing changes. If the previous
    one is gone too, the one before that becomes current again.
    """
    while gone.superseded_by is None and gone.supersedes is not None:
        previous = writer.memory(gone.hub_id, gone.supersedes)
        if previous is None or previous.superseded_by != gone.id:
            return
        previous = recorder.revise(
            previous, superseded_by=None, valid_until=_ended_before(writer, previous, gone.id)
        )
        if previous.forgotten_at is None:
            return
        gone = previous


def _ended_before(reader: Reader, memory: Memory, successor: str) -> datetime | None:
    """The `valid_until` that a memory had before it was superseded; one set by hand since then
    stays."""
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        if revision.fields.get("superseded_by", (None, None))[1] == successor:
            old, new = revision.fields.get("valid_until", (memory.valid_until, None))
            return old if memory.valid_until == new else memory.valid_until
    return memory.valid_until


def replace_previous(writer: Writer, recorder: Recorder, back: Memory) -> None:
    """Makes a restored memory supersede again what it had superseded."""
    if back.supersedes is None or back.superseded_by is not None:
        return
    previous = writer.memory(back.hub_id, back.supersedes)
    if previous is not None and previous.superseded_by is None:
        ended = previous.valid_until or back.valid_from or recorder.change.at
        recorder.revise(previous, superseded_by=back.id, valid_until=ended)


def clear_purged(core: Core, done: str) -> None:
    """Clears the write-ahead log and freed pages after a removal that is committed already."""
    try:
        core.store.settle()
    except StoreError as error:
        # The store's own message would say that nothing was written.
        raise StoreError(
            f"{done}, but words of it may still be in the file: {error.message}",
            hint="It need not be done again; the next purge clears them.",
        ) from error


def finish_cut_off_purge(scope: Scope) -> None:
    """Finishes a purge that was cut off after its commit: a caller who got no reply purges again,
    and the memory is not found any more."""
    with scope.read() as reader:
        if reader.record(scope.hub_id, PURGES, PURGES) is None:
            return
    with suppress(StoreError):
        scope.core.store.settle()


def access(scope: Scope, references: Sequence[Reference]) -> list[Memory]:
    """Counts memories as used, which ranking and the lifecycle take into account. A read-only store
    returns them without counting. Use by callers who may only read is not counted."""
    counted = scope.core.allows("write")
    try:
        if not counted:
            return _read_without_counting(scope, references)
        with scope.write() as writer:
            found = [find_memory(writer, scope, reference) for reference in references]
            writer.count_access(scope.hub_id, [memory.id for memory in found], scope.now())
            fresh = writer.memories_by_id(scope.hub_id, [memory.id for memory in found])
            return [fresh[memory.id] for memory in found]
    except StoreReadOnly:
        return _read_without_counting(scope, references)


def _read_without_counting(scope: Scope, references: Sequence[Reference]) -> list[Memory]:
    with scope.read() as reader:
        return [find_memory(reader, scope, reference) for reference in references]


# The reason that is recorded in the source hub. It does not name the target hub, because members
# of one hub may not know that the other exists.
MOVED = "moved to another hub"
# The metadata field of the new memory that holds the id of the old one.
MOVED_FROM = "moved_from"


def moved_originals(core: Core, hub_id: str, memory_ids: Sequence[str]) -> list[tuple[Hub, str]]:
    """The memories that these were moved from, with their hubs. Anybody may write the field that
    names them, so only those count that were forgotten by a move."""
    found: list[tuple[Hub, str]] = []
    with core.read() as reader:
        copies = reader.memories_by_id(hub_id, memory_ids).values()
        ids = [one.metadata[MOVED_FROM] for one in copies if MOVED_FROM in one.metadata]
        ids = [one for one in ids if isinstance(one, str)]
        for hub in reader.hubs() if ids else ():
            if hub.id == hub_id:
                continue
            there = reader.memories_by_id(hub.id, ids).values()
            found += [(hub, one.id) for one in there if _was_moved(reader, one)]
    return found


def _was_moved(reader: Reader, memory: Memory) -> bool:
    if memory.forgotten_at is None:
        return False
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        if revision.fields.get("forgotten_at", (None, None))[1] is not None:
            change = reader.change(memory.hub_id, revision.change_id)
            return change is not None and change.reason == MOVED
    return False


# Links to other memories belong to one hub and are not copied to another. Metadata and the
# attachment are copied apart.
_NOT_COPIED = frozenset({"supersedes", "parent", "origin", "metadata", "attachment", "fetch"})
_COPIED = tuple(name for name in Draft._fields if name not in _NOT_COPIED)


def movable(core: Core, found: Iterable[Memory]) -> list[Memory]:
    """The memories to move, each once. Raises Forbidden if the caller may not delete one of them,
    so that nothing is copied that cannot be removed from its hub."""
    memories = list({memory.id: memory for memory in found}.values())
    for memory in memories:
        core.require_delete(memory)
    return memories


def copied_draft(memory: Memory, attachment: Attachment | None) -> Draft:
    """The draft of a memory's copy in another hub."""
    fields = {name: getattr(memory, name) for name in _COPIED}
    metadata = {**memory.metadata, MOVED_FROM: memory.id}
    return Draft(**fields, metadata=metadata, attachment=attachment)
