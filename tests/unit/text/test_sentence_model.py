"""The trained model that judges sentences no rule knows: what it keeps of messages that neither it
nor the rules were made from, and what is done with a sentence that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.sentence_model import Sample

from holdfast.text.capture import Captured, capture, learned
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


# Long messages: about the task at hand, with a fact in passing


def long_messages() -> list[list[tuple[str, str]]]:
    path = Path(__file__).parents[2] / "data" / "long_messages_held_out.txt"
    text = "\n".join(
        line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")
    )
    return [
        [(kind, said) for kind, said in (line.split(" | ", 1) for line in part.splitlines())]
        for part in text.strip().split("\n\n")
    ]


def test_of_long_messages_the_facts_in_passing_are_kept_and_the_task_is_left(
    vector_of: Callable[[str], list[float]],
) -> None:
    kept = wrong = wanted = 0
    for message in long_messages():
        said = " ".join(sentence for _, sentence in message)
        facts = standing(said, vector_of=vector_of)
        for kind, sentence in message:
            start = said.index(sentence)
            found = any(one.start < start + len(sentence) and one.end > start for one in facts)
            kept += found and kind == "keep"
            wrong += found and kind == "leave"
            wanted += kind == "keep"
    print(f"{kept} of {wanted} kept, {wrong} wrong")
    assert wanted == 32
    assert kept >= 30
    assert wrong <= 3


def test_a_step_of_a_task_in_a_long_message_is_left_and_a_fact_is_kept(
    vector_of: Callable[[str], list[float]],
) -> None:
    said = (
        "Alright, the checklist is done and both of the vendors have answered. The platform for the"
        " newsletter is Mailchimp. Wednesday at eight and Friday at two are confirmed. My team is"
        " still collecting the addresses. I have had type 1 diabetes since I was nine and use an"
        " insulin pump. Create the three tasks and put them in the board. Show me the result when"
        " you have it, and then we can go on with the rest of the plan."
    )
    facts = standing(said, vector_of=vector_of)
    assert facts
    assert all(
        "I have had type 1 diabetes" in said[one.start :][:27] or "insulin pump" in one.text
        for one in facts
    )


@pytest.mark.parametrize(
    "said",
    [
        "Don't make me wait.",
        "No need to ask again, just send it over.",
        "Don't ask me if I'm ready, show me the draft.",
    ],
)
def test_an_order_of_the_moment_is_noted_and_not_kept_for_good(said: str) -> None:
    (fact,) = capture(said, at=AT)
    assert (fact.rule, fact.standing) == ("order", False)


@pytest.mark.parametrize(
    "said",
    [
        "Stop adding comments to the code.",
        "Don't ever push to main.",
        "Never ask me to confirm before you read a file.",
        "Stop asking for confirmation every time.",
        "Don't use semicolons.",
        "Stop suggesting helm charts.",
        "Don't apologise.",
    ],
)
def test_an_order_for_good_is_kept(said: str) -> None:
    assert standing(said)


def test_what_happened_on_a_day_is_noted_with_its_date_and_not_kept_for_good() -> None:
    fact = learned._with_dates(
        Captured("x", "", 0, 1, "learned", verbatim=True),
        "I swapped my winter tyres on 2 November",
        AT,
    )
    assert (fact.rule, fact.standing) == ("event", False)
    assert fact.occurred_at is not None and fact.occurred_at.date().isoformat() == "2026-11-02"


def test_a_language_that_the_model_was_not_trained_on_is_left(
    vector_of: Callable[[str], list[float]],
) -> None:
    said = "Saya mau langsung dengar penjelasannya sekarang, biar bisa sambil jalan."
    assert standing(said, vector_of=vector_of) == []
