"""Sentences that no rule knows, kept where the trained model is sure of them (`sentence_model.py`).

They are kept in the person's own words, or in the third person where that is certain to be
grammatical. What is still to come is noted with its date, but not kept for good.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from holdfast.text.capture.sentence_model import (
    LIMIT,
    LIMIT_BY_WORDS,
    Message,
    Vector,
    guess,
)
from holdfast.text.capture.sentences import BLANK, Sentence
from holdfast.text.capture.statements import LEARNED, Captured, opening_end, without_end
from holdfast.text.capture.wording import (
    as_said,
    dated,
    in_own_words,
    is_told_well,
    resolve,
    speaks_of_oneself,
    tell,
)
from holdfast.text.classify.classifier import classify
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("capture/patterns.txt")

# The vector of a sentence, or None if it could not be made.
VectorOf: TypeAlias = Callable[[str], Vector | None]

# A sentence that is less likely by its words is not worth a vector.
_WORTH_A_VECTOR = 0.05
# A longer sentence is a story or a list: of those in public conversations with assistants, half of
# what the model kept was of no use later, and of shorter ones a quarter.
_CHARS_MAX = 100
# A longer statement may have other subjects than the person.
_TOLD_WORDS_MAX = 12
_CATEGORIES = {"order": "preference", "decision": "decision", "project": "project"}
# In scripts without spaces, and with an English embedding model, the model is right about three
# times in four: not often enough.
_UNSPACED = lazy(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# The rule of what is still to come.
_UPCOMING = "upcoming"


def with_learned(
    sentence: Sentence,
    facts: list[Captured],
    message: Message,
    at: datetime | None,
    vector_of: VectorOf | None,
) -> list[Captured]:
    """The facts of a sentence. If rules found none that is kept for good, and the model is sure
    enough: what they found is kept for good, or the sentence itself."""
    if sentence.asked or BLANK in sentence.folded or any(fact.standing for fact in facts):
        return facts
    if _UNSPACED.search(sentence.said):
        return facts
    start = opening_end(sentence.folded)
    folded, words = without_end(sentence.folded[start:], sentence.said[start:])
    # Asked before the model: a vector takes longer than all else.
    is_kept_whole = 0 < len(words) <= _CHARS_MAX and not _PATTERNS["supposed"].search(folded)
    if not (facts or is_kept_whole):
        return facts
    kind = _likely_kind(sentence, message, vector_of)
    if not kind:
        return facts
    if facts:
        # Rules know an event when they see one; what is true of a project lasts.
        return [facts[0]._replace(lasting=kind == "project"), *facts[1:]]
    if not (_orders(folded) if kind == "order" else _lasts(folded)):
        return facts
    begin = sentence.start + start
    fact = Captured(as_said(words), "", begin, begin + len(words), LEARNED, verbatim=True)
    if kind != "order" and at is not None:
        fact = _with_dates(fact, words, at)
    return [fact._replace(category=_CATEGORIES.get(kind) or classify(fact.text).category)]


def _orders(folded: str) -> bool:
    return _PATTERNS["own intention"].match(folded) is None


def _lasts(folded: str) -> bool:
    """Whether a statement is no question, names its subject, and is not of the moment."""
    if folded.endswith("?") or _PATTERNS["of the moment"].match(folded):
        return False
    head = _PATTERNS["refers nowhere"].sub(" ", folded)[:_HEAD_CHARS]
    return _SUBJECT_ELSEWHERE.match(head) is None


# The subject of a statement is at its beginning.
_HEAD_CHARS = 40
_SUBJECT_ELSEWHERE = lazy(
    r"(?:and |but |so |also,? |plus,? |then )?"
    r"(?:it|its|it['’]s|they|them|these|those|this|that|that['’]s|she|he|her|his)\b"
)


def _likely_kind(sentence: Sentence, message: Message, vector_of: VectorOf | None) -> str:
    """The kind of a sentence that is kept; else empty."""
    found, limit = guess(sentence.said, message), LIMIT_BY_WORDS
    if vector_of is not None and found.probability >= _WORTH_A_VECTOR:
        vector = vector_of(sentence.said)
        if vector is not None:
            found, limit = guess(sentence.said, message, vector), LIMIT
    return found.kind if found.probability >= limit else ""


def _with_dates(fact: Captured, words: str, at: datetime) -> Captured:
    """A statement with the dates that it needs to be understood later, in the third person if it is
    a short one of the person about themselves."""
    resolved = resolve(words, at, when="near")
    is_short = words.count(" ") < _TOLD_WORDS_MAX and "," not in words
    is_of_oneself = _OF_ONESELF.match(words) and not speaks_of_oneself(words)
    if is_short and is_of_oneself and is_told_well(words, resolved):
        text = dated(tell(resolved.text), resolved, at, in_words=True)
    else:
        text = in_own_words(words, at)
    if resolved.since is None or resolved.since <= at:
        return fact._replace(text=text)
    since, until = resolved.since, resolved.until
    return fact._replace(text=text, rule=_UPCOMING, occurred_at=since, occurred_until=until)


_OF_ONESELF = lazy(r"(?i)(?:i|i['’]m|i['’]ve|im|ive) ")
