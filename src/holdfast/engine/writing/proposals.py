"""Stores the proposals of automatic passes, after checking them against the turn that they were
taken from and against existing memories.

A proposal that its turn does not support is dropped. One that repeats a memory raises that memory's
count. A new value of the same slot supersedes the old one; if that is not certain, both stay, and
the new one is held for review. All proposals of one call are one transaction and one change set.

Some journal lines are promoted to long-term memory in the same transaction: what people say about
themselves or instruct for the future at once, other facts when they were said often enough. The
line stays in the journal of its day; the long-term memory points to it and to its turn, and one
undo reverts both. `passes.consolidation` promotes lines that need more time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import (
    CLOSE_TO,
    MADE_FROM,
    SAID_AT,
    Boundary,
    Draft,
    Memory,
    Origin,
    Source,
    Trust,
    derived_from,
)
from holdfast.domain.results import held_as_conflict, held_as_low_trust, kind_of
from holdfast.engine.core import Core, Scope
from holdfast.engine.writing.drafts import Prepared, prepare
from holdfast.engine.writing.recorder import Recorder, import_recorder
from holdfast.engine.writing.supersede import (
    LESSER_VOICES,
    Rival,
    changed_by,
    contradicted_by,
    find_rivals,
    look,
    supersede_all,
)
from holdfast.errors import InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


Outcome: TypeAlias = Literal["stored", "mentioned", "superseded", "held", "dropped"]

# The metadata of a statement that only the assistant made.
SAID_BY, ASSISTANT = "said_by", "assistant"


class Proposal(NamedTuple):
    """Something to remember that a pass or an agent proposes. If `said` is given, the turn that it
    was taken from, it is grounded here: stored only if the turn supports it. A proposer that has
    grounded it already gives only the `origin`. `quote` is the part of the turn that it relies on,
    and `at` when it was said. A `standing` one is promoted to long-term memory at once. `changes`
    is the id of a memory that the sentence around it changes, and `corrects` that of one which the
    person corrected by it."""

    text: str
    category: str | None = None
    origin: Origin | None = None
    said: str = ""
    quote: str = ""
    at: datetime | None = None
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    trust: Trust = "agent"
    speaker: str | None = None
    session: str | None = None
    boundary: Boundary | None = None
    source: Source = "extraction"
    source_agent: str | None = None
    source_path: str | None = None
    metadata: Mapping[str, Any] | None = None
    standing: bool = False
    changes: str | None = None
    corrects: str | None = None


class Taken(NamedTuple):
    """The result of a proposal: what was done, the new or existing memory, and the reason."""

    outcome: Outcome
    memory: Memory | None
    reason: str = ""


def take_proposals(
    scope: Scope,
    proposals: Sequence[Proposal],
    *,
    reason: str = "noticed in a conversation",
    finish: Callable[[Writer, list[Taken]], None] | None = None,
    replaces: bool = True,
    change: str | None = None,
) -> list[Taken]:
    """Stores proposals in order, all in one transaction. `finish` runs at the end of it: the worker
    ends its job there and counts the outcomes. If the speaker may not supersede (`replaces`), a
    proposal that would replace something is held for review. `change` is the change set of the
    import that they belong to."""
    drafts = [_draft(scope.core, proposal) for proposal in proposals]
    prepared = list(prepare(scope, [one for one in drafts if isinstance(one, Draft)]))
    changes = [
        proposal.changes
        for proposal, draft in zip(proposals, drafts, strict=True)
        if isinstance(draft, Draft)
    ]
    items = iter(_with_rivals(scope, prepared, changes))
    with scope.write() as writer:
        if change is not None:
            recorder = import_recorder(scope, writer, change, reason=reason)
        else:
            recorder = Recorder(scope, writer, "remember", reason=reason)
        into = _Transaction(writer, recorder, replaces)
        results = [
            _store(into, next(items), proposal) if isinstance(draft, Draft) else draft
            for proposal, draft in zip(proposals, drafts, strict=True)
        ]
        if finish is not None:
            finish(writer, results)
    recorder.embed()
    return results


# Before the write


def _draft(core: Core, proposal: Proposal) -> Draft | Taken:
    """The proposal as a draft that points to its turn; or the reason why it is dropped."""
    origin = proposal.origin
    if proposal.said:
        from holdfast.text.grounding import Unsupported, ground

        quote = proposal.quote
        if not quote and origin is not None and origin.end > origin.start:
            quote = proposal.said[origin.start : origin.end]
        found = ground(
            proposal.text,
            proposal.said,
            at=proposal.at,
            quote=quote,
            speaker=proposal.speaker or "",
        )
        if isinstance(found, Unsupported):
            return Taken("dropped", None, found.reason)
        turn = origin.turn if origin is not None else ""
        origin = Origin(turn, found.start, found.end, clean.content_hash(proposal.said))
    draft = Draft(
        proposal.text,
        category=proposal.category,
        boundary=proposal.boundary,
        layer="journal",
        trust=proposal.trust,
        source=proposal.source,
        source_agent=proposal.source_agent,
        source_path=proposal.source_path,
        session=proposal.session,
        speaker=proposal.speaker,
        occurred_at=proposal.occurred_at,
        occurred_until=proposal.occurred_until,
        origin=origin,
        metadata=proposal.metadata,
    )
    draft = _as_line(core, proposal, draft)
    try:
        clean.clean_content(draft.content, bytes_max=core.settings["content.bytes_max"])
    except InvalidInput:
        return Taken("dropped", None, "content")
    return draft


def _as_line(core: Core, proposal: Proposal, draft: Draft) -> Draft:
    """The draft as a journal line. A line belongs to the day it was said; the time of the event is
    stored in its metadata."""
    said_at = proposal.at or core.now()
    if proposal.occurred_at is None:
        return draft._replace(occurred_at=said_at, occurred_until=None)
    event = {
        "at": proposal.occurred_at.isoformat(),
        "until": proposal.occurred_until.isoformat() if proposal.occurred_until else None,
    }
    return draft._replace(
        occurred_at=said_at,
        occurred_until=None,
        # A future event does not hold yet.
        valid_from=proposal.occurred_at if proposal.occurred_at <= said_at else None,
        metadata={**(draft.metadata or {}), EVENT: event},
    )


def _with_rivals(
    scope: Scope, prepared: list[Prepared], changes: Sequence[str | None]
) -> list[Prepared]:
    """The drafts with the existing memories that each may replace, searched before the transaction,
    while no lock is held."""
    if not prepared:
        return []
    with scope.read() as reader:
        return [
            item._replace(
                seen=look(reader, item.memory, item.indexed),
                close=_find_changed(reader, scope, item.memory) or changed,
            )
            for item, changed in zip(prepared, changes, strict=True)
        ]


def _find_changed(reader: Reader, scope: Scope, memory: Memory) -> str | None:
    if memory.trust != "user":
        return None
    changed = changed_by(reader, scope, memory.content)
    return None if changed is None else changed.id


# Inside the write


class _Transaction(NamedTuple):
    """The transaction that proposals are stored in, and its rules."""

    writer: Writer
    recorder: Recorder
    replaces: bool


def _store(into: _Transaction, item: Prepared, proposal: Proposal) -> Taken:
    """Compares a proposal with what is known, and counts it as repeated, holds it for review or
    stores it."""
    writer, recorder, corrects = into.writer, into.recorder, proposal.corrects
    memory = item.memory._replace(created_at=recorder.change.at)
    rivals = find_rivals(writer, memory, item.indexed, seen=item.seen)
    if same := [one for one in rivals if _is_repeated(memory, one, corrects)]:
        if memory.metadata.get(SAID_BY) == ASSISTANT:
            # The agent may only repeat what it recalled, which does not show that it matters.
            return Taken("dropped", same[0].memory, "known")
        return _mention(into, same, proposal.standing)
    if memory.quarantine:
        stored = recorder.add(item.memory, item.indexed)
        return Taken("held", stored, memory.quarantine)
    rivals = [one for one in rivals if one.verdict.relation != "same" and not one.memory.quarantine]
    voice = _lesser_voice(memory)
    if voice and (doubted := contradicted_by(memory, rivals)) is not None:
        why = doubted.verdict.reason
        return _hold(recorder, item, held_as_low_trust(item.memory, voice, doubted.memory, why))
    if corrects is not None:
        rivals = _with_corrected(writer, memory, corrects, rivals)
    close = None
    if memory.trust == "user":
        rivals, close = _without_compatible(writer, item, rivals)
    unsure = [
        one
        for one in rivals
        if one.protected or (one.verdict.relation == "contradicts" and memory.trust != "user")
    ]
    if unsure:
        other, why = unsure[0].memory, unsure[0].protected or unsure[0].verdict.reason
        return _hold(recorder, item, held_as_conflict(item.memory, other, why))
    if rivals and not (into.replaces and all(recorder.may_retire(one.memory) for one in rivals)):
        why = "it came by a key that replaces nothing"
        return _hold(recorder, item, held_as_conflict(item.memory, rivals[0].memory, why))
    return _write(into, item, rivals, proposal.standing, close)


def _is_repeated(memory: Memory, rival: Rival, corrects: str | None) -> bool:
    """Whether a new memory says what an older one says."""
    return (
        rival.verdict.relation == "same"
        and _same_time(memory, rival)
        # What corrects a memory is no repetition of it or of its line, however alike they are.
        and (corrects is None or rival.memory.content == memory.content)
        # The user's own statement counts as new, not as a repetition of one by a less trusted
        # speaker that is held.
        and not (memory.trust == "user" and kind_of(rival.memory) == "low_trust")
    )


def _without_compatible(
    reader: Reader, item: Prepared, rivals: list[Rival]
) -> tuple[list[Rival], Memory | None]:
    """The rivals of a person's statement that cannot be true beside it, and a memory to which it is
    close. The person's latest statement is current; if both may be true, both stay."""
    beside = (one.memory for one in rivals if one.verdict.both and not one.protected)
    close = next((one for one in beside if one.layer == "long_term"), None)
    rivals = [one for one in rivals if one.protected or not one.verdict.both]
    # Beside what it ends, it may be close to a statement of which only a part is over.
    ended = [one.memory.id for one in rivals]
    if close is None and item.close is not None and item.close not in ended:
        found = reader.memories_by_id(item.memory.hub_id, [item.close]).get(item.close)
        close = found if found is not None and found.visible else None
    return rivals, close


