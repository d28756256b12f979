"""What of a question the hits hold, as the confidence of an answer counts it."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.recall import weights
from holdfast.testing import HashEmbedder, open_for_tests


@pytest.fixture
def hub(tmp_path: pathlib.Path) -> Iterator[HubMemory]:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        yield memory.hub()


def measure(monkeypatch: pytest.MonkeyPatch, *, coverage: float = 0, absent: float = 0) -> None:
    """Lets these two features alone make the confidence."""
    measured = (0.0, 0.0, 0.0, coverage, 0.0, 0.0, absent)
    monkeypatch.setitem(weights.CONFIDENCE, HashEmbedder().identity, measured)


def share(confidence: float) -> float:
    """The feature, where its weight is 1."""
    return math.log(confidence / (1 - confidence))


def test_a_name_counts_as_absent_where_no_hit_holds_it(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(monkeypatch, absent=1)
    for number in range(12):
        hub.remember(f"Reads crime novels and books about the sea, shelf {number}")
    hub.remember("Gave the old lawnmower to Nate")
    question = "Which crime novels and books about the sea does {} read on the shelf?"
    found = hub.recall(question.format("Nate"))
    assert found.unknown_names == ()  # The hub knows him, from elsewhere.
    assert share(found.confidence) == pytest.approx(1, abs=0.01)
    hub.remember("Nate reads crime novels and books about the sea, shelf 13")
    assert share(hub.recall(question.format("Nate")).confidence) == pytest.approx(0, abs=0.01)
    half = hub.recall(question.format("Nate or Joanna"))
    assert share(half.confidence) == pytest.approx(0.5, abs=0.01)


def test_names_that_a_prompt_brings_up_do_not_count(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(monkeypatch, absent=1)
    hub.remember("Wants to book campsites with good views around the lake")
    asked = hub.recall("Which campsites with good views did Fergus book?")
    assert share(asked.confidence) == pytest.approx(1, abs=0.01)
    prompt = "We talked about a place that is called Fergburger. Can you add it to the campsites?"
    assert share(hub.recall(prompt).confidence) == pytest.approx(0, abs=0.01)


def test_the_speaker_and_the_time_that_are_asked_for_count_as_words(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(monkeypatch, coverage=1)
    for day, text in ((2, "I went to Woodhaven"), (20, "Bought a new lamp")):
        hub.remember(
            text,
            speaker="Joanna",
            session=str(day),
            occurred_at=datetime(2022, 7, day, tzinfo=UTC),
        )
    # Of the word, the speaker and the time, the first hit has the last two.
    found = hub.recall(
        "Where did Joanna travel in July 2022?", now=datetime(2023, 1, 1, tzinfo=UTC)
    )
    assert share(found.confidence) == pytest.approx(2 / 3, abs=0.01)
    # Without a speaker and a time only the word is left.
    found = hub.recall("Where was the travel to?")
    assert share(found.confidence) == pytest.approx(0, abs=0.01)


def test_only_words_that_are_looked_up_leave_out_what_is_merely_near(hub: HubMemory) -> None:
    hub.remember("Deborah is married to a sailor who collects maps and engines")
    hub.remember("Deborah drinks green tea at night")
    looked_up = [hit.memory.number for hit in hub.recall("Deborah married")]
    asked = [hit.memory.number for hit in hub.recall("Is Deborah married?")]
    assert (looked_up, asked) == ([1], [1, 2])


def test_words_in_a_question_count_less_than_words_that_are_looked_up(hub: HubMemory) -> None:
    hub.remember("Deborah is married to a sailor who collects maps and engines")
    (asked,) = hub.recall("Is Deborah married?")
    (looked_up,) = hub.recall("Deborah married")
    assert looked_up.parts["keywords"] > 2 * asked.parts["keywords"] > 0


def test_a_short_question_shows_no_note_that_is_merely_near_one_that_holds_its_words(
    tmp_path: pathlib.Path,
) -> None:
    with holdfast.open(tmp_path) as memory:
        drinks = memory.hub()
        drinks.remember("Alice drinks oolong tea")
        drinks.remember("Her car is a red Volvo")
        assert [hit.memory.number for hit in drinks.recall("Which tea?")] == [1]
