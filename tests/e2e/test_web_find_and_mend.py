"""Finding memories and mending them, in a real browser on a store of several thousand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.e2e.pages import NEEDS_CHROMIUM, Site, playwright

pytestmark = [NEEDS_CHROMIUM, pytest.mark.slow]
expect = playwright.expect
MEMORIES = 3_000


def numbers(page: Any) -> list[int]:
    found = page.locator("#hits .hit .number").all_inner_texts()
    return [int(one.removeprefix("#")) for one in found]


def test_the_page_opens_at_once_and_answers_as_one_types(page: Any, place: Site) -> None:
    page.goto("/")
    assert page.title() == "Find · Holdfast"
    expect(page.locator("#hits .hit")).to_have_count(30)
    page.keyboard.press("/")
    page.keyboard.type("Porto buoy number 12", delay=5)
    expect(page.locator(".tally")).to_contain_text("best first")
    expected = [hit.memory.number for hit in place.hub.recall("Porto buoy number 12", limit=30)]
    expect(page.locator("#hits .number").first).to_have_text(f"#{expected[0]}")
    assert numbers(page) == expected
    assert "q=Porto" in page.url
    # Why a hit ranks where it does.
    page.locator(".why summary").first.click()
    expect(page.locator(".why-panel").first).to_contain_text("Words")


def test_more_of_the_list_comes_when_its_end_is_seen(page: Any) -> None:
    page.goto("/")
    expect(page.locator("#hits .hit")).to_have_count(30)
    page.locator(".more").scroll_into_view_if_needed()
    expect(page.locator("#hits .hit")).to_have_count(60)


def test_chips_filter_and_the_address_keeps_them(page: Any, place: Site) -> None:
    place.hub.remember("Tea is served at four", category="routine")
    page.goto("/")
    page.get_by_label("Category").select_option("routine")
    expect(page.locator("#hits .hit")).to_have_count(1)
    expect(page.locator("#hits")).to_contain_text("Tea is served at four")
    page.reload()
    expect(page.locator("#hits .hit")).to_have_count(1)


def test_the_past_is_shown_as_it_was(page: Any, place: Site) -> None:
    made = place.hub.remember("The pier opens at eight", key="pier").memory
    page.goto("/h/default?q=pier+opens")
    expect(page.locator("#hits")).to_contain_text("The pier opens at eight")
    page.get_by_text("As of", exact=True).click()
    page.locator("[data-as-of]").fill("2020-01-01")
    page.locator("[data-as-of]").dispatch_event("change")
    expect(page.locator(".past-badge")).to_have_text("as of 2020-01-01")
    expect(page.locator("#hits .hit")).to_have_count(0)
    page.locator("[data-as-of-now]").click()
    expect(page.locator("#hits")).to_contain_text("The pier opens at eight")
    assert made.created_at < datetime.now(UTC)


def test_a_result_is_opened_by_keyboard_and_back_returns_to_the_search(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type("number 77")
    # Earlier answers, for what was typed first, hold it too; they are many.
    expect(page.locator("#hits .hit")).to_have_count(1)
    expect(page.locator("#hits")).to_contain_text("number 77")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#memory")).to_be_visible()
    # A search on leaving the field would take the focus off the result.
    assert not [url for url in asked if "/results" in url]
    page.go_back()
    expect(page.locator("#q")).to_have_value("number 77")
    expect(page.locator("#hits")).to_contain_text("number 77")


def test_everything_is_done_and_undone_by_keyboard(page: Any, place: Site) -> None:
    hub = place.hub
    memory = hub.remember("Ada drinks tea").memory
    page.goto(f"/h/default/m/{memory.number}")
    for key, said, test in (
        ("p", "Pinned.", lambda: hub.get(memory.id).pinned),
        ("a", "Archived.", lambda: hub.get(memory.id).state == "archived"),
        ("f", "Forgotten.", lambda: hub.find(memory.id).forgotten_at is not None),
    ):
        page.keyboard.press(key)
        expect(page.locator(".notice").first).to_contain_text(said)
        assert test(), said
        page.keyboard.press("u")
        expect(page.locator(".notice").first).to_contain_text("Undone.")
        assert not test(), said
    page.keyboard.press("e")
    field = page.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    field.fill("Ada drinks coffee")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notice").first).to_contain_text("Saved.")
    expect(page.locator(".memory-text")).to_have_text("Ada drinks coffee")
    expect(page.locator(".timeline .diff").first).to_contain_text("coffee")
    assert hub.get(memory.id).content == "Ada drinks coffee"
    page.keyboard.press("u")
    expect(page.locator(".memory-text")).to_have_text("Ada drinks tea")
    # Undoing the undo brings it back.
    page.keyboard.press("u")
    expect(page.locator(".memory-text")).to_have_text("Ada drinks coffee")


@pytest.mark.parametrize("place_of_undo", [".timeline", ".notice"])
def test_a_notice_does_not_offer_to_undo_what_was_undone(
    page: Any, place: Site, place_of_undo: str
) -> None:
    memory = place.hub.remember(f"Ada sails on {place_of_undo[1:]} days").memory
    page.goto(f"/h/default/m/{memory.number}")
    page.get_by_role("button", name="Pin").click()
    expect(page.locator(".notice")).to_contain_text("Pinned.")
    page.locator(place_of_undo).get_by_role("button", name="Undo").first.click()
    expect(page.locator(".notice")).to_have_count(1)
    expect(page.locator(".notice")).to_contain_text("Undone.")


def test_a_memory_is_superseded_and_that_is_undone(page: Any, place: Site) -> None:
    memory = place.hub.remember("Ada lives in Berlin").memory
    page.goto(f"/h/default/m/{memory.number}")
    page.keyboard.press("s")
    page.get_by_label("New text").fill("Ada lives in Lisbon")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".memory-text")).to_have_text("Ada lives in Lisbon")
    assert place.hub.get(memory.id).superseded_by is not None
    assert page.url.endswith(f"/m/{place.hub.get(place.hub.get(memory.id).superseded_by).number}")
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator(".notice").first).to_contain_text("Undone.")
    assert place.hub.get(memory.id).superseded_by is None


def test_a_memory_is_moved_and_moved_back(page: Any, place: Site) -> None:
    other = place.memory.hub("travel", create=True)
    memory = place.hub.remember("The night train leaves at nine").memory
    page.goto(f"/h/default/m/{memory.number}")
    page.keyboard.press("m")
    page.get_by_role("combobox", name="Hub", exact=True).last.select_option("travel")
    page.locator("#move button.primary").click()
    expect(page.locator(".notice").first).to_contain_text("Moved to travel.")
    assert [one.content for one in other.list()] == ["The night train leaves at nine"]
    page.keyboard.press("u")
    expect(page.locator(".notice").first).to_contain_text("Undone.")
    assert place.hub.get(memory.id).forgotten_at is None
    assert other.list() == []


def test_the_second_of_two_editors_is_told_and_loses_nothing(page: Any, place: Site) -> None:
    memory = place.hub.remember("The lamp is green").memory
    page.goto(f"/h/default/m/{memory.number}")
    page.keyboard.press("e")
    page.get_by_label("Text", exact=True).fill("The lamp is red, says one")
    place.hub.update(memory.id, content="The lamp is blue, says the other")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".conflict")).to_contain_text("Somebody changed this memory")
    expect(page.locator(".conflict")).to_contain_text("blue")
    assert page.get_by_label("Text", exact=True).input_value() == "The lamp is red, says one"
    assert place.hub.get(memory.id).content == "The lamp is blue, says the other"
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".memory-text")).to_have_text("The lamp is red, says one")
    history = [entry.after.content for entry in place.hub.history(memory.id)]
    assert history[1:] == ["The lamp is blue, says the other", "The lamp is red, says one"]