def _with_corrected(
    reader: Reader, memory: Memory, corrected: str, rivals: list[Rival]
) -> list[Rival]:
    """The rivals with the memory that the person corrected, unless it was changed meanwhile."""
    from holdfast.text.slots.values import Verdict

    there = reader.memories_by_id(memory.hub_id, [corrected]).get(corrected)
    if there is None or not there.in_force(memory.created_at):
        return rivals
    others = [one for one in rivals if one.memory.id != corrected]
    return [Rival(there, Verdict("replaces", "the person corrected it")), *others]


def _write(
    into: _Transaction,
    item: Prepared,
    replaced: Sequence[Rival],
    standing: bool,
    close: Memory | None,
) -> Taken:
    """Stores a new memory, as the successor of what it replaces, or as newer than what it is
    `close` to. A standing one is noted in the journal as well."""
    recorder = into.recorder
    why = replaced[0].verdict.reason if replaced else ""
    outcome: Outcome = "superseded" if replaced else "stored"
    if standing:
        line = recorder.add(item.memory, item.indexed)
        fact = as_long_term(line)
        if close is not None:
            from holdfast.text.slots.compare import tells_of_change

            link = {"id": close.id, "number": close.number, "told": tells_of_change(fact.content)}
            fact = fact._replace(metadata={**fact.metadata, CLOSE_TO: link})
        item = item._replace(memory=fact)
    if replaced:
        return Taken(outcome, supersede_all(recorder, item, replaced).memory, why)
    return Taken(outcome, recorder.add(item.memory, item.indexed))


