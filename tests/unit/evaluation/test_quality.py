"""How good recall is with the bundled model, on the small set that ships: floors that a change of
weights must not fall through. The sets that weights are chosen on are larger (`make bench-recall`).
"""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from holdfast.embed.find import DEFAULT_NAME, GROUP, MISSING_MODEL, find_embedder
from holdfast.evaluation.cache import CachedEmbedder
from holdfast.evaluation.metrics import METRICS
from holdfast.evaluation.run import OURS, PLAIN, Results, run
from holdfast.evaluation.stores import read_stores, sample_path


@pytest.fixture(scope="module")
def results() -> dict[str, Results]:
    if DEFAULT_NAME not in {point.name for point in entry_points(group=GROUP)}:
        pytest.skip(MISSING_MODEL)
    found = find_embedder("auto")
    assert found is not None
    measured = run(read_stores(sample_path()), CachedEmbedder(found), baselines=True)
    return {one.system: one for one in measured}


def mean(results: Results, metric: str, answered: set[str]) -> float:
    at = METRICS.index(metric)
    scores = [a.scores[at] for a in results.counted() if a.scores and a.question.text in answered]
    return sum(scores) / len(scores)


def answered_by(results: Results) -> set[str]:
    return {answer.question.text for answer in results.counted() if answer.ranking}


def test_recall_answers_most_questions_that_have_an_answer(results: dict[str, Results]) -> None:
    """Measured: 33 of 37."""
    ours = results[OURS]
    assert len(answered_by(ours)) >= 0.85 * len(ours.counted())


def test_what_recall_answers_it_finds(results: dict[str, Results]) -> None:
    """Measured: 0.95 and 0.62."""
    answered = answered_by(results[OURS])
    assert mean(results[OURS], "R@10", answered) >= 0.92
    assert mean(results[OURS], "R@1", answered) >= 0.58


def test_recall_ranks_about_as_well_as_the_plain_recipe(results: dict[str, Results]) -> None:
    """On 37 questions; the larger sets tell which is better."""
    answered = answered_by(results[OURS])
    for metric in ("R@1", "MRR"):
        ours, plain = (mean(results[name], metric, answered) for name in (OURS, PLAIN))
        assert ours >= plain - 0.02, metric
