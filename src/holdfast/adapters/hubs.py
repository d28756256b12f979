"""Which hub belongs to a user, an agent, a namespace or a conversation of another framework.

Every adapter uses this mapping, so that two frameworks which name the same user share a memory:

    user "alice"                        the hub agents.user.alice
    agent "planner", without a user     the hub agents.agent.planner
    LangGraph's ("docs", "alice")       the hub agents.docs.alice
    a thread, session, conversation     the field `session` of what is stored in that hub

`agents` is the default of `app`. Nothing outside `app` is read, listed or deleted.

A label is written in lower-case ASCII: other bytes as `_xx` in hexadecimal, an underscore as `__`.
So two labels never share a hub, not even on file systems that ignore case. A name that would be too
long for a hub is a digest instead; `scope` in the metadata of its memories has the labels.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from holdfast.errors import InvalidInput, NotFound
from holdfast.text.normalise import HUB_NAME_CHARS_MAX

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.api.asynchronous import AsyncHoldfast, AsyncHub
    from holdfast.api.hub import HubMemory
    from holdfast.domain.clock import Clock
    from holdfast.domain.hub import Hub

DEFAULT_APP = "agents"
# In the metadata of memories in hubs whose names are digests.
SCOPE = "scope"

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_ESCAPE = re.compile(r"__|_[0-9a-f]{2}")
# An underscore before a dot is no escape, so no label is written like it.
_DIGEST_MARK = "_."
# 128 bits tell hubs apart. Before them stand 16 bits of each of the first labels, where there is
# room, so that a search by the first labels need not look into every such hub.
_DIGEST_CHARS = 32
_HINT_CHARS = 4


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
        self._prefix = _written(app) + "."
        room = HUB_NAME_CHARS_MAX - len(self._prefix) - len(_DIGEST_MARK) - _DIGEST_CHARS
        self._hints_max = room // _HINT_CHARS
        if room < 0:
            raise InvalidInput(
                f"The name of the app, {app!r}, is too long.",
                hint="Use at most 20 letters and digits.",
            )

    def name_of(self, *labels: str) -> str:
        """The name of the hub of these labels."""
        if not labels:
            raise InvalidInput("A hub needs at least one label.", hint="Name a user or namespace.")
        name = self._prefix + ".".join(_written(label) for label in labels)
        if len(name) <= HUB_NAME_CHARS_MAX:
            return name
        digest = _digest("\0".join(labels))[:_DIGEST_CHARS]
        return f"{self._prefix}{_DIGEST_MARK}{self._hints(labels)}{digest}"

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
        return {SCOPE: list(labels)} if self._is_digest(self.name_of(*labels)) else {}

    def below(self, *labels: str) -> Iterator[tuple[tuple[str, ...], HubMemory]]:
        """The hubs whose labels begin with these, with their labels, in the order of the names."""
        start = self._prefix + "".join(_written(label) + "." for label in labels)
        digests = self._prefix + _DIGEST_MARK + self._hints(labels)
        for info in self.memory.hubs():
            name = info.name
            if f"{name}.".startswith(start) and not self._is_digest(name):
                found = self._labels(name)
                hub = self.memory.hub(name)
            elif name.startswith(digests):
                hub = self.memory.hub(name)
                found = _stored_labels(hub)
            else:
                continue
            if found is not None and found[: len(labels)] == labels:
                yield found, hub

    def _hints(self, labels: Sequence[str]) -> str:
        return "".join(_digest(label)[:_HINT_CHARS] for label in labels[: self._hints_max])

    def _is_digest(self, name: str) -> bool:
        return name.startswith(self._prefix + _DIGEST_MARK)

    def _labels(self, name: str) -> tuple[str, ...] | None:
        """The labels of a hub by its name; None where no labels give that name."""
        try:
            labels = tuple(_read(part) for part in name.removeprefix(self._prefix).split("."))
            return labels if self.name_of(*labels) == name else None
        except (InvalidInput, UnicodeDecodeError):
            return None


def plain_hub(hub: HubMemory | AsyncHub) -> HubMemory:
    """The hub behind one of `holdfast.aopen()`; any other as it is."""
    return cast("HubMemory", getattr(hub, "wrapped", hub))


def _stored_labels(hub: HubMemory) -> tuple[str, ...] | None:
    found = hub.list(where={SCOPE: {"exists": True}}, limit=1)
    return tuple(found[0].metadata[SCOPE]) if found else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(label: str) -> str:
    if not isinstance(label, str) or not label:
        raise InvalidInput(f"{label!r} cannot name a hub.", hint="Use a text that is not empty.")
    try:
        encoded = label.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{label!r} holds characters that are not text.") from None
    return "".join(
        chr(byte) if byte in _PLAIN else "__" if byte == 0x5F else f"_{byte:02x}"
        for byte in encoded
    )


def _read(part: str) -> str:
    def byte_of(found: re.Match[str]) -> str:
        return "_" if found[0] == "__" else chr(int(found[0][1:], 16))

    return _ESCAPE.sub(byte_of, part).encode("latin-1").decode()


def now_of(hub: HubMemory) -> datetime:
    """The present by the clock of a hub, which may be on a server."""
    clock: Clock | None = getattr(hub, "clock", None)
    return hub.core.now() if clock is None else clock.now()
