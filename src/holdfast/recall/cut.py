"""Where answers end: a question without an answer should get little or nothing, not five rows that
have nothing to do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.recall import weights
from holdfast.recall.evidence import Evidence


def cut(
    ordered: Sequence[Evidence],
    covered: Callable[[Evidence], float],
    model: str,
    *,
    past: bool = False,
) -> tuple[list[Evidence], list[Evidence]]:
    """The memories that may be answers, and those that are not, both best first.

    How sure the best few are decides how many may be shown at all: none, a couple, or everything
    that is not far behind the best. What is found to the letter is always an answer. Of the past
    nothing is held back for being unsure: the words' rarity is known only for today.
    """
    if not ordered:
        return [], []
    best = ordered[0]
    near = [item for item in ordered if item.score >= best.score - weights.CUT_BELOW_BEST]
    if _holds_keywords(best, covered):
        # The words that were looked up are there; what is merely near is not what was meant.
        least = best.score - weights.CUT_BELOW_KEYWORDS
        near = [item for item in near if item.score >= least or _holds_keywords(item, covered)]
    rows = None if past else _rows(ordered[: weights.CUT_LOOKS_AT], covered, model)
    keep = near[:rows]
    shown = {item.memory.id for item in keep}
    keep += [item for item in near if "substring" in item.parts and item.memory.id not in shown]
    shown.update(item.memory.id for item in keep)
    return keep, [item for item in ordered if item.memory.id not in shown]


def _holds_keywords(item: Evidence, covered: Callable[[Evidence], float]) -> bool:
    return "keywords" in item.parts and covered(item) > 1 - weights.CUT_COVERAGE


def _rows(best: Sequence[Evidence], covered: Callable[[Evidence], float], model: str) -> int | None:
    """How many rows the best few are good for; None is: as many as there are."""
    if any(item.parts["vector"] for item in best):
        limits = weights.CUT_CONFIDENCE.get(model)
        if limits is None:
            return None  # Cosines of a model that was not measured say nothing by themselves.
        sure = max(
            item.parts["vector"]
            + item.parts.get("guessed", 0.0)
            + weights.CUT_COVERAGE_WEIGHT * covered(item)
            # Being of the time that was asked about makes an answer likelier.
            + item.parts.get("window", 0.0)
            for item in best
        )
        nothing, little = limits
        return 0 if sure < nothing else weights.CUT_LITTLE if sure < little else None
    return None if max(map(covered, best)) >= weights.CUT_COVERAGE else 0
