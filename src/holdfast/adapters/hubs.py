"""The hubs of users, agents, namespaces and conversations of other frameworks.

Every adapter uses this mapping, so that two frameworks which name the same user share a memory:

    user "alice"                        the hub agents.user.alice
    agent "planner", without a user     the hub agents.agent.planner
    LangGraph's ("docs", "alice")       the hub agents.docs.alice
    a thread, session, conversation     the field `session` of what is stored in that hub

`agents` is the default of `app`. Nothing outside `app` is read, listed or deleted.

How labels are written in a name is in `text.hub_labels`, which importers use too. A name that would
be too long for a hub is a digest instead; `scope` in the metadata of its memories has the labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast
from uuid import uuid4

from holdfast.domain.memory import Trust
from holdfast.errors import InvalidInput, NotFound, install_hint
from holdfast.text import hub_labels
from holdfast.text.hub_labels import DEFAULT_APP as DEFAULT_APP
from holdfast.text.hub_labels import SCOPE

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.api.asynchronous import AsyncHoldfast, AsyncHub
    from holdfast.api.hub import HubMemory
    from holdfast.domain.clock import Clock
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory


@contextmanager
def needed(package: str, *, extra: str) -> Iterator[None]:
    """For the imports of a framework: an ImportError says how to install it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"This adapter needs the package {package}, which cannot be imported ({error})."
            f" {install_hint(extra)}"
        ) from error


class Memories(Protocol):
    """The part of an open memory that adapters need: `Holdfast` and `Client` have it."""

    def hub(self, name: str | None = None, *, create: bool = False) -> HubMemory: ...
    def hubs(self) -> list[Hub]: ...
    def delete_hub(self, name: str) -> Hub: ...


class Hubs:
    """The hubs of one application. `memory` is what `holdfast.open()`, `holdfast.aopen()` or
    `holdfast.Client()` gave."""

    def __init__(self, memory: Memories | AsyncHoldfast, app: str = DEFAULT_APP) -> None:
        self.memory: Memories = cast("Memories", getattr(memory, "wrapped", memory))
        self.app = app
        self._prefix = hub_labels.prefix_of(app)

    def name_of(self, *labels: str) -> str:
        """The name of the hub of these labels."""
        return hub_labels.name_of(self._prefix, labels)

    def find(self, *labels: str) -> HubMemory | None:
        """The hub of these labels; None if nothing was stored for them yet."""
        try:
            return self.memory.hub(self.name_of(*labels))
        except NotFound:
            return None

    def make(self, *labels: str) -> HubMemory:
        """The hub of these labels, created if it is missing."""
        return self.memory.hub(self.name_of(*labels), create=True)

    def user(self, user: str) -> HubMemory:
        """The hub of a user, created if it is missing."""
        return self.make("user", user)

    def scope_metadata(self, *labels: str) -> dict[str, Any]:
        """The metadata that a memory in the hub of these labels must have."""
        is_digest = hub_labels.is_digest(self._prefix, self.name_of(*labels))
        return {SCOPE: list(labels)} if is_digest else {}

    def below(self, *labels: str) -> Iterator[tuple[tuple[str, ...], HubMemory]]:
        """The hubs below these labels, with their labels, in the order of the names."""
        start = self._prefix + "".join(hub_labels.written(label) + "." for label in labels)
        hints = hub_labels.hints(self._prefix, labels)
        digests = self._prefix + hub_labels.DIGEST_MARK + hints
        for info in self.memory.hubs():
            name = info.name
            if f"{name}.".startswith(start) and not hub_labels.is_digest(self._prefix, name):
                found = hub_labels.labels_of(self._prefix, name)
                hub = self.memory.hub(name)
            elif name.startswith(digests):
                hub = self.memory.hub(name)
                found = _stored_labels(hub)
            else:
                continue
            if found is not None and found[: len(labels)] == labels:
                yield found, hub


def plain_hub(hub: HubMemory | AsyncHub) -> HubMemory:
    """The hub behind one of `holdfast.aopen()`; any other as it is."""
    return cast("HubMemory", getattr(hub, "wrapped", hub))


def _stored_labels(hub: HubMemory) -> tuple[str, ...] | None:
    found = hub.list(where={SCOPE: {"exists": True}}, limit=1)
    return tuple(found[0].metadata[SCOPE]) if found else None


def now_of(hub: HubMemory) -> datetime:
    """The present by the clock of a hub, which may be on a server."""
    clock: Clock | None = getattr(hub, "clock", None)
    return hub.core.now() if clock is None else clock.now()


MESSAGE_KEY = "message/"
_PAGE = 100
_REMEMBERED_AT_ONCE = 500
# Whose words a message has: orders in the output of a tool are not the user's.
_TRUST: dict[str, Trust] = {"user": "user", "human": "user", "assistant": "agent", "ai": "agent"}
_OTHER_TRUST: Trust = "tool"