def _same_time(memory: Memory, rival: Rival) -> bool:
    """Whether both are about the same time. Two events are two memories, even if they are described
    in the same words."""
    event, other = memory.metadata.get(EVENT), rival.memory.metadata.get(EVENT)
    return event is None or other is None or event == other


def _mention(into: _Transaction, same: Sequence[Rival], standing: bool) -> Taken:
    recorder, there = into.recorder, same[0].memory
    if there.quarantine and there.state == "archived":
        # A person rejected it, and is not asked again.
        return Taken("dropped", there, "rejected")
    if there.state in ("archived", "cooling"):
        # It is said again, so it is of use again.
        there = recorder.revise(there, state="active", state_reason="")
    # The journal line and the memory made from it are one fact.
    into.writer.count_mention(there.hub_id, [one.memory.id for one in same])
    there = there._replace(mention_count=there.mention_count + 1)
    is_line = there.layer == "journal" and there.visible
    own = there.metadata.get(SAID_BY) != ASSISTANT and there.trust not in LESSER_VOICES
    if is_line and own and (standing or is_said_often(there)) and not _in_long_term(same):
        recorder.add(as_long_term(there))
    return Taken("mentioned", there, same[0].verdict.reason)


def _in_long_term(same: Sequence[Rival]) -> bool:
    return any(one.memory.layer == "long_term" for one in same)


