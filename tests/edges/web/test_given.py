"""What an agent was given with each prompt, in the page of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from holdfast.edges.hooks.event import Event
from holdfast.edges.hooks.respond import respond
from tests.edges.http.conftest import House


def say(memory: Holdfast, kind: str, prompt: str = "", turn: str = "", cause: str = "") -> str:
    works: list[Callable[[], None]] = []
    event = Event(kind, "claude-code", "talk", "/", turn=turn, prompt=prompt, cause=cause)  # type: ignore[arg-type]
    return respond(memory, event, meaning=False, later=works.append)


def shown(client: TestClient, hub: str = "default") -> list[tuple[str, list[str]]]:
    """The turns of the page, and what was given with each."""
    page = client.get(f"/h/{hub}/log?session=talk")
    assert page.status_code == 200
    found = []
    for block in page.text.split('<div class="turn turn-')[1:]:
        text = re.search(r'class="turn-text" dir="auto">(.*?)</span>', block, re.DOTALL)
        assert text is not None
        given = re.findall(r"<li>.*?<span[^>]*>(.*?)</span>", block)
        found.append((text[1], given))
    return found


@pytest.mark.parametrize("compacted", [False, True])
def test_each_prompt_shows_what_was_given_with_it(
    memory: Holdfast, client: TestClient, compacted: bool
) -> None:
    hub = memory.hub()
    say(memory, "start", cause="startup")
    hub.remember("The staging database runs on port 5544")
    first = "Which port does the staging database use?"
    assert "5544" in say(memory, "prompt", first, "t1")
    gone = hub.remember("The <b>door</b> code is at the desk").memory
    second = "Where is the door code?"
    assert "desk" in say(memory, "prompt", second, "t2")
    say(memory, "prompt", "Thank you!", "t3")
    if compacted:
        say(memory, "start", cause="compact")
    hub.forget(gone.id)
    assert shown(client) == [
        (first, ["The staging database runs on port 5544"]),
        (second, ["a turn of the log, or no longer there"]),
        ("Thank you!", []),
    ]


def test_markup_of_a_memory_is_escaped(memory: Holdfast, client: TestClient) -> None:
    title = "<script>alert(1)</script> door code"
    memory.hub().remember("The door code is at the desk", title=title)
    say(memory, "prompt", "Where is the door code?", "t1")
    page = client.get("/h/default/log?session=talk").text
    assert "&lt;script&gt;alert" in page and "<script>alert" not in page


def test_who_comes_with_a_key_sees_nothing_of_the_machines_files(
    house: House, door: TestClient
) -> None:
    house.hub.remember("The staging database runs on port 5544")
    event = Event("prompt", "codex", "talk", "/", turn="t1", prompt="Which port is staging on?")
    respond(house.memory, event, named_hub=house.hub.name, meaning=False, later=lambda work: None)
    headers = {"Authorization": f"Bearer {house.key()}"}
    page = door.get(f"/h/{house.hub.name}/log?session=talk", headers=headers)
    assert page.status_code == 200 and 'class="given"' not in page.text


def test_a_conversation_is_called_by_what_was_said_first(
    memory: Holdfast, client: TestClient
) -> None:
    session = "2ba93f5a-e904-4f5f-8d25-01cda06a6864"
    memory.hub().observe_turn("Where <b>is</b> staging?\n\nAnd prod?", "Here.", session=session)
    memory.hub().observe_turn("", "I am up.", session="standup-monday")
    page = client.get("/h/default/agent").text
    assert '<b dir="auto">Where &lt;b&gt;is&lt;/b&gt; staging? And prod?</b>' in page
    assert ">2ba93f5a<" in page and f">{session}<" not in page
    assert '<b dir="auto">standup-monday</b>' in page
    log = client.get(f"/h/default/log?session={session}").text
    assert "Conversation 2ba93f5a" in log and "Where &lt;b&gt;is" in log
