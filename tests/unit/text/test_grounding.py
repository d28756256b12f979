"""Claims are kept only where the turn they claim supports them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.grounding import Span, Unsupported, ground
from tests.unit.text.grounding_table import SUPPORTED, UNSUPPORTED

# A Wednesday.
AT = datetime(2026, 5, 27, 12, tzinfo=UTC)
# Of what is supported, this much has to be known as such; of what is not, nothing may pass.
RECALL_LEAST = 0.97


def test_nothing_unsupported_passes_and_most_of_what_is_supported_does() -> None:
    wrong = [pair for pair in UNSUPPORTED if isinstance(ground(*pair, at=AT), Span)]
    missed = [pair for pair in SUPPORTED if not isinstance(ground(*pair, at=AT), Span)]
    recall = 1 - len(missed) / len(SUPPORTED)
    print(
        f"\ngrounding: {len(SUPPORTED)} supported, {recall:.1%} known;"
        f" {len(UNSUPPORTED)} unsupported, {len(wrong)} passed"
    )
    assert (len(SUPPORTED) >= 120, len(UNSUPPORTED) >= 120) == (True, True)
    assert wrong == []
    assert recall >= RECALL_LEAST, missed


# What a model adds, and what makes a statement none; with any of these a claim falls.
ADDED = ("{} in Madrid", "{} with Zoe", "{} since 2011", "{} every day", "{} because of work",
         "{} for 17 years", "{} and a parrot", "Zoe: {}", "Zoe says: {}")  # fmt: skip
AROUND = (
    "Is it true that {}?",
    "If {}, what then?",
    "Maybe {}",
    "Imagine this: {}",
    "My colleague Zoe says {}",
    'Zoe wrote: "{} and that is that"',
    "> {}",
    "```\n{}\n```",
    "Suppose {}",
    "What if {}",
)


def is_english(text: str) -> bool:
    return text.isascii() and not text.startswith("Ich ")


@pytest.mark.parametrize("frame", ADDED)
def test_what_nobody_said_makes_a_claim_fall(frame: str) -> None:
    claims = [(frame.format(claim.rstrip(".")), said) for claim, said in SUPPORTED]
    assert [pair for pair in claims if isinstance(ground(*pair, at=AT), Span)] == []


@pytest.mark.parametrize("frame", AROUND)
def test_what_is_asked_supposed_or_quoted_supports_nothing(frame: str) -> None:
    english = [(c, said) for c, said in SUPPORTED if is_english(said) and "Might" not in c]
    one_sentence = [(c, said.rstrip(".!")) for c, said in english if not _SENTENCES.search(said)]
    turns = [(claim, frame.format(said)) for claim, said in one_sentence]
    assert len(turns) > 90
    assert [pair for pair in turns if isinstance(ground(*pair, at=AT), Span)] == []


_SENTENCES = re.compile(r"[.!?:] |\?")


def test_another_number_makes_a_claim_fall() -> None:
    changed = [
        (re.sub(r"\d+", lambda n: str(int(n[0]) + 1), claim, count=1), said)
        for claim, said in SUPPORTED
        # 'Around 2024' holds for 2025 too, and a week holds for its days.
        if re.search(r"\d", claim) and not re.search(r"around|week of", claim)
    ]
    assert len(changed) > 20
    assert [pair for pair in changed if isinstance(ground(*pair, at=AT), Span)] == []


def test_another_name_makes_a_claim_fall() -> None:
    changed = [
        (re.sub(r"(?<=[a-z] )[A-Z][a-z]+", "Zanzibar", claim, count=1), said)
        for claim, said in SUPPORTED
        if re.search(r"(?<=[a-z] )[A-Z][a-z]+", claim)
    ]
    assert len(changed) > 40
    assert [pair for pair in changed if isinstance(ground(*pair, at=AT), Span)] == []


def test_a_claim_that_is_turned_into_its_denial_falls() -> None:
    changed = [
        (f"It is not so that the user {claim[0].lower()}{claim[1:]}", said)
        for claim, said in SUPPORTED
        if is_english(claim)
    ] + [
        (
            re.sub(
                r"\b(?:does not|do not|doesn't|no longer|never|not|no) ?", "", claim, flags=re.I
            ),
            said,
        )
        for claim, said in SUPPORTED
        if re.search(r"(?i)\b(?:does not|doesn't|no longer|never|not|no)\b", claim)
    ]
    assert [pair for pair in changed if isinstance(ground(*pair, at=AT), Span)] == []


def test_a_claim_of_one_turn_is_not_supported_by_another() -> None:
    wrong = [
        (claim, other)
        for at, (claim, said) in enumerate(SUPPORTED)
        for other in (SUPPORTED[(at + step) % len(SUPPORTED)][1] for step in (13, 37, 71))
        if isinstance(ground(claim, other, at=AT), Span)
    ]
    assert wrong == []


# Quotations and places


def test_a_quote_must_stand_in_the_turn_word_for_word() -> None:
    said = "Well, I live  in  Lisbon and I\u2019m happy."
    assert ground("Lives in Lisbon", said, quote="I live in Lisbon") == Span(6, 24)
    assert ground("Lives in Lisbon", said, quote="I live in lisbon") == Unsupported("quote")
    assert ground("Is happy", said, quote="I'm happy") == Span(29, 38)
    assert ground("Lives in Lisbon", said, quote="I am in Lisbon") == Unsupported("quote")


def test_a_quote_does_not_hide_what_stands_around_it() -> None:
    said = "I would never live in Lisbon."
    assert isinstance(ground("Lives in Lisbon", said, quote="live in Lisbon"), Unsupported)


def test_a_quote_must_support_the_claim_itself() -> None:
    said = "I live in Lisbon. I work at Acme."
    assert ground("Works at Acme", said, quote="I live in Lisbon") == Unsupported("name")


def test_the_span_is_the_clause_that_says_it() -> None:
    said = "Hello there. I moved to Lisbon, and I have a dog called Rex! Bye."
    found = ground("Has a dog called Rex", said)
    assert isinstance(found, Span)
    assert said[found.start : found.end].strip(" ,.!") == "I have a dog called Rex"


def test_a_speaker_may_be_called_by_name() -> None:
    assert isinstance(ground("Ann lives in Oslo", "I live in Oslo", speaker="Ann"), Span)
    assert isinstance(ground("Ann: Lives in Oslo", "I live in Oslo", speaker="Ann"), Span)
    assert isinstance(
        ground("Ann's dog is called Rex", "My dog is called Rex", speaker="Ann"), Span
    )
    assert isinstance(ground("Bob lives in Oslo", "I live in Oslo", speaker="Ann"), Unsupported)


@pytest.mark.parametrize(
    ("claim", "said", "reason"),
    [
        ("Has 4 cats", "I have 3 cats", "number"),
        ("Lives in Faro", "I live in Lisbon", "name"),
        ("Eats meat", "I don't eat meat", "negation"),
        ("Lives in Lisbon", "Do I live in Lisbon?", "question"),
        ("Moved to Lisbon", "I want to move to Lisbon", "hypothetical"),
        ("Moved to Lisbon in March 2026", "I moved to Lisbon last month", "date"),
        ("Enjoys surfing", "I live in Lisbon", "words"),
        ("Is lazy", "My boss says I am lazy", "quoted"),
        ("Worked at Acme", "I work at Acme", "tense"),
        ("", "I work at Acme", "words"),
    ],
)
def test_the_reason_names_what_is_wrong(claim: str, said: str, reason: str) -> None:
    assert ground(claim, said, at=AT) == Unsupported(reason)


@given(claim=st.text(max_size=200), said=st.text(max_size=500))
def test_any_text_is_answered_with_a_place_in_it_or_a_reason(claim: str, said: str) -> None:
    found = ground(claim, said, at=AT)
    if isinstance(found, Span):
        assert 0 <= found.start < found.end <= len(said)


def test_a_long_turn_takes_no_long_time() -> None:
    turn = "I live in Lisbon and work at Acme, because I like it; " * 2_000
    assert isinstance(ground("Lives in Oslo with a dog called Rex", turn, at=AT), Unsupported)


@pytest.mark.parametrize(
    ("said", "claim", "supported"),
    [
        ("My wife is a nurse, and I want to see if we can move", "Wife is a nurse", True),
        ("I was wondering if you could help, my wife is a nurse", "Wife is a nurse", True),
        ("I'm not sure if it was the fish and my wife is a nurse", "Wife is a nurse", False),
        ("Please answer in short sentences, my wife is a nurse", "Wife is a nurse", True),
        ("Please answer this: my wife is a nurse", "Wife is a nurse", False),
        ("If we move, I have a garden and my wife is a nurse", "Wife is a nurse", False),
    ],
)
def test_a_question_with_if_puts_no_condition_on_what_was_said_before_it(
    said: str, claim: str, supported: bool
) -> None:
    assert isinstance(ground(claim, said), Span) == supported
