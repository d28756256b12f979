"""Where answers end: a question without an answer should get little or nothing, not five rows that
have nothing to do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.recall import weights
from holdfast.recall.evidence import Evidence


def cut(
    ordered: Sequence[Evidence],
    covered: Callable[[Evidence], float],
    confidence: float,
    *,
    least: float = weights.CUT_CONFIDENCE,
    past: bool = False,
) -> tuple[list[Evidence], list[Evidence]]:
    """The memories that may be answers, and those that are not, both best first.

    Where the confidence is below `least` nothing is shown, and else everything that is not far
    behind the best. What is found to the letter is always an answer, and so is what holds the one
    or two words that were looked up. Of the past nothing is held back for being unsure: the words'
    rarity is known only for today.
    """
    if not ordered:
        return [], []
    best = ordered[0]
    near = [item for item in ordered if item.score >= best.score - weights.CUT_BELOW_BEST]
    if _holds_keywords(best, covered):
        # The words that were looked up are there; what is merely near is not what was meant.
        least = best.score - weights.CUT_BELOW_KEYWORDS
        near = [item for item in near if item.score >= least or _holds_keywords(item, covered)]
    if not past and confidence < least and not _holds_keywords(best, covered):
        near = [item for item in near if "substring" in item.parts]
    shown = {item.memory.id for item in near}
    return near, [item for item in ordered if item.memory.id not in shown]


def _holds_keywords(item: Evidence, covered: Callable[[Evidence], float]) -> bool:
    return "keywords" in item.parts and covered(item) > 1 - weights.CUT_COVERAGE
