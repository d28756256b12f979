"""Estimates how likely each memory answers the question, and how likely the hub holds an answer at
all.

A score orders the hits of one question and cannot be compared across questions. The confidence of
an answer is a logistic regression on a few features, trained on questions that have an answer in
the hub and on questions written for other hubs (`python -m bench.confidence`). Some questions
('what is the name of my …?') have a high cosine with any text, others with none. So the features
include, beside the best cosine, the question's cosine with general text and with the whole hub.

For a model that the regression was not trained on, the best cosine is compared with the hub alone:
how many standard deviations it is above the mean cosine of the question with the hub's text.

General text is the mean vector of a hundred sentences about everyday things
(bench/sets/general.txt). It is stored for the models that the regression was trained on
(`python -m bench.confidence --general` writes it).
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
    """The similarity of a question to text that does not answer it."""

    # The mean cosine with the hub's text, and the cosine with general text.
    hub: float
    general: float = 0.0
    # For models without trained weights: the standard deviation of the cosines with the hub's
    # windows, and the number of windows.
    deviation: float = 0.0
    windows: int = 0


class Features(NamedTuple):
    """The features of the regression, for a model with trained weights."""

    # The best cosine among the first hits, plus a bonus if the hit is from the period asked about.
    cosine: float
    # The difference between the cosines of the nearest memory and of the thirtieth.
    gap: float
    # The share of the question's words in the first hit, weighted by rarity; the speaker and the
    # time that are asked for count as a word each.
    coverage: float
    hub: float
    general: float
    # The share of the names in the question that occur in none of the first hits. Not used for
    # prompts, which often introduce new names.
    absent_names: float


class Estimate(NamedTuple):
    """The log odds that the hub holds an answer, and the best cosine."""

    logit: float
    cosine: float

    @property
    def confidence(self) -> float:
        return round(_sigmoid(self.logit), 4)


def features(
    ordered: Sequence[Evidence], covered: Coverage, background: Background, names: Sequence[str]
) -> Features:
    """Returns the features of an answer. `ordered` are the hits, best first; `names` are the names
    in the question."""
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
    """Returns how likely the hub holds an answer. `ordered` has at least one memory."""
    cosine, least = _best_cosine(ordered), _logit_without_vectors(ordered, covered)
    if not cosine:
        return Estimate(least, cosine)
    known = weights.CONFIDENCE.get(model)
    if known is not None and background is not None:
        found = features(ordered, covered, background, names)
        return Estimate(max(least, _weighted(known, found)), cosine)
    is_spread = background is not None and has_spread(len(ordered))
    values = (
        _deviations_above_others(ordered)
        if is_spread
        else _deviations_above_background(cosine, background),
        _best_coverage(ordered, covered),
        covered(ordered[0]),
        covered.absent_names(names, ordered[: weights.CONFIDENCE_LOOKS_AT]),
    )
    factors = weights.CONFIDENCE_SPREAD if is_spread else weights.CONFIDENCE_ANY_MODEL
    return Estimate(max(least, _weighted(factors, values)), cosine)


def estimate_foreign(
    ordered: Sequence[Evidence], covered: Coverage, model: str, *, unspaced: bool
) -> Estimate:
    """Returns how likely the hub holds an answer to a question that is not in English. `unspaced`
    is set if its script has no spaces between words."""
    cosine, least = _best_cosine(ordered), _logit_without_vectors(ordered, covered)
    if not cosine:
        return Estimate(least, cosine)
    nearest = sorted(map(_nearness, ordered), reverse=True)
    values = (
        _deviations(nearest[: weights.CONFIDENCE_FOREIGN_COMPARED])
        if len(nearest) >= weights.CONFIDENCE_SPREAD_FROM
        else weights.CONFIDENCE_UNKNOWN,
        _best_coverage(ordered, covered),
        covered(ordered[0]),
        float(unspaced),
    )
    factors = weights.CONFIDENCE_FOREIGN.get(model) or weights.CONFIDENCE_FOREIGN[""]
    return Estimate(max(least, _weighted(factors, values)), cosine)


def has_spread(memories: int) -> bool:
    """Whether there are too few memories for background statistics, but enough to compare the best
    one with the others."""
    return weights.CONFIDENCE_SPREAD_FROM <= memories < weights.CONFIDENCE_BACKGROUND_LEAST


def _logit_without_vectors(ordered: Sequence[Evidence], covered: Coverage) -> float:
    """Returns the log odds of an answer among the first hits that have no vector yet, which are
    judged by their words alone; minus infinity if all have one."""
    by_words = [item for item in ordered[: weights.CONFIDENCE_LOOKS_AT] if not item.parts["vector"]]
    return _logit_by_words(by_words, covered) if by_words else -math.inf


def _logit_by_words(items: Sequence[Evidence], covered: Coverage) -> float:
    """Returns the log odds of an answer by words alone, scaled so that a coverage of CUT_COVERAGE
    gives exactly the confidence CUT_CONFIDENCE_ANY_MODEL, the lowest that is shown."""
    share = _odds(_best_coverage(items, covered)) - _odds(weights.CUT_COVERAGE)
    return share + _odds(weights.CUT_CONFIDENCE_ANY_MODEL)


def least_among(memories: int, limit: float = weights.CUT_CONFIDENCE) -> float:
    """Returns the least confidence at which an answer is shown, for this number of candidates."""
    share = min(1.0, memories / weights.CONFIDENCE_FEW)
    return float(limit * share**weights.CONFIDENCE_FEW_POWER)


def rate(shown: Sequence[Evidence], covered: Coverage, answer: Estimate) -> None:
    """Sets the probability of each memory that is shown; it never increases from rank to rank."""
    likely = 1.0
    for item in shown:
        likely = item.probability = min(likely, _probability(item, covered(item), answer))


def _weighted(factors: Sequence[float], values: Sequence[float]) -> float:
    bias, *factors = factors
    return bias + sum(f * value for f, value in zip(factors, values, strict=True))


def _gap(cosines: Sequence[float], general: float) -> float:
    """Returns the difference between the first cosine and the thirtieth. Below 45 cosines the one
    at two thirds of the list is used; below 60 it is mixed with the cosine of general text."""
    share = math.ceil(len(cosines) * weights.CONFIDENCE_GAP_SHARE)
    compared = cosines[min(weights.CONFIDENCE_GAP_RANK, share) - 1]
    missing = max(0, 1 - len(cosines) / weights.CONFIDENCE_GAP_OF)
    return cosines[0] - (missing * general + (1 - missing) * compared)


def _best_cosine(ordered: Sequence[Evidence]) -> float:
    best = ordered[: weights.CONFIDENCE_LOOKS_AT]
    return max(_nearness(item) + item.parts.get("window", 0.0) for item in best)


def _best_coverage(ordered: Sequence[Evidence], covered: Coverage) -> float:
    return max(map(covered, ordered[: weights.CONFIDENCE_LOOKS_AT]))


def _deviations_above_background(cosine: float, background: Background | None) -> float:
    """Returns how many standard deviations the best cosine is above the expected maximum of that
    many random cosines; negative if it is below that."""
    if background is None or background.windows < weights.CONFIDENCE_BACKGROUND_LEAST:
        return weights.CONFIDENCE_UNKNOWN
    spread = max(background.deviation, 1e-3)
    by_chance = math.sqrt(2 * math.log(background.windows))
    return (cosine - background.hub) / spread - by_chance


def _deviations_above_others(ordered: Sequence[Evidence]) -> float:
    """Returns how many standard deviations the nearest of a few memories is above the mean of the
    others."""
    return _deviations(sorted(map(_nearness, ordered), reverse=True))


def _deviations(cosines: Sequence[float]) -> float:
    """Returns how many standard deviations the first of these is above the mean of the others."""
    nearest, *others = cosines
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


# Not `pathlib`: importing it would add 2 ms to the start of a command.
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
    """Returns the cosine of a question with general text; 0 for a model without a stored mean."""
    mean = _means().get(model)
    return 0.0 if mean is None else float(mean @ question)
