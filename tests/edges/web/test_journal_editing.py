"""A day's journal is edited as a whole in the page."""

from __future__ import annotations

import html
import re

from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from tests.edges.http.conftest import House
from tests.edges.web.conftest import PAGE

DAY = "2026-05-27"
EDIT = f"/h/default/files/journal/{DAY}/edit"
SAVE = f"/h/default/files/journal/{DAY}"


def shown_in(client: TestClient) -> str:
    page = client.get(EDIT, headers=PAGE)
    assert page.status_code == 200
    found = re.search(r'<textarea name="shown"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


def test_a_day_is_saved_merged_and_undone(memory: Holdfast, client: TestClient) -> None:
    hub = memory.hub()
    for text in ("Fixed the lamp", "Met Jo & <b>Sam</b>"):
        hub.journal_add(text, at=f"{DAY}T10:00:00Z")
    listed = client.get(f"/h/default/files?before={DAY}").text
    assert EDIT in listed
    shown = shown_in(client)
    hub.journal_add("Called Sam", at=f"{DAY}T11:00:00Z")
    text = shown.replace("Fixed the lamp", "Fixed two lamps").replace("\n", "\r\n")
    saved = client.post(SAVE, data={"text": text, "shown": shown}, headers=PAGE)
    assert saved.status_code == 200 and "was saved" in saved.text
    found = {one.content for one in hub.list(layer="journal")}
    assert found == {"Fixed two lamps", "Met Jo & <b>Sam</b>", "Called Sam"}
    changes = re.findall(r'name="change" value="([^"]+)"', saved.text)
    client.post("/h/default/undo", data={"change": changes}, headers=PAGE)
    assert "Fixed the lamp" in {one.content for one in hub.list(layer="journal")}


def test_a_key_cannot_edit_the_files_of_the_machine(house: House, door: TestClient) -> None:
    headers = {**PAGE, "Authorization": f"Bearer {house.key()}"}
    path = f"/h/{house.hub.name}/files/journal/{DAY}"
    assert door.get(f"{path}/edit", headers=headers).status_code == 403
    data = {"text": "- a", "shown": ""}
    assert door.post(path, data=data, headers=headers).status_code == 403
    assert house.hub.list(layer="journal") == []


def test_what_is_no_day_is_a_notice(client: TestClient) -> None:
    for day in ("2026-02-30", "x", "..%2f..%2fetc"):
        path = f"/h/default/files/journal/{day}"
        assert client.post(path, data={"text": "- a"}, headers=PAGE).status_code in (404, 422)
