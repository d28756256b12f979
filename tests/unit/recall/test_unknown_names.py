"""A question about somebody unknown is less likely to be answered."""

from __future__ import annotations

import pytest

from holdfast import HubMemory
from holdfast.domain.query import Hit, Passage, Recalled
from holdfast.engine.context.relevance import (
    ANSWERED_LEAST,
    NAMED_LEAST,
    PROMPT_LEAST,
    for_prompt,
    for_question,
)


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Which board games does Nate play with Anna in July?", ("Nate",)),
        ("Did Miso meet Anna or her sister Joanna in Osaka?", ("Joanna", "Osaka")),
        ("What does anna play?", ()),
        ("Nate plays what?", ()),  # It begins the sentence.
        ("Was spielt der Hund von Anna mit dem Ball im Garten?", ()),
        ("What does Elisabeht play with her cat?", ()),  # A spelling that is understood.
    ],
)
def test_names_that_stand_nowhere_in_the_hub(
    hub: HubMemory, question: str, unknown: tuple[str, ...]
) -> None:
    hub.remember("Anna and Elisabeth play chess and board games with the cat Miso on Sundays")
    assert hub.recall(question).unknown_names == unknown


def test_a_speaker_of_the_log_is_known(hub: HubMemory) -> None:
    hub.log_turn("user", "I went to the board games night again", speaker="Nate Miller")
    assert hub.recall("Which board games night did Nate visit?").unknown_names == ()


def test_an_unknown_name_makes_an_answer_less_likely(hub: HubMemory) -> None:
    hub.remember("Anna plays chess with her neighbour on Sundays")
    about_anna = hub.recall("Which game does the neighbour play with Anna?")
    about_nate = hub.recall("Which game does the neighbour play with Nate?")
    assert about_nate.confidence < about_anna.confidence


def test_what_is_unlikely_is_not_put_before_an_agent(hub: HubMemory) -> None:
    memory = hub.remember("Anna plays chess").memory
    passage = Passage(memory.content, 0, len(memory.content))
    hit = Hit(memory, passage, 1.0, (), {"vector": 0.6}, 0.9)
    sure = Recalled([hit], confidence=0.9)
    assert for_question(sure) == for_prompt(sure) == [hit]
    unlikely = Recalled([hit], confidence=min(ANSWERED_LEAST, PROMPT_LEAST) - 0.01)
    assert for_question(unlikely) == for_prompt(unlikely) == []


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("Which game does the neighbour play with Anna?", True),
        ("Which game does the neighbour play with Anna and Nate?", False),
        ("Which game does the neighbour play?", False),
    ],
)
def test_whether_the_hits_hold_every_name(hub: HubMemory, question: str, holds: bool) -> None:
    hub.remember("Anna plays chess with her neighbour on Sundays")
    assert hub.recall(question).holds_names == holds


def test_a_question_by_known_names_needs_less(hub: HubMemory) -> None:
    memory = hub.remember("Anna plays chess").memory
    passage = Passage(memory.content, 0, len(memory.content))
    hit = Hit(memory, passage, 1.0, (), {"vector": 0.6}, 0.9)
    found = Recalled([hit], confidence=ANSWERED_LEAST - 0.01)
    found.holds_names = True
    assert for_question(found) == [hit]
    found.unknown_names = ("Nate",)
    assert for_question(found) == []
    found.unknown_names = ()
    found.confidence = NAMED_LEAST - 0.01
    assert for_question(found) == []
