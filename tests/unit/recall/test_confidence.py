"""Hits carry a probability, and an answer its confidence."""

from __future__ import annotations

import pathlib

from holdfast.testing import HashEmbedder, open_for_tests


def test_hits_carry_a_probability_and_the_answer_a_confidence(tmp_path: pathlib.Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The gallery asked for twelve prints")
        hub.remember("Sourdough starter is fed on Sundays")
        found = hub.recall("how many prints does the gallery want")
    assert [hit.memory.number for hit in found][:1] == [1]
    assert all(0 <= hit.probability <= 1 for hit in found)
    assert found.confidence >= found[0].probability > 0
    likely = [hit.probability for hit in found]
    assert likely == sorted(likely, reverse=True)


def test_related_memories_and_lists_by_conditions_are_certain(tmp_path: pathlib.Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The gallery asked for twelve prints", tags=["art"])
        hub.remember("Prints are sold in editions of thirty", tags=["art"])
        assert {hit.probability for hit in hub.recall("tag:art")} == {1.0}
        assert {hit.probability for hit in hub.related(1)} == {1.0}
