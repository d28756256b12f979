"""What every part of a hub on a server has: which hub it is, and how it asks for things of it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import HoldfastError, InvalidInput

if TYPE_CHECKING:
    from holdfast.client.connection import Connection
    from holdfast.domain.clock import Clock
    from holdfast.domain.hub import Hub
    from holdfast.engine.reading.lookup import Reference

# As many as a server takes in one request: it does all of them or none.
BATCH_MAX = 100
PUSH_MAX = 500

# What can stand in a path as it is. Keys may hold anything, a slash too: those are looked up first.
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_TAKEN = frozenset({"find", "scan", "search", "upload"})


_Kind = TypeVar("_Kind", bound=type)


def understanding(kind: _Kind) -> _Kind:
    """Lets the methods of a class say in a sentence that something cannot be sent, or that a
    server's answer lacks something: it may be of another version."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and isfunction(method):
            setattr(kind, name, _in_a_sentence(method))
    return kind


def _in_a_sentence(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def asked(self: Any, *args: Any, **given: Any) -> Any:
        try:
            return method(self, *args, **given)
        except UnicodeEncodeError:
            raise InvalidInput(
                "What was given holds characters that are no text, such as half of a pair.",
                hint="Leave them out.",
            ) from None
        except KeyError as error:
            raise HoldfastError(
                f"{self.server.url} answers without {error}, which this version needs.",
                hint="Use the same version of Holdfast here and there.",
            ) from error

    return asked


def at_most(limit: int, most: int) -> int:
    """The limit, or InvalidInput where a server gives no more than so many: fewer than were asked
    for would look like all there are."""
    if limit > most:
        raise InvalidInput(f"The limit is {limit}; a server gives {most} at most.")
    return limit


class RemoteBase:
    """One hub on a server."""

    def __init__(
        self,
        server: Connection,
        info: Hub,
        clock: Clock,
        opened_at: datetime,
        notes_home: str | None = None,
    ) -> None:
        self.server = server
        self.info = info
        self.clock = clock
        # The server's time when the hub was opened: its clock may not be ours.
        self.opened_at = opened_at
        # Where it is noted what was pushed from this machine.
        self.notes_home = notes_home
        self._mine = threading.local()

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def id(self) -> str:
        return self.info.id

    def __repr__(self) -> str:
        return f"<hub {self.name} at {self.server.url}>"

    def _get(self, path: str, **params: Any) -> Any:
        return self.server.get(path, hub=self.id, **params)

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.server.ask(path, dict(body), hub=self.id)

    def _send(
        self, path: str, body: Any = None, *, method: str = "POST", headers: Any = None
    ) -> Any:
        return self.server.send(method, path, body, hub=self.id, headers=headers)

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind the server has replaced by placeholders, in what this
        thread has sent since it last asked."""
        counts: dict[str, int] = getattr(self._mine, "redacted", {})
        self._mine.redacted = {}
        return counts

    def _note_redacted(self, sent: str, kept: str) -> None:
        """Counts the placeholders in what was kept that were not in what was sent."""
        if sent == kept or "[secret:" not in kept:
            return
        from holdfast.text.secrets import placeholders

        before = placeholders(sent)
        counts: dict[str, int] = getattr(self._mine, "redacted", {})
        for kind, count in placeholders(kept).items():
            if count > before.get(kind, 0):
                counts[kind] = counts.get(kind, 0) + count - before.get(kind, 0)
        self._mine.redacted = counts

    def _path(self, reference: Reference, rest: str = "") -> str:
        """Where a memory is on the server."""
        text = reference_text(reference)
        plain = text.removeprefix("#") if text[1:].isdigit() else text
        if not _PLAIN.fullmatch(plain) or plain in _TAKEN or plain.startswith("batch"):
            plain = self._get("/memories/find", reference=text)["data"]["id"]
        return f"/memories/{plain}{rest}"

    def _batch(self, references: Iterable[Reference], reason: str = "") -> dict[str, Any]:
        names = [reference_text(one) for one in references]
        if len(names) > BATCH_MAX:
            raise InvalidInput(
                f"These are {len(names)} memories; a server takes {BATCH_MAX} at once, all or"
                " none.",
                hint="Send them in parts.",
            )
        return {"ids": names, "reason": reason} if reason else {"ids": names}


def reference_text(reference: Reference) -> str:
    """What names a memory, as text."""
    if isinstance(reference, bool) or not isinstance(reference, str | int):
        raise InvalidInput(
            f"{reference!r} does not name a memory.", hint="Use its id, its number or its key."
        )
    text = f"#{reference}" if isinstance(reference, int) else reference.strip()
    if not text:
        raise InvalidInput("Say which memory: its id, its number (#12) or its key.")
    return text
