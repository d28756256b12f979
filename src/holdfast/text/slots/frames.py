"""Compares statements that differ in one place: 'Logs are kept for 14 days' and 'Logs are kept for
30 days'. Another number, time, date or address in that place replaces the first; another name or
word does where the statement says that it is new ('now', 'from now on'), or names the older one
('not Tuesdays').
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import STOP_WORDS, fold, terms
from holdfast.text.analysis.word_forms import tense
from holdfast.text.facts.statements import VERBS, Statement, core_stems
from holdfast.text.slots.rules import TermSets, Verdict
from holdfast.text.tables import Patterns, read_words

_PATTERNS = Patterns("slots/patterns.txt")

_WORDS = read_words("slots/words.txt")

# A longer difference makes it another statement.
_CHUNK_MAX = 3
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
# Values of these types are exclusive: there is one at a time.
_TYPES: tuple[tuple[str, str], ...] = (
    ("address", r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{0,2})/\S+"),
    ("date", rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?"
             rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?: \d{{4}})?|\d{{4}}-\d\d-\d\d"),
    ("clock", r"\d{1,2}:\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|noon|midnight"),
    ("ordinal", r"\d{1,2}(?:st|nd|rd|th)"),
    ("phone", r"\+?\d{2,4}(?: \d{2,}){1,4}"),
    ("number", r"v?[$€£]?\d+(?:[.,]\d+)*(?:%|[a-z]{1,3})?"),
)  # fmt: skip
_WHOLE = tuple((name, re.compile(pattern)) for name, pattern in _TYPES)
_SAME_WORDS = {"moved": "is", "pushed": "is", "was": "is", "changed": "is", "got": "is"}
_MAPPED = frozenset(_SAME_WORDS.values())
# A number after one of these names a thing, and another number another thing.
_NUMBERED = _WORDS["numbered"]
# What follows one of these may have several values.
_SEVERAL_VERBS = _WORDS["several verbs"]
_MORE_VERBS = _WORDS["more verbs"]


_PREPOSITIONS = frozenset(["at", "to", "on", "by", "until", "for"])


class Difference(NamedTuple):
    """The one place in which two statements differ: what is before it, and what is in it."""

    before: tuple[str, ...]
    new: tuple[str, ...]
    old: tuple[str, ...]
    after: tuple[str, ...]


def by_frame(now: Statement, then: Statement) -> Verdict | None:
    """By the same words around another value."""
    if (now.denied, now.owned) != (then.denied, then.owned) or now.denied:
        return None
    found = difference(now.body, then.body)
    if found is None or not _is_complement(now, found) or _is_event(found.before):
        return None
    changed = f"it was {' '.join(found.old)} and is {' '.join(found.new)}"
    kind = _type_of(found.new)
    if kind and kind == _type_of(found.old):
        if found.before[-1] in _NUMBERED or _is_one_of_several(now, found):
            return None
        return Verdict("replaces", changed)
    if kind != _type_of(found.old):
        return None
    if now.begun and not then.begun:
        return Verdict("replaces", changed)
    return None


def by_old_value(now: Statement, then: Statement) -> Verdict | None:
    """By naming the value that no longer holds: 'The line length is 120, not 88'."""
    said = _with_old_value(now.body)
    if said is None or then.denied or now.owned != then.owned:
        return None
    body, was = said
    found = difference(body, then.body)
    if found is None or _without_preposition(found.old) != was or not _is_complement(now, found):
        return None
    # 'Postgres for billing, not MySQL' leaves MySQL to other things.
    if any(word in STOP_WORDS for word in _without_preposition(found.new)):
        return None
    return Verdict("replaces", f"it was {' '.join(found.old)} and is {' '.join(found.new)}")


def old_value_terms(now: Statement) -> TermSets:
    said = _with_old_value(now.body)
    return [] if said is None else [_index_terms(said[1])]


def _with_old_value(body: str) -> tuple[str, tuple[str, ...]] | None:
    """A statement without the value that it denies, and the words of that value."""
    match = _PATTERNS["old value"].search(body)
    if match is None:
        return None
    return body[: match.start()], _without_preposition(_tokens(match["was"]))


def _without_preposition(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[1:] if len(words) > 1 and words[0] in _PREPOSITIONS else words


def frame_terms(now: Statement) -> TermSets:
    """Index terms of every statement that `by_frame` may replace by the value of a type: for every
    place in which this one has such a value, the words around it."""
    tokens = _tokens(now.body)
    # Whether a word may be of a type at all; it is cheaper than to look which.
    valued = [_VALUE.search(word) is not None for word in tokens]
    if not any(valued) or now.denied or _is_event(tokens):
        return []
    found = []
    for start in range(1, len(tokens)):
        for end in range(start + 1, min(start + _CHUNK_MAX, len(tokens)) + 1):
            before, chunk, after = tokens[:start], tokens[start:end], tokens[end:]
            if before[-1] in _NUMBERED or not any(valued[start:end]) or not _type_of(chunk):
                continue
            if _is_complement(now, Difference(before, chunk, (), after)):
                found.append(_index_terms((*before, *after)))
    return found


def _index_terms(words: tuple[str, ...]) -> frozenset[str]:
    """Terms that a text with these words surely has. A word that `_tokens` puts in the place of
    others may have been one of them; one with other signs may be cut elsewhere."""
    return frozenset(
        term
        for word in words
        if word.isascii() and word.isalnum() and word not in STOP_WORDS and word not in _MAPPED
        for term in terms(word)
    )


# The values of types without a digit in them.
_VALUE = re.compile(r"\d|@|://|noon|midnight|/|www")


def difference(new: str, old: str) -> Difference | None:
    """The place in which two bodies differ; None where they differ in several, or in too much."""
    one, two = _tokens(new), _tokens(old)
    shorter = min(len(one), len(two))
    front = 0
    while front < shorter and one[front] == two[front]:
        front += 1
    back = 0
    while back < shorter - front and one[-1 - back] == two[-1 - back]:
        back += 1
    first, second = one[front : len(one) - back], two[front : len(two) - back]
    if not (0 < len(first) <= _CHUNK_MAX and 0 < len(second) <= _CHUNK_MAX):
        return None
    return Difference(one[:front], first, second, one[len(one) - back :] if back else ())


@lru_cache(maxsize=1_024)
def _tokens(body: str) -> tuple[str, ...]:
    plain = _PATTERNS["since"].sub(" ", fold(body))
    found = (word.strip(".,;!\"'") for word in plain.split())
    return tuple(_SAME_WORDS.get(word, word) for word in found if word)


def _is_complement(now: Statement, found: Difference) -> bool:
    """Whether the difference comes behind a verb, and is not in what the statement is about."""
    words = found.before
    if len(words) <= (0 if now.subject else 1):
        return False
    # 'We deploy on Tuesdays' begins with its verb.
    return f"{words[0]}s" in _MORE_VERBS or any(
        word in ("is", "are") or word in VERBS or word in _MORE_VERBS for word in words
    )


def _is_event(words: tuple[str, ...]) -> bool:
    """Whether something happened, which may have happened twice: 'Watered the plants on Monday'."""
    return bool(words) and (tense(words[0]) == "past" or words[0] == "read")


def _is_one_of_several(now: Statement, found: Difference) -> bool:
    if now.body[:2].lower() in ("a ", "an") or "one" in found.before:
        return True
    return not _SEVERAL_VERBS.isdisjoint(found.before) and "been" not in found.before


def _type_of(chunk: tuple[str, ...]) -> str:
    text = " ".join(_without_preposition(chunk))
    return next((name for name, pattern in _WHOLE if pattern.fullmatch(text)), "")


# Closeness


# Two statements are close where they share so much of the shorter one, and so many words.
_SHARED_LEAST, _SHARED_BEGUN = 0.6, 0.45
_SHARED_WORDS = 2


def may_be_close(now: Statement) -> bool:
    """Whether a statement may be close to an older one at all, whatever that says. An event, an
    addition and a supposition never are."""
    return not (now.added or now.supposed or (_is_event(_tokens(now.body)) and not now.begun))


def is_close(now: Statement, then: Statement) -> bool:
    """Whether a person would look at both to see whether the newer one is meant to replace the
    older one. It is never the reason to replace anything."""
    if then.supposed or not may_be_close(now) or _is_series(now, then):
        return False
    new, old = set(core_stems(_about(now))), set(core_stems(_about(then)))
    shared = len(new & old)
    if not shared or new & old <= _change_stems():
        # 'I moved to Helix' is not about 'Standup moved to 10:00'.
        return False
    share = shared / min(len(new), len(old))
    if now.begun:
        return share >= _SHARED_BEGUN
    return share >= _SHARED_LEAST and shared >= _SHARED_WORDS


@lru_cache(maxsize=1)
def _change_stems() -> frozenset[str]:
    return frozenset(core_stems("moved switched changed migrated replaced renamed"))


# Verbs with which a person lists what they do or have; a second one says nothing of the first.
_LISTING_VERBS = _SEVERAL_VERBS | frozenset(
    """
    like love enjoy hate use want plan prefer visit work play watch eat drink
    """.split()  # noqa: SIM905
)


def same_topic(now: Statement, then: Statement) -> bool:
    """Whether two statements begin with the same word of substance: 'The app is written in Flask'
    and 'The app runs on FastAPI'. Where they also mean nearly the same, they are close."""
    if then.supposed or not may_be_close(now) or _is_series(now, then):
        return False
    new, old = core_stems(_about(now)), core_stems(_about(then))
    return bool(new and old) and new[0] == old[0] and new[0] not in _listing_stems()


@lru_cache(maxsize=1)
def _listing_stems() -> frozenset[str]:
    return frozenset(term for verb in _LISTING_VERBS for term in terms(verb))


def _is_series(now: Statement, then: Statement) -> bool:
    """Whether both only number what they are about: 'Addition 3 to …', 'Addition 4 to …'."""
    found = difference(now.body, then.body)
    if found is None or _is_complement(now, found):
        return False
    return bool(_type_of(found.new)) and _type_of(found.new) == _type_of(found.old)


def _about(said: Statement) -> str:
    subject = "" if said.subject in ("?", "we") else said.subject
    return f"{subject} {said.body}"
