"""The proxy as an ASGI app: a request goes to the endpoint, with what is remembered in it, and its
answer comes back byte for byte, as it arrives.

Memory is never in the way. It has a deadline, and where it fails, is late, or a body is too large
to be read, the request goes on as it came; where it was only late, what was said is logged all the
same. What the endpoint answers, and how its answer breaks
off, reaches the client; a client that goes away ends the request behind the proxy too.

Keys are sent on and nowhere kept: no error, log line or file has a header in it.
"""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import anyio
import httpx2
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Mount

from holdfast.edges.hooks import state_files
from holdfast.edges.proxy.answers import AnswerReader
from holdfast.edges.proxy.formats import (
    HUB_HEADER,
    KEY_HEADER,
    SESSION_HEADERS,
    NoRoute,
    Route,
    Upstream,
    client_keys,
    request_headers,
    response_headers,
    route_of,
)
from holdfast.edges.server.cross_origin import CrossOriginGuard, CrossOriginRules, SecurityHeaders
from holdfast.edges.server.http_protocol import BodyBudget, BodyBudgetSpent
from holdfast.edges.server.offload import THREADS_MAX

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from holdfast.edges.proxy.answers import ModelAnswer
    from holdfast.edges.proxy.memory import Exchange, ProxyMemory

log = logging.getLogger("holdfast.proxy")

T = TypeVar("T")

# Of all bodies that are read for memory at once. One that finds no room is sent on unread.
_BODIES_BYTES = 96_000_000
# Requests that are answered at once; a stream of a thinking model stays open for minutes.
_CONNECTIONS_MAX = 200
_CONNECT_S = 10.0
_WRITE_S = 60.0
# What was said is logged behind the answer; a proxy that ends waits for it.
_LOG_S = 10.0


class Options(NamedTuple):
    """The options of a proxy; see the settings `proxy.*`."""

    upstream: Upstream
    # The endpoint's key, where clients have none of their own.
    upstream_key: str = ""
    # The key that clients of this proxy need.
    local_key: str = ""
    hosts: tuple[str, ...] = ()
    body_bytes_max: int = 32_000_000
    body_s: float = 30.0
    memory_s: float = 2.0
    answer_s: float = 600.0


def create_app(memory: ProxyMemory, options: Options) -> Starlette:
    """The proxy over an open memory. The server that runs it opens and closes the memory."""
    proxy = Proxy(memory, options)
    rules = CrossOriginRules.checked(options.hosts, key_needed=bool(options.local_key))
    guard = Middleware(CrossOriginGuard, rules=rules)
    app = Starlette(
        routes=[Mount("/", proxy)],
        middleware=[Middleware(SecurityHeaders), guard],
        lifespan=lambda app: proxy.running(),
    )
    app.state.proxy = proxy
    return app


