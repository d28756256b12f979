"""uvicorn's HTTP/1.1 protocol with what it lacks against hostile clients: a deadline for heads, for
bodies that nobody reads and for answers that nobody takes, a bound on connections, a strict reading
of heads, and bodies read whole within bounds (docs/decisions/http-connections.md).

Everything else is uvicorn's and h11's own.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import h11
from h11._connection import DEFAULT_MAX_INCOMPLETE_EVENT_SIZE
from h11._receivebuffer import ReceiveBuffer
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol
from uvicorn.server import ServerState

from holdfast.edges.server.connections import Connection, ConnectionLimits, Connections
from holdfast.edges.server.cross_origin import RESPONSE_HEADERS

if TYPE_CHECKING:
    from starlette.types import Message, Receive


log = logging.getLogger("holdfast.server")

# Where a scope of ASGI has the connection it came by: `scope["state"][CONNECTION]`.
CONNECTION = "holdfast.connection"

_BARE_LF = re.compile(rb"(?<!\r)\n")
_BLANK_LINE = re.compile(rb"\n\r?\n")
# Headers of responses that are created here and do not come from the app.
_HEADERS = [
    (b"Connection", b"close"),
    (b"Content-Type", b"text/plain; charset=utf-8"),
    *((name.encode(), value.encode()) for name, value in RESPONSE_HEADERS.items()),
]
_LATE_HEAD = b"The head of the request did not arrive in time."
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n%bContent-Length: %d\r\n\r\n%b" % (
    b"".join(b"%b: %b\r\n" % one for one in _HEADERS),
    len(_LATE_HEAD),
    _LATE_HEAD,
)
# Connections that are closed when the process has no descriptor left to accept the next.
_SHED = 16


# What the server waits for: nothing while it answers; the rest of a body that it has refused.
Awaited = Literal["nothing", "request", "head", "rest"]


class _StrictBuffer(ReceiveBuffer):
    """h11's buffer, refusing a line of a head or a trailer that ends with LF alone: a proxy in
    front may take such a line for a part of the one before, and see another request than we do."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        start = max(0, self._multiple_lines_search - 1)
        if self._data[:2] != b"\r\n":
            blank = _BLANK_LINE.search(self._data, start)
            end = len(self._data) if blank is None else blank.end()
            if _BARE_LF.search(self._data, start, end):
                raise h11.LocalProtocolError("a line ends with LF alone")
        return super().maybe_extract_lines()


class StrictConnection(h11.Connection):
    """h11's connection, refusing requests that can be framed in two ways."""

    def __init__(self, head_bytes_max: int) -> None:
        super().__init__(h11.SERVER, head_bytes_max)
        self._receive_buffer = _StrictBuffer()

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (
                b"content-length" in names or event.http_version < b"1.1"
            ):
                raise h11.RemoteProtocolError("the length of the body is ambiguous")
        return event


