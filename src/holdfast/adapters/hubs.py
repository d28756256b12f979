"""Which hub belongs to a user, an agent, a namespace or a conversation of another framework.

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

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

from holdfast.errors import NotFound
from holdfast.text import hub_labels
from holdfast.text.hub_labels import DEFAULT_APP as DEFAULT_APP
from holdfast.text.hub_labels import SCOPE

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.api.asynchronous import AsyncHoldfast, AsyncHub
    from holdfast.api.hub import HubMemory
    from holdfast.domain.clock import Clock
    from holdfast.domain.hub import Hub


class Memories(Protocol):
    """What is needed of an open memory: `Holdfast` and `Client` have it."""

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
        """The hub of these labels; None where nothing was stored for them yet."""
        try:
            return self.memory.hub(self.name_of(*labels))
        except NotFound:
            return None

    def make(self, *labels: str) -> HubMemory:
        """The hub of these labels, made where it is missing."""
        return self.memory.hub(self.name_of(*labels), create=True)

    def user(self, user: str) -> HubMemory:
        """The hub of a user, made where it is missing."""
        return self.make("user", user)

    def scope_metadata(self, *labels: str) -> dict[str, Any]:
        """What the metadata of a memory in the hub of these labels must have."""
        is_digest = hub_labels.is_digest(self._prefix, self.name_of(*labels))
        return {SCOPE: list(labels)} if is_digest else {}

    def below(self, *labels: str) -> Iterator[tuple[tuple[str, ...], HubMemory]]:
        """The hubs whose labels begin with these, with their labels, in the order of the names."""
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
