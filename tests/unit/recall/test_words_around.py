"""Between people the words of a question are spread over turns: what a turn and those around it
hold together counts. Notes and what an agent writes are complete by themselves."""

from __future__ import annotations

import pathlib

import pytest

from holdfast.recall import weights
from holdfast.testing import HashEmbedder, open_for_tests

SAID = [
    "The cello is back",
    "Which one?",
    "Mira fetched it",
    "Nice",
    "Good",
    "The cello has a case",
]


def _parts(folder: pathlib.Path, speakers: tuple[str | None, str | None]) -> dict[int, float]:
    """What the words around count for each turn, by its number."""
    with open_for_tests(folder, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        for number, text in enumerate(SAID):
            hub.remember(text, speaker=speakers[number % 2], session="one")
        hits = hub.recall("who has the cello of Mira")
        return {hit.memory.number: hit.parts.get("around", 0.0) for hit in hits}


def test_words_of_turns_near_each_other_count_together(tmp_path: pathlib.Path) -> None:
    around = _parts(tmp_path, ("Nate", "Joanna"))
    assert around[1] == around[3] == pytest.approx(weights.WORDS_AROUND_WEIGHT, abs=1e-6)
    assert 0 < around[6] < around[1]


@pytest.mark.parametrize("speakers", [("user", "Assistant"), (None, None)])
def test_what_an_agent_or_a_note_says_is_complete_by_itself(
    tmp_path: pathlib.Path, speakers: tuple[str | None, str | None]
) -> None:
    assert not any(_parts(tmp_path, speakers).values())
