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
# What a turn counts that shows a sign, the strongest first, and how many points make a person. An
# assistant, too, now and then says that it loves something.
_POINTS = {"assistant": -2, "person": 2, "spoken": 1}
_POINTS_MIN, _POINTS_A_TURN = 2, 1 / 8


def is_between_people(own: Iterable[str], others: Iterable[str]) -> bool:
    """Whether the other speaks as a person does, by what the person said (`own`) and what the other
    said (`others`) in the last turns. Without a sign the other is an assistant."""
    points = sum(_POINTS["person"] for said in own if _shows("person", "own", said))
    turns = [said for said in others if said]
    points += sum(map(_points, turns))
    return points >= max(_POINTS_MIN, _POINTS_A_TURN * len(turns))


def _points(said: str) -> int:
    if len(said) > _PERSON_CHARS_MAX:
        return _POINTS["assistant"]
    return next((points for sign, points in _POINTS.items() if _shows(sign, "other", said)), 0)


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
