"""The review inbox: its items, when they expire, and approving and rejecting them.

An item is a memory with a reason in `quarantine` that is neither forgotten nor archived. An
approved item becomes visible, and replaces the memory that it contradicts or was meant to renew; a
rejected one is archived and stays hidden. Each call is one change set, which one undo reverts. The
permit decides who may approve; the tools make sure that an agent does not approve its own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import AWAITS, Memory
from holdfast.domain.query import Filter, check_count
from holdfast.domain.results import (
    APPROVED,
    CONTRADICTS,
    EXPIRED,
    HELD,
    HELD_KINDS,
    REJECTED,
    Item,
    is_pending,
    kind_of,
    names_of,
    with_code,
)
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.errors import Conflict, InvalidInput
from holdfast.store.values import every_memory
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import clean

# Modules that write are imported in the functions that decide, because building a block only counts
# the items.

if TYPE_CHECKING:
    from holdfast.engine.writing.indexing import Indexed
    from holdfast.engine.writing.recorder import Recorder
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Writer


# A memory seldom has more than two successors; this many would be a cycle.
_CHAIN_MAX = 100


def expires_at(memory: Memory, settings: Settings) -> datetime:
    """When an item of the inbox expires: some days after it was held, changed or restored."""
    return memory.updated_at + timedelta(days=settings["review.keep_days"])


def expiry(memory: Memory, now: datetime, settings: Settings) -> tuple[str, str] | None:
    """The move that the lifecycle makes with an item of the inbox: the new state and the reason."""
    if not is_pending(memory) or expires_at(memory, settings) > now:
        return None
    return "archived", with_code(
        EXPIRED, f"nobody looked at it for {settings['review.keep_days']} days"
    )


# Listing


def review(
    scope: Scope, *, kind: str | None = None, source: str | None = None, limit: int | None = None
) -> list[Item]:
    """The items of the inbox, oldest first."""
    if limit is not None:
        check_count(limit)
    with scope.read() as reader:
        found: list[Item] = []
        for memory in wanted_ones(reader, scope.hub_id, kind, source):
            if limit is not None and len(found) == limit:
                break
            found.append(item_of(scope.core, reader, memory))
        return found


def item_of(core: Core, reader: Reader, memory: Memory) -> Item:
    about = about_of(reader, memory)
    return Item(
        memory, kind_of(memory), memory.quarantine, about, expires_at(memory, core.settings)
    )


def count(scope: Scope, *, most: int | None = None) -> int:
    """Counts the items of the inbox, up to `most`."""
    with scope.read() as reader:
        found = 0
        for _ in pending(reader, scope.hub_id):
            found += 1
            if found == most:
                break
        return found


def pending(
    reader: Reader, hub_id: str, *, source: str | None = None, categories: tuple[str, ...] = ()
) -> Iterator[Memory]:
    """The memories that wait in the inbox, by number."""
    wanted = Filter(quarantined=True, came_from=source, categories=categories)
    found = every_memory(reader, hub_id, wanted)
    return (memory for memory in found if memory.quarantine != AWAITS)


def wanted_ones(
    reader: Reader, hub_id: str, kind: str | None, source: str | None
) -> Iterator[Memory]:
    """The items of the inbox of one kind."""
    if kind is not None:
        clean.one_of(kind, HELD_KINDS, "kind")
    for memory in pending(reader, hub_id, source=source):
        if kind is None or kind_of(memory) == kind:
            yield memory


def about_of(reader: Reader, memory: Memory) -> Memory | None:
    """The memory that approving the item would change or replace, in its current version. Only
    between memories that the same people see."""
    names = names_of(memory)
    found = None
    if names.get("key"):
        found = reader.memory_by_key(memory.hub_id, names["key"], audience=memory.audience)
    if found is None and names.get("source_path"):
        path = names["source_path"]
        found = reader.memory_by_path(memory.hub_id, path, audience=memory.audience)
    other = names.get("supersedes")
    if kind_of(memory) in ("conflict", "low_trust"):
        other = memory.metadata.get(CONTRADICTS) or other
    if found is None and isinstance(other, str):
        found = _newest(reader, memory.hub_id, other)
    if found is None or found.id == memory.id or found.audience != memory.audience:
        return None
    return found if found.visible and found.state != "archived" else None


def _newest(reader: Reader, hub_id: str, memory_id: str) -> Memory | None:
    """The memory, or its latest successor."""
    memory = reader.memory(hub_id, memory_id)
    for _ in range(_CHAIN_MAX):
        if memory is None or memory.superseded_by is None:
            return memory
        memory = reader.memory(hub_id, memory.superseded_by)
    return None


class Chosen(NamedTuple):
    """Selects items of the inbox: those that are named, or all, of one kind or from one source."""

    references: tuple[Reference, ...] = ()
    every: bool = False
    kind: str | None = None
    source: str | None = None


class Verdict(NamedTuple):
    """A person's decision on one item of the inbox. `version` is the one they saw; 0 accepts
    any."""

    memory_id: str
    approve: bool
    text: str | None = None
    keep_both: bool = False
    version: int = 0


def approve(
    scope: Scope,
    chosen: Chosen,
    *,
    text: str | None = None,
    keep_both: bool = False,
    reason: str = "",
) -> list[Memory]:
    """Approves items, and returns the memories that now have their content. A single item may be
    given another text; `keep_both` leaves the memory that it contradicts or would renew unchanged.
    """
    found = _chosen(scope, chosen)
    if text is not None and len(found) != 1:
        raise InvalidInput(
            f"A new text is for one item, and {len(found)} are meant.", hint="Name one."
        )
    verdicts = [Verdict(one.id, True, text, keep_both, one.version) for one in found]
    return decide(scope, verdicts, reason=reason)


def reject(scope: Scope, chosen: Chosen, *, reason: str = "") -> list[Memory]:
    """Rejects items: they are archived and stay hidden; `undo` returns them to the inbox."""
    found = _chosen(scope, chosen)
    verdicts = [Verdict(one.id, False, version=one.version) for one in found]
    return decide(scope, verdicts, reason=reason)


def decide(scope: Scope, verdicts: Sequence[Verdict], *, reason: str = "") -> list[Memory]:
    """Approves and rejects items of the inbox, all or none, as one change set."""
    if not verdicts:
        return []
    from holdfast.engine.writing.drafts import clean_label
    from holdfast.engine.writing.recorder import Recorder

    reason = clean_label("reason", reason)
    prepared = _prepared(scope, verdicts)
    approves = any(verdict.approve for verdict in verdicts)
    recorded = with_code(APPROVED if approves else REJECTED, reason)
    out = []
    with scope.write() as writer:
        recorder = Recorder(scope, writer, "restore" if approves else "archive", reason=recorded)
        for verdict, (new, index) in zip(verdicts, prepared, strict=True):
            memory = _require_unchanged(writer, scope, verdict)
            if verdict.approve:
                out.append(_approve(scope.core, writer, recorder, memory, new, index, verdict))
            else:
                why = with_code(REJECTED, reason)
                out.append(recorder.revise(memory, state="archived", state_reason=why))
    recorder.embed()
    return out


def _chosen(scope: Scope, chosen: Chosen) -> list[Memory]:
    in_bulk = chosen.every or chosen.kind is not None or chosen.source is not None
    if bool(chosen.references) == in_bulk:
        raise InvalidInput(
            "Say which items: their references, or all of them, of a kind, from a source.",
            hint="List what waits for review.",
            command="`holdfast review` shows what waits.",
        )
    with scope.read() as reader:
        if in_bulk:
            return list(wanted_ones(reader, scope.hub_id, chosen.kind, chosen.source))
        found = [find_memory(reader, scope, one) for one in chosen.references]
        # An item that is named twice counts once.
        return [_require_held(memory) for memory in {one.id: one for one in found}.values()]


def _require_held(memory: Memory) -> Memory:
    if memory.quarantine == AWAITS:
        raise Conflict(
            f"Memory #{memory.number} {AWAITS}.",
            hint="Answer it with one of its options.",
            command=f"`holdfast decide {memory.number} OPTION` answers it.",
        )
    if not is_pending(memory):
        became = "was archived" if memory.state == "archived" else "is shown already"
        raise Conflict(
            f"Memory #{memory.number} does not wait for review: it {became}.",
            hint="List what waits for review.",
            command="`holdfast review` shows what waits.",
        )
    return memory


def _prepared(
    scope: Scope, verdicts: Sequence[Verdict]
) -> list[tuple[dict[str, Any], Indexed | None]]:
    """The changed fields and index entries of each verdict with a text; embedding is done here,
    before the transaction begins."""
    from holdfast.engine.writing.edit import completed
    from holdfast.engine.writing.indexing import indexed

    out: list[tuple[dict[str, Any], Indexed | None]] = []
    for verdict in verdicts:
        if verdict.text is None or not verdict.approve:
            out.append(({}, None))
            continue
        text = scope.core.redactor.text(verdict.text)
        text = clean.clean_content(text, bytes_max=scope.settings["content.bytes_max"])
        with scope.read() as reader:
            memory = find_memory(reader, scope, verdict.memory_id)
        # The text now comes from the user.
        new = completed(memory, {"content": text, "trust": "user"})
        out.append((new, indexed(memory._replace(**new), scope.core)))
    return out


def _require_unchanged(writer: Writer, scope: Scope, verdict: Verdict) -> Memory:
    """The item inside the write transaction; it must still be the one that was reviewed."""
    memory = _require_held(find_memory(writer, scope, verdict.memory_id))
    if verdict.version not in (0, memory.version):
        raise Conflict(
            f"Memory #{memory.number} was changed while you looked at it.", hint="Look again."
        )
    return memory


def _approve(
    core: Core,
    writer: Writer,
    recorder: Recorder,
    memory: Memory,
    new: dict[str, Any],
    index: Indexed | None,
    verdict: Verdict,
) -> Memory:
    about = None if verdict.keep_both else about_of(writer, memory)
    names = {} if verdict.keep_both else names_of(memory)
    metadata = {
        name: value for name, value in memory.metadata.items() if name not in (HELD, CONTRADICTS)
    }
    fields: dict[str, Any] = {"quarantine": "", "metadata": metadata, **new}
    shown = memory._replace(**fields)
    if (twin := _twin(writer, shown)) is not None and (about is None or twin.id == about.id):
        # The same text is stored already: that memory is confirmed.
        if twin.state == "archived":
            twin = recorder.revise(twin, state="active", state_reason="")
        return _archive_as_merged(
            recorder, memory, fields, twin, f"it says the same as #{twin.number}"
        )
    if about is not None and _renews(names, about):
        return _renew_named(recorder, memory, fields, index, about)
    if about is not None:
        return _replace_contradicted(recorder, memory, fields, index, about)
    for name in ("key", "source_path"):
        if name in names and _is_free(writer, shown, name, names[name]):
            fields[name] = names[name]
    return recorder.revise(memory, index, **fields)


def _twin(reader: Reader, shown: Memory) -> Memory | None:
    from holdfast.engine.writing.drafts import says_the_same

    found = reader.memories_by_hash(shown.hub_id, shown.content_hash)
    return next((one for one in found if one.id != shown.id and says_the_same(shown, one)), None)


def _renews(names: dict[str, Any], about: Memory) -> bool:
    """Whether the item was meant to be a new version of the memory with its key or path."""
    return (about.key is not None and about.key == names.get("key")) or (
        about.source_path is not None and about.source_path == names.get("source_path")
    )


def _renew_named(
    recorder: Recorder,
    memory: Memory,
    fields: dict[str, Any],
    index: Indexed | None,
    about: Memory,
) -> Memory:
    """Makes a new version of the memory with the key or path, as if the text had not been held."""
    from holdfast.engine.writing.remember import new_version

    after = recorder.revise(about, index, **new_version(about, memory._replace(**fields)))
    return _archive_as_merged(
        recorder, memory, fields, after, f"it is a version of #{after.number}"
    )


def _archive_as_merged(
    recorder: Recorder, memory: Memory, fields: dict[str, Any], into: Memory, why: str
) -> Memory:
    recorder.revise(
        memory,
        quarantine="",
        metadata=fields["metadata"],
        state="archived",
        state_reason=f"{APPROVED}; {why}",
        superseded_by=into.id,
    )
    return into


def _replace_contradicted(
    recorder: Recorder,
    memory: Memory,
    fields: dict[str, Any],
    index: Indexed | None,
    about: Memory,
) -> Memory:
    """Makes the item the successor of the memory that it contradicts, with its layer, pin and
    key."""
    fields |= {"supersedes": about.id, "pinned": memory.pinned or about.pinned}
    if about.layer == "long_term":
        fields["layer"] = "long_term"
    ended = about.valid_until or memory.valid_from or recorder.change.at
    gone: dict[str, Any] = {"superseded_by": memory.id, "valid_until": ended}
    if about.key is not None and memory.key is None:
        # The old memory loses the key before the new one gets it, as keys are unique.
        gone["key"], fields["key"] = None, about.key
    recorder.revise(about, **gone)
    return recorder.revise(memory, index, **fields)


def _is_free(reader: Reader, shown: Memory, name: str, value: str) -> bool:
    look = reader.memory_by_key if name == "key" else reader.memory_by_path
    return (
        getattr(shown, name) is None and look(shown.hub_id, value, audience=shown.audience) is None
    )
