"""Turns that ask the very question which is asked now. Every question ends up in the log, and comes
first when it is asked again, but answers nothing; its reply may."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from holdfast.domain.memory import TURN, Memory
from holdfast.domain.records import Turn, as_memory
from holdfast.recall import weights
from holdfast.recall.coverage import Coverage
from holdfast.recall.evidence import Admits, Evidence, Found
from holdfast.text.analysis.terms import is_stop, terms

if TYPE_CHECKING:
    from holdfast.recall.expand import Understood
    from holdfast.store.base import Reader

# One question and nothing else: what is said around it may be an answer.
_ONE_QUESTION = re.compile(r"[^.!?。！？\n]{3,200}[?？]+")
_SAYS_NOTHING = re.compile(
    r"\b(?:(?:do|did|could|can|does)(?:n['’]t| not)|cannot) "
    r"(?:know|have|find|see|recall|remember)\b"
    r"|\bno (?:information|record|memory|memories|mention|details?)\b|\bnot sure\b"
    r"|\b(?:haven['’]t|have not) (?:told|mentioned|said|shared)\b"
    r"|\bnothing (?:about|on) (?:that|this|it)\b"
    r"|\bweiß (?:ich )?(?:es )?nicht\b|\bkeine (?:Information|Angabe|Ahnung)"
    r"|\bno (?:lo )?sé\b|\bno tengo\b|\bne sais pas\b|\baucune information\b"
    r"|\bnon (?:lo )?so\b|\bnão sei\b|\bweet (?:het )?niet\b|不知道|わかりません|知りません",
    re.IGNORECASE,
)
# Replies longer than this say something beside what they do not know.
_NOTHING_CHARS = 300


def replace_by_replies(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    understood: Understood,
    covered: Coverage,
    admits: Admits,
) -> list[Evidence]:
    """Takes the turns that ask the same out of the items, and returns them. The reply to each has
    the evidence of its question, but ranks behind what was said about it since; one that says it
    does not know is left as it was found."""
    turns = [item for item in items if item.memory.layer == TURN]
    turns.sort(key=lambda item: -item.own)
    asked = _words_of(understood)
    repeated = [
        item for item in turns[: weights.TURNS_COMPARED] if _asks_the_same(item, asked, covered)
    ]
    # The newest first: its reply may have replaced the others.
    repeated.sort(key=lambda item: item.memory.created_at, reverse=True)
    for question in repeated:
        items.remove(question)
        if reply := _reply(reader, hub_id, question.memory):
            newer = [
                item.own
                for item in items
                if item.memory.created_at > reply.at and covered(item) >= weights.NEWER_COVERAGE
            ]
            most = max(newer, default=math.inf) * weights.SUCCESSOR_SHARE
            _put(reader, hub_id, items, question, as_memory(reply), most, admits)
    return repeated


def _words_of(understood: Understood) -> frozenset[str]:
    """The words of the question, and others for them."""
    others = (one for found in understood.alternatives.values() for one in found)
    return frozenset(understood.query.terms).union(*(one.terms for one in others))


def _asks_the_same(item: Evidence, asked: frozenset[str], covered: Coverage) -> bool:
    """Whether it is a question with no other word than the one that is asked now, or with few."""
    if not _ONE_QUESTION.fullmatch(item.memory.content.strip()):
        return False
    if covered(item) < weights.ASKED_BEFORE_COVERAGE:
        return False
    said = {term for term in terms(item.memory.content) if not is_stop(term)}
    return len(said & asked) >= weights.ASKED_BEFORE_COVERAGE * len(said)


def _reply(reader: Reader, hub_id: str, question: Memory) -> Turn | None:
    for turn in reader.turns_around(hub_id, question.id, before=0, after=1):
        nothing = len(turn.content) <= _NOTHING_CHARS and _SAYS_NOTHING.search(turn.content)
        if turn.role == "assistant" and not nothing:
            return turn
    return None


def _put(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    question: Evidence,
    reply: Memory,
    most: float,
    admits: Admits,
) -> None:
    """Puts a reply among the items, with at most so much evidence."""
    known = next((item for item in items if item.memory.id == reply.id), None)
    passages = [known.best.candidate] if known else reader.passages(hub_id, [reply.id])
    if not passages or not admits(reply, passages[0]):
        return
    asked, said = question.best, passages[0]
    # Read together: the words that the question has are not said again.
    both = said._replace(body=f"{asked.candidate.body} {said.body}")
    share = min(1.0, most / max(asked.evidence, 1e-9))
    answer = Evidence(reply, [Found(both, asked.cosine * share, asked.words * share)])
    answer.why.append("the reply to the same question, asked before")
    if known is None:
        items.append(answer)
    elif known.own < answer.own:
        items[items.index(known)] = answer
