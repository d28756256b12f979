"""A turn between people that asks something ranks behind one that tells it; what a user asks an
agent does not."""

from __future__ import annotations

import pathlib

import pytest

from holdfast.recall import weights
from holdfast.testing import HashEmbedder, open_for_tests


def _part(folder: pathlib.Path, text: str, speaker: str | None) -> float:
    """What a turn loses for asking."""
    with open_for_tests(folder, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember(text, speaker=speaker, session="one")
        (hit,) = hub.recall("where is the cello lesson of Mira")
        return hit.parts.get("asks", 0.0)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Where is the cello lesson of Mira?", 1.0),
        ("The cello lesson of Mira is on. Will you come?", 0.5),
        ("The cello lesson of Mira is in Porto.", 0.0),
        ("See cello.example/?lesson=mira for the lesson of Mira", 0.0),
    ],
)
def test_a_turn_loses_by_the_share_of_its_questions(
    tmp_path: pathlib.Path, text: str, share: float
) -> None:
    assert _part(tmp_path, text, "Nate") == pytest.approx(share * weights.ASKS_WEIGHT)


@pytest.mark.parametrize("speaker", ["user", "Assistant", None])
def test_what_a_user_asks_and_a_note_lose_nothing(
    tmp_path: pathlib.Path, speaker: str | None
) -> None:
    assert _part(tmp_path, "Where is the cello lesson of Mira?", speaker) == 0


def test_of_two_turns_the_one_that_tells_comes_first(tmp_path: pathlib.Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The cello lesson of Mira is in Porto.", speaker="Nate", session="one")
        hub.remember("The cello lesson of Mira is in Faro?", speaker="Nate", session="two")
        found = hub.recall("where is the cello lesson of Mira")
    assert [hit.memory.number for hit in found] == [1, 2]
