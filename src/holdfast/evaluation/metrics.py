"""How good is one ranking, and how sure are we of an average?

Pure numbers: knows document ids and nothing of where a ranking came from.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

DEPTHS = (1, 5, 10, 20)
DEPTH_MAX = DEPTHS[-1]
METRICS = ("R@1", "R@5", "R@10", "R@20", "hit@10", "MRR", "NDCG@10")

# A thousand resamples place the ends of a 95 % interval to about a tenth of its width.
_RESAMPLES = 1_000
_SEED = 20_240_229  # any fixed number: the same run prints the same interval


def score(ranking: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """The metrics of one ranking, in the order of METRICS. `gold` must not be empty.

    R@k is the share of the gold among the first k; MRR is one over the rank of the first gold
    (0 where it is not among the first 20); NDCG@10 counts every gold as equally relevant.
    """
    wanted = frozenset(gold)
    first = list(dict.fromkeys(ranking))[:DEPTH_MAX]
    right = [doc in wanted for doc in first]
    recalls = [sum(right[:depth]) / len(wanted) for depth in DEPTHS]
    hit = float(any(right[:10]))
    reciprocal = 1 / (right.index(True) + 1) if True in right else 0.0
    gain = sum(1 / math.log2(at + 2) for at, one in enumerate(right[:10]) if one)
    ideal = sum(1 / math.log2(at + 2) for at in range(min(10, len(wanted))))
    return (*recalls, hit, reciprocal, gain / ideal)


class Estimate(NamedTuple):
    """An average with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of the values; the interval comes from drawing them anew a thousand times."""
    count = len(values)
    if not count:
        return Estimate(math.nan, math.nan, math.nan)
    means = sorted(sum(map(values.__getitem__, draw)) / count for draw in _draws(count))
    return Estimate(sum(values) / count, *_interval(means))


def macro(groups: Sequence[Sequence[float]]) -> Estimate:
    """The mean of the groups' means, each group drawn anew on its own."""
    groups = [group for group in groups if group]
    if not groups:
        return Estimate(math.nan, math.nan, math.nan)
    draws = [_draws(len(group), salt) for salt, group in enumerate(groups)]
    means = sorted(
        sum(
            sum(map(group.__getitem__, draws[at][turn])) / len(group)
            for at, group in enumerate(groups)
        )
        / len(groups)
        for turn in range(_RESAMPLES)
    )
    middle = sum(sum(group) / len(group) for group in groups) / len(groups)
    return Estimate(middle, *_interval(means))


def _interval(means: list[float]) -> tuple[float, float]:
    tail = round(_RESAMPLES * 0.025)
    return means[tail], means[-tail - 1]


@lru_cache(maxsize=32)
def _draws(count: int, salt: int = 0) -> list[list[int]]:
    """The same draws for every metric and system, so that they are compared on equal terms."""
    chance = random.Random(_SEED + salt)
    return [chance.choices(range(count), k=count) for _ in range(_RESAMPLES)]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the others are at or below (nearest rank)."""
    ranked = sorted(values)
    if not ranked:
        return math.nan
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]
