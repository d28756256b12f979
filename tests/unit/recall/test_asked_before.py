"""A question that is asked again does not find itself: it finds what was replied."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import HubMemory
from holdfast.testing import HashEmbedder, open_for_tests

QUESTION = "What did we decide about retries in the payment client?"


def _texts(hub: HubMemory, question: str) -> list[str]:
    return [hit.memory.content for hit in hub.recall(question)]


@pytest.mark.parametrize(
    "again", [QUESTION, "what did we decide about payment client retries?", QUESTION.upper()]
)
def test_the_reply_is_found_in_the_place_of_the_question(hub: HubMemory, again: str) -> None:
    hub.observe_turn(QUESTION, "Exponential backoff, five attempts at most.")
    hit = hub.recall(again)[0]
    assert hit.memory.content == "Exponential backoff, five attempts at most."
    assert "the reply to the same question, asked before" in hit.why
    assert QUESTION not in _texts(hub, again)
    assert "five attempts" in hub.context(query=again, budget=2000)


def test_the_question_is_named_among_what_was_left_out(hub: HubMemory) -> None:
    hub.observe_turn(QUESTION, "Exponential backoff, five attempts at most.")
    left = hub.recall(QUESTION, explain=True).left_out
    assert [one.reason for one in left if one.memory.content == QUESTION] == [
        "the same question, asked before"
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know, you haven't told me.",
        "I have no record of that.",
        "Das weiß ich nicht.",
        "我不知道。",
    ],
)
def test_a_reply_that_does_not_know_is_not_an_answer(hub: HubMemory, reply: str) -> None:
    hub.observe_turn(QUESTION, reply)
    assert _texts(hub, QUESTION) == []


def test_what_was_said_since_ranks_before_the_reply(hub: HubMemory) -> None:
    hub.observe_turn("What port does the staging server use?", "It listens on 8443.")
    hub.observe_turn("The staging server uses port 9000 now.", "Noted.")
    found = _texts(hub, "What port does the staging server use?")
    assert found[:2] == ["The staging server uses port 9000 now.", "It listens on 8443."]


def test_of_several_replies_the_newest_is_first(hub: HubMemory) -> None:
    asked = {QUESTION: "Backoff, at most five times.", f"Now {QUESTION}": "No retries any more."}
    for day, (question, reply) in enumerate(asked.items(), 10):
        at = datetime(2026, 1, day, tzinfo=UTC)
        hub.observe_turn(question, reply, session=f"day {day}", at=at)
    assert _texts(hub, QUESTION) == ["No retries any more.", "Backoff, at most five times."]


def test_a_reply_has_all_of_the_evidence_of_its_question(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.observe_turn(QUESTION, "Exponential backoff, five attempts at most.")
        # The first read begins the vectors of what was logged.
        hub.recall(QUESTION)
        memory.core.wait()
        parts = hub.recall(QUESTION)[0].parts
    assert parts["vector"] == pytest.approx(1.0)


def test_a_question_with_more_in_it_is_found_as_before(hub: HubMemory) -> None:
    longer = "Given that the payment client may retry five times, what did we decide about retries?"
    hub.observe_turn(longer, "Let me look.")
    assert longer in _texts(hub, QUESTION)


def test_words_that_are_looked_up_find_the_question(hub: HubMemory) -> None:
    hub.observe_turn(QUESTION, "Exponential backoff, five attempts at most.")
    assert QUESTION in _texts(hub, "retries payment client")


def test_a_reply_that_is_not_wanted_stays_out(hub: HubMemory) -> None:
    hub.observe_turn(QUESTION, "Exponential backoff, five attempts at most.")
    assert hub.recall(QUESTION, turns=False) == []


@pytest.mark.parametrize(
    "question", ["Why did we choose Stripe?", "Which one do we pay by, and why?"]
)
def test_a_word_that_says_what_is_asked_for_belongs_to_the_question(
    hub: HubMemory, question: str
) -> None:
    hub.observe_turn(question, "Stripe, because of its support for SEPA.")
    assert question not in _texts(hub, question)
    assert _texts(hub, question)[0].startswith("Stripe, because")
