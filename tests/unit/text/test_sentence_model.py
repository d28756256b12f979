"""The trained model that judges sentences no rule knows: what it keeps of messages that neither it
nor the rules were made from, and what is done with a sentence that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from bench.sentence_model import Sample

from holdfast.text.capture import Captured, capture
from holdfast.text.capture.sentence_model import BUCKETS, KINDS, Message, features, guess

if TYPE_CHECKING:
    from bench.sentence_model import Sample

# A source distribution has the tests, and not the benchmarks.
model = pytest.importorskip("bench.sentence_model")

AT = datetime(2026, 11, 16, 12, tzinfo=UTC)
UNSEEN = sorted(model.SETS.glob("unseen-*.jsonl"))


def unseen() -> list[Sample]:
    return [one for path in UNSEEN for one in model.read(path)]


def kept(samples: list[Sample], vector_of: Callable[[str], list[float]] | None) -> list[bool]:
    """Whether a fact that is kept for good comes from each of the sentences, judged in its
    message."""
    found = []
    for one in samples:
        before, after, question = one.message
        facts = capture(
            before + one.sentence + after, at=AT, question=question, vector_of=vector_of
        )
        start, end = len(before), len(before) + len(one.sentence)
        found.append(any(one.standing and one.start < end and one.end > start for one in facts))
    return found


@pytest.fixture(scope="module")
def vector_of() -> Callable[[str], list[float]]:
    embedder = pytest.importorskip("holdfast_embed_s").load()
    return lambda sentence: embedder.embed_passages([sentence])[0].tolist()


def test_the_sets_are_large_and_mostly_to_be_left() -> None:
    samples = unseen()
    assert len(samples) > 1_000
    assert sum(one.kind == "none" for one in samples) > 0.6 * len(samples)


def test_most_of_what_belongs_into_memory_is_kept(
    vector_of: Callable[[str], list[float]],
) -> None:
    samples = unseen()
    by_rules = model.measured(samples, [one.by_rules for one in samples])
    found = model.measured(samples, kept(samples, vector_of))
    assert by_rules.recall < 0.4
    assert found.recall >= 0.7, found
    assert found.precision >= 0.93, found


def test_without_vectors_less_is_kept_and_no_more_of_it_is_wrong() -> None:
    samples = unseen()
    found = model.measured(samples, kept(samples, None))
    assert found.recall >= 0.5, found
    assert found.precision >= 0.93, found


def standing(said: str, **options: object) -> list[Captured]:
    facts = capture(said, at=AT, **options)  # type: ignore[arg-type]
    return [one for one in facts if one.standing]


ORDER = "four spaces, no tabs, in every file you make for me"


def test_a_sentence_is_kept_as_it_was_said_with_its_place() -> None:
    said = f"Why is it red?\n{ORDER}"
    (fact,) = standing(said)
    assert (fact.text, said[fact.start : fact.end]) == (ORDER.capitalize(), ORDER)
    assert (fact.category, fact.rule, fact.verbatim) == ("preference", "learned", True)


def test_nothing_is_judged_where_somebody_else_is_named() -> None:
    assert standing(ORDER)
    assert standing(ORDER, speaker="Caroline") == []
    assert standing(ORDER, learned=False) == []


def test_a_vector_that_cannot_be_made_leaves_the_words() -> None:
    assert standing(ORDER, vector_of=lambda sentence: None) == standing(ORDER) != []


def test_what_is_still_to_come_is_dated_and_not_kept_for_good() -> None:
    facts = capture("We ship the beta to customers on December 5.", at=AT)
    assert not any(fact.standing for fact in facts)


@pytest.mark.parametrize(
    "said", ["It's owned by Marisol.", "They own the payments module.", "Who owns payments?"]
)
def test_what_needs_another_sentence_or_asks_is_left(said: str) -> None:
    assert standing(said) == []


def test_the_words_around_a_sentence_count() -> None:
    said = "I have lived in Chile since 2010."
    alone = guess(said, Message()).probability
    quoted = guess(said, Message("Proofread this cover letter:\n", "")).probability
    assert quoted < alone


@pytest.mark.parametrize(
    "said", ["", " ", "?", "🙂", "\ud800", "a" * 100_000, "\x00", "是" * 5_000]
)
def test_any_text_has_a_probability(said: str) -> None:
    found = guess(said, Message(said, said, said))
    assert found.kind in KINDS[1:]
    assert 0 <= found.probability <= 1
    assert all(0 <= bucket < BUCKETS for bucket, _ in features(said, Message()))
