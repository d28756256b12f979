"""The metrics on examples worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.evaluation.run import METRICS, estimate, macro, percentile, score

LOG3 = math.log2(3)

EXAMPLES = [
    # ranking, gold, R@1, R@5, R@10, R@20, hit@10, MRR, NDCG@10
    ("a", "a", (1, 1, 1, 1, 1, 1, 1)),
    ("", "a", (0, 0, 0, 0, 0, 0, 0)),
    ("bcd", "a", (0, 0, 0, 0, 0, 0, 0)),
    # Second place: half the reciprocal rank, and 1 / log2(3) of the gain.
    ("ba", "a", (0, 1, 1, 1, 1, 0.5, 1 / LOG3)),
    # One of two at the top: half of everything but the hit and the first rank.
    ("axyz", "ab", (0.5, 0.5, 0.5, 0.5, 1, 1, 1 / (1 + 1 / LOG3))),
    # Sixth and eleventh of two: one is within ten, both within twenty.
    ("12345a6789b", "ab", (0, 0, 0.5, 1, 1, 1 / 6, (1 / math.log2(7)) / (1 + 1 / LOG3))),
    # Twelfth: found, but not among ten.
    ("1234567890-a", "a", (0, 0, 0, 1, 0, 1 / 12, 0)),
    # Twenty-first is too late for everything.
    ("bcdefghijklmnopqrstua", "a", (0, 0, 0, 0, 0, 0, 0)),
    # A document that is named twice counts once, and takes one place.
    ("bba", "a", (0, 1, 1, 1, 1, 0.5, 1 / LOG3)),
]


@pytest.mark.parametrize(("ranking", "gold", "expected"), EXAMPLES)
def test_a_ranking_scores_as_worked_out_by_hand(
    ranking: str, gold: str, expected: tuple[float, ...]
) -> None:
    assert score(list(ranking), list(gold)) == pytest.approx(expected)
    assert len(expected) == len(METRICS)


def test_more_gold_than_ten_can_still_reach_a_full_ndcg() -> None:
    gold = [str(n) for n in range(12)]
    values = dict(zip(METRICS, score(gold, gold), strict=True))
    assert values["NDCG@10"] == pytest.approx(1)
    assert values["R@10"] == pytest.approx(10 / 12)


@given(st.lists(st.sampled_from("abcdefghij"), max_size=30), st.sets(st.sampled_from("abcxyz")))
def test_scores_are_shares_and_grow_with_depth(ranking: list[str], gold: set[str]) -> None:
    if gold:
        values = score(ranking, sorted(gold))
        assert all(0 <= value <= 1 + 1e-9 for value in values)
        assert list(values[:4]) == sorted(values[:4])


def test_an_average_of_equal_values_is_certain() -> None:
    assert estimate([0.25] * 8) == (0.25, 0.25, 0.25)


def test_an_interval_holds_the_mean_and_narrows_with_more_values() -> None:
    few, many = estimate([0.0, 1.0] * 10), estimate([0.0, 1.0] * 500)
    assert few.low < 0.5 < few.high
    assert few.high - few.low > 3 * (many.high - many.low)
    # The normal approximation of 1,000 coin flips: 0.5 ± 1.96 · 0.5 / √1000.
    assert many.high - many.low == pytest.approx(0.062, abs=0.012)


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.1, 0.9, 0.4, 0.4, 1.0, 0.0]
    assert estimate(values) == estimate(list(values))


def test_every_set_counts_alike_in_the_macro_average() -> None:
    assert macro([[1.0] * 99, [0.0]]) == (0.5, 0.5, 0.5)
    assert macro([[1.0, 0.0], []]).mean == 0.5


def test_nothing_measured_is_not_a_number_rather_than_zero() -> None:
    assert math.isnan(estimate([]).mean)
    assert math.isnan(macro([]).mean)
    assert math.isnan(percentile([], 0.5))


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([3], 0.5, 3),
        ([3], 0.95, 3),
        ([1, 2, 3, 4], 0.5, 2),
        ([4, 3, 2, 1], 0.75, 3),
        (range(1, 101), 0.95, 95),
        (range(1, 101), 1.0, 100),
    ],
)
def test_a_percentile_is_a_value_that_occurred(
    values: list[float], share: float, expected: float
) -> None:
    assert percentile(list(values), share) == expected
