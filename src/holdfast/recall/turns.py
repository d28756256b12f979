"""Turns of the conversation log beside memories that say the same: a curated memory stands for the
turn that it was made from, and before one that says the same."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.memory import TURN
from holdfast.recall import weights
from holdfast.recall.evidence import Evidence


def merge_turns(items: Sequence[Evidence]) -> tuple[list[Evidence], list[Evidence]]:
    """The items without turns that one of the memories stands for, and those turns. Such a memory
    ranks at least as high as its turn did.

    Only the best are compared: what ranks behind them is not shown.
    """
    turns = _best([item for item in items if item.memory.layer == TURN])
    memories = _best([item for item in items if item.memory.layer != TURN])
    merged: dict[str, Evidence] = {}
    heard = [(turn, frozenset(turn.best.candidate.body.split())) for turn in turns]
    for memory in memories:
        said = frozenset(memory.best.candidate.body.split())
        for turn, words in heard:
            if turn.memory.id in merged or not (_is_origin(memory, turn) or _same(said, words)):
                continue
            merged[turn.memory.id] = turn
            gain = turn.score - memory.score
            # What no longer holds keeps its place behind what does, and so does its turn.
            if gain > 0 and "not_current" not in memory.parts:
                memory.add("turn", gain, "said in a turn that fits")
    return [item for item in items if item.memory.id not in merged], list(merged.values())


def _best(items: list[Evidence]) -> list[Evidence]:
    return sorted(items, key=lambda item: -item.score)[: weights.TURNS_COMPARED]


def _is_origin(memory: Evidence, turn: Evidence) -> bool:
    """Whether the memory was made from most of what was found of the turn."""
    origin, found = memory.memory.origin, turn.best.candidate
    if origin is None or origin.turn != turn.memory.id:
        return False
    covered = min(origin.end, found.end) - max(origin.start, found.start)
    return covered >= weights.MADE_FROM_ALIKE * (found.end - found.start)


def _same(said: frozenset[str], heard: frozenset[str]) -> bool:
    # Most are told apart by their lengths.
    least, most = sorted((len(said), len(heard)))
    if not least or least < weights.MADE_FROM_ALIKE * most:
        return False
    return len(said & heard) >= weights.MADE_FROM_ALIKE * len(said | heard)