class Proxy:
    """Forwards requests, as the module's docstring describes."""

    def __init__(self, memory: ProxyMemory, options: Options) -> None:
        self.memory = memory
        self.options = options
        self.budget = BodyBudget(_BODIES_BYTES, _BODIES_BYTES)
        self._threads = CapacityLimiter(THREADS_MAX)
        self._client: httpx2.AsyncClient | None = None
        # Requests that are being forwarded, or have a turn that is being logged.
        self.requests_open = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Opens the connections to the endpoint, and closes them at the end."""
        async with httpx2.AsyncClient(
            # This machine itself is asked without a proxy of the environment.
            trust_env=not self.options.upstream.is_local,
            follow_redirects=False,
            timeout=httpx2.Timeout(
                self.options.answer_s, connect=_CONNECT_S, write=_WRITE_S, pool=_CONNECT_S
            ),
            limits=httpx2.Limits(max_connections=_CONNECTIONS_MAX),
        ) as client:
            self._client = client
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        path = scope["path"]
        request = _Request(self, route_of(scope["method"], path), scope, receive, send)
        self.requests_open += 1
        try:
            await request.forward()
        finally:
            self.requests_open -= 1

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        try:
            route_of(scope["method"], scope["path"])
        except NoRoute as error:
            said = f"The proxy does not forward {scope['method']} {scope['path'][:200]}."
            return problem(error.status, "not_found_error", said)
        key = self.options.local_key
        if not key:
            return None
        headers = Headers(scope=scope)
        if self.options.upstream_key:
            given = client_keys(headers)
        else:
            # The other headers hold the endpoint's key, and go there.
            given = [headers.get(KEY_HEADER, "")]
        if any(hmac.compare_digest(one.encode(), key.encode()) for one in given):
            return None
        where = "as your API key" if self.options.upstream_key else f"as `{KEY_HEADER}`"
        return problem(401, "authentication_error", f"Send the proxy's own key {where}.")

    @property
    def client(self) -> httpx2.AsyncClient:
        assert self._client is not None
        return self._client

    async def ask_memory(self, work: Callable[[], T], seconds: float) -> T | None:
        """What `work` returns, from a thread; None if it fails or is late, which the doctor
        shows."""
        try:
            with anyio.fail_after(seconds):
                return await to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        except TimeoutError:
            self.note("Memory did not answer in time; the request went on without it.")
        except Exception as error:  # noqa: BLE001  the client's request must go on
            self.note(error)
        return None

    def note(self, error: Exception | str) -> None:
        state_files.note_error(self.memory.home, "proxy", error)


class _Preparation:
    """What memory makes of a request. It is worked out once, by the first thread that asks; where
    that fails, it is None from then on."""

    def __init__(self, work: Callable[[], Exchange | None]) -> None:
        self._work: Callable[[], Exchange | None] | None = work
        self._lock = threading.Lock()
        self._exchange: Exchange | None = None

    def __call__(self) -> Exchange | None:
        with self._lock:
            # Not kept: it holds the whole body of the request.
            work, self._work = self._work, None
            if work is not None:
                self._exchange = work()
            return self._exchange


def _log(
    memory: ProxyMemory,
    exchange: Exchange | None,
    late: _Preparation | None,
    answer: ModelAnswer | None,
) -> None:
    """Logs the turn. A request that was forwarded without memory is prepared by now, or here."""
    if exchange is None and late is not None:
        exchange = late()
        if exchange is not None and answer is not None:
            memory.note_response(exchange, answer.id)
    if exchange is not None:
        memory.log(exchange, answer)


class _Request:
    """One request on its way to the endpoint and back."""

    def __init__(
        self, proxy: Proxy, route: Route, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._proxy = proxy
        self._route = route
        self._scope = scope
        self._receive = receive
        self._send = send
        self._headers = Headers(scope=scope)
        # Set once the client has sent all it had to.
        self._is_read = anyio.Event()

    async def forward(self) -> None:
        """Returns when the answer was sent, or the client has disconnected."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            await self._exchange()
            group.cancel_scope.cancel()

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Ends the request when its client has disconnected."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _exchange(self) -> None:
        try:
            upload = await self._read()
        except _Gone:
            return
        except TimeoutError:
            answer = problem(408, "timeout_error", "The body of the request did not arrive.")
            await answer(self._scope, self._receive, self._send)
            return
        try:
            preparation = None if upload.more else self._preparation(upload.data)
            exchange = None
            if preparation is not None:
                seconds = self._proxy.options.memory_s
                exchange = await self._proxy.ask_memory(preparation, seconds)
            data = upload.data if exchange is None else exchange.body or upload.data
            response = await self._open(data, upload.more)
        finally:
            self._proxy.budget.give_back("", upload.held)
        del data, upload
        if response is not None:
            await self._relay(response, exchange, preparation)

    # The request

    async def _read(self) -> _Upload:
        """The body, or its beginning: where memory takes no part in it, or it is too large, it is
        sent on as it comes."""
        options, data, held, more = self._proxy.options, bytearray(), 0, True
        is_for_memory = self._route.format is not None and self._is_plain()
        most = options.body_bytes_max if is_for_memory else 0
        try:
            with anyio.fail_after(options.body_s):
                while more and len(data) <= most:
                    message = await self._next()
                    piece = message.get("body", b"")
                    data += piece
                    more = bool(message.get("more_body", False))
                    if not more:
                        self._is_read.set()
                    self._proxy.budget.take("", len(piece))
                    held += len(piece)
        except BodyBudgetSpent:
            pass
        except BaseException:
            self._proxy.budget.give_back("", held)
            raise
        if is_for_memory and more:
            self._proxy.note(f"A request of more than {len(data):,} bytes went on without memory.")
        return _Upload(bytes(data), more, held)

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        return message

    def _is_plain(self) -> bool:
        packed = self._headers.get("content-encoding", "identity").strip().lower()
        return packed in ("", "identity")

    async def _rest(self, data: bytes) -> AsyncIterator[bytes]:
        """A body that is forwarded as it arrives."""
        yield data
        while True:
            with anyio.fail_after(self._proxy.options.body_s):
                message = await self._next()
            yield message.get("body", b"")
            if not message.get("more_body", False):
                self._is_read.set()
                return

    def _preparation(self, data: bytes) -> _Preparation | None:
        """The request with memory; None if memory is not used for it."""
        format_, memory = self._route.format, self._proxy.memory
        if format_ is None or not self._is_plain():
            return None
        hub = self._headers.get(HUB_HEADER, "")
        named = (self._headers.get(name, "") for name in SESSION_HEADERS)
        session = next(filter(None, named), "")
        return _Preparation(lambda: memory.prepare(format_, data, hub=hub, session=session))

    async def _open(self, data: bytes, rest: bool) -> httpx2.Response | None:
        """The endpoint's answer up to its body. If the endpoint cannot be reached, an error
        response."""
        options = self._proxy.options
        raw: list[tuple[bytes, bytes]] = list(self._scope["headers"])
        headers = request_headers(raw, key=options.upstream_key)
        url = options.upstream.address(self._scope["path"], self._scope.get("query_string", b""))
        length = self._headers.get("content-length", "")
        content: bytes | AsyncIterator[bytes] | None = data or None
        if rest:
            content = self._rest(data)
            if length.isdigit():
                headers.append((b"content-length", length.encode()))
        try:
            request = httpx2.Request(self._scope["method"], url, headers=headers, content=content)
            return await self._proxy.client.send(request, stream=True)
        except _Gone:
            return None
        except httpx2.PoolTimeout:
            said = "The proxy has too many requests open."
            answer = problem(503, "overloaded_error", said)
        except (httpx2.TimeoutException, TimeoutError):
            answer = problem(504, "timeout_error", "The endpoint behind the proxy did not answer.")
        except (httpx2.HTTPError, OSError) as error:
            # Its text may hold a header.
            log.warning("The endpoint cannot be reached: %s.", type(error).__name__)
            said = f"The endpoint behind the proxy cannot be reached ({type(error).__name__})."
            answer = problem(502, "api_error", said)
        await answer(self._scope, self._receive, self._send)
        return None

    # The answer

    async def _relay(
        self, response: httpx2.Response, exchange: Exchange | None, late: _Preparation | None
    ) -> None:
        """Forwards the answer, and logs the turn, even if memory was late to prepare it."""
        format_ = self._route.format
        takes_part = exchange is not None or late is not None
        reader = None
        if takes_part and format_ is not None and response.status_code < 300:
            reader = AnswerReader(
                format_,
                response.headers.get("content-type", ""),
                response.headers.get("content-encoding", ""),
            )
        try:
            if reader is None:
                await self._copy(response)
            else:
                await self._copy_and_read(response, exchange, reader)
        except httpx2.HTTPError as error:
            # The answer stays open, so the server breaks the connection: the client must not take
            # it for whole.
            log.warning("An answer broke off: %s.", type(error).__name__)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
                if reader is not None:
                    answer = reader.answer()
                    work = partial(_log, self._proxy.memory, exchange, late, answer)
                    await self._proxy.ask_memory(work, _LOG_S)

    async def _copy(self, response: httpx2.Response) -> None:
        await self._send_head(response)
        async for piece in response.aiter_raw():
            await self._send_piece(piece)
        await self._send({"type": "http.response.body", "body": b""})

    async def _copy_and_read(
        self, response: httpx2.Response, exchange: Exchange | None, reader: AnswerReader
    ) -> None:
        """Notes the id of the response before the client has it. Of an answer that is no stream
        the last piece waits for that."""
        memory, noted, held = self._proxy.memory, False, b""
        await self._send_head(response)
        async for piece in response.aiter_raw():
            reader.feed(piece)
            if exchange is not None and not noted and (found := reader.stream_id):
                memory.note_response(exchange, found)
                noted = True
            ready = piece
            if exchange is not None and reader.id_comes_last:
                ready, held = held, piece
            if ready:
                await self._send_piece(ready)
        if held and exchange is not None:
            answer = reader.answer()
            memory.note_response(exchange, "" if answer is None else answer.id)
            await self._send_piece(held)
        await self._send({"type": "http.response.body", "body": b""})

    async def _send_head(self, response: httpx2.Response) -> None:
        headers = response_headers(response.headers.raw)
        start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
        await self._send(start)

    async def _send_piece(self, piece: bytes) -> None:
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})


class _Upload(NamedTuple):
    """The body of a request as far as it was read, whether there is more, and how much of it is
    counted."""

    data: bytes
    more: bool
    held: int


class _Gone(Exception):
    """The client disconnected before it had sent its request."""


def problem(status: int, kind: str, message: str) -> JSONResponse:
    """An error in a form that clients of both APIs understand."""
    error = {"type": kind, "code": kind, "message": f"Holdfast proxy: {message}", "param": None}
    return JSONResponse({"type": "error", "error": error}, status)
