"""Decides whether a new statement repeats, replaces or contradicts an older one, without a model:
the same slot (where somebody lives, which port a service has) with another value, or almost the
same words with a negation, another state or another number.

'replaces' is the result only where any reader would agree. What may be true beside the older one,
or adds to it, is 'contradicts' or 'unrelated'. What somebody can have several of (tools, languages,
friends) never replaces anything. Statements about a home, a name or an employer are understood in
nine languages, others in English only. It does not know who said what, or when.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.analysis.terms import STOP_WORDS, fold, terms
from holdfast.text.analysis.word_forms import is_number_word, numbers_in
from holdfast.text.facts import about_oneself
from holdfast.text.facts.sameness import words_key
from holdfast.text.facts.statements import (
    KEPT_MAX,
    Statement,
    core_stems,
    read,
    turned_around,
    without_note,
)
from holdfast.text.slots import STATEMENT_CHARS_MAX
from holdfast.text.slots.frames import (
    by_frame,
    by_old_value,
    frame_terms,
    is_close,
    may_be_close,
    old_value_terms,
    same_topic,
)
from holdfast.text.slots.rules import (
    RELATIONS,
    Relation,
    TermSets,
    Verdict,
    attribute_key,
    filled,
    index_terms,
    without_when,
)
from holdfast.text.slots.values import (
    by_key,
    by_relative,
    by_slot,
    key_terms,
    relative_terms,
    slot_terms,
)
from holdfast.text.tables import Patterns, read_words

_PATTERNS = Patterns("slots/patterns.txt")

_WORDS = read_words("slots/words.txt")

# Negations


_LIKES = {"like": "like", "love": "like", "enjoy": "like", "adore": "like"}
_DISLIKES = frozenset(["hate", "dislik", "detest", "loath"])
_SEVERAL = r"(?i)\b(?:and|or|but)\b|[,;/]"


def _stops_a_thing(said: Statement) -> bool:
    match = _PATTERNS["stopped"].search(said.body) if said.ended else None
    return match is not None and not (match[1] or "").endswith("ing")


def _stance(said: Statement) -> tuple[list[str], bool]:
    """The stems of a statement, and whether it is negated: hating counts as not liking."""
    stems = core_stems(said.body)
    if stems and stems[0] in _DISLIKES:
        return ["like", *stems[1:]], not said.denied
    if stems and stems[0] in _LIKES:
        return ["like", *stems[1:]], said.denied
    return stems, said.denied


# A statement with more extra words than this is about more than what is negated.
_EXTRA_MAX = 3


def by_negation(now: Statement, then: Statement) -> Verdict | None:
    """By a negation, an end, or a return."""
    if now.owned != then.owned or _stops_a_thing(now) or _stops_a_thing(then):
        return None
    new, denied = _stance(now)
    old, was_denied = _stance(then)
    if denied == was_denied or not new or not old or new[0] != old[0]:
        return None
    denial, claim = (new, old) if denied else (old, new)
    if not set(denial) <= set(claim) or len(claim) - len(denial) > _EXTRA_MAX:
        return None
    if not denied and len(old) > len(new):
        return None
    certain = now.ended if denied else now.begun
    said = "it is no longer so" if denied else "it is so again"
    if certain and (set(new) == set(old) or not re.search(_SEVERAL, then.body)):
        return Verdict("replaces", said)
    return Verdict("contradicts", "one denies what the other says")


def ending_terms(now: Statement) -> TermSets:
    return [frozenset()] if now.ended or now.begun else []


# States

_STATES = (
    ("enabled", "disabled"), ("on", "off"), ("open", "closed"), ("active", "inactive"),
    ("public", "private"), ("true", "false"), ("required", "optional"), ("paused", "running"),
)  # fmt: skip
_STATE = (
    r"(?i)(?:the )?(?P<what>[\w' .-]{2,60}?) (?:is|are) (?:now |currently |set to )?"
    rf"(?P<value>{'|'.join(word for pair in _STATES for word in pair)})\Z"
)


@lru_cache(maxsize=1_024)
def _state_of(said: Statement) -> tuple[str, str] | None:
    """The thing and its state."""
    match = re.match(_STATE, without_when(f"{said.subject} {said.body}".strip()))
    return match and (match["what"], match["value"].lower())


def by_state(now: Statement, then: Statement) -> Verdict | None:
    """By opposite states: it was off and is on."""
    new = _state_of(now)
    old = new and _state_of(then)
    if new is None or old is None or attribute_key(new[0]) != attribute_key(old[0]):
        return None
    pair = (new[1], old[1])
    if pair in _STATES or pair[::-1] in _STATES:
        return Verdict("replaces", f"it was {pair[1]} and is {pair[0]}")
    return None


def state_terms(now: Statement) -> TermSets:
    state = _state_of(now)
    return [] if state is None else [index_terms(state[0])]


# Numbers

_NUMBER = r"(?i)[$€£]?\d+(?:[.,:]\d+)*(?:%|[a-z]{1,3})?\.?"
_YEAR = r"(?:19|20)\d\d"


def by_number(now: Statement, then: Statement) -> Verdict | None:
    """By the same sentence with another number."""
    if (now.denied, now.owned) != (then.denied, then.owned):
        return None
    new, old = _tokens(now.body), _tokens(then.body)
    if len(new) != len(old):
        return None
    differing = [at for at in range(len(new)) if new[at] != old[at]]
    if new and not differing:
        return Verdict("same", "they say the same in other words")
    if len(differing) != 1:
        return None
    at = differing[0]
    first, second = new[at], old[at]
    if not (re.fullmatch(_NUMBER, first) and re.fullmatch(_NUMBER, second)) or _is_part_of_name(
        new, at
    ):
        return None
    if not _PATTERNS["present"].match(now.body) or _unit(first) != _unit(second):
        return None
    said = f"it was {second.rstrip('.')} and is {first.rstrip('.')}"
    # 'A discount of 20%' may be one of several.
    several = _PATTERNS["relative"].search(now.body) or now.body[:2].lower() in ("a ", "an")
    return Verdict("contradicts", said, both=True) if several else Verdict("replaces", said)


def amount_terms(now: Statement) -> TermSets:
    if not _PATTERNS["present"].match(now.body):
        return []
    tokens = _tokens(now.body)
    numbers = (at for at, word in enumerate(tokens) if re.fullmatch(_NUMBER, word))
    if all(_is_part_of_name(tokens, at) for at in numbers):
        return []
    # A stop word may be part of another word in the older statement, as in `don't`.
    words = (word for word in tokens if word.isascii() and word.isalpha())
    return [frozenset(term for word in words if word not in STOP_WORDS for term in terms(word))]


def _unit(number: str) -> str:
    return re.sub(r"[\d.,:]", "", number)


def _in_digits(word: str) -> str:
    """'three' as '3'; other words as they are."""
    found = numbers_in(word) if is_number_word(word) else []
    return found[0].value if found else word


@lru_cache(maxsize=1_024)
def _tokens(body: str) -> tuple[str, ...]:
    found = (_in_digits(word.strip(".!\"'")) for word in re.findall(r"[^\s,;]+", fold(body)))
    small = ("the", "a", "an", "now", "currently", "about", "around")
    return tuple(word for word in found if word not in small)


# Words before an amount; after any other word a number may be part of a name: 'Room 12'.
_BEFORE_AMOUNTS = _WORDS["before amounts"]


def _is_part_of_name(tokens: tuple[str, ...], at: int) -> bool:
    if re.fullmatch(_YEAR, tokens[at]):
        return True
    return at == 0 or tokens[at - 1] not in _BEFORE_AMOUNTS


# Statements


__all__ = [
    "RELATIONS",
    "Relation",
    "Slot",
    "Verdict",
    "begin_alike",
    "can_replace",
    "compare",
    "is_statement",
    "may_be_about_the_same",
    "slot_of",
    "subject_of",
    "terms_of_replaced",
]


class Slot(NamedTuple):
    """An attribute of a subject and its value. The subject '' is the owner of the memory."""

    subject: str
    attribute: str
    value: str
    negated: bool = False


_UNRELATED = Verdict("unrelated", "they are about different things")


def is_statement(text: str) -> bool:
    """Whether a text can be compared at all: one short sentence that claims something."""
    text = text.strip()
    return bool(text) and len(text) <= STATEMENT_CHARS_MAX and "\n" not in text and text[-1] != "?"


@lru_cache(maxsize=KEPT_MAX)
def slot_of(text: str) -> Slot | None:
    """The slot that a statement fills; None where no rule matches, or where it no longer holds."""
    if not is_statement(text):
        return None
    said = _read(text)
    if said.subject == "?" or said.supposed or said.past:
        return None
    found = filled(said)
    if not found:
        return None
    first = found[0]
    value = first.value or first.was
    return Slot(said.subject, first.attribute(), value, said.denied or not first.value)


def can_replace(text: str) -> bool:
    """Whether a statement can replace any other. Most statements fill no slot and need not be
    compared at all."""
    return bool(terms_of_replaced(text))


@lru_cache(maxsize=1_024)
def terms_of_replaced(text: str) -> frozenset[frozenset[str]]:
    """Sets of index terms to find what a statement replaces: whatever it replaces has all terms of
    one of the sets. An empty set is no restriction; where there is no set, it replaces nothing."""
    if not is_statement(text):
        return frozenset()
    now = _read(text)
    if now.subject == "?" or now.supposed or now.past or now.added:
        return frozenset()
    return frozenset(held for rule in _TERMS_OF_REPLACED for held in rule(now))


_TERMS_OF_REPLACED = (
    slot_terms,
    ending_terms,
    state_terms,
    amount_terms,
    key_terms,
    relative_terms,
    frame_terms,
    old_value_terms,
)


def subject_of(text: str) -> str:
    """Whom a statement is about: '' for the owner of the memory, '?' where it is unknown."""
    return _read(text).subject


_RULES = (
    by_slot,
    by_old_value,
    by_negation,
    by_state,
    by_number,
    by_key,
    by_relative,
    by_frame,
)


@lru_cache(maxsize=1_024)
def compare(new: str, old: str) -> Verdict:
    """How a new statement relates to an older one."""
    if words_key(new) == words_key(old):
        return Verdict("same", "they are the same words")
    if not (is_statement(new) and is_statement(old)):
        return _UNRELATED
    now, then = _read(new), _read(old)
    if "?" in (now.subject, then.subject) or now.subject != then.subject:
        return _UNRELATED
    if now.supposed or then.supposed:
        return _UNRELATED
    if _is_paraphrase(now, then):
        return Verdict("same", "they say the same in other words")
    if now.past or then.past or now.added or then.added:
        return _UNRELATED
    for rule in _RULES:
        verdict = rule(now, then)
        if verdict is not None:
            return verdict
    return _UNRELATED


@lru_cache(maxsize=1_024)
def may_be_about_the_same(new: str, old: str) -> bool:
    """Whether a new statement is close enough to an older one to ask which of them holds."""
    if not (is_statement(new) and is_statement(old)):
        return False
    relation = compare(new, old).relation
    if relation != "unrelated":
        return relation in ("contradicts", "replaces")
    return is_close(read(new), read(old))


def may_be_about_any(new: str) -> bool:
    """Whether a new text may be close to any older one, or begin like it: for most longer texts it
    is certain that none is, before a store is asked."""
    if not is_statement(new):
        return False
    now = _read(new)
    is_compared = now.subject != "?" and not (now.supposed or now.past or now.added)
    return is_compared or may_be_close(read(new))


def begin_alike(new: str, old: str) -> bool:
    """Whether two statements begin with the same thing, so that the newer one may be meant to
    replace the older one if they also mean nearly the same."""
    return is_statement(new) and is_statement(old) and same_topic(read(new), read(old))


def _is_paraphrase(now: Statement, then: Statement) -> bool:
    first, second = core_stems(now.body), core_stems(then.body)
    flags = (now.denied, now.past, now.owned) == (then.denied, then.past, then.owned)
    if not first or first != second or not flags or now.ended != then.ended:
        return False
    return not turned_around(now.body, then.body)


# Statements in other languages


_ENGLISH = {"name": "Name is {}", "home": "Lives in {}", "moved": "Lives in {}"}
_EMPLOYED = re.compile(r"\b(?:bei|beim|chez|bij)\b|在.*(?:工作|上班)|(?:働いて|勤めて)")
_CJK = re.compile(r"[぀-ヿ㐀-鿿]")
# A longer value is no name.
_CJK_CHARS_MAX = 12


@lru_cache(maxsize=KEPT_MAX)
def _read(text: str) -> Statement:
    """A statement of any of the languages, taken apart."""
    # A new statement is held against dozens of old ones.
    return read(as_english(text))


def as_english(text: str) -> str:
    """A statement about oneself in another language as the English one that fills the same slot:
    'Ich bin nach Graz gezogen' as 'Lives in Graz'. Only name, home and employer, and only where the
    value is certain; other text is returned as it is."""
    plain = without_note(text).strip()
    found = about_oneself.stated(fold_in_place(plain), plain)
    if found is None:
        return text
    form = _ENGLISH.get(found.slot, "")
    if found.slot == "work" and _EMPLOYED.search(plain):
        form = "Works at {}"
    value = _value(found)
    return form.format(value) if form and value else text


def _value(found: about_oneself.SelfStatement) -> str:
    """The value, and what else is said after it unless that is a time."""
    if _CJK.search(found.value):
        return found.value if len(found.value) <= _CJK_CHARS_MAX else ""
    name = _PATTERNS["name"].match(found.value)
    if name is None:
        return ""
    rest = "" if found.relative else found.value[name.end() :].strip(" ,")
    value = name["name"].rstrip(".,")
    return f"{value}, {rest}" if rest else value
