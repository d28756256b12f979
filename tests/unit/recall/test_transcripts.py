"""Conversations kept as plain texts: who speaks is read from the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.api.hub import HubMemory
from holdfast.recall.voice import speaker_in_text
from holdfast.testing import HashEmbedder, open_for_tests

LINES = [
    "Nate: I dyed my hair purple last week",
    "Joanna: Nate, your hair looks wonderful",
    "Nate: Thanks, I like it too",
    "Joanna: What will you do on Sunday?",
    "Nate: I will sleep all day",
    "Joanna: Sounds good, Nate",
]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Nate: I dyed my hair", "Nate"),
        ("[8 May 2023, 13:56] Nate Smith: hello there", "Nate Smith"),
        ("user: hello", "user"),
        ("Nate dyed his hair", None),
        ("https://example.org", None),
        ("12:30 lunch", None),
    ],
)
def test_the_speaker_stands_before_a_colon(text: str, speaker: str | None) -> None:
    assert speaker_in_text(text) == speaker


class Asked(HashEmbedder):
    """Keeps the questions it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.questions.append(text)
        return super().embed_query(text)


def test_a_question_about_a_speaker_in_the_text_is_asked_of_their_lines(tmp_path: Path) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        hub.remember_many(LINES)
        hits = hub.recall("When did Nate dye his hair?")
    assert embedder.questions == ["When did I dye his hair?"]
    assert hits[0].memory.number == 1
    assert "said by Nate" in hits[0].why
    assert any("neighbour" in hit.parts for hit in hits)


def test_notes_that_begin_with_a_name_make_no_speaker(tmp_path: Path) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        hub.remember_many(["Nate likes tea", "Nate dyes hair", "Nate sails", "Note: ask Nate"])
        hits = hub.recall("When does Nate sail?")
    assert embedder.questions == ["When does Nate sail?"]
    assert not any("neighbour" in hit.parts for hit in hits)


GROUP = [
    "Nate: I dyed my hair purple last week",
    "Joanna: Nate, your hair looks wonderful",
    "Nate: Thanks, I like it too",
    "Amir: Nate, mine was purple once",
    "Nate: I remember",
]


@pytest.mark.parametrize("spoken", [False, True], ids=["texts", "speakers"])
def test_among_several_people_a_question_keeps_its_names(tmp_path: Path, spoken: bool) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        for line in GROUP:
            speaker, _, text = line.partition(": ")
            hub.remember(text if spoken else line, speaker=speaker if spoken else None)
        hits = hub.recall("When did Nate dye his hair?")
    assert embedder.questions == ["When did Nate dye his hair?"]
    (answer,) = (hit for hit in hits if hit.memory.number == 1)
    assert "said by Nate" in answer.why


def test_speakers_of_a_dialogue_are_asked_in_the_first_person(tmp_path: Path) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        for line in LINES:
            speaker, _, text = line.partition(": ")
            hub.remember(text, speaker=speaker)
        hub.recall("When did Nate dye his hair?")
    assert embedder.questions == ["When did I dye his hair?"]


def test_in_a_channel_of_many_a_question_keeps_its_names(tmp_path: Path) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        for number in range(21):
            hub.remember(f"I mounted disk {number} by hand", speaker=f"guest{number}", session="a")
        hits = hub.recall("Which disk did guest7 mount?")
    assert embedder.questions == ["Which disk did guest7 mount?"]
    assert "said by guest7" in hits[0].why


def _chat(hub: HubMemory) -> None:
    for speaker, text in (
        ("Muhhamed", "I wake up at five for work"),
        ("Akib", "My train leaves at nine"),
        ("Muhhamed", "Christina wakes up late"),
    ):
        hub.remember(text, speaker=speaker)


def test_a_speaker_is_known_in_other_spellings(tmp_path: Path) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        _chat(hub)
        hits = hub.recall("At what time does Mohammed wake up for work?")
    assert embedder.questions == ["At what time does I wake up for work?"]
    assert "said by Muhhamed" in hits[0].why
    assert hits.unknown_names == ()


@pytest.mark.parametrize("name", ["Christina", "Fahim", "Akim"])
def test_another_name_is_no_other_spelling(tmp_path: Path, name: str) -> None:
    embedder = Asked()
    with open_for_tests(tmp_path, embedder=embedder) as memory:
        hub = memory.hub()
        _chat(hub)
        hub.remember("Good morning", speaker="Christian")
        hub.recall(f"At what time does {name} wake up for work?")
    assert embedder.questions == [f"At what time does {name} wake up for work?"]
