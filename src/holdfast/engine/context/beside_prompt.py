"""Selects the lines that are added to a prompt from the hits of a recall: nothing that the
conversation was given already, and a question from the log only together with its reply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from holdfast.domain.memory import Memory, made_from
from holdfast.domain.query import Hit
from holdfast.domain.records import Turn, as_memory, is_own_word
from holdfast.engine.context.items import (
    MARK,
    MAYBE_OLD,
    CorrectedFact,
    day_named,
    is_corrected,
    joined_notes,
    reason_to_omit,
    turned_down_by,
)
from holdfast.engine.core import Scope
from holdfast.engine.reading.follow_ups import (
    FollowUp,
    follow_ups,
    only_acknowledges,
    only_asks,
    renewal_of,
    source_turn,
)
from holdfast.engine.traces import Withheld
from holdfast.recall.evidence import says_nothing
from holdfast.store.base import Reader
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import is_stop, terms

# A turn that only accompanies another one is cut to this length.
_CHARS = 200


class PromptLine(NamedTuple):
    """A memory or a turn, its displayed text, why it was found, and a note on its validity."""

    memory: Memory
    text: str
    why: str
    note: str = ""
    # For a part of a long memory, its position.
    part: str = ""


def _part(hit: Hit) -> str:
    """Identifies the part of a long memory that a conversation was given, because another part of
    an archive or a document is new. Empty for a short memory as a whole."""
    memory, passage = hit.memory, hit.passage
    if memory.layer == "turn" or len(memory.content.strip()) <= passage.end - passage.start:
        return ""
    return f"{memory.id}:{passage.start}-{passage.end}"


def _given_memories(
    reader: Reader, hub_ids: Iterable[str], given: Collection[str]
) -> Iterator[Memory]:
    """The memories that the conversation was given already; of a long memory, the part."""
    parts = {name: name.partition(":")[2] for name in given}
    ids = list(dict.fromkeys(name.partition(":")[0] for name in given))
    found = {id_: one for hub in hub_ids for id_, one in reader.memories_by_id(hub, ids).items()}
    for name, part in parts.items():
        memory = found.get(name.partition(":")[0])
        if memory is None:
            continue
        start, _, end = part.partition("-")
        yield memory._replace(content=memory.content[int(start) : int(end)]) if part else memory


def prompt_lines(
    scopes: Mapping[str, Scope],
    hits: Sequence[Hit],
    *,
    prompt: str,
    given: Collection[str],
    outdated: Sequence[CorrectedFact] = (),
) -> list[list[PromptLine]]:
    """The lines, in groups that belong together. `scopes` are the hubs that were searched, by id;
    `given` names what the conversation was given already. A turn is left out if one of these, or an
    earlier line, contains all of its words that are not in the prompt."""
    if not hits:
        return []
    core = next(iter(scopes.values())).core
    with core.read() as reader:
        earlier = list(_given_memories(reader, scopes, given))
        sources = {source for memory in earlier for source in made_from(memory)}
        sources |= {memory.origin.turn for memory in earlier if memory.origin is not None}
        asked = _terms(prompt)
        known = [_terms(memory.content) for memory in earlier]
        groups: list[list[PromptLine]] = []
        shown = set(given)
        for hit in hits:
            if {hit.memory.id, _part(hit)} & shown or hit.memory.id in sources:
                continue
            group = list(_group(reader, scopes[hit.memory.hub_id], hit, outdated, sources | shown))
            words = {term for line in group for term in _terms(line.text)}
            if not group or (hit.turn is not None and _is_known(words, asked, known)):
                continue
            known.append(words)
            shown.update(line.part or line.memory.id for line in group)
            groups.append(group)
    return groups


def _is_known(words: set[str], asked: set[str], known: Sequence[set[str]]) -> bool:
    # A turn with no words beyond the prompt may answer 'did I say this, and when?'.
    new = words - asked or words
    return any(new <= one for one in known)


def _group(
    reader: Reader,
    scope: Scope,
    hit: Hit,
    outdated: Sequence[CorrectedFact],
    known: Collection[str],
) -> Iterator[PromptLine]:
    """The lines for one hit: a memory comes after what was told as a change of it, a question with
    its reply, a reply with its question and with what the person said where they turned it down. A
    question without a useful reply is left out, and so is a reply where what turned it down is
    known already."""
    why = "; ".join(hit.why[:3])
    turn = hit.turn
    if turn is None:
        line = PromptLine(hit.memory, hit.passage.text, why, part=_part(hit))
        newer = renewal_of(reader, hit.memory, scope.core.now())
        if newer is not None and reason_to_omit(scope.core, newer, scope.core.now()):
            newer = None
        if newer is not None and newer.id not in known:
            yield PromptLine(
                newer, newer.content, "told as a change of a memory that fits", "newer"
            )
        yield line if newer is None else line._replace(note=MAYBE_OLD)
        source = source_turn(reader, hit.memory)
        if source is not None:
            yield from _later_lines(_later(reader, scope, source), known)
        return
    if only_acknowledges(turn.content):
        return
    note = MARK if is_corrected(turn, outdated) else ""
    day = day_named(scope, turn, hit.passage.text)
    line = PromptLine(hit.memory, hit.passage.text, why, joined_notes(note, day))
    if _is_question(turn):
        reply = reply_to(reader, scope, turn)
        if reply is not None:
            shown = _companion_line(reply, "the reply to a question that fits")
            group = _with_correction(reader, scope, reply, shown, known)
            yield from [line, *group] if group else ()
        return
    if turn.role == "assistant":
        question = _adjacent_turn(reader, scope, turn, "user")
        group = _with_correction(reader, scope, turn, line, known)
        if question is not None and only_asks(question.content):
            if not group or not _answers(question, turn):
                return
            yield _companion_line(question, "the question of a reply")
        yield from group
        return
    later = _later(reader, scope, turn)
    if not any(one.takes_back for one in later):
        is_old = any(one.corrects for one in later)
        yield line._replace(note=joined_notes(MARK, day)) if is_old else line
    yield from _later_lines(later, known)


def _later(reader: Reader, scope: Scope, turn: Turn) -> list[FollowUp]:
    """What the person said later in the session that corrects or changes a turn of theirs."""
    if not is_own_word(turn):
        return []
    return [one for one in follow_ups(reader, Withheld(reader, scope), turn) if one.belongs]


def _later_lines(later: Sequence[FollowUp], known: Collection[str]) -> Iterator[PromptLine]:
    for one in later:
        if one.turn.id not in known and (one.says_more or not one.takes_back):
            yield _companion_line(one.turn, "what was said of it later")


def _is_question(turn: Turn) -> bool:
    """Whether a turn only asks the agent. Between people, a question may contain as much
    information as its reply."""
    return is_own_word(turn) and turn.speaker is None and only_asks(turn.content)


def reply_to(reader: Reader, scope: Scope, turn: Turn) -> Turn | None:
    """The reply to a turn that only asks the agent, where it says something, for lines beside a
    prompt."""
    if not _is_question(turn):
        return None
    reply = _adjacent_turn(reader, scope, turn, "assistant")
    return reply if reply is not None and _answers(turn, reply) else None


def _with_correction(
    reader: Reader, scope: Scope, reply: Turn, line: PromptLine, known: Collection[str]
) -> list[PromptLine]:
    """The line of a reply, with what the person said where they turned it down; nothing if that
    is known."""
    correction = turned_down_by(reader, scope, reply)
    if correction is None:
        return [line]
    if correction.id in known:
        return []
    return [line._replace(note=MARK), _companion_line(correction, "what corrects a reply")]


def _companion_line(turn: Turn, why: str) -> PromptLine:
    text = turn.content
    return PromptLine(as_memory(turn), text if len(text) <= _CHARS else text[:_CHARS] + "…", why)


def _adjacent_turn(reader: Reader, scope: Scope, turn: Turn, role: str) -> Turn | None:
    """The turn after this one, or for a reply's question the one before, if it has this role and no
    part of it is withheld."""
    before, after = (0, 1) if role == "assistant" else (1, 0)
    found = reader.turns_around(scope.hub_id, turn.id, before=before, after=after)
    withheld = Withheld(reader, scope)
    for one in found:
        if one.role == role and not withheld.parts(one):
            return one
    return None


def _answers(question: Turn, reply: Turn) -> bool:
    if says_nothing(reply.content) or only_acknowledges(reply.content):
        return False
    return bool(_terms(reply.content) - _terms(question.content))


def _terms(text: str) -> set[str]:
    return {term for term in terms(text) if not is_stop(term)}
