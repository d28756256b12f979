"""How good recall is with the bundled model, on the small set that ships: floors that a change of
weights must not fall through. The sets that weights are chosen on are larger (`make bench-recall`).
"""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from holdfast.embed.providers import DEFAULT_NAME, GROUP, MISSING_MODEL, find_embedder
from holdfast.evaluation import CachedEmbedder, read_stores, sample_path
from holdfast.evaluation.run import METRICS, OURS, PLAIN, Results, run


@pytest.fixture(scope="module")
def results() -> dict[str, Results]:
    if DEFAULT_NAME not in {point.name for point in entry_points(group=GROUP)}:
        pytest.skip(MISSING_MODEL)
    found = find_embedder("auto")
    assert found is not None
    measured = run(read_stores(sample_path()), CachedEmbedder(found), baselines=True)
    return {one.system: one for one in measured}


def mean(results: Results, metric: str) -> float:
    at = METRICS.index(metric)
    scores = [answer.scores[at] for answer in results.counted() if answer.scores]
    return sum(scores) / len(scores)


def test_recall_answers_questions_that_have_an_answer(results: dict[str, Results]) -> None:
    """Measured: 37 of 37."""
    counted = results[OURS].counted()
    assert sum(bool(answer.ranking) for answer in counted) >= len(counted) - 1


def test_recall_finds_the_answers(results: dict[str, Results]) -> None:
    """Measured: 0.96 and 0.66."""
    assert mean(results[OURS], "R@10") >= 0.93
    assert mean(results[OURS], "R@1") >= 0.61


def test_recall_ranks_at_least_as_well_as_the_plain_recipe(results: dict[str, Results]) -> None:
    """On 37 questions; the larger sets tell which is better."""
    for metric in ("R@1", "MRR"):
        ours, plain = (mean(results[name], metric) for name in (OURS, PLAIN))
        assert ours >= plain, metric
