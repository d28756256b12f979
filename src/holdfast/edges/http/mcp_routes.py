"""MCP under `/mcp` and `/mcp/{hub}`: the same tools as over stdio, for the owner of the key.

Each caller has an MCP server of their own for a hub, created at their first request and kept while
they use it. Their role in the hub is looked up with every request, and while a stream is open, so
that a revoked key or a changed role takes effect at once.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request

from holdfast.agents.dialects import NAMES
from holdfast.edges.http.answers import Refused, of_error
from holdfast.edges.http.call import Call
from holdfast.edges.http.client_identity import Session, Sessions, Streams, client_of
from holdfast.edges.mcp import PATH, SESSION_ID_HEADER
from holdfast.errors import HoldfastError, StoreClosed, StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from holdfast.domain.hub import Standing
    from holdfast.edges.http.limits import Limits
    from holdfast.edges.mcp.server import Options

# Servers that exist at once: a handful for each of some dozens of callers.
_SERVERS_MAX = 200
# Per caller, for that many agents with a key each. One more replaces the caller's oldest.
_SERVERS_EACH = 80
# Streams of all callers together.
_STREAMS_MAX = 400
# Seconds between two checks that the caller of an open stream still has the same role.
_LOOK_S = 0.5


class _Place(NamedTuple):
    """The key of a server. The caller's role is part of it: after a change of role, the caller gets
    another server."""

    actor: str
    key: str | None
    hub: str
    standing: Standing
    writes: bool
    dialect: str


class Agents:
    """The ASGI app that is mounted, and the servers behind it."""

    def __init__(self, state: Any, *, limits: Limits) -> None:
        self._state = state
        self._limits = limits
        self._streams = Streams("streams", total=_STREAMS_MAX, each=limits.streams_per_key)
        self._sessions = Sessions(each=limits.sessions_per_key)
        # When the role of a caller was last checked, and whether it was unchanged.
        self._looked: dict[_Place, tuple[float, bool]] = {}
        self._servers: OrderedDict[_Place, tuple[ASGIApp, anyio.CancelScope]] = OrderedDict()
        self._tasks: TaskGroup | None = None
        self._making = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The lifetime of the servers."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        call = Call(request, self._state.memory, key_needed=self._state.key_needed)
        # Mounted at `/mcp`: the rest of the path is the hub, if one is named.
        hub = scope["path"].removeprefix(PATH).strip("/") or call.hub_name
        try:
            place, app = await self._server_for(call, hub, request.query_params.get("dialect"))
            inner = {**scope, "path": PATH, "raw_path": PATH.encode(), "root_path": ""}
            if scope["method"] == "GET":
                with self._streams.open(client_of(scope)):
                    await self._until_ended(place, app, inner, receive, send)
            else:
                await self._answer(place, app, inner, receive, send)
        except HoldfastError as error:
            await of_error(request, error)(scope, receive, send)

    # Sessions

    async def _answer(
        self, place: _Place, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Passes the request to the server, and counts the session that begins, continues or ends
        with it."""
        given = Headers(scope=scope).get(SESSION_ID_HEADER)
        over: list[Session] = []
        if given is not None:
            self._sessions.use(Session(place, given))

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                begun = Headers(raw=message["headers"]).get(SESSION_ID_HEADER)
                if given is None and begun is not None:
                    over.extend(self._sessions.begin(Session(place, begun), client_of(scope)))
                elif given is not None and scope["method"] == "DELETE":
                    self._sessions.end(Session(place, given))
            await send(message)

        await app(scope, receive, noted)
        for session in over:
            await self._end_session(session, scope)

    async def _end_session(self, session: Session, scope: Scope) -> None:
        """Ends a session as its client would, with a request to the SDK."""
        served = self._servers.get(cast(_Place, session.server))
        if served is None:
            return
        dropped = (b"content-length", b"content-type", SESSION_ID_HEADER.encode())
        headers = [(name, value) for name, value in scope["headers"] if name not in dropped]
        headers.append((SESSION_ID_HEADER.encode(), session.session_id.encode()))

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            return

        await served[0]({**scope, "method": "DELETE", "headers": headers}, receive, send)

    # Streams

    async def _until_ended(
        self, place: _Place, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A stream for a client has no end of its own: it ends when the server stops, after
        accepted calls are finished, or when the client loses access."""
        begun = ended = False

        async def noted(message: Message) -> None:
            nonlocal begun, ended
            begun = True
            ended = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        async def end(listening: anyio.CancelScope) -> None:
            while not self._state.stopping.is_set() and await self._role_unchanged(place, scope):
                with anyio.move_on_after(_LOOK_S):
                    await self._state.stopping.wait()
            listening.cancel()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(end, tasks.cancel_scope)
                await app(scope, receive, noted)
                tasks.cancel_scope.cancel()
        finally:
            self._looked.pop(place, None)
        if begun and not ended:
            await send({"type": "http.response.body", "body": b""})

    async def _role_unchanged(self, place: _Place, scope: Scope) -> bool:
        """Whether the caller still has the same role in the hub. All streams of one place share one
        check; when the role has changed, their server ends with its sessions."""
        now = anyio.current_time()
        looked_at, unchanged = self._looked.get(place, (now, True))
        if place in self._looked and now - looked_at < _LOOK_S:
            return unchanged
        self._looked[place] = (now, unchanged)
        call = Call(Request(scope), self._state.memory, key_needed=self._state.key_needed)
        try:
            found, _, _ = await run_in_threadpool(_standing, call, place.hub, place.dialect)
            unchanged = found == place
        except HoldfastError as error:
            # A store that is away for a moment is asked again.
            unchanged = isinstance(error, StoreError) and not isinstance(error, StoreClosed)
        if unchanged:
            self._looked[place] = (now, True)
        else:
            self._looked.pop(place, None)
            self._end_server(place)
        return unchanged

    # Servers

    async def _server_for(
        self, call: Call, hub: str | None, dialect: str | None
    ) -> tuple[_Place, ASGIApp]:
        name = dialect or "holdfast"
        if name not in NAMES:
            raise Refused(
                400, "invalid_input", f"There is no dialect {name[:50]!r}.", hint=", ".join(NAMES)
            )
        place, options, memory = await run_in_threadpool(_standing, call, hub, name)
        async with self._making:
            if place in self._servers:
                self._servers.move_to_end(place)
                return place, self._servers[place][0]
            if self._tasks is None:
                raise Refused(503, "stopping", "The server is stopping.")
            # `_standing` has loaded them, in a thread.
            from holdfast.edges.mcp.http import asgi_app
            from holdfast.edges.mcp.server import make_server

            server = make_server(memory, options)
            app = asgi_app(
                server,
                hosts=self._limits.hosts,
                origins=self._limits.origins,
                path=PATH,
                session_s=self._limits.session_seconds,
                sessions_max=self._limits.sessions_per_key * 2,
            )
            until: anyio.CancelScope = await self._tasks.start(self._run, server)
            self._servers[place] = (app, until)
            self._make_room(place)
            return place, app

    def _make_room(self, new: _Place) -> None:
        """Ends the least recently used server of a caller who has more than their share, so that
        nobody loses a server because of others while they have few."""
        held = Counter(place.actor for place in self._servers)
        if held[new.actor] > _SERVERS_EACH:
            evicted = new.actor
        elif len(self._servers) > _SERVERS_MAX:
            most = max(held.values())
            # Among the callers with the most servers, the server that was idle the longest.
            evicted = next(place.actor for place in self._servers if held[place.actor] == most)
        else:
            return
        oldest = next(place for place in self._servers if place.actor == evicted)
        self._end_server(oldest)

    def _end_server(self, place: _Place) -> None:
        served = self._servers.pop(place, None)
        self._sessions.end_all_of(place)
        if served is not None:
            served[1].cancel()

    @staticmethod
    async def _run(server: Any, *, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as until:
            async with server.session_manager.run():
                task_status.started(until)
                await anyio.sleep_forever()


def _standing(call: Call, name: str | None, dialect: str) -> tuple[_Place, Options, Any]:
    import holdfast.edges.mcp.http  # noqa: F401 - here, where it does not hold up other requests
    from holdfast.edges.mcp.server import Options

    caller = call.caller
    hub, standing = caller.hub_standing(name)
    key = caller.key
    writes = standing.allows("write", key)
    options = Options(dialect, read_only=not writes, every_hub=True, caller=caller)
    key_id = None if key is None else key.id
    place = _Place(caller.actor, key_id, hub.id, standing, writes, dialect)
    return place, options, caller.hub(hub.id)
