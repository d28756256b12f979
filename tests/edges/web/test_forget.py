"""Forgetting everything about a word on the page: first what would go, then the deed."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from tests.edges.http.conftest import House
from tests.edges.web.conftest import PAGE


def seen(text: str) -> str:
    found = re.search(r'name="seen" value="(\w+)"', text)
    assert found is not None
    return found[1]


def preview(client: TestClient, about: str, **fields: str) -> str:
    data = {"about": about, **fields}
    answer = client.post("/h/default/forget/preview", headers=PAGE, data=data)
    assert answer.status_code == 200
    return answer.text


@pytest.fixture
def talk(memory: Holdfast) -> Holdfast:
    hub = memory.hub()
    hub.observe_turn("We met <b>Zoltan</b> at the harbour", "Who is Zoltan?", session="talk")
    hub.observe_turn("The tide comes at six", "Noted", session="talk")
    hub.remember("Zoltan owns the red boat")
    hub.remember("The harbour closes at nine")
    return memory


def left(memory: Holdfast) -> tuple[int, list[str]]:
    hub = memory.hub()
    return len(hub.turns(limit=100)), sorted(one.content for one in hub.list())


def test_a_preview_shows_the_lines_and_changes_nothing(talk: Holdfast, client: TestClient) -> None:
    before = left(talk)
    shown = preview(client, "zoltan")
    assert "Turns: 2. Memories: 1." in shown
    assert "We met &lt;b&gt;Zoltan&lt;/b&gt; at the harbour" in shown and "<b>Zoltan" not in shown
    assert "Who is Zoltan?" in shown and "Zoltan owns the red boat" in shown
    assert "tide" not in shown and "closes at nine" not in shown
    assert left(talk) == before


def test_turns_go_for_good_and_memories_come_back(talk: Holdfast, client: TestClient) -> None:
    data = {"about": "zoltan", "seen": seen(preview(client, "zoltan"))}
    done = client.post("/h/default/forget", headers=PAGE, data=data)
    assert "Forgotten. Turns: 2. Memories: 1." in done.text
    assert left(talk) == (2, ["The harbour closes at nine"])
    change = re.search(r'name="change" value="([^"]+)"', done.text)
    assert change is not None
    undone = client.post("/h/default/undo", headers=PAGE, data={"change": change[1]})
    assert undone.status_code == 200
    assert left(talk) == (2, ["The harbour closes at nine", "Zoltan owns the red boat"])


def test_what_came_since_the_preview_is_shown_first(talk: Holdfast, client: TestClient) -> None:
    data = {"about": "zoltan", "seen": seen(preview(client, "zoltan"))}
    talk.hub().remember("Zoltan lends his boat to Ana")
    before = left(talk)
    answer = client.post("/h/default/forget", headers=PAGE, data=data)
    assert "since you looked" in answer.text and "lends his boat" in answer.text
    assert left(talk) == before
    data["seen"] = seen(answer.text)
    assert "Memories: 2." in client.post("/h/default/forget", headers=PAGE, data=data).text


def test_removed_for_good_has_no_undo(talk: Holdfast, client: TestClient) -> None:
    hub = talk.hub()
    hub.forget(hub.remember("Zoltan is in Faro").memory.id)
    shown = preview(client, "zoltan", purge="yes")
    assert "Memories: 2." in shown and "Zoltan is in Faro" in shown
    # What was looked at without it does not allow it.
    data = {"about": "zoltan", "purge": "yes", "seen": seen(preview(client, "zoltan"))}
    assert "since you looked" in client.post("/h/default/forget", headers=PAGE, data=data).text
    data["seen"] = seen(shown)
    done = client.post("/h/default/forget", headers=PAGE, data=data)
    assert 'name="change"' not in done.text and "Zoltan" not in done.text
    assert hub.forget_turns(about="zoltan", purge=True, dry_run=True).memories == ()


def test_nothing_to_forget_offers_no_button(talk: Holdfast, client: TestClient) -> None:
    shown = preview(client, "quetzal")
    assert "Nothing holds this." in shown and "<form" not in shown
    blank = client.post("/h/default/forget/preview", headers=PAGE, data={"about": "  "})
    assert blank.status_code == 422 and "a word, or a few" in blank.text


def test_a_form_of_another_page_is_refused(talk: Holdfast, client: TestClient) -> None:
    before = left(talk)
    data = {"about": "zoltan", "seen": seen(preview(client, "zoltan"))}
    assert client.post("/h/default/forget", data=data).status_code == 403
    assert left(talk) == before


def test_only_who_manages_the_hub_may(house: House, door: TestClient) -> None:
    name = house.hub.name
    editor = {"Authorization": f"Bearer {house.member('rita', 'contributor')}", **PAGE}
    assert door.get(f"/h/{name}/forget", headers=editor).status_code == 403
    for path in ("forget", "forget/preview"):
        answer = door.post(f"/h/{name}/{path}", headers=editor, data={"about": "vault", "seen": ""})
        assert answer.status_code == 403 and "Friday" not in answer.text
    assert "/forget" not in door.get(f"/h/{name}/agent", headers=editor).text
    owner = {"Authorization": f"Bearer {house.key()}", **PAGE}
    assert f'href="/h/{name}/forget"' in door.get(f"/h/{name}/agent", headers=owner).text
    shown = door.post(f"/h/{name}/forget/preview", headers=owner, data={"about": "vault"})
    assert "The vault opens on Friday" in shown.text
