"""Identifies the client of a request for its share of the server: a key and its person, or an
address; and limits the streams and agent sessions of each. The key is looked up before the body is
read, so that a request without a valid one costs only a response.

This gives no permissions: the route looks up the key again.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import anyio
import anyio.to_thread
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.requests import Request

from holdfast.edges.http.answers import Refused, of_error
from holdfast.edges.http.call import Call
from holdfast.edges.server.http_protocol import connection_of
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


# The key of the client in the ASGI scope of a request.
CLIENT = "holdfast.caller"
METHODS_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
# For shares, a lookup is cached for this long; for permissions, a key is looked up each time.
_FRESH_S = 60.0
_KEYS_MAX = 10_000
# Threads for key lookups: clients with invalid keys do not occupy those that serve requests.
_LOOKUPS = 4
# If the store does not answer in time, the route reports it.
_LOOKUP_S = 2.0


class Client(NamedTuple):
    """A share of the server belongs to a key, and all keys of a person have one together."""

    share: str
    person: str
    known: bool = False


def client_of(scope: Scope) -> Client:
    """The client of this request; by its address if no key was looked up."""
    found = scope.get(CLIENT)
    return found if isinstance(found, Client) else _by_address(scope)


def _by_address(scope: Scope) -> Client:
    client = scope.get("client")
    address = f"address:{client[0] if client else ''}"
    return Client(address, address)


class Identify:
    """Identifies the client of each request. If a key is needed, a request with a body and without
    a valid key is refused before the body is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._found: OrderedDict[str, tuple[float, Client]] = OrderedDict()
        self._lookups = anyio.CapacityLimiter(_LOOKUPS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            try:
                scope[CLIENT] = client = await self._client(request)
                connection = connection_of(scope)
                if client.known and connection is not None:
                    connection.identify()
            except HoldfastError as error:
                if isinstance(error, Refused) and scope["method"] in METHODS_WITH_BODY:
                    await of_error(request, error)(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _client(self, request: Request) -> Client:
        given = request.headers.get("authorization", "")
        state = request.app.state
        if not given and not state.key_needed:
            return _by_address(request.scope)
        hashed = hashlib.sha256(given.encode("utf-8", "surrogateescape")).hexdigest()
        now = time.monotonic()
        # Several homes in one process (in tests) have separate keys.
        place = f"{id(state.memory)} {hashed}"
        found = self._found.get(place)
        if found is not None and now - found[0] < _FRESH_S:
            return found[1]
        call = Call(request, state.memory, key_needed=state.key_needed)
        if not given:
            return _look_up(call)
        client = await anyio.to_thread.run_sync(_look_up, call, limiter=self._lookups)
        self._found[place] = (now, client)
        self._found.move_to_end(place)
        if len(self._found) > _KEYS_MAX:
            self._found.popitem(last=False)
        return client


def _look_up(call: Call) -> Client:
    call.look_up_within(_LOOKUP_S)
    caller = call.caller
    key = caller.key
    if key is None:
        return _by_address(call.request.scope)
    return Client(f"key:{key.id}", f"person:{caller.actor}", known=True)


# All keys of a person together have this many times the share of one.
KEYS_OF_A_PERSON = 2
_RETRY_AFTER_S = "30"


class Streams:
    """Limits how many are open at once. `what` names them in the error for one too many."""

    def __init__(self, what: str, *, total: int, each: int) -> None:
        self._what = what
        self._total = total
        self._each = each
        self._open = Counter[str]()
        self.count = 0

    @contextmanager
    def open(self, client: Client) -> Iterator[None]:
        """Counts one while it is open; refuses it if there are too many."""
        names = {client.person: self._each * KEYS_OF_A_PERSON, client.share: self._each}
        if self.count >= self._total:
            raise self._refused("The server has")
        if any(self._open[name] >= most for name, most in names.items()):
            raise self._refused("You have")
        self.count += 1
        self._open.update(names.keys())
        try:
            yield
        finally:
            self.count -= 1
            self._open.subtract(names.keys())
            self._open += Counter[str]()

    def _refused(self, who: str) -> Refused:
        return Refused(
            503,
            "overloaded",
            f"{who} too many open {self._what} already.",
            hint="Close some of them, or try again later.",
            headers={"Retry-After": _RETRY_AFTER_S},
        )


class Session(NamedTuple):
    """An agent session; `server` is the server that has it."""

    server: Hashable
    session_id: str


class Sessions:
    """The sessions of each client, the least recently used first."""

    def __init__(self, *, each: int) -> None:
        self._each = each
        self._owners: OrderedDict[Session, Client] = OrderedDict()
        self._counts = Counter[str]()

    def __len__(self) -> int:
        return len(self._owners)

    def use(self, session: Session) -> None:
        if session in self._owners:
            self._owners.move_to_end(session)

    def begin(self, session: Session, client: Client) -> list[Session]:
        """Counts a new session; returns those that must end for it."""
        self._owners[session] = client
        self._counts.update({client.share, client.person})
        over = self._beyond(client.share, self._each)
        return over + self._beyond(client.person, self._each * KEYS_OF_A_PERSON)

    def _beyond(self, name: str, most: int) -> list[Session]:
        """Removes the oldest sessions of a key or person until they are within the limit."""
        over = []
        while self._counts[name] > most:
            owned = (one for one, who in self._owners.items() if name in (who.share, who.person))
            oldest = next(owned)
            self.end(oldest)
            over.append(oldest)
        return over

    def end(self, session: Session) -> None:
        owner = self._owners.pop(session, None)
        if owner is not None:
            self._counts.subtract({owner.share, owner.person})
            self._counts += Counter[str]()

    def end_all_of(self, server: Hashable) -> None:
        """Removes the sessions of a server that has ended."""
        for session in [one for one in self._owners if one.server == server]:
            self.end(session)


# Large enough that the switch to a thread is unnoticeable, and small enough to be held for each
# stream.
_PIECE_CHARS = 64_000
# While others send requests, all streams of a key together use a quarter of one thread: each pause
# is three times as long as the work before it, for each open stream.
_PAUSE_RATIO = 3
_PAUSE_S_MAX = 0.5


def stream_lines(request: Request, lines: Iterable[str]) -> StreamingResponse:
    """A response that streams lines, which have no line ends yet."""
    return StreamingResponse(_paced(request, in_pieces(lines)), media_type="application/x-ndjson")


def in_pieces(lines: Iterable[str]) -> Generator[str, None, None]:
    """The lines with their ends, joined to pieces of about equal size."""
    piece: list[str] = []
    size = 0
    for line in lines:
        piece.append(line + "\n")
        size += len(line)
        if size >= _PIECE_CHARS:
            yield "".join(piece)
            piece, size = [], 0
    if piece:
        yield "".join(piece)


async def _paced(request: Request, pieces: Generator[str, None, None]) -> AsyncIterator[str]:
    state, client = request.app.state, client_of(request.scope)
    state.line_streams[client.share] += 1
    try:
        while True:
            began = time.perf_counter()
            piece = await run_in_threadpool(next, pieces, None)
            if piece is None:
                return
            worked_s = time.perf_counter() - began
            yield piece
            if state.places.others_ask(client):
                await _pause(min(_PAUSE_S_MAX, worked_s * _PAUSE_RATIO), state, client)
    finally:
        state.line_streams[client.share] -= 1
        state.line_streams += Counter[str]()


async def _pause(seconds: float, state: State, client: Client) -> None:
    await asyncio.sleep(seconds * state.line_streams[client.share])