def _lesser_voice(memory: Memory) -> str:
    """The kind of speaker, if they may not overrule the user; else empty."""
    if memory.metadata.get(SAID_BY) == ASSISTANT:
        return "the assistant"
    return LESSER_VOICES.get(memory.trust, "")


def _hold(recorder: Recorder, item: Prepared, held: Memory) -> Taken:
    stored = recorder.add(held, item.indexed)
    return Taken("held", stored, held.quarantine)


# The metadata field of a journal line with the time of the event; the line's own time is when it
# was said.
EVENT = "event"
# Categories whose facts last longer than events: said twice is enough.
_LASTING = frozenset({"preference", "person", "decision", "routine", "core"})
_MENTIONS_LASTING, _MENTIONS_OTHER = 2, 3


def as_long_term(line: Memory) -> Memory:
    """The long-term memory of a journal line; its id, number and times are set when it is added. A
    fact without a date gets the time when it was said, and is valid from then."""
    said_at = line.occurred_at or line.created_at
    event = event_of(line.metadata)
    metadata = {name: value for name, value in line.metadata.items() if name != EVENT}
    metadata |= {MADE_FROM: [line.id], SAID_AT: to_text(said_at)}
    since = event[0] if event and event[0] <= said_at else None
    return derived_from(
        line,
        layer="long_term",
        kind="semantic" if line.kind == "episodic" and event is None else line.kind,
        stability="stable" if event is None else line.stability,
        occurred_at=event[0] if event else said_at,
        occurred_until=event[1] if event else None,
        valid_from=since or (None if event else said_at),
        metadata=metadata,
    )


def event_of(metadata: Mapping[str, Any]) -> tuple[datetime, datetime | None] | None:
    """The time of the event that a proposed line names; None if it names no time."""
    event = metadata.get(EVENT)
    if not isinstance(event, Mapping) or not isinstance(event.get("at"), str):
        return None
    until = event.get("until")
    try:
        return from_text(event["at"]), from_text(until) if isinstance(until, str) else None
    except ValueError:  # Metadata may be edited.
        return None


def is_said_often(line: Memory) -> bool:
    """Whether a line was said often enough to be promoted, however old it is."""
    if line.kind == "episodic":
        return False
    least = _MENTIONS_LASTING if line.category in _LASTING else _MENTIONS_OTHER
    return line.mention_count >= least
