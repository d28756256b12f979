"""What a person said next in a session, where a line of the block would mislead without it: what
corrects, changes or takes back the line, and the answer to a question of the agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.domain.memory import TURN
from holdfast.domain.records import is_own_word
from holdfast.engine.traces import Withheld
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import lazy

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.store.base import Reader

# How far a correction may be from what it corrects: three messages of the person and their replies.
_TURNS_AFTER = 6


# How many later turns with the words of a statement are compared with it, and how much of each.
_LOOKED_AT = 8
_SENTENCES_MAX = 3
# Turns that are close to a statement share a rare word; ranking so many takes a millisecond or two.
_POSTINGS_MAX = 1_000


class FollowUp(NamedTuple):
    """What the person said later in a session: whether it is about the same thing, and so belongs
    next to it; whether it corrects it, or takes it back; and whether it says anything else."""

    turn: Turn
    belongs: bool
    corrects: bool = False
    takes_back: bool = False
    says_more: bool = True


def follow_ups(reader: Reader, withheld: Withheld, turn: Turn) -> list[FollowUp]:
    """What the person said later that corrects or changes a turn of theirs; if nothing does, the
    next they said. For a reply of the agent that asks, the answer. Their own questions and thanks
    do not count."""
    from holdfast.text.slots.corrections import corrects, says_more

    if turn.speaker is not None or turn.session is None:
        # Between people, others speak in between.
        return []
    after = reader.turns_around(turn.hub_id, turn.id, before=0, after=_TURNS_AFTER)
    said = _of_the_person(after, withheld)
    if turn.role == "assistant":
        return [FollowUp(said[0], belongs=True)] if _asks(turn) and said else []
    found = []
    for place, later in enumerate(said):
        manner = corrects(
            later.content,
            turn.content,
            is_next=place == 0,
            reply=_reply_before(after, later),
        )
        if manner is not None:
            found.append(
                FollowUp(
                    later,
                    belongs=True,
                    corrects=manner != "changed",
                    takes_back=manner == "taken back",
                    says_more=says_more(later.content),
                )
            )
    if found or not said or only_asks(said[0].content):
        return found
    return [FollowUp(said[0], belongs=False)]


def _reply_before(turns: Sequence[Turn], said: Turn) -> str:
    """What the agent had said before a message of the person."""
    place = turns.index(said)
    is_reply = place and turns[place - 1].role == "assistant"
    return turns[place - 1].content if is_reply else ""


def _asks(turn: Turn) -> bool:
    return turn.content.rstrip().endswith(("?", "？"))


class Newer(NamedTuple):
    """A later turn that follows up a statement, and the sentence of it that may replace the
    statement."""

    turn: Turn
    text: str


def newer_statements(
    reader: Reader, withheld: Withheld, hub_id: str, text: str, since: datetime
) -> list[Newer]:
    """What the person said after a time that may be meant to replace a statement, in any session:
    close to it by its words, as `remember` names an older memory that a new one is close to."""
    from holdfast.domain.query import Filter
    from holdfast.store.values import TermQuery
    from holdfast.text.slots.compare import close_terms, is_statement, may_be_about_the_same

    text = " ".join(text.split())
    if not is_statement(text) or not (words := close_terms(text)):
        return []
    query = TermQuery(words, by_rarity=True, postings_max=_POSTINGS_MAX)
    wanted = Filter(layers=(TURN,), turns=True, since=since)
    found = reader.search_terms(hub_id, query, wanted, limit=_LOOKED_AT)
    turns = reader.turns_by_id(hub_id, [one.memory_id for one in found]).values()
    later = [one for one in turns if one.at > since and one.speaker is None]
    out = []
    for turn in _of_the_person(later, withheld):
        parts = _sentences(turn.content)
        close = next((one for one in parts if may_be_about_the_same(one, text)), None)
        if close is not None:
            out.append(Newer(turn, close))
    return out


def renewal_of(reader: Reader, memory: Memory, now: datetime) -> Memory | None:
    """The newest memory that was told as a change of this one, without taking its place. It shares
    words with it, by which it is found."""
    from holdfast.domain.memory import renewed_id
    from holdfast.domain.query import Filter
    from holdfast.store.values import TermQuery
    from holdfast.text.slots.compare import close_terms

    words = close_terms(" ".join(memory.content.split()))
    if memory.layer != "long_term" or not words:
        return None
    query = TermQuery(words, by_rarity=True, postings_max=_POSTINGS_MAX)
    wanted = Filter(layers=("long_term",), states=("active",), alive_at=now, holds_at=now)
    found = reader.search_terms(memory.hub_id, query, wanted, limit=_LOOKED_AT)
    ids = [one.memory_id for one in found]
    newer = reader.memories_by_id(memory.hub_id, ids).values()
    told = [one for one in newer if renewed_id(one) == memory.id]
    return max(told, key=lambda one: one.number, default=None)


def _sentences(text: str) -> list[str]:
    spans = list(sentence_spans(text))
    return [" ".join(text[start:end].split()) for start, end in spans[:_SENTENCES_MAX]]


def source_turn(reader: Reader, memory: Memory) -> Turn | None:
    """The turn that a memory was made from."""
    if memory.origin is None:
        return None
    return reader.turns_by_id(memory.hub_id, [memory.origin.turn]).get(memory.origin.turn)


def _of_the_person(turns: Sequence[Turn], withheld: Withheld) -> list[Turn]:
    return [
        one
        for one in turns
        if is_own_word(one) and not withheld.parts(one) and not only_acknowledges(one.content)
    ]


def only_asks(text: str) -> bool:
    sentences = [text[start:end].rstrip() for start, end in sentence_spans(text)]
    return bool(sentences) and all(one.endswith(("?", "？")) for one in sentences)


def only_acknowledges(text: str) -> bool:
    """Whether a turn only thanks or confirms, which tells nothing later."""
    return _ACKNOWLEDGES.fullmatch(text.strip()) is not None


# In several languages.
_ACKNOWLEDGES = lazy(
    r"\W*(?:\b(?:ok(?:ay)?|all right|alright|sure|right|all done|done|understood|got it|noted"
    r"|will do|of course|no problem|certainly|absolutely|great|perfect|you['’]?re (?:very )?welcome"
    r"|good(?: to know)?|sounds (?:good|great)|makes sense"
    r"|i (?:wrote|noted) (?:that|it) down|cool|nice|awesome|lovely|how nice|cheers|thx"
    r"|thanks|thank you|(?:very|so) much|a lot|many|again|danke|schön|vielen dank|merci|beaucoup"
    r"|(?:muchas )?gracias|(?:muito )?obrigad[oa]|grazie(?: mille)?|bedankt|dank je"
    r"|erledigt|verstanden|alles klar|gerne?|gemerkt|klar|gut|fertig|natürlich"
    r"|fait|d'accord|compris|bien sûr|hecho|entendido|claro|vale|fatto|capito|certo|va bene"
    r"|feito|entendi|gedaan|begrepen|prima)\b\W*)+",
    re.IGNORECASE,
)
