"""Tells a conversation between people from one with an assistant, and what a person says to another
that is kept for good at once.

Between people most of what is said is about the moment: orders are meant for now, and much is said
in jest or leaves out what both know. With an assistant the same words last. Nothing tells the two
apart but how the other speaks (`signs.txt`), so that is looked at over the last turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from holdfast.text.facts.statements import without_note
from holdfast.text.tables import lazy, pieces, read_table

# How many turns of a conversation are looked at, both sides counted.
TURNS_LOOKED_AT = 20
# An assistant explains; people rarely write as much at once.
_PERSON_CHARS_MAX = 700
# The signs are near the beginning, and a pasted text is not looked through.
_CHARS_LOOKED_AT = 2_000
# What is longer holds more than what lasts.
_LASTING_CHARS_MAX = 90
_PERSON, _SPOKEN, _ASSISTANT = 2, 1, -2
# An assistant, too, now and then says that it loves something.
_TURNS_A_POINT = 8


def is_between_people(own: Iterable[str], others: Iterable[str]) -> bool:
    """Whether the other speaks as a person does, by what the person said (`own`) and what the other
    said (`others`) in the last turns. Without a sign the other is an assistant."""
    score = sum(_PERSON for said in own if _shows("person", "own", said))
    turns = [said for said in others if said]
    for said in turns:
        if len(said) > _PERSON_CHARS_MAX or _shows("assistant", "other", said):
            score += _ASSISTANT
        elif _shows("person", "other", said):
            score += _PERSON
        elif _shows("spoken", "other", said):
            score += _SPOKEN
    return score >= max(_PERSON, len(turns) / _TURNS_A_POINT)


def _shows(sign: str, side: str, said: str) -> bool:
    # The beginnings of lines show a list.
    folded = said[:_CHARS_LOOKED_AT].lower().replace("’", "'")
    return any(pattern.search(folded) for pattern in _signs()[sign, side])


@cache
def _signs() -> dict[tuple[str, str], tuple[re.Pattern[str], ...]]:
    found: dict[tuple[str, str], tuple[re.Pattern[str], ...]] = {}
    for sign, side, _, pattern in read_table("capture/signs.txt"):
        found[sign, side] = (*found.get((sign, side), ()), lazy(pattern))
    return found


def is_lasting(rule: str, text: str) -> bool:
    """Whether a fact that a rule found is kept for good though it was said to a person."""
    text = without_note(text)
    if len(text) > _LASTING_CHARS_MAX:
        return False
    return any(pattern.search(text) for pattern in _lasting(rule))


@cache
def _lasting(rule: str) -> tuple[re.Pattern[str], ...]:
    rows = read_table("capture/lasting.txt")
    return tuple(lazy(pattern) for rules, _, pattern in rows if rule in pieces(rules))