# What a message is, as a memory.
SAID = {
    "layer": "library",
    "category": "conversation",
    "kind": "episodic",
    "content_type": "markdown",
}


class Message(NamedTuple):
    """A message: who said it, the text that recall searches, and the message itself."""

    role: str
    text: str
    value: Mapping[str, Any]


class MessageHistory:
    """The messages of one conversation in a hub."""

    def __init__(self, hub: HubMemory | AsyncHub, session: str, *, agent: str | None = None):
        if not isinstance(session, str) or not session.strip():
            raise InvalidInput("A conversation needs an id.", hint="Give a text that is not empty.")
        self._hub = plain_hub(hub)
        self._session = session
        self._agent = agent

    def add(self, messages: Sequence[Message]) -> None:
        """Appends messages, all or none of them (up to 500)."""
        drafts = [self._draft(message) for message in messages]
        for start in range(0, len(drafts), _REMEMBERED_AT_ONCE):
            self._hub.remember_many(drafts[start : start + _REMEMBERED_AT_ONCE])

    def values(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The messages, oldest first; with a limit, the last so many."""
        if limit is not None and limit <= 0:
            return []
        found = self._newest(limit)
        return [unpacked(memory) for memory in reversed(found)]

    def pop(self) -> dict[str, Any] | None:
        """Takes the last message away and returns it; None if there is none."""
        found = self._newest(1)
        if not found:
            return None
        self._hub.forget(found[0].id, reason="taken from the conversation")
        return unpacked(found[0])

    def take(self, index: int) -> dict[str, Any] | None:
        """Takes the message at a place away and returns it; None if there is none."""
        found = self._newest(None)[::-1]
        try:
            memory = found[index]
        except IndexError:
            return None
        self._hub.forget(memory.id, reason="taken from the conversation")
        return unpacked(memory)

    def clear(self) -> None:
        """Takes all messages away. `undo` brings them back, until they are purged."""
        while found := self._newest(_PAGE):
            self._hub.forget_many([one.id for one in found], reason="conversation cleared")

    def _draft(self, message: Message) -> dict[str, Any]:
        content, metadata = packed(message.value, message.text)
        return {
            "content": content,
            "metadata": metadata,
            # What is said twice is two messages.
            "key": MESSAGE_KEY + uuid4().hex,
            "session": self._session,
            "speaker": message.role,
            "trust": _TRUST.get(message.role, _OTHER_TRUST),
            "source_agent": self._agent,
            **SAID,
        }

    def _newest(self, limit: int | None) -> list[Memory]:
        """The last messages, newest first; also those that wait for review."""
        found = list(self._pages(limit, held=False))
        held = list(self._pages(limit, held=True))
        if held:
            found = sorted(found + held, key=lambda memory: -memory.number)
        return found[:limit]

    def _pages(self, limit: int | None, *, held: bool) -> Iterator[Memory]:
        cursor = None
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            page = self._hub.list(
                session=self._session,
                where={"category": "conversation"},
                layer="library",
                quarantined=held,
                limit=size,
                cursor=cursor,
            )
            messages = [one for one in page if (one.key or "").startswith(MESSAGE_KEY)]
            yield from messages
            left = None if left is None else left - len(messages)
            cursor = page.cursor
            if cursor is None:
                return


VALUE = "value"
# Metadata hold 64 KiB; this leaves room for what else is in them.
_VALUE_BYTES_MAX = 60_000
_TEXT_KEYS = ("content", "text", "memory", "data")


def packed(value: Mapping[str, Any], text: str) -> tuple[str, dict[str, Any]]:
    """The content and the metadata of a memory that holds a value. `text` is what is to be
    found of it."""
    try:
        # ASCII, since content is normalised and an escaped character stays what it is.
        encoded = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"The value cannot be written as JSON: {error}.",
            hint="Use text, numbers, true, false, None, lists and dictionaries with text keys.",
        ) from None
    if len(encoded) > _VALUE_BYTES_MAX:
        return encoded, {VALUE: None}
    return text.strip() or encoded, {VALUE: json.loads(encoded)}


def unpacked(memory: Memory) -> dict[str, Any]:
    """The value that a memory holds; its content where no adapter stored it."""
    if VALUE not in memory.metadata:
        return {"content": memory.content}
    found = memory.metadata[VALUE]
    if found is None:
        found = json.loads(memory.content)
    return dict(found)


def text_of(value: Any) -> str:
    """The words of a value: of its main text where it has one, else of everything in it."""
    if isinstance(value, Mapping):
        for name in _TEXT_KEYS:
            if isinstance(value.get(name), str) and value[name].strip():
                others = {key: one for key, one in value.items() if key != name}
                rest = text_of(others) if others else ""
                return f"{value[name]}\n{rest}".strip()
        lines = (f"{key}: {text_of(one)}" for key, one in value.items() if one is not None)
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(text_of(one) for one in value)
    return "" if value is None else str(value)
