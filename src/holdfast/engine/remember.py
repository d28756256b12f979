"""Taking something in: is it new, a new version, a duplicate, or does it replace something?

The order of the tests: source path, then key, then the file or page it is made from, then content.
The same path or key makes a new version; the same content (said in the same session, by the same
speaker, at the same time) is a duplicate and writes nothing. What is archived comes back when it is
remembered again. A new value of what an older memory says takes its place, where that is certain.
A conversation brings the facts that are said in it, in the same change set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.change import Change
from holdfast.domain.draft import Draft
from holdfast.domain.held import CONTRADICTS, HELD, REJECTED, low_trust
from holdfast.domain.memory import Memory, Trust
from holdfast.domain.results import (
    Duplicate,
    Quarantined,
    Remembered,
    Stored,
    Superseded,
    Updated,
)
from holdfast.engine import origins
from holdfast.engine.core import Core, require_hub
from holdfast.engine.drafts import clean_draft, compose, derived_title
from holdfast.engine.edit import refuse_taken
from holdfast.engine.facts import facts_in
from holdfast.engine.find import find_memory
from holdfast.engine.passages import Indexed, indexed_all
from holdfast.engine.recorder import Recorder
from holdfast.engine.twins import says_the_same, twin_of, unchanged
from holdfast.errors import InvalidInput
from holdfast.text.slot_words import STATEMENT_CHARS_MAX

if TYPE_CHECKING:
    from holdfast.engine.rivals import Rival, Seen
    from holdfast.store.base import Writer

# One transaction takes at most this many: long enough to be fast, short enough that another
# process waiting to write is not kept for long.
BATCH_MAX = 500

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


# Somebody who says something says a few things at once; whoever brings more has a list from
# elsewhere, where looking for rivals of each would take longer than all the rest.
_STATED_MAX = 50
# Only a statement in plain words can take the place of another.
_STATED = ("text", "markdown")
# By their trust, those whose word against the user's waits for the user.
LESSER_VOICES: dict[Trust, str] = {"tool": "a tool", "import": "an import"}


class Prepared(NamedTuple):
    """A draft that was checked, classified and indexed, before the write begins; the facts that
    were found in it; and what it may take the place of, as it was then."""

    draft: Draft
    memory: Memory
    indexed: Indexed | None
    facts: tuple[Prepared, ...] = ()
    seen: Seen | None = None


def remember(
    core: Core, hub_id: str, hub: str, draft: Draft, *, by_rule: bool = False
) -> Remembered:
    """Takes one draft in, as a change set of its own."""
    return remember_many(core, hub_id, hub, [draft], by_rule=by_rule)[0]


def remember_many(
    core: Core,
    hub_id: str,
    hub: str,
    drafts: Sequence[Draft],
    *,
    reason: str = "",
    first_is_parent: bool = False,
    by_rule: bool = False,
) -> list[Remembered]:
    """Takes all of them in, or none: one transaction, one change set.

    With `first_is_parent` those that are new point to the first. With `by_rule` a new value takes
    the place of an old one without being told to; what follows a file says itself what goes.
    """
    prepared = list(prepare(core, hub_id, hub, drafts))
    by_rule = by_rule and not first_is_parent and len(drafts) <= _STATED_MAX
    by_rule = by_rule and core.settings["supersede.enabled"]
    if by_rule:
        prepared = _looked(core, hub_id, hub, prepared)
    with core.write(hub_id) as writer:
        require_hub(writer, hub_id, hub)
        writer.expect(hub_id, _all_of(prepared))
        recorder = Recorder(core, writer, hub_id, "remember", reason=reason)
        results: list[Remembered] = []
        for item in prepared:
            if first_is_parent and results:
                parent = results[0].memory.id
                item = item._replace(memory=item.memory._replace(parent=parent))
            results.append(_take_in_whole(writer, recorder, core, hub, item, by_rule=by_rule))
    recorder.embed()
    return results


def remember_stream(
    core: Core, hub_id: str, hub: str, drafts: Iterable[Draft], *, reason: str = ""
) -> Iterator[Remembered]:
    """Takes any number in, a batch at a time, all as one change set.

    Each batch is safe on disk before its results are handed out.
    """
    change: Change | None = None
    batch: list[Draft] = []

    def flush() -> list[Remembered]:
        nonlocal change
        prepared = list(prepare(core, hub_id, hub, batch))
        with core.write(hub_id) as writer:
            require_hub(writer, hub_id, hub)
            writer.expect(hub_id, _all_of(prepared))
            recorder = Recorder(
                core,
                writer,
                hub_id,
                "remember",
                reason=reason,
                change=change and _in_force(writer, change),
            )
            results = [_take_in_whole(writer, recorder, core, hub, item) for item in prepared]
            written = recorder.written
        recorder.embed()
        if written:
            change = recorder.change
        batch.clear()
        return results

    for draft in drafts:
        batch.append(draft)
        if len(batch) == BATCH_MAX:
            yield from flush()
    if batch:
        yield from flush()


def _all_of(prepared: Sequence[Prepared]) -> list[Memory]:
    """What will be looked for: the memories, and the facts that were found in them."""
    return [one.memory for item in prepared for one in (item, *item.facts)]


def _in_force(writer: Writer, change: Change) -> Change | None:
    """The change set as it stands; None where it was undone, or purged empty, since the last
    batch: what comes now is then a change set of its own."""
    current = writer.change(change.hub_id, change.id)
    return None if current is None or current.undone_by is not None else current


def prepare(core: Core, hub_id: str, hub: str, drafts: Sequence[Draft]) -> Iterator[Prepared]:
    """The slow part, before the write begins: checks, rules, and the embedding model, which is
    not asked about what is there already."""
    clean = [clean_draft(core, draft) for draft in drafts]
    for draft in clean:
        origins.refuse_unfetchable(draft)
    memories = [compose(draft, core, hub_id) for draft in clean]
    # Only the model is worth the look; without one, the look inside the write is enough.
    known = [False] * len(memories)
    if core.embedder is not None:
        with core.read() as reader:
            require_hub(reader, hub_id, hub)
            reader.expect(hub_id, memories)
            known = [unchanged(reader, *pair) for pair in zip(clean, memories, strict=True)]
    fresh = [memory for memory, there in zip(memories, known, strict=True) if not there]
    indexes = iter(indexed_all(fresh, core))
    for draft, memory, there in zip(clean, memories, known, strict=True):
        indexed = None if there else next(indexes)
        facts: tuple[Prepared, ...] = ()
        if not there and (found := facts_in(core, draft, memory)):
            facts = tuple(prepare(core, hub_id, hub, found))
        yield Prepared(draft, memory, indexed, facts)


def _looked(core: Core, hub_id: str, hub: str, prepared: list[Prepared]) -> list[Prepared]:
    """The same, with what they may take the place of: looked for here, where nobody waits."""
    # Of what is there already, nothing was indexed; it takes the place of nothing.
    sought = [item.indexed is not None and _is_compared(item) for item in prepared]
    if not any(sought):
        return prepared
    from holdfast.engine.rivals import look

    with core.read() as reader:
        require_hub(reader, hub_id, hub)
        return [
            item._replace(seen=look(reader, item.memory, replaced=_is_believed(item)))
            if wanted
            else item
            for item, wanted in zip(prepared, sought, strict=True)
        ]


def _take_in_whole(
    writer: Writer,
    recorder: Recorder,
    core: Core,
    hub: str,
    item: Prepared,
    *,
    by_rule: bool = False,
) -> Remembered:
    """One draft with what follows from it: the job that reads its file or page, and its facts."""
    result = take_in(writer, recorder, hub, item, by_rule=by_rule)
    if item.draft.attachment is not None or item.draft.fetch:
        from holdfast.engine import processing

        processing.begin(core, writer, item.draft, result)
    if isinstance(result, Stored | Updated | Superseded):
        parent = result.memory.id
        for fact in item.facts:
            pointing = fact._replace(memory=fact.memory._replace(parent=parent))
            if twin_of(writer, fact.draft, fact.memory) is None:
                take_in(writer, recorder, hub, pointing)
    return result


def take_in(
    writer: Writer, recorder: Recorder, hub: str, item: Prepared, *, by_rule: bool = False
) -> Remembered:
    """Decides what one draft is, and writes it."""
    if item.memory.quarantine and (known := _looked_at(writer, item)) is not None:
        return Duplicate(known)
    twin = twin_of(writer, item.draft, item.memory)
    if item.memory.quarantine and (item.draft.supersedes or (twin and not twin.quarantine)):
        # What waits for review neither changes nor replaces what a trusted voice said.
        item = _apart(writer, item)
        twin = twin_of(writer, item.draft, item.memory)
    if item.draft.supersedes is not None:
        previous = find_memory(writer, item.memory.hub_id, hub, item.draft.supersedes)
        if twin is not None and twin.id != previous.id:
            raise InvalidInput(
                f"#{twin.number} has this content, key or path already.",
                hint=f"Supersede with other words, or forget #{previous.number} instead.",
            )
        if twin is None:
            return _supersede(recorder, item, previous)
    if twin is None:
        rivals = _rivals(writer, recorder, item) if by_rule else []
        if (doubted := _doubted(item, rivals)) is not None:
            # Once more, as what it is now: it may wait already, or a person has said no to it.
            return take_in(writer, recorder, hub, doubted)
        ended = _ended(rivals)
        if ended:
            return supersede_all(recorder, item, ended)
        return _store(recorder, item)
    return _renew(writer, recorder, item, twin)


def _is_compared(item: Prepared) -> bool:
    """Whether it is a plain statement that may speak against an older one."""
    memory = item.memory
    if memory.quarantine or memory.source_path is not None or memory.source == "import":
        return False
    if memory.content_type not in _STATED or memory.state == "processing":
        return False
    if memory.session is not None and memory.speaker is not None:
        # A turn of a conversation: what was said stays said.
        return False
    if not _is_believed(item):
        return True
    if len(memory.content.strip()) > STATEMENT_CHARS_MAX:
        return False
    # Here, as its patterns cost milliseconds that a longer text need not pay.
    from holdfast.text.slots import can_replace

    return can_replace(memory.content)


def _is_believed(item: Prepared) -> bool:
    """Whether nobody asks whose word it stands against, as it does for a lesser voice."""
    return item.memory.trust not in LESSER_VOICES


def _rivals(writer: Writer, recorder: Recorder, item: Prepared) -> list[Rival]:
    """What a plain statement replaces or contradicts, the newest first."""
    if not _is_compared(item):
        return []
    from holdfast.engine.rivals import find_rivals

    memory = item.memory._replace(created_at=recorder.change.at)
    return find_rivals(writer, memory, replaced=_is_believed(item), seen=item.seen)


def _ended(rivals: Sequence[Rival]) -> list[Memory]:
    """Those that a new memory certainly takes the place of."""
    return [
        rival.memory
        for rival in rivals
        if rival.verdict.relation == "replaces" and not rival.protected
    ]


def _doubted(item: Prepared, rivals: Sequence[Rival]) -> Prepared | None:
    """The item, held, where a tool or an import says otherwise than the user did: neither stands
    beside the other, and the user says which holds."""
    memory = item.memory
    voice = LESSER_VOICES.get(memory.trust)
    if voice is None or not rivals or memory.layer == "library":
        return None
    from holdfast.engine.rivals import spoken_against

    rival = spoken_against(memory, rivals)
    if rival is None:
        return None
    held = memory._replace(
        quarantine=low_trust(voice, rival.memory, rival.verdict.reason),
        metadata={**memory.metadata, CONTRADICTS: rival.memory.id},
    )
    return item._replace(memory=held)


def _looked_at(writer: Writer, item: Prepared) -> Memory | None:
    """The memory that shows these words already, or that a person has rejected: what would be held
    for review is then no question any more."""
    memory = item.memory
    if item.draft.supersedes is not None:
        return None
    for other in writer.memories_by_hash(memory.hub_id, memory.content_hash):
        shown = other.visible and other.state != "archived"
        rejected = other.state == "archived" and other.state_reason.startswith(REJECTED)
        held = other.metadata.get(HELD) or {}
        named = (held.get("key") or other.key, held.get("source_path") or other.source_path)
        if (
            (shown or (rejected and other.quarantine))
            and memory.key in (None, named[0])
            and memory.source_path in (None, named[1])
            and says_the_same(memory._replace(quarantine=other.quarantine, key=None), other)
        ):
            return other
    return None


def _apart(writer: Writer, item: Prepared) -> Prepared:
    """The item without the names that a trusted voice's memory has; which they were is noted, so
    that it can take its place once a person has approved it."""
    nowhere: dict[str, Any] = {"key": None, "source_path": None, "supersedes": None}
    memory = item.memory
    held = {"key": memory.key, "source_path": memory.source_path}
    if item.draft.supersedes is not None:
        hub = writer.hub_by_id(memory.hub_id)
        assert hub is not None, "the caller has looked it up in this transaction"
        held["supersedes"] = find_memory(writer, hub.id, hub.name, item.draft.supersedes).id
    noted = {name: value for name, value in held.items() if value is not None}
    metadata = {**memory.metadata, HELD: noted} if noted else memory.metadata
    return Prepared(
        item.draft._replace(**nowhere),
        memory._replace(**nowhere, metadata=metadata),
        None,
        item.facts,
    )


def _store(recorder: Recorder, item: Prepared) -> Remembered:
    memory = recorder.add(item.memory, item.indexed)
    if memory.quarantine:
        return Quarantined(memory, recorder.change.id, memory.quarantine)
    return Stored(memory, recorder.change.id)


def _supersede(recorder: Recorder, item: Prepared, previous: Memory) -> Superseded:
    if previous.superseded_by is not None:
        raise InvalidInput(
            f"#{previous.number} has been superseded already, by {previous.superseded_by}.",
            hint="Supersede the newest one.",
        )
    if item.memory.boundary == "private" and previous.owner != recorder.change.actor:
        raise InvalidInput(
            f"#{previous.number} is {previous.owner}'s, and a private memory would hide it from"
            " everyone.",
            hint="Leave the boundary out, or keep a private one beside it.",
        )
    memory = recorder.add(item.memory._replace(supersedes=previous.id), item.indexed)
    _end(recorder, previous, memory)
    return Superseded(memory, recorder.change.id, previous)


def new_version(twin: Memory, new: Memory) -> dict[str, Any]:
    """What a memory takes over from words that are pushed to its key or its path."""
    changes = {name: getattr(new, name) for name in _TAKEN_OVER}
    if twin.title == derived_title(twin):
        # A title that was taken from the old words goes with them.
        changes["title"] = new.title
    return changes


def supersede_all(recorder: Recorder, item: Prepared, previous: Sequence[Memory]) -> Superseded:
    """Puts a memory in the place of others that say what no longer holds, the newest first; it is
    linked with that one, and takes its layer where that is always shown."""
    if item.memory.layer != "long_term" and any(one.layer == "long_term" for one in previous):
        # A line of a journal that goes to MEMORY.md instead has no place in the journal.
        path = None if item.memory.layer == "journal" else item.memory.source_path
        moved = item.memory._replace(layer="long_term", source_path=path)
        item = item._replace(memory=moved)
    result = _supersede(recorder, item, previous[0])
    for other in previous[1:]:
        _end(recorder, other, result.memory)
    return result


def _end(recorder: Recorder, previous: Memory, memory: Memory) -> None:
    """Notes that something newer took its place, and until when it held."""
    ended = memory.valid_from or recorder.change.at
    if previous.valid_from is not None:
        ended = max(ended, previous.valid_from)
    recorder.revise(previous, superseded_by=memory.id, valid_until=previous.valid_until or ended)


def _renew(writer: Writer, recorder: Recorder, item: Prepared, twin: Memory) -> Remembered:
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
    changes |= origins.renewed(item.draft, new, twin, same=same)
    # Found by its path, it may be given a key that is another's.
    refuse_taken(writer, twin._replace(**changes))
    memory = recorder.revise(twin, item.indexed, **changes)
    if memory is twin:
        return Duplicate(twin)
    if memory.quarantine:
        return Quarantined(memory, recorder.change.id, memory.quarantine)
    return Updated(memory, recorder.change.id, twin)
