"""A hub on a server, used like one that is open here, and the operations on people there.
`RemoteHub` is a `HubMemory` that sends its operations to the server: what an operation takes and
returns is read from its declaration. Only those that need something of this machine are prepared
here, in methods named `_on_…`."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from holdfast.api import codec, wire
from holdfast.api.arguments import to_draft
from holdfast.api.hub import HubMemory, require_target
from holdfast.api.operation import (
    FILES_ARE_LOCAL,
    Call,
    Operation,
    check_limits,
    operation_of,
    operations_of,
)
from holdfast.api.people import OpenMemory
from holdfast.client.responses import decoded, not_text, other_version
from holdfast.domain.memory import GIVEN_TIMES
from holdfast.domain.query import Page, check_count
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.text.clean import clean_time

if TYPE_CHECKING:
    from holdfast.client.connection import Connection
    from holdfast.domain.clock import Clock
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Draft


# Inside the class the word `list` is the method; here it is the type.
list_ = list


class RemoteHub(HubMemory):
    """One hub on a server: remember, recall, change, look back."""

    def __init__(
        self,
        server: Connection,
        info: Hub,
        clock: Clock,
        opened_at: datetime,
        notes_home: str | None = None,
    ) -> None:
        # The constructor of HubMemory is not called, as it needs the engine.
        self.server = server
        self.info = info
        self.clock = clock
        # The server's time when the hub was opened: the clocks may differ.
        self.opened_at = opened_at
        # Where it is noted what was pushed from this machine.
        self.notes_home = notes_home
        self._mine = threading.local()

    def __repr__(self) -> str:
        return f"<hub {self.name} at {self.server.url}>"

    @property
    def notes(self) -> list_[str]:
        """None: they are about files, which the server keeps in sync."""
        return []

    def take_redacted(self) -> dict[str, int]:
        """How many secrets of each kind the server has replaced by placeholders, in what this
        thread has sent since it last asked."""
        counts: dict[str, int] = getattr(self._mine, "redacted", {})
        self._mine.redacted = {}
        return counts

    # How an operation is sent

    def _perform(self, call: Call) -> Any:
        given = wire.bind(call.method, call.args, call.values)
        send = _RemoteOperation(self, call.operation, call.method)
        prepared = getattr(self, f"_on_{call.operation.name}", None)
        return send(given) if prepared is None else prepared(send, given)

    def _note_redacted(self, counts: Mapping[str, int]) -> None:
        mine: dict[str, int] = getattr(self._mine, "redacted", {})
        for kind, count in counts.items():
            mine[kind] = mine.get(kind, 0) + count
        self._mine.redacted = mine

    # What is prepared here

    def _on_remember_draft(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        return send({"draft": _sendable(given["draft"])})

    def _on_remember_many(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        items = [_sendable(to_draft(item)) for item in given["items"]]
        return send({**given, "items": items}) if items else []

    def _on_remember_file(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        from holdfast.client.files import upload

        return upload(self, given.pop("file"), given.pop("name", None), given)

    def _on_index_files(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        from holdfast.client.files import index_files

        return index_files(self, **given)

    def _on_move_many(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        from holdfast.domain.memory import Memory

        require_target(given["to"])
        names = [reference_text(one) for one in given["references"]]
        check_limits(send.operation, {"references": names})
        if not names:
            return []
        body = {"ids": names, "hub": given["to"].id}
        answer = self.server.send("POST", "/memories/batch-move", body, hub=self.id)
        return decoded(self.server.url, list[Memory], answer["data"])

    def _on_recall(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        zone = given.get("zone")
        if zone is not None and not isinstance(getattr(zone, "key", None), str):
            # A zone without a name is sent as it is at the moment of the question.
            at = given.get("now") or self.clock.now()
            given["zone"] = timezone(zone.utcoffset(at) or timedelta(0))
        return send(given)

    def _on_context(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        counter = given.get("count_tokens")
        if counter is not None and not isinstance(counter, str):
            raise InvalidInput(
                "A function that counts tokens cannot be sent to a server.",
                hint="Name a tokenizer, such as tiktoken:o200k_base, or leave it out.",
            )
        return send(given)

    def _on_list(self, send: _RemoteOperation, given: dict[str, Any]) -> Page:
        """Fetches as many pages as the limit requires."""
        limit = given.pop("limit", None)
        if limit is not None:
            check_count(limit)
        most = send.operation.limits["limit"]
        out: list_[Any] = []
        while True:
            size = most if limit is None else min(most, limit - len(out))
            page: Page = send({**given, "limit": size})
            out += page
            if page.cursor is None or len(out) == limit:
                return Page(out, page.cursor)
            given["cursor"] = page.cursor

    def _on_changes(self, send: _RemoteOperation, given: dict[str, Any]) -> list_[Any]:
        limit, most = given.pop("limit", 50), send.operation.limits["limit"]
        check_count(limit)
        out: list_[Any] = []
        while True:
            size = min(most, limit - len(out))
            found = send({**given, "limit": size})
            out += found
            if len(out) >= limit or len(found) < size:
                return out
            given["before"] = found[-1].id

    def _on_touched(self, send: _RemoteOperation, given: dict[str, Any]) -> dict[str, Any]:
        names, most = list_(given["changes"]), send.operation.limits["changes"]
        out: dict[str, Any] = {}
        for start in range(0, len(names), most):
            out |= send({**given, "changes": names[start : start + most]})
        return out

    def _on_flush(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        return send(_with_messages(given))

    def _on_archive_conversation(self, send: _RemoteOperation, given: dict[str, Any]) -> Any:
        from holdfast.files.conversation_archive import Archived

        try:
            return send(_with_messages(given))
        except HoldfastError as error:
            # An error here must not keep a conversation from ending.
            return Archived(None, None, (str(error),))


class _RemoteOperation:
    """One operation of one hub; called with its arguments, it sends them."""

    def __init__(self, hub: RemoteHub, operation: Operation, method: Callable[..., Any]) -> None:
        self.operation = operation
        self._hub = hub
        self._method = method

    def __call__(self, given: Mapping[str, Any]) -> Any:
        operation, server = self.operation, self._hub.server
        coders = wire.coders_of(self._method)
        body = {"arguments": wire.encode_arguments(coders, given)}
        check_limits(operation, body["arguments"])
        path = f"/operations/{operation.name}"
        try:
            if operation.stream:
                return self._items(server.stream(path, body, hub=self._hub.id))
            if not operation.writes:
                return self._result(server.ask(path, body, hub=self._hub.id)["data"])
            answer = server.send("POST", path, body, hub=self._hub.id)
        except UnicodeEncodeError:
            raise not_text() from None
        redacted = decoded(server.url, dict[str, int], answer.get("redacted", {}))
        self._hub._note_redacted(redacted)
        return self._result(answer["data"])

    def _items(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            yield self._result(item)

    def _result(self, data: Any) -> Any:
        try:
            return wire.coders_of(self._method).result.decode(data)
        except codec.WireError as error:
            raise other_version(self._hub.server.url, str(error)) from error


def _sendable(draft: Draft) -> Draft:
    """The draft with times as times and references as text, as the library takes either."""
    times: dict[str, Any] = {name: clean_time(getattr(draft, name)) for name in GIVEN_TIMES}
    named = draft.supersedes
    return draft._replace(**times, supersedes=None if named is None else str(named))


def _with_messages(given: dict[str, Any]) -> dict[str, Any]:
    messages = given.get("messages")
    if messages is None or isinstance(messages, str):
        return given
    return {**given, "messages": [_message(one) for one in messages]}


def _message(message: Any) -> Any:
    """A message of a conversation as JSON can hold it."""
    if isinstance(message, Mapping):
        return dict(message)
    if hasattr(message, "_asdict"):
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in message._asdict().items()
        }
    return message


def reference_text(reference: Any) -> str:
    """A reference to a memory as text."""
    if isinstance(reference, bool) or not isinstance(reference, str | int):
        raise InvalidInput(
            f"{reference!r} does not name a memory.", hint="Use its id, its number or its key."
        )
    return f"#{reference}" if isinstance(reference, int) else reference


# What a hub on a server does not have


class NotThroughServer(HoldfastError, AttributeError):
    """A name of a hub that does not work through a server. It is an AttributeError too, so that
    `hasattr` and `getattr` tell what there is."""


class _NotHere:
    """A public name of `HubMemory` that does not work through a server."""

    def __init__(self, name: str, why: str) -> None:
        self._name, self._why = name, why

    def __get__(self, hub: RemoteHub | None, kind: type) -> Any:
        if hub is None:
            return getattr(HubMemory, self._name)
        raise NotThroughServer(f"`{self._name}` does not work through a server: {self._why}.")


def _not_here() -> dict[str, str]:
    """The names that do not work through a server, and why: operations that say so, and what is
    about the engine and the files of the server."""
    declared = operations_of(HubMemory).items()
    out = {name: operation.local for name, operation in declared if operation.local}
    for name in dir(HubMemory):
        if name[0] == "_" or name in _WORK_HERE or name in vars(RemoteHub):
            continue
        if operation_of(getattr(HubMemory, name)) is None:
            out[name] = FILES_ARE_LOCAL
    engine = "the engine is on the server's machine"
    return out | {"core": engine, "scope": engine, "home": FILES_ARE_LOCAL}


# They are read from `info`, which the server has sent.
_WORK_HERE = ("name", "id")
NEEDS_THE_MACHINE = _not_here()
for _name, _why in NEEDS_THE_MACHINE.items():
    setattr(RemoteHub, _name, _NotHere(_name, _why))


class RemotePeople(OpenMemory):
    """A memory with its operations on people run on a server."""

    server: Connection

    @property
    @abstractmethod
    def _hub_header(self) -> str | None:
        """The hub in use, as a header names it."""

    def _perform(self, call: Call) -> Any:
        operation, coders = call.operation, wire.coders_of(call.method)
        given = wire.encode_arguments(coders, wire.bind(call.method, call.args, call.values))
        check_limits(operation, given)
        path, body = f"/operations/people/{operation.name}", {"arguments": given}
        try:
            if operation.writes and not operation.replay:
                answer = self.server.send("POST", path, body, hub=self._hub_header, once=False)
            else:
                answer = self.server.ask(path, body, hub=self._hub_header)
            return coders.result.decode(answer["data"])
        except UnicodeEncodeError:
            raise not_text() from None
        except KeyError as error:
            raise other_version(self.server.url, f"without {error}") from error
        except codec.WireError as error:
            raise other_version(self.server.url, str(error)) from error
