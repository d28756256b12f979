"""Quoted phrases and exclusions bind what is found by meaning, by substring and in the past too."""

from __future__ import annotations

from pathlib import Path

from holdfast import HubMemory
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests


def numbers(hub: HubMemory, query: str, **rest: object) -> list[int]:
    return sorted(hit.memory.number for hit in hub.recall(query, **rest))  # type: ignore[arg-type]


def test_what_is_near_in_meaning_must_hold_the_phrase(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The release train leaves on Tuesday")
        hub.remember("The train to Lisbon is a late release")
        assert numbers(hub, "release train") == [1, 2]
        assert numbers(hub, '"release train"') == [1]


def test_what_is_near_in_meaning_must_not_hold_what_is_excluded(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("The release train leaves on Tuesday")
        hub.remember("The train to Lisbon leaves at nine")
        assert numbers(hub, "train leaves -release") == [2]
        assert numbers(hub, 'train leaves -"to lisbon"') == [1]


def test_a_substring_must_not_bring_back_what_is_excluded(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        hub.remember("Kindergarten opens at eight")
        hub.remember("Kindergarten closes for the draft")
        assert numbers(hub, "dergart") == [1, 2]
        assert numbers(hub, "dergart -draft") == [1]


def test_the_past_is_asked_the_same(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock) as memory:
        hub = memory.hub()
        hub.remember("The release train leaves on Tuesday")
        hub.remember("The train leaves with a late release")
        then = clock.now()
        clock.tick(days=1)
        hub.update(1, content="Nothing of the kind")
        hub.update(2, content="Nothing like it either")
        assert numbers(hub, "train", as_of=then) == [1, 2]
        assert numbers(hub, '"release train"', as_of=then) == [1]
        assert numbers(hub, "train -late", as_of=then) == [1]
