"""Turns that say what was corrected since: a fact was noted from what somebody said, and another
one has taken its place. The turn stays what was said; beside the correction it is marked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.query import Recalled
from holdfast.text.terms import terms

if TYPE_CHECKING:
    from holdfast.domain.records import Turn
    from holdfast.engine.scope import Scope

# How much of the words of the fact a turn has to hold; as noted, they differ a little.
_HELD = 0.75
# The same turn in the logs of two hubs has not quite the same time.
_SAME_MOMENT = timedelta(seconds=5)
MARK = "since corrected"


class CorrectedFact(NamedTuple):
    """A fact that no longer holds: its words, and when it was corrected."""

    words: tuple[str, ...]
    turn: str
    until: datetime


def corrected_in(scope: Scope, found: Recalled) -> list[CorrectedFact]:
    """The facts that fit the question and that others have taken the place of."""
    old = found.superseded
    if not old:
        return []
    with scope.read() as reader:
        ids = [memory.superseded_by or "" for memory in old]
        newer = reader.memories_by_id(scope.hub_id, ids)
        said = reader.turns_by_id(
            scope.hub_id, [one.origin.turn for one in newer.values() if one.origin is not None]
        )
    out = []
    for memory in old:
        successor = newer.get(memory.superseded_by or "")
        if successor is None:
            continue
        turn = said.get(successor.origin.turn) if successor.origin is not None else None
        until = successor.created_at if turn is None else turn.at
        origin = "" if memory.origin is None else memory.origin.turn
        out.append(CorrectedFact(tuple(sorted(set(terms(memory.content)))), origin, until))
    return out


def is_corrected(turn: Turn, outdated: Sequence[CorrectedFact]) -> bool:
    """Whether a turn says something that was corrected after it."""
    earlier = [one for one in outdated if turn.at + _SAME_MOMENT < one.until]
    if not earlier:
        return False
    words = frozenset(terms(turn.content))
    return any(
        one.turn == turn.id
        or (one.words and len(words.intersection(one.words)) >= _HELD * len(one.words))
        for one in earlier
    )
