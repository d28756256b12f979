"""What a new memory takes the place of: which statements may replace an older one by rule, whose
word waits for the user instead, and how an old memory ends. Duplicates are found in `dedup`, older
statements that may be replaced in `supersede_candidates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory, Trust
from holdfast.domain.results import Superseded, held_as_low_trust
from holdfast.engine.core import Scope
from holdfast.engine.writing.drafts import Prepared, derived_title
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import InvalidInput
from holdfast.text.classify.titles import summary_of
from holdfast.text.clean import content_hash
from holdfast.text.slots import STATEMENT_CHARS_MAX

if TYPE_CHECKING:
    from holdfast.engine.writing.supersede_candidates import Rival
    from holdfast.store.base import Reader, Writer

# Only a statement in plain words can take the place of another.
_STATED = ("text", "markdown")
# By their trust, those whose word against the user's waits for the user.
LESSER_VOICES: dict[Trust, str] = {"tool": "a tool", "import": "an import"}


# More at once is a list, and no questions are asked about its items.
_CLOSE_MAX = 5


def with_candidates(scope: Scope, prepared: list[Prepared]) -> list[Prepared]:
    """The drafts, each with the older memories that it may replace and those close to it. They are
    searched for here, before the write transaction, where nobody waits."""
    # Of what is there already, nothing was indexed; it takes the place of nothing.
    sought = [item.indexed is not None and _is_compared(item) for item in prepared]
    named = [len(prepared) <= _CLOSE_MAX and _is_named(item) for item in prepared]
    if not any(sought) and not any(named):
        return prepared
    from holdfast.engine.writing.supersede_candidates import find_close, look

    out = []
    with scope.read() as reader:
        scope.require_hub(reader)
        for item, compared, close in zip(prepared, sought, named, strict=True):
            if compared:
                seen = look(reader, item.memory, replaced=_is_believed(item))
                item = item._replace(seen=seen)
            # Who replaces an older memory is not asked about another one.
            if close and not _is_to_replace(item):
                item = item._replace(close=find_close(reader, item.memory, item.indexed))
            out.append(item)
    return out


def close_to(reader: Reader, item: Prepared) -> str | None:
    """The id of an older memory that is close to the item. It is searched for here where the item
    was to replace another one, and then did not."""
    if not _is_to_replace(item) or not _is_named(item):
        return item.close
    from holdfast.engine.writing.supersede_candidates import find_close

    return find_close(reader, item.memory, item.indexed)


def _is_to_replace(item: Prepared) -> bool:
    """Whether it replaced an older memory at the time it was looked for."""
    return item.seen is not None and bool(item.seen.ids) and _is_believed(item)


def _is_named(item: Prepared) -> bool:
    """Whether a person would want to hear of an older memory that is close to it."""
    memory = item.memory
    return (
        item.indexed is not None
        and item.draft.supersedes is None
        and memory.key is None
        and memory.layer != "journal"
        and _is_plain_statement(item)
    )


def _is_compared(item: Prepared) -> bool:
    """Whether it is a plain statement that may speak against an older one."""
    if not _is_plain_statement(item):
        return False
    if not _is_believed(item):
        return True
    memory = item.memory
    if len(memory.content.strip()) > STATEMENT_CHARS_MAX:
        return False
    # Here, as its patterns cost milliseconds that a longer text need not pay.
    from holdfast.text.slots.compare import can_replace

    return can_replace(memory.content)


def _is_plain_statement(item: Prepared) -> bool:
    memory = item.memory
    if memory.quarantine or memory.source_path is not None or memory.source == "import":
        return False
    if memory.content_type not in _STATED or memory.state == "processing":
        return False
    # A turn of a conversation: what was said stays said.
    return memory.session is None or memory.speaker is None


def _is_believed(item: Prepared) -> bool:
    """Whether the source is trusted enough to contradict an older memory without review."""
    return item.memory.trust not in LESSER_VOICES


def rivals_of(writer: Writer, recorder: Recorder, item: Prepared) -> list[Rival]:
    """What a plain statement replaces or contradicts, the newest first."""
    if not _is_compared(item):
        return []
    from holdfast.engine.writing.supersede_candidates import find_rivals

    memory = item.memory._replace(created_at=recorder.change.at)
    return find_rivals(writer, memory, replaced=_is_believed(item), seen=item.seen)


def ended_by(rivals: Sequence[Rival]) -> list[Rival]:
    """Those that a new memory certainly takes the place of."""
    return [
        rival for rival in rivals if rival.verdict.relation == "replaces" and not rival.protected
    ]


def doubted_by(item: Prepared, rivals: Sequence[Rival]) -> Prepared | None:
    """The item, held, where a tool or an import contradicts the user: the user decides which
    holds."""
    memory = item.memory
    voice = LESSER_VOICES.get(memory.trust)
    if voice is None or not rivals or memory.layer == "library":
        return None
    from holdfast.engine.writing.supersede_candidates import spoken_against

    rival = spoken_against(memory, rivals)
    if rival is None:
        return None
    held = held_as_low_trust(memory, voice, rival.memory, rival.verdict.reason)
    return item._replace(memory=held)


# ── ending what no longer holds ──────────────────────────────────────────────────────────────


def supersede(recorder: Recorder, item: Prepared, previous: Memory) -> Superseded:
    """Puts a memory in the place of another, as somebody asked for; refuses where that is wrong."""
    return _put_in_place(recorder, item, [previous])


def _put_in_place(recorder: Recorder, item: Prepared, replaced: Sequence[Memory]) -> Superseded:
    """Puts a memory in the place of others, and links it with the first."""
    previous = replaced[0]
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
    for one in replaced:
        _end(recorder, one, memory)
    for one in replaced:
        recorder.supersede_twins(one, memory)
    return Superseded(memory, recorder.change.id, previous)


def supersede_all(recorder: Recorder, item: Prepared, replaced: Sequence[Rival]) -> Superseded:
    """Puts a memory in the place of others that say what no longer holds, the newest first; it is
    linked with that one, and takes its layer where that is always shown. What the others say
    beyond that, and is still true, becomes a memory of its own."""
    previous = [rival.memory for rival in replaced]
    if item.memory.layer != "long_term" and any(one.layer == "long_term" for one in previous):
        # A line of a journal that goes to MEMORY.md instead has no place in the journal.
        path = None if item.memory.layer == "journal" else item.memory.source_path
        moved = item.memory._replace(layer="long_term", source_path=path)
        item = item._replace(memory=moved)
    result = _put_in_place(recorder, item, previous)
    kept: set[str] = set()
    for rival in replaced:
        keeps = rival.verdict.keeps
        if keeps and keeps not in kept:
            kept.add(keeps)
            recorder.add(_remainder(rival.memory, keeps))
    return result


def _remainder(ended: Memory, text: str) -> Memory:
    """What is still true of a memory that another one has replaced."""
    kept = ended._replace(content=text, content_hash=content_hash(text), source_path=None, key=None)
    return kept._replace(
        title=derived_title(kept),
        summary=summary_of(text),
        parent=ended.id,
        supersedes=None,
        superseded_by=None,
        valid_until=None,
        version=1,
        access_count=0,
        shown_count=0,
        mention_count=1,
        accessed_at=None,
    )


def _end(recorder: Recorder, previous: Memory, memory: Memory) -> None:
    """Notes that something newer took its place, and until when it held."""
    ended = memory.valid_from or recorder.change.at
    if previous.valid_from is not None:
        ended = max(ended, previous.valid_from)
    recorder.revise(previous, superseded_by=memory.id, valid_until=previous.valid_until or ended)
