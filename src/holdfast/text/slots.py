"""Whether a new statement says what an older one says, takes its place, or contradicts it, without
a model: the same slot (where somebody lives, which port a service has) with another value.

'replaces' is said only where any reader would agree; what may be true beside the older one, or tell
more than it, is 'contradicts' or 'unrelated'. What somebody can have several of (tools, languages,
friends) never replaces anything. English alone. It does not know who said what, or when.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from holdfast.text.sameness import words_key
from holdfast.text.slot_words import STATEMENT_CHARS_MAX
from holdfast.text.slots_fill import RELATIONS, Relation, Verdict, filled
from holdfast.text.slots_keys import by_key, keys_in
from holdfast.text.slots_relatives import by_relative, relatives_in
from holdfast.text.slots_values import by_slot, slots_in
from holdfast.text.slots_wording import (
    amounts_in,
    by_denial,
    by_number,
    by_state,
    ends_in,
    states_in,
)
from holdfast.text.statements import KEPT_MAX, Statement, core_stems, read, turned_around

__all__ = [
    "RELATIONS",
    "Relation",
    "Slot",
    "Verdict",
    "can_replace",
    "compare",
    "held_by_replaced",
    "is_statement",
    "slot_of",
    "subject_of",
]


class Slot(NamedTuple):
    """What is said of whom. The subject is '' for the person whose memory it is."""

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
    """The slot that a statement fills; None where no rule knows it, or where it holds no more."""
    if not is_statement(text):
        return None
    said = read(text)
    if said.subject == "?" or said.supposed or said.past:
        return None
    found = filled(said)
    if not found:
        return None
    first = found[0]
    value = first.value or first.was
    return Slot(said.subject, first.attribute(), value, said.denied or not first.value)


def can_replace(text: str) -> bool:
    """Whether there may be anything that a statement takes the place of. Most of what is said fills
    no slot, and need not be compared with anything at all."""
    return bool(held_by_replaced(text))


@lru_cache(maxsize=1_024)
def held_by_replaced(text: str) -> frozenset[frozenset[str]]:
    """Index terms by which to find what a statement takes the place of: any such one has all of one
    of these sets. An empty set tells nothing; where there is no set, there is no such one."""
    if not is_statement(text):
        return frozenset()
    now = read(text)
    if now.subject == "?" or now.supposed or now.past or now.added:
        return frozenset()
    rules = (slots_in, ends_in, states_in, amounts_in, keys_in, relatives_in)
    return frozenset(held for rule in rules for held in rule(now))


def subject_of(text: str) -> str:
    """Whom a statement is about: '' for the person whose memory it is, '?' for nobody knows."""
    return read(text).subject


@lru_cache(maxsize=1_024)
def compare(new: str, old: str) -> Verdict:
    """How a new statement stands to an older one."""
    if words_key(new) == words_key(old):
        return Verdict("same", "they are the same words")
    if not (is_statement(new) and is_statement(old)):
        return _UNRELATED
    now, then = read(new), read(old)
    if "?" in (now.subject, then.subject) or now.subject != then.subject:
        return _UNRELATED
    if now.supposed or then.supposed:
        return _UNRELATED
    if _says_the_same(now, then):
        return Verdict("same", "they say the same in other words")
    if now.past or then.past or now.added or then.added:
        return _UNRELATED
    for rule in (by_slot, by_denial, by_state, by_number, by_key, by_relative):
        verdict = rule(now, then)
        if verdict is not None:
            return verdict
    return _UNRELATED


def _says_the_same(now: Statement, then: Statement) -> bool:
    first, second = core_stems(now.body), core_stems(then.body)
    flags = (now.denied, now.past, now.owned) == (then.denied, then.past, then.owned)
    if not first or first != second or not flags or now.ended != then.ended:
        return False
    return not turned_around(now.body, then.body)
