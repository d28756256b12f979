"""The memory service of Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from holdfast import Holdfast
from holdfast.adapters.google_adk import HoldfastMemoryService
from tests.frameworks.pages import wrong_on_page


def event(number: int, author: str, text: str) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"e{number}", author=author, timestamp=1_763_000_000 + number, content=content)


def session(user: str, *events: Event, app: str = "shop", name: str = "s1") -> Session:
    return Session(
        app_name=app, user_id=user, id=name, events=list(events), last_update_time=1_763_000_000
    )


def texts(found: Any) -> list[str]:
    return [entry.content.parts[0].text for entry in found.memories]


def test_a_session_is_found_by_its_user_in_its_app_alone(memory: Holdfast) -> None:
    service = HoldfastMemoryService(memory)

    async def steps() -> None:
        await service.add_session_to_memory(
            session("alice", event(1, "user", "My dog is called Rex"), event(2, "bot", "Noted."))
        )
        await service.add_session_to_memory(session("bob", event(1, "user", "I have a cat, Tom")))
        query = "What is the dog called?"
        found = await service.search_memory(app_name="shop", user_id="alice", query=query)
        assert texts(found)[0] == "My dog is called Rex"
        assert found.memories[0].author == "user"
        assert found.memories[0].timestamp.startswith("2025-11-13")
        for app, user in (("shop", "bob"), ("shop", "Alice"), ("other", "alice"), ("shop", "x")):
            found = await service.search_memory(app_name=app, user_id=user, query=query)
            assert "My dog is called Rex" not in texts(found)
        assert texts(await service.search_memory(app_name="shop", user_id="alice", query=" ")) == []

    asyncio.run(steps())


def test_a_session_that_grows_is_stored_once_and_what_was_deleted_stays_away(
    memory: Holdfast,
) -> None:
    service = HoldfastMemoryService(memory)
    first, second = event(1, "user", "My dog is called Rex"), event(2, "user", "He is a poodle")
    empty = Event(id="e3", author="bot", timestamp=1_763_000_003)

    async def steps() -> None:
        await service.add_session_to_memory(session("alice", first))
        await service.add_session_to_memory(session("alice", first, second, empty))
        assert len(memory.hub("shop.user.alice").list()) == 2
        for wrong in (None, "", "nothing", "12"):
            await service.delete_memory(app_name="shop", user_id="alice", memory_id=wrong)
        assert len(memory.hub("shop.user.alice").list()) == 2
        await service.delete_memory(app_name="shop", user_id="alice", memory_id="e1")
        await service.add_session_to_memory(session("alice", first, second))
        assert [one.content for one in memory.hub("shop.user.alice").list()] == ["He is a poodle"]

    asyncio.run(steps())


def test_facts_are_added_and_deleted_by_the_id_that_a_search_gives(memory: Holdfast) -> None:
    service = HoldfastMemoryService(memory, app="agents")
    content = types.Content(role="user", parts=[types.Part(text="Alice prefers oolong tea")])

    async def steps() -> None:
        for _ in range(2):
            await service.add_memory(
                app_name="shop",
                user_id="alice",
                memories=[MemoryEntry(content=content)],
                custom_metadata={"topic": "drinks"},
            )
        query = "What tea does Alice prefer?"
        [entry] = (
            await service.search_memory(app_name="any", user_id="alice", query=query)
        ).memories
        assert entry.custom_metadata["topic"] == "drinks"
        assert memory.hub("agents.user.alice").get(entry.id).content == "Alice prefers oolong tea"
        await service.delete_memory(app_name="any", user_id="alice", memory_id=entry.id)
        found = await service.search_memory(app_name="any", user_id="alice", query=query)
        assert found.memories == []

    asyncio.run(steps())


def test_what_goes_wrong_is_an_error_that_python_knows(memory: Holdfast) -> None:
    service = HoldfastMemoryService(memory)
    with pytest.raises(ValueError, match="too long"):
        asyncio.run(service.search_memory(app_name="x" * 60, user_id="alice", query="tea"))
    memory.close()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(service.search_memory(app_name="shop", user_id="alice", query="tea"))


def test_the_examples_of_the_page_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert wrong_on_page("google-adk.md", tmp_path, monkeypatch) == []
