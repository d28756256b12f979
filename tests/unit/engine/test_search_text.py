"""Looking for a text as it stands: no operators, no ranking, in the order that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, HubMemory, InvalidInput
from holdfast.testing import FixedClock


def numbers(hub: HubMemory, text: str, **options: Any) -> list[int]:
    return [memory.number for memory in hub.search_text(text, **options)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tabs", [1]),
        ("TABS", [1]),
        ("refers ta", [1]),
        ("ta", [2, 1]),
        ("%", [3]),
        ("_", [3]),
        ("'", [3]),
        ('"quoted"', [3]),
        ("-b", [3]),
        ("category:fact", [3]),
        ("NOT here", [3]),
        ("cafe", [4]),
        ("京都", [5]),
        ("都", [5]),
        ("spaces", []),
    ],
)
def test_every_character_is_only_itself(hub: HubMemory, text: str, found: list[int]) -> None:
    hub.remember("Prefers tabs")
    hub.remember("Deploys from Tatooine")
    hub.remember('100% of a_b\'s "quoted" a -b category:fact NOT here')
    hub.remember("Likes the Café de Flore")
    hub.remember("先週、京都に行った")
    assert numbers(hub, text) == found


def test_words_are_found_in_any_form_but_only_where_they_are_asked_for(hub: HubMemory) -> None:
    hub.remember("Prefers tabs over spaces")
    hub.remember("The tab of the browser")
    assert numbers(hub, "space and a tab") == []
    assert numbers(hub, "space and a tab", words=True) == [1]
    assert numbers(hub, "tab", words=True) == [2, 1]


def test_the_order_is_the_one_that_is_named(hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("note one", occurred_at="2026-01-03T00:00Z")
    hub.remember("note two", occurred_at="2026-01-01T00:00Z")
    hub.remember("note three", occurred_at="2026-01-02T00:00Z")
    clock.tick()
    hub.access(2)
    assert numbers(hub, "note") == [3, 2, 1]
    assert numbers(hub, "note", order="happened") == [1, 3, 2]
    assert numbers(hub, "note", order="accessed") == [2, 3, 1]
    assert numbers(hub, "note", order="happened", limit=2) == [1, 3]


def test_layer_and_category_narrow_it(hub: HubMemory) -> None:
    hub.remember("note of a day", layer="journal", category="daily")
    hub.remember("note for good", category="preference")
    assert numbers(hub, "note", layer="journal") == [1]
    assert numbers(hub, "note", category="preference") == [2]


def test_only_what_holds_is_found(memory: Holdfast, hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("note that is forgotten")
    hub.remember("note that is archived")
    hub.remember("note that has a successor")
    hub.remember("a newer note", supersedes=3)
    hub.remember("note that expires", expires_at="2026-01-15T00:00Z")
    hub.remember("note that was true", valid_until="2026-01-15T00:00Z")
    hub.forget(1)
    hub.archive(2)
    memory.create_hub("elsewhere").remember("note of another hub")
    clock.tick(days=2)
    assert numbers(hub, "note") == [4]
    # What is left out does not count against the limit.
    assert numbers(hub, "note", order="oldest", limit=1) == [4]


@pytest.mark.parametrize("text", ["", " \n ", "x" * 2_001, None, 7])
def test_nothing_to_look_for_is_an_error(hub: HubMemory, text: Any) -> None:
    with pytest.raises(InvalidInput, match="text"):
        hub.search_text(text)


def test_an_order_that_is_none_and_a_limit_of_none_are_errors(hub: HubMemory) -> None:
    with pytest.raises(InvalidInput, match="order"):
        hub.search_text("note", order="best")
    with pytest.raises(InvalidInput, match="limit"):
        hub.search_text("note", limit=0)


def test_all_that_are_used_are_noted_at_one_moment(hub: HubMemory, clock: FixedClock) -> None:
    for text in ("one", "two", "three"):
        hub.remember(text)
    now = clock.tick()
    used = hub.access_many([3, 1])
    assert [(m.number, m.accessed_at, m.access_count) for m in used] == [(3, now, 1), (1, now, 1)]
    assert hub.get(2).accessed_at is None


def test_a_list_by_when_it_happened_goes_on_where_it_was(hub: HubMemory) -> None:
    for day in (3, 1, 2):
        hub.remember(f"on day {day}", occurred_at=f"1969-12-0{day}T00:00Z")
    first = hub.list(order="happened", limit=2)
    rest = hub.list(order="happened", limit=2, cursor=first.cursor)
    assert [memory.number for memory in [*first, *rest]] == [1, 3, 2]
    assert rest.cursor is None


def test_half_a_character_in_a_query_is_passed_over(hub: HubMemory) -> None:
    """A program that cuts a text in the middle of an emoji sends one; it cannot be stored."""
    hub.remember("Prefers tabs", category="preference")
    assert numbers(hub, "\ud83d tabs") == [1]
    assert [hit.memory.number for hit in hub.recall("\ud83d tabs")] == [1]
    assert "Prefers tabs" in hub.context("\ud83d tabs")
    assert not hub.heard("some words that were cut in the midst of \ud83d an emoji").nothing_new
