"""Holdfast as the memory service of Google's Agent Development Kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import MESSAGE_KEY, SAID, VALUE, Hubs, needed, packed, unpacked
from holdfast.api.asynchronous import in_thread
from holdfast.errors import HoldfastError, InvalidInput, NotFound

with needed("google-adk", extra="google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

if TYPE_CHECKING:
    from holdfast.adapters.hubs import Memories
    from holdfast.api.asynchronous import AsyncHoldfast
    from holdfast.api.hub import HubMemory
    from holdfast.domain.memory import Memory, Trust

_EVENT_KEY = f"{MESSAGE_KEY}adk-"
_PAGE = 100


class HoldfastMemoryService(BaseMemoryService):
    """A memory service for `Runner(memory_service=...)`. Each user of each app has a hub:
    `APP_NAME.user.USER_ID`. `app` puts the users of all apps under one name instead; `limit` is how
    many memories a search gives at most."""

    def __init__(
        self, memory: Memories | AsyncHoldfast, *, app: str | None = None, limit: int = 10
    ) -> None:
        self._memory = memory
        self._app = app
        self._limit = limit

    def _hubs(self, app_name: str) -> Hubs:
        return Hubs(self._memory, self._app or app_name)

    async def add_session_to_memory(self, session: Any) -> None:
        """Stores the events of a session. Those that were stored before, or deleted since, are left
        as they are."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores events that have text, each once."""
        hubs = self._hubs(app_name)

        def store() -> None:
            drafts = [
                _draft(event, session_id, custom_metadata) | {"key": f"{_EVENT_KEY}{event.id}"}
                for event in events
                if _text(event.content)
            ]
            if not drafts:
                return
            hub = hubs.user(user_id)
            for start in range(0, len(drafts), _PAGE):
                part = drafts[start : start + _PAGE]
                known = _known(hub, [draft["key"] for draft in part])
                if new := [draft for draft in part if draft["key"] not in known]:
                    hub.remember_many(new)

        await _run(store)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remembers facts. What is known is not stored again."""
        hubs = self._hubs(app_name)

        def store() -> None:
            hub = hubs.user(user_id)
            for entry in memories:
                given = {**(custom_metadata or {}), **(entry.custom_metadata or {})}
                text = _text(entry.content)
                if text:
                    hub.remember(text, metadata=given, occurred_at=entry.timestamp, trust="agent")

        await _run(store)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """The memories that a user's hub recalls."""
        hubs = self._hubs(app_name)

        def search() -> list[Memory]:
            hub = hubs.find("user", user_id)
            if hub is None or not query.strip():
                return []
            return [hit.memory for hit in hub.recall(query, limit=self._limit, plain=True)]

        found = await _run(search)
        return SearchMemoryResponse(memories=[_entry(memory) for memory in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forgets a memory by the id that a search gave; an unknown one is no error."""
        hubs = self._hubs(app_name)

        def delete() -> None:
            hub = hubs.find("user", user_id)
            if hub is None or not memory_id:
                return
            for reference in (memory_id, f"{_EVENT_KEY}{memory_id}"):
                try:
                    hub.forget(reference)
                    return
                except (NotFound, InvalidInput):
                    continue

        await _run(delete)


async def _run(call: Callable[[], Any]) -> Any:
    """Runs a call in a thread. The kit has no errors of its own for memories: what is wrong with an
    argument is a ValueError, anything else a RuntimeError."""
    try:
        return await in_thread(call)
    except InvalidInput:
        raise
    except HoldfastError as error:
        raise RuntimeError(str(error)) from error


def _known(hub: HubMemory, keys: list[str]) -> set[str | None]:
    """Those of the keys that memories have, also forgotten ones and those that wait for review."""
    where = {"key": {"in": keys}}
    shown = hub.list(where=where, limit=_PAGE)
    forgotten = hub.list(where=where, forgotten=True, limit=_PAGE)
    held = hub.list(where=where, quarantined=True, limit=_PAGE)
    return {memory.key for memory in (*shown, *forgotten, *held)}


def _text(content: Any) -> str:
    parts = (content.parts if content is not None else None) or ()
    return "\n".join(part.text for part in parts if part.text).strip()


def _draft(event: Any, session: str | None, given: Mapping[str, object] | None) -> dict[str, Any]:
    value = event.content.model_dump(mode="json", exclude_none=True)
    content, metadata = packed(value, _text(event.content))
    trust: Trust = "user" if event.author == "user" else "agent"
    return {
        "content": content,
        "metadata": {**(given or {}), **metadata},
        "session": session,
        "speaker": event.author,
        "occurred_at": datetime.fromtimestamp(event.timestamp, UTC),
        "trust": trust,
        **SAID,
    }


def _entry(memory: Memory) -> MemoryEntry:
    if VALUE in memory.metadata:
        content = types.Content.model_validate(unpacked(memory))
    else:
        content = types.Content(role="user", parts=[types.Part(text=memory.content)])
    key = memory.key or ""
    values = {
        "id": key.removeprefix(_EVENT_KEY) if key.startswith(_EVENT_KEY) else memory.id,
        "content": content,
        "author": memory.speaker or memory.source_agent or memory.owner,
        "timestamp": memory.dated.isoformat(),
        "custom_metadata": {k: v for k, v in memory.metadata.items() if k != VALUE},
    }
    return MemoryEntry(**values)
