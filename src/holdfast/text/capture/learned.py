"""Sentences that no rule knows, kept where the trained model is sure of them (`sentence_model.py`).

They are kept in the person's own words, or in the third person where that is certain to be
grammatical. What is still to come, or happened on a day, is noted with its date, but not kept for
good. Most of a long message is about the task at hand: there only statements about the person are
kept, and orders that say that they are for good. The model also judges what a rule took for such an
order.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from holdfast.text.analysis.terms import STOP_WORDS
from holdfast.text.capture.self_contained import is_self_contained
from holdfast.text.capture.sentence_model import (
    LIMIT,
    LIMIT_BY_WORDS,
    SURE,
    SURE_BY_WORDS,
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
from holdfast.text.tables import Patterns, lazy, read_words

_PATTERNS = Patterns("capture/patterns.txt")

# The vector of a sentence, or None if it could not be made.
VectorOf: TypeAlias = Callable[[str], Vector | None]

# A sentence that is less likely by its words is not worth a vector.
_WORTH_A_VECTOR = 0.05
# A longer sentence is a story or a list: of those in public conversations with assistants, half of
# what the model kept was of no use later, and of shorter ones a quarter. In a short message a
# longer one is kept if the model is sure of it.
_CHARS_MAX, _CHARS_MAX_IN_SHORT = 100, 140
_SHORT_CHARS = 250
# 'Always' and 'I remember' say nothing.
_SPACES_MIN = 2
# A longer statement may have other subjects than the person.
_TOLD_WORDS_MAX = 12
_CATEGORIES = {"order": "preference", "decision": "decision", "project": "project"}
# In scripts without spaces, and with an English embedding model, the model is right about three
# times in four: not often enough.
_UNSPACED = lazy(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# The model was trained on messages of a few sentences. In a longer one it takes steps of a task for
# facts: of what it kept of them in chats about projects, one in eight was of use.
_LONG_CHARS = 300
# Of what is longer still, most was pasted.
_MESSAGE_CHARS_MAX = 1_000
# An order that a rule found is one of the moment below this probability, or below `LIMIT` with a
# vector.
_ORDER_LIMIT_BY_WORDS = 0.5
# The rules of what is not kept for good: an order of the moment, what is still to come, and what
# happened on a day.
_OF_THE_MOMENT = "order"
_UPCOMING = "upcoming"
_EVENT = "event"


def with_learned(
    sentence: Sentence,
    facts: list[Captured],
    message: Message,
    at: datetime | None,
    vector_of: VectorOf | None,
) -> list[Captured]:
    """The facts of a sentence. If rules found none that is kept for good, and the model is sure
    enough: what they found is kept for good, or the sentence itself."""
    if sentence.asked or BLANK in sentence.folded or _UNSPACED.search(sentence.said):
        return facts
    if any(fact.standing for fact in facts):
        return _without_orders_of_the_moment(sentence, facts, message, vector_of)
    length = len(message.before) + len(sentence.said) + len(message.after)
    start = opening_end(sentence.folded)
    folded, words = without_end(sentence.folded[start:], sentence.said[start:])
    # Asked before the model: a vector takes longer than all else.
    if length > _MESSAGE_CHARS_MAX or not _is_of_a_known_language(folded):
        return facts
    chars_max = _CHARS_MAX_IN_SHORT if length <= _SHORT_CHARS else _CHARS_MAX
    is_kept_whole = (
        words.count(" ") >= _SPACES_MIN
        and len(words) <= chars_max
        and not _PATTERNS["supposed"].search(folded)
    )
    if not (facts or is_kept_whole):
        return facts
    found = _judged(sentence, message, vector_of)
    kind = found.kind
    if found.probability < (found.limit if len(words) <= _CHARS_MAX else found.sure):
        return facts
    is_long = length > _LONG_CHARS
    if facts:
        # Rules know an event when they see one; what is true of a project lasts.
        is_of_project = facts[0].category == "project" and not _OF_ONESELF.match(words)
        is_lasting = (kind == "project" or (kind == "self" and is_of_project)) and not is_long
        return [facts[0]._replace(lasting=is_lasting), *facts[1:]]
    if kind == "order":
        is_kept = _orders(folded, found, is_long)
    else:
        is_kept = _lasts(folded) and (not is_long or _is_sure_of_oneself(folded, found))
    if not is_kept:
        return facts
    begin = sentence.start + start
    fact = Captured(as_said(words), "", begin, begin + len(words), LEARNED, verbatim=True)
    if kind != "order" and at is not None:
        fact = _with_dates(fact, words, at)
    return [fact._replace(category=_CATEGORIES.get(kind) or classify(fact.text).category)]


def _is_of_a_known_language(folded: str) -> bool:
    """Whether a sentence has a common word of a language that the model was trained on, or is too
    short to tell. A list of names has none either."""
    words = _WORD.findall(folded)
    if len(words) < _WORDS_TO_TELL:
        return True
    return not (STOP_WORDS | read_words("capture/words.txt")["known languages"]).isdisjoint(words)


_WORD = lazy(r"[^\W\d_]+")
_WORDS_TO_TELL = 6


def _without_orders_of_the_moment(
    sentence: Sentence, facts: list[Captured], message: Message, vector_of: VectorOf | None
) -> list[Captured]:
    """The facts of a sentence. What rules take for an order for the future is one of the moment if
    it is impatient, and the model finds it unlikely to last ('no need to ask, just send it')."""
    orders = [
        fact
        for fact in facts
        if fact.rule == "standing-order"
        and _PATTERNS["impatient"].search(fact.text.lower())
        and not _is_for_good(fact.text)
    ]
    if not orders:
        return facts
    found = _judged(sentence, message, vector_of)
    if found.probability >= (LIMIT if found.limit == LIMIT else _ORDER_LIMIT_BY_WORDS):
        return facts
    return [fact._replace(rule=_OF_THE_MOMENT) if fact in orders else fact for fact in facts]


def _is_for_good(order: str) -> bool:
    return _PATTERNS["for good by itself"].search(order.lower()) is not None


def _orders(folded: str, found: _Judged, is_long: bool) -> bool:
    """Whether an order is for good: it says so, or the model is sure of it."""
    if _PATTERNS["own intention"].match(folded):
        return False
    if _is_for_good(folded):
        return True
    if is_long or _PATTERNS["task"].match(folded):
        return False
    return found.probability >= found.sure


def _lasts(folded: str) -> bool:
    """Whether a statement is no question, names what it is about, and is not of the moment."""
    if folded.endswith("?") or _PATTERNS["asks too"].search(folded):
        return False
    if any(_PATTERNS[name].search(folded) for name in ("of the moment", "task", "passing")):
        return False
    head = _PATTERNS["refers nowhere"].sub(" ", folded)[:_HEAD_CHARS]
    return _SUBJECT_ELSEWHERE.match(head) is None and is_self_contained(folded)


def _is_sure_of_oneself(folded: str, found: _Judged) -> bool:
    """Whether the model is sure of a statement with the person as its subject, which is no step of
    what they are doing."""
    if found.kind == "decision" or found.probability < found.sure:
        return False
    return (
        _OF_ONESELF_OR_OWN.match(folded) is not None
        and _PATTERNS["in progress"].match(folded) is None
    )


# The subject of a statement is at its beginning.
_HEAD_CHARS = 40
_SUBJECT_ELSEWHERE = lazy(
    r"(?:and |but |so |also,? |plus,? |then )?"
    r"(?:it|its|it['’]s|they|them|these|those|this|that|that['’]s|she|he|her|his)\b"
)
_OF_ONESELF_OR_OWN = lazy(r"(?:(?:i|we)(?:['’]\w+)?|im|ive|my|our) ")


class _Judged(NamedTuple):
    """The likeliest kind of a sentence, its probability, the limit from which it is kept, and the
    limit from which the model is sure enough where little else speaks for it."""

    kind: str
    probability: float
    limit: float
    sure: float


def _judged(sentence: Sentence, message: Message, vector_of: VectorOf | None) -> _Judged:
    found = guess(sentence.said, message)
    if vector_of is not None and found.probability >= _WORTH_A_VECTOR:
        vector = vector_of(sentence.said)
        if vector is not None:
            found = guess(sentence.said, message, vector)
            return _Judged(*found, LIMIT, SURE)
    return _Judged(*found, LIMIT_BY_WORDS, SURE_BY_WORDS)


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
    since, until = resolved.since, resolved.until
    if since is None:
        return fact._replace(text=text)
    if since > at:
        return fact._replace(text=text, rule=_UPCOMING, occurred_at=since, occurred_until=until)
    is_of_a_day = until is None or until - since <= _DAY
    if is_of_a_day and _SINCE.search(words) is None:
        return fact._replace(text=text, rule=_EVENT, occurred_at=since, occurred_until=until)
    return fact._replace(text=text)


_DAY = timedelta(days=1)
_SINCE = lazy(r"(?i)\b(?:since|for|until|till|every|each|depuis|seit|desde|dal|sinds)\b")
_OF_ONESELF = lazy(r"(?i)(?:i|i['’]m|i['’]ve|im|ive) ")
