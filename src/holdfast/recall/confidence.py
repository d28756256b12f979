"""How likely each memory answers the question, and how likely the hub holds an answer at all.

A score orders the hits of one question and says nothing across questions. The confidence of an
answer is a logistic function of a few features, chosen and weighted on questions that have an
answer and on questions that were meant for another hub (`python -m bench.confidence`). Cosines
depend on the question: some are near to any text. So the best cosine counts beside what the
question has in common with general text, and with the hub at large.

A model whose cosines were not measured is compared with the hub alone: how far the best cosine is
above what this question has with the hub's other text, in standard deviations.

General text is the mean of a hundred sentences about everyday things (bench/sets/general.txt). Some
questions are near to everything ('what is the name of my …?'), others to nothing. The means are
stored for the models whose cosines were measured (`python -m bench.confidence --general` writes
them).
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.recall import weights
from holdfast.recall.evidence import Evidence
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.embed import Vector
    from holdfast.recall.lexical import Coverage


class Background(NamedTuple):
    """What a question has in common with other text than its answer."""

    # The mean of its cosines with the hub's text, and with general text.
    hub: float
    general: float = 0.0
    # For a model that was not measured: the deviation of the first, over so many windows.
    deviation: float = 0.0
    windows: int = 0


class Features(NamedTuple):
    """What the confidence of an answer is made of, for a model that was measured."""

    # The best cosine of the first hits. Being of the time that was asked about adds to it.
    cosine: float
    # How far the nearest memory stands out from the thirtieth.
    gap: float
    # The share of the question's words that the first hit holds, rare ones counting for more, with
    # the speaker and the time that are asked for.
    coverage: float
    hub: float
    general: float
    # The share of the names in the question that none of the first hits holds. A prompt brings up
    # new names, so they count in questions alone.
    absent_names: float


class Estimate(NamedTuple):
    """How likely the hub holds an answer, as log odds, and the best cosine."""

    logit: float
    cosine: float

    @property
    def confidence(self) -> float:
        return round(_sigmoid(self.logit), 4)


def features(
    ordered: Sequence[Evidence], covered: Coverage, background: Background, names: Sequence[str]
) -> Features:
    """The features of an answer, best hits first, to a question with these names in it."""
    best = ordered[: weights.CONFIDENCE_LOOKS_AT]
    return Features(
        _best_cosine(ordered),
        _gap(sorted(map(_nearness, ordered), reverse=True), background.general),
        covered.of_first(best),
        background.hub,
        background.general,
        covered.absent_names(names, best),
    )


def estimate(
    ordered: Sequence[Evidence],
    covered: Coverage,
    model: str,
    background: Background | None,
    names: Sequence[str] = (),
) -> Estimate:
    """How likely the hub holds an answer, given at least one memory that may be it."""
    cosine = _best_cosine(ordered)
    # What has no vector yet is judged by its words, however far the others are.
    by_words = [item for item in ordered[: weights.CONFIDENCE_LOOKS_AT] if not item.parts["vector"]]
    least = _by_words(by_words, covered) if by_words else -math.inf
    if not cosine:
        return Estimate(least, cosine)
    known = weights.CONFIDENCE.get(model)
    if known is not None and background is not None:
        found = features(ordered, covered, background, names)
        return Estimate(max(least, _weighted(known, found)), cosine)
    is_spread = background is not None and has_spread(len(ordered))
    values = (
        _stands_out(ordered) if is_spread else _above(cosine, background),
        _best_coverage(ordered, covered),
        covered(ordered[0]),
        covered.absent_names(names, ordered[: weights.CONFIDENCE_LOOKS_AT]),
    )
    factors = weights.CONFIDENCE_SPREAD if is_spread else weights.CONFIDENCE_ANY_MODEL
    return Estimate(max(least, _weighted(factors, values)), cosine)


def has_spread(memories: int) -> bool:
    """Whether there are too few memories for a background, and enough to compare the best with the
    others."""
    return weights.CONFIDENCE_SPREAD_FROM <= memories < weights.CONFIDENCE_BACKGROUND_LEAST


def _by_words(items: Sequence[Evidence], covered: Coverage) -> float:
    """The log odds of an answer by words alone: as many of them as make an answer are just enough
    to show it."""
    share = _odds(_best_coverage(items, covered)) - _odds(weights.CUT_COVERAGE)
    return share + _odds(weights.CUT_CONFIDENCE_ANY_MODEL)


def least_among(memories: int) -> float:
    """The confidence from which an answer is shown, where so many memories may be it."""
    share = min(1.0, memories / weights.CONFIDENCE_FEW)
    return float(weights.CUT_CONFIDENCE * share**weights.CONFIDENCE_FEW_POWER)


def rate(shown: Sequence[Evidence], covered: Coverage, answer: Estimate) -> None:
    """Sets the probability of each memory that is shown.

    None is likelier than one that ranks before it.
    """
    likely = 1.0
    for item in shown:
        likely = item.probability = min(likely, _probability(item, covered(item), answer))


def _weighted(factors: Sequence[float], values: Sequence[float]) -> float:
    bias, *factors = factors
    return bias + sum(f * value for f, value in zip(factors, values, strict=True))


def _gap(cosines: Sequence[float], general: float) -> float:
    """How far the first stands out from the thirtieth, and where there are fewer, from one at two
    thirds of them and from general text."""
    share = math.ceil(len(cosines) * weights.CONFIDENCE_GAP_SHARE)
    compared = cosines[min(weights.CONFIDENCE_GAP_RANK, share) - 1]
    missing = max(0, 1 - len(cosines) / weights.CONFIDENCE_GAP_OF)
    return cosines[0] - (missing * general + (1 - missing) * compared)


def _best_cosine(ordered: Sequence[Evidence]) -> float:
    best = ordered[: weights.CONFIDENCE_LOOKS_AT]
    return max(_nearness(item) + item.parts.get("window", 0.0) for item in best)


def _best_coverage(ordered: Sequence[Evidence], covered: Coverage) -> float:
    return max(map(covered, ordered[: weights.CONFIDENCE_LOOKS_AT]))


def _above(cosine: float, background: Background | None) -> float:
    """How much better than chance the best cosine is, in standard deviations: less than 0 where it
    is about what the best of so many has by chance."""
    if background is None or background.windows < weights.CONFIDENCE_BACKGROUND_LEAST:
        return weights.CONFIDENCE_UNKNOWN
    spread = max(background.deviation, 1e-3)
    by_chance = math.sqrt(2 * math.log(background.windows))
    return (cosine - background.hub) / spread - by_chance


def _stands_out(ordered: Sequence[Evidence]) -> float:
    """How far the nearest of a few memories is above the others, in their standard deviations."""
    nearest, *others = sorted(map(_nearness, ordered), reverse=True)
    mean = sum(others) / len(others)
    spread = math.sqrt(sum((one - mean) ** 2 for one in others) / len(others))
    deviations = (nearest - mean) / max(spread, weights.CONFIDENCE_SPREAD_LEAST)
    return min(deviations, weights.CONFIDENCE_SPREAD_MAX)


def _probability(item: Evidence, coverage: float, answer: Estimate) -> float:
    if "substring" in item.parts:
        return 1.0
    bias, likely, nearer, covers = weights.HIT_PROBABILITY
    behind = answer.cosine - _nearness(item)
    return _sigmoid(bias + likely * answer.logit - nearer * behind + covers * coverage)


def _nearness(item: Evidence) -> float:
    return item.parts["vector"] + item.parts.get("guessed", 0.0)


def _odds(share: float) -> float:
    bounded = min(max(share, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))


# `pathlib` would take 2 ms of the start of a command.
MEANS = os.path.join(os.path.dirname(__file__), "general.json")


@functools.cache
def _means() -> dict[str, Vector]:
    import base64
    import json

    import numpy as np

    with open(MEANS, encoding="utf-8") as file:
        stored = json.load(file)["means"]
    return {
        model: np.frombuffer(base64.b64decode(mean), "<f2").astype(np.float32)
        for model, mean in stored.items()
    }


def nearness(model: str, question: Vector) -> float:
    """The cosine of a question with general text; 0 for a model that was not measured."""
    mean = _means().get(model)
    return 0.0 if mean is None else float(mean @ question)