class LimitedProtocol(H11Protocol):
    """One connection with deadlines, counted in `Connections`. See `limited_protocol`."""

    limits: ClassVar[ConnectionLimits]
    registry: ClassVar[Connections]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictConnection(
            config.h11_max_incomplete_event_size or DEFAULT_MAX_INCOMPLETE_EVENT_SIZE
        )
        self._entry: Connection | None = None
        self._awaited: Awaited = "nothing"
        self._read_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    # The life of a connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._entry = self.registry.open(address, self._drop)
        if self._entry is None:
            log.warning("A connection was refused: there are too many already.")
            transport.abort()
            return
        # The scope of each request gets its own copy.
        self.app_state = {**self.app_state, CONNECTION: self._entry}
        self._await("head", self.limits.header_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._await("nothing")
        self._cancel_write_timer()
        if self._entry is not None:
            self.registry.remove(self._entry)
            self._entry = None
        # uvicorn keeps this timer where the connection broke.
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._awaited == "request":
            self._await("head", self.limits.header_s)
        super().data_received(data)
        self._note_progress()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_progress()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.write_s, self._drop)

    def resume_writing(self) -> None:
        self._cancel_write_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to what is no request, with our headers."""
        body = h11.Data(data=msg.encode("ascii"))
        reason = STATUS_PHRASES[400]
        start = h11.Response(status_code=400, headers=_HEADERS, reason=reason)
        for event in (start, body, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    # Deadlines

    def _note_progress(self) -> None:
        """Updates the deadline and the registry after data has arrived."""
        if self._entry is None or self.transport.is_closing() or self.cycle is None:
            return
        theirs = self.conn.their_state
        if not self.cycle.response_complete:
            # The head is here. For the body the app has a deadline of its own.
            self._await("nothing")
            arriving = theirs is h11.SEND_BODY and not self._entry.protected
            self.registry.set_state(self._entry, "waiting" if arriving else "busy")
        elif theirs is h11.SEND_BODY:
            # It was answered before its body had arrived, and the rest is thrown away.
            if self._awaited != "rest":
                self._await("rest", self.limits.drain_s)
                self.registry.set_state(self._entry, "idle")
        elif self._awaited != "head" or not self.conn.trailing_data[0]:
            self._await("request", self.limits.idle_s)
            self.registry.set_state(self._entry, "idle")

    def _await(self, what: Awaited, seconds: float = 0.0) -> None:
        """Sets the deadline for what the client has to send next."""
        self._awaited = what
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        if what != "nothing":
            self._read_timer = self.loop.call_later(seconds, self._is_late)

    def _is_late(self) -> None:
        if self.transport.is_closing():
            return
        if self._awaited == "head" and self.conn.trailing_data[0]:
            self.transport.write(_TOO_SLOW)
        self.transport.close()

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _drop(self) -> None:
        # Not `close`: what is still to be written is for a client that does not read it.
        self.transport.abort()


def limited_protocol(limits: ConnectionLimits, open_connections: Connections) -> type[H11Protocol]:
    """The protocol for one server, as uvicorn takes it."""

    class Protocol(LimitedProtocol):
        pass

    Protocol.limits = limits
    Protocol.registry = open_connections
    return Protocol


def connection_of(scope: Any) -> Connection | None:
    """The connection that an HTTP request came by; None where another server runs the app."""
    entry = scope.get("state", {}).get(CONNECTION)
    return entry if isinstance(entry, Connection) else None


def handle_loop_errors(loop: asyncio.AbstractEventLoop, open_connections: Connections) -> None:
    """When no descriptor is left for a new connection, closes old ones that only wait. asyncio
    reports it once for each place in the backlog: it is logged once for all."""

    shed_at = float("-inf")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal shed_at
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            if loop.time() - shed_at >= 1.0:
                shed_at = loop.time()
                log.warning("No descriptor is left for new connections (%s).", error.strerror)
                for _ in range(_SHED):
                    if not open_connections.make_room():
                        break
            return
        loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


# Bodies up to this size are read whatever the budget says: small calls go on while large ones wait.
SMALL_BYTES = 65_536


class BodyTooLarge(Exception):
    """The body of a request has more bytes than it may have."""


class BodyTooSlow(Exception):
    """The body of a request did not arrive in time."""


class BodyBudgetSpent(Exception):
    """Bodies of requests that are arriving take all the memory there is for them."""


class BodyBudget:
    """Bytes of requests' bodies in memory that have not been handed on yet."""

    def __init__(self, total: int, per_caller: int) -> None:
        self._total = total
        self._per_caller = per_caller
        self._held = Counter[str]()
        self._sum = 0

    def take(self, caller: str, size: int) -> None:
        """Counts bytes as held; BodyBudgetSpent where that is too much."""
        if self._sum + size > self._total or self._held[caller] + size > self._per_caller:
            raise BodyBudgetSpent
        self._sum += size
        self._held[caller] += size

    def give_back(self, caller: str, size: int) -> None:
        self._sum -= size
        self._held[caller] -= size
        if not self._held[caller]:
            del self._held[caller]


async def read_body(
    receive: Receive,
    *,
    bytes_max: int,
    seconds: float,
    budget: BodyBudget | None = None,
    caller: str = "",
) -> Receive:
    """Reads the body of a request as it arrives; returns a `receive` that yields it again, in one
    piece."""
    pieces: list[bytes] = []
    size = taken = 0
    last: Message = {"type": "http.request"}
    try:
        async with asyncio.timeout(seconds):
            while True:
                last = await receive()
                piece = last.get("body", b"")
                pieces.append(piece)
                size += len(piece)
                if size > bytes_max:
                    raise BodyTooLarge
                if budget is not None and size > SMALL_BYTES:
                    budget.take(caller, size - taken)
                    taken = size
                if last["type"] != "http.request" or not last.get("more_body", False):
                    break
    except TimeoutError:
        raise BodyTooSlow from None
    finally:
        if budget is not None and taken:
            budget.give_back(caller, taken)
    waiting: list[Message] = [{"type": "http.request", "body": b"".join(pieces)}]
    if last["type"] != "http.request":
        waiting = [last]

    async def replay() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return replay
