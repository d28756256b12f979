"""How likely each memory answers the question, and how likely the hub holds an answer at all.

A score orders the hits of one question and says nothing across questions. The confidence of an
answer is a logistic function of four features of its ten best memories: the best cosine, how far it
stands out from the tenth, and how many of the question's words the first and the best of them hold,
rare words counting more. A model whose cosines were not measured is compared with the hub's own
background instead: how far the best cosine is above what this question has with the hub's other
text, in standard deviations. The weights are learned (`python -m bench.confidence`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.recall import weights
from holdfast.recall.evidence import Evidence


class Background(NamedTuple):
    """The cosines of a question with all of a hub's text, or a sample of it."""

    mean: float
    deviation: float
    windows: int


class Features(NamedTuple):
    """What the confidence of an answer is made of."""

    cosine: float
    gap: float
    coverage: float
    first_coverage: float


def features(ordered: Sequence[Evidence], covered: Callable[[Evidence], float]) -> Features:
    """The features of an answer. Being of the time that was asked about makes it likelier."""
    best = ordered[: weights.CONFIDENCE_LOOKS_AT]
    cosines = sorted((_nearness(item) for item in ordered), reverse=True)
    last = cosines[min(weights.CONFIDENCE_LOOKS_AT, len(cosines)) - 1]
    return Features(
        max(_nearness(item) + item.parts.get("window", 0.0) for item in best),
        cosines[0] - last,
        max(map(covered, best)),
        covered(best[0]),
    )


def estimate(
    ordered: Sequence[Evidence],
    covered: Callable[[Evidence], float],
    model: str,
    background: Background | None,
) -> float:
    """Sets the probability of each memory; returns the confidence of the whole answer.

    No memory is likelier than one that ranks before it.
    """
    if not ordered:
        return 0.0
    found = features(ordered, covered)
    logit = _logit(found, model, background)
    likely = 1.0
    for item in ordered:
        likely = item.probability = min(likely, _probability(item, covered(item), found, logit))
    return round(_sigmoid(logit), 4)


def _logit(found: Features, model: str, background: Background | None) -> float:
    if not found.cosine:
        # Words alone: as many of them as make an answer are just enough to show it.
        return _odds(found.coverage) - _odds(weights.CUT_COVERAGE) + _odds(weights.CUT_CONFIDENCE)
    if (known := weights.CONFIDENCE.get(model)) is not None:
        bias, *factors = known
        return bias + sum(f * value for f, value in zip(factors, found, strict=True))
    bias, *factors = weights.CONFIDENCE_ANY_MODEL
    away = _above(found.cosine, background)
    return bias + sum(f * v for f, v in zip(factors, (away, *found[2:]), strict=True))


def _above(cosine: float, background: Background | None) -> float:
    """How much better than chance the best cosine is, in standard deviations: less than 0 where it
    is about what the best of so many has by chance."""
    if background is None or background.windows < weights.CONFIDENCE_BACKGROUND_LEAST:
        return weights.CONFIDENCE_UNKNOWN
    spread = max(background.deviation, 1e-3)
    by_chance = math.sqrt(2 * math.log(background.windows))
    return (cosine - background.mean) / spread - by_chance


def _probability(item: Evidence, coverage: float, found: Features, logit: float) -> float:
    if "substring" in item.parts:
        return 1.0
    bias, answer, nearer, covers = weights.HIT_PROBABILITY
    behind = found.cosine - _nearness(item)
    return _sigmoid(bias + answer * logit - nearer * behind + covers * coverage)


def _nearness(item: Evidence) -> float:
    return item.parts["vector"] + item.parts.get("guessed", 0.0)


def _odds(share: float) -> float:
    bounded = min(max(share, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))
