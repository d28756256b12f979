"""Files, team and pictures in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.engine.people import keys
from tests.e2e.pages import NEEDS_CHROMIUM, Site, playwright

pytestmark = [NEEDS_CHROMIUM, pytest.mark.slow]
expect = playwright.expect
MEMORIES = 1_500


def test_the_file_is_edited_and_what_others_wrote_meanwhile_is_kept(page: Any, place: Site) -> None:
    hub = place.memory.hub("filed", create=True)
    lamp = hub.remember("The lamp is green").memory
    hub.remember("The door is red")
    page.goto("/h/filed/files")
    expect(page.locator("#memory-md .prose")).to_contain_text("The lamp is green")
    page.locator("#memory-md").get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="MEMORY.md")
    text = field.input_value()
    # Meanwhile, by somebody else.
    hub.remember("The roof is new")
    field.fill(text.replace("The lamp is green", "The lamp is blue"))
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice").first).to_contain_text("0 new, 1 changed, 0 archived")
    assert hub.get(lamp.id).content == "The lamp is blue"
    found = {memory.content for memory in hub.list()}
    assert found == {"The lamp is blue", "The door is red", "The roof is new"}
    page.locator(".notice").first.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").first).to_contain_text("Undone.")
    assert hub.get(lamp.id).content == "The lamp is green"


def test_an_entry_is_added_to_the_journal(page: Any, place: Site) -> None:
    page.goto("/h/default/files")
    page.get_by_label("New entry of today's journal").fill("Mended the *fence*")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#journal .prose em")).to_have_text("fence")
    assert "Mended the *fence*" in [one.content for one in place.hub.list(layer="journal")]


def test_markdown_of_a_file_runs_nothing(page: Any, place: Site) -> None:
    hub = place.memory.hub("hostile", create=True)
    hub.remember("<img src=x onerror=alert(1)> [a](javascript:alert(2)) ![b](http://evil/x.png)")
    page.on("dialog", lambda dialog: page.wrong.append(dialog.message))
    page.goto("/h/hostile/files")
    prose = page.locator("#memory-md .prose")
    expect(prose).to_contain_text("onerror")
    assert prose.locator("img").count() == 0
    assert prose.locator("a[href^=javascript]").count() == 0


def test_a_key_is_shown_once_and_revoked(page: Any, place: Site) -> None:
    page.goto("/h/default/team")
    page.get_by_label("What the key is for").fill("Laptop")
    page.get_by_role("button", name="Make a key").click()
    secret = page.locator(".secret code").inner_text()
    key = keys.find_key(place.memory.core, secret)
    assert key is not None
    page.reload()
    expect(page.locator("#api-keys")).to_contain_text("Laptop")
    assert secret not in page.content()
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#api-keys").get_by_role("button", name="Revoke").click()
    expect(page.locator("#api-keys")).to_contain_text("revoked")
    assert keys.find_key(place.memory.core, secret) is None


def test_members_are_added_and_removed(page: Any, place: Site) -> None:
    page.goto("/h/default/team")
    page.get_by_label("Name of a person").fill("vera")
    page.get_by_label("Role").select_option("viewer")
    page.locator("#members").get_by_role("button", name="Add").click()
    expect(page.locator("#members")).to_contain_text("vera")
    assert [one.role for one in place.memory.members() if one.actor == "vera"] == ["viewer"]
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#members").get_by_role("button", name="Remove").click()
    expect(page.locator("#members")).not_to_contain_text("vera")


def test_a_change_from_elsewhere_is_shown_as_it_happens(page: Any, place: Site) -> None:
    with page.expect_response("**/v1/events"):
        page.goto("/h/default/team")
    place.hub.remember("Written by another process")
    expect(page.locator("#live li").first).to_contain_text("Remembered olga")


def test_the_doctor_says_that_nothing_is_wrong(page: Any) -> None:
    page.goto("/h/default/team")
    page.get_by_role("button", name="Examine").click()
    expect(page.locator("#doctor")).to_contain_text("Nothing is wrong.")


def test_the_map_is_drawn_zoomed_and_opens_a_memory(page: Any, place: Site) -> None:
    page.goto("/h/default/pictures")
    drawn = page.locator("#map[data-ready]")
    expect(drawn).to_be_visible()
    shown = len(place.hub.meaning_map().points)
    assert int(drawn.get_attribute("data-ready")) == shown > 1_000
    expect(page.locator("#map-note")).to_contain_text("memories")
    # It is not blank: many pixels differ from the first one.
    colors = page.evaluate("""() => {
      const canvas = document.querySelector("#map canvas");
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i+1] << 8 | data[i+2]);
      return seen.size;
    }""")
    assert colors > 50
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="All", exact=True).click()
    box = page.locator("#map .u-over").bounding_box()
    spot = page.evaluate("""async () => {
      const data = await (await fetch(document.getElementById("map").dataset.url)).json();
      const pad = data.grid * 0.05, span = data.grid + 2 * pad;
      return [(data.x[0] + pad) / span, 1 - (data.y[0] + pad) / span, data.numbers[0]];
    }""")
    page.mouse.move(box["x"] + box["width"] * spot[0], box["y"] + box["height"] * spot[1])
    expect(page.locator("#map-peek")).to_contain_text("#")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/m/*")
    expect(page.locator("#memory")).to_be_visible()


def test_every_picture_is_there_as_text(page: Any) -> None:
    page.goto("/h/default/pictures")
    pictures = page.locator("section.panel").filter(has=page.locator("[role=img]"))
    assert pictures.count() >= 4
    for number in range(pictures.count()):
        assert pictures.nth(number).locator(".as-text").count() == 1
        assert pictures.nth(number).locator("[role=img]").first.get_attribute("aria-label")
    page.locator(".map-panel .as-text summary").click()
    expect(page.locator(".map-panel .as-text li").first).to_contain_text("memories")
