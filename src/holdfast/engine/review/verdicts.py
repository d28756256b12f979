"""What a person says of the items in the review inbox.

Approving shows an item, and lets it take the place of what it contradicts or was meant to renew;
rejecting archives it, hidden as it is. Each call is one change set, and one undo takes it back. Who
may do it, the permit says; that an agent does not pass its own words, the tools see to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.review import (
    APPROVED,
    AWAITS,
    CONTRADICTS,
    HELD,
    REJECTED,
    is_pending,
    names_of,
    with_code,
)
from holdfast.engine.core import Core, Scope
from holdfast.engine.reading.lookup import Reference, find_memory
from holdfast.engine.review.inbox import about_of, wanted_ones
from holdfast.engine.writing.drafts import clean_label
from holdfast.engine.writing.edit import completed
from holdfast.engine.writing.indexing import Indexed, indexed
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import Conflict, InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


class Chosen(NamedTuple):
    """Which items are meant: those named, or all, of one kind or from one source."""

    references: tuple[Reference, ...] = ()
    every: bool = False
    kind: str | None = None
    source: str | None = None


class Verdict(NamedTuple):
    """What a person says of one item. `version` is the one they saw; 0 for whichever it is."""

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
    """Shows the items, and returns the memories that now say what they said. One may be given
    another text; `keep_both` leaves what it contradicts or would renew as it is."""
    found = _chosen(scope, chosen)
    if text is not None and len(found) != 1:
        raise InvalidInput(
            f"A new text is for one item, and {len(found)} are meant.", hint="Name one."
        )
    verdicts = [Verdict(one.id, True, text, keep_both, one.version) for one in found]
    return decide(scope, verdicts, reason=reason)


def reject(scope: Scope, chosen: Chosen, *, reason: str = "") -> list[Memory]:
    """Archives the items, hidden as they are; `undo` brings them back into the inbox."""
    found = _chosen(scope, chosen)
    verdicts = [Verdict(one.id, False, version=one.version) for one in found]
    return decide(scope, verdicts, reason=reason)


def decide(scope: Scope, verdicts: Sequence[Verdict], *, reason: str = "") -> list[Memory]:
    """Approves and rejects, all of it or nothing, as one change set."""
    if not verdicts:
        return []
    reason = clean_label("reason", reason)
    prepared = _prepared(scope, verdicts)
    approves = any(verdict.approve for verdict in verdicts)
    recorded = with_code(APPROVED if approves else REJECTED, reason)
    out = []
    with scope.write() as writer:
        scope.require_hub(writer)
        recorder = Recorder(scope, writer, "restore" if approves else "archive", reason=recorded)
        for verdict, (new, index) in zip(verdicts, prepared, strict=True):
            memory = _still(writer, scope, verdict)
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
        scope.require_hub(reader)
        if in_bulk:
            return list(wanted_ones(reader, scope.hub_id, chosen.kind, chosen.source))
        found = [find_memory(reader, scope, one) for one in chosen.references]
        # Named twice, it is still one.
        return [_waiting(memory) for memory in {one.id: one for one in found}.values()]


def _waiting(memory: Memory) -> Memory:
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
    """For each verdict with a text, what follows from it; the embedding model is asked here,
    before the write begins."""
    out: list[tuple[dict[str, Any], Indexed | None]] = []
    for verdict in verdicts:
        if verdict.text is None or not verdict.approve:
            out.append(({}, None))
            continue
        text = scope.core.redactor.text(verdict.text)
        text = clean.clean_content(text, bytes_max=scope.settings["content.bytes_max"])
        with scope.read() as reader:
            memory = find_memory(reader, scope, verdict.memory_id)
        # What a person wrote is the person's word.
        new = completed(memory, {"content": text, "trust": "user"})
        out.append((new, indexed(memory._replace(**new), scope.core)))
    return out


def _still(writer: Writer, scope: Scope, verdict: Verdict) -> Memory:
    """The item inside the write transaction; it must still be the one that was reviewed."""
    memory = _waiting(find_memory(writer, scope, verdict.memory_id))
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
        # The same words are there already: they count once more, and are stored once.
        if twin.state == "archived":
            twin = recorder.revise(twin, state="active", state_reason="")
        return _gone_into(recorder, memory, fields, twin, f"it says the same as #{twin.number}")
    if about is not None and _renews(names, about):
        return _renewed(recorder, memory, fields, index, about)
    if about is not None:
        return _replaced(recorder, memory, fields, index, about)
    for name in ("key", "source_path"):
        if name in names and _is_free(writer, shown, name, names[name]):
            fields[name] = names[name]
    return recorder.revise(memory, index, **fields)


def _twin(reader: Reader, shown: Memory) -> Memory | None:
    from holdfast.engine.writing.dedup import says_the_same

    found = reader.memories_by_hash(shown.hub_id, shown.content_hash)
    return next((one for one in found if one.id != shown.id and says_the_same(shown, one)), None)


def _renews(names: dict[str, Any], about: Memory) -> bool:
    """Whether it was to be a new version of that memory, which has its key or its path."""
    return (about.key is not None and about.key == names.get("key")) or (
        about.source_path is not None and about.source_path == names.get("source_path")
    )


def _renewed(
    recorder: Recorder,
    memory: Memory,
    fields: dict[str, Any],
    index: Indexed | None,
    about: Memory,
) -> Memory:
    """What has the key or the path gets a new version, as if the words had not been held."""
    from holdfast.engine.writing.remember import new_version

    after = recorder.revise(about, index, **new_version(about, memory._replace(**fields)))
    return _gone_into(recorder, memory, fields, after, f"it is a version of #{after.number}")


def _gone_into(
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


def _replaced(
    recorder: Recorder,
    memory: Memory,
    fields: dict[str, Any],
    index: Indexed | None,
    about: Memory,
) -> Memory:
    """It takes the place of what it contradicts: its layer, its pin and its name too."""
    fields |= {"supersedes": about.id, "pinned": memory.pinned or about.pinned}
    if about.layer == "long_term":
        fields["layer"] = "long_term"
    ended = about.valid_until or memory.valid_from or recorder.change.at
    gone: dict[str, Any] = {"superseded_by": memory.id, "valid_until": ended}
    if about.key is not None and memory.key is None:
        # First from the one, then to the other: a key is one memory's at a time.
        gone["key"], fields["key"] = None, about.key
    recorder.revise(about, **gone)
    return recorder.revise(memory, index, **fields)


def _is_free(reader: Reader, shown: Memory, name: str, value: str) -> bool:
    look = reader.memory_by_key if name == "key" else reader.memory_by_path
    return (
        getattr(shown, name) is None and look(shown.hub_id, value, audience=shown.audience) is None
    )
