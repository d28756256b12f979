"""How likely each memory answers the question, and how likely the hub holds an answer at all.

A score orders the hits of one question and says nothing across questions. The probability is a
logistic function of features that can be compared: how near the memory is, and how many of the
question's words it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from holdfast.recall import weights
from holdfast.recall.evidence import Evidence


def estimate(
    ordered: Sequence[Evidence], covered: Callable[[Evidence], float], model: str
) -> float:
    """Sets the probability of each memory; returns the confidence of the whole answer.

    No memory is likelier than one that ranks before it.
    """
    limits = weights.CUT_CONFIDENCE.get(model)
    least = 1.0
    for item in ordered:
        least = item.probability = min(least, _probability(item, covered(item), limits))
    return round(max((item.probability for item in ordered), default=0.0), 4)


def _probability(item: Evidence, coverage: float, limits: tuple[float, float] | None) -> float:
    if "substring" in item.parts:
        return 1.0
    if not item.parts["vector"] or limits is None:
        return coverage
    sure = item.parts["vector"] + weights.CUT_COVERAGE_WEIGHT * coverage
    nothing, little = limits
    # 0.1 at the lower limit, 0.5 at the upper one.
    steep = math.log(9) / (little - nothing)
    return 1 / (1 + math.exp(-steep * (sure - little)))
