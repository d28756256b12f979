"""MCP under `/mcp` and `/mcp/{hub}`: the same tools as over stdio, for whoever a key speaks for.

Each guest has a server of their own for a hub, made when they first ask and kept while they do. How
they stand to the hub is asked again with every request: a key that is revoked or a role that
changes counts at once.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from holdfast.agents.dialects import NAMES
from holdfast.edges.http.answers import Refused, of_error
from holdfast.edges.http.call import Call
from holdfast.edges.mcp.http import asgi_app
from holdfast.edges.mcp.server import Options, make_server
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from holdfast.domain.access import Standing

PATH = "/mcp"
# Servers that are kept at once: a handful of each of some dozens of guests.
_SERVERS_MAX = 200
# Of one guest: a few hubs with a few dialects. Whoever asks for more makes room for themselves.
_SERVERS_EACH = 20


class _Place(NamedTuple):
    """Whose server it is, for what. How they stand to the hub is part of it: a role that changes
    leads to another server."""

    actor: str
    key: str | None
    hub: str
    standing: Standing
    writes: bool
    dialect: str


class Agents:
    """The ASGI app that is mounted, and the servers behind it."""

    def __init__(self, state: Any, *, hosts: tuple[str, ...], origins: tuple[str, ...]) -> None:
        self._state = state
        self._hosts = hosts
        self._origins = origins
        self._servers: OrderedDict[_Place, tuple[ASGIApp, anyio.CancelScope]] = OrderedDict()
        self._tasks: TaskGroup | None = None
        self._making = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The servers live as long as this."""
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
        # Mounted: what comes after `/mcp` is the hub, where one is named.
        hub = scope["path"].removeprefix(PATH).strip("/") or call.hub_name
        try:
            app = await self._server_for(call, hub, request.query_params.get("dialect"))
        except HoldfastError as error:
            await of_error(request, error)(scope, receive, send)
            return
        inner = {**scope, "path": PATH, "raw_path": PATH.encode(), "root_path": ""}
        if scope["method"] == "GET":
            await self._until_stopping(app, inner, receive, send)
        else:
            await app(inner, receive, send)

    async def _until_stopping(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """A stream that a client listens to has no end of its own: it is ended when the server
        stops, where a call that was accepted is finished."""
        begun = ended = False

        async def noted(message: Message) -> None:
            nonlocal begun, ended
            begun = True
            ended = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        async def end(listening: anyio.CancelScope) -> None:
            await self._state.stopping.wait()
            listening.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end, tasks.cancel_scope)
            await app(scope, receive, noted)
            tasks.cancel_scope.cancel()
        if begun and not ended:
            await send({"type": "http.response.body", "body": b""})

    async def _server_for(self, call: Call, hub: str | None, dialect: str | None) -> ASGIApp:
        name = dialect or "holdfast"
        if name not in NAMES:
            raise Refused(
                400, "invalid_input", f"There is no dialect {name[:50]!r}.", hint=", ".join(NAMES)
            )
        place, options, memory = await run_in_threadpool(_standing, call, hub, name)
        async with self._making:
            if place in self._servers:
                self._servers.move_to_end(place)
                return self._servers[place][0]
            if self._tasks is None:
                raise Refused(503, "stopping", "The server is stopping.")
            server = make_server(memory, options)
            app = asgi_app(server, hosts=self._hosts, origins=self._origins, path=PATH)
            until: anyio.CancelScope = await self._tasks.start(self._run, server)
            self._servers[place] = (app, until)
            self._make_room(place)
            return app

    def _make_room(self, new: _Place) -> None:
        """Ends the server that has been asked least recently, of a guest who has more than their
        part; so nobody's goes because of what another does, while they have few."""
        held = Counter(place.actor for place in self._servers)
        if held[new.actor] > _SERVERS_EACH:
            whose = new.actor
        elif len(self._servers) > _SERVERS_MAX:
            most = max(held.values())
            # Of those who hold the most, the one whose server has rested the longest.
            whose = next(place.actor for place in self._servers if held[place.actor] == most)
        else:
            return
        oldest = next(place for place in self._servers if place.actor == whose)
        self._servers.pop(oldest)[1].cancel()

    @staticmethod
    async def _run(server: Any, *, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as until:
            async with server.session_manager.run():
                task_status.started(until)
                await anyio.sleep_forever()


def _standing(call: Call, name: str | None, dialect: str) -> tuple[_Place, Options, Any]:
    guest = call.guest
    hub, standing = guest.stands(name)
    key = guest.key
    writes = standing.allows("write", key)
    options = Options(dialect, read_only=not writes, every_hub=True, guest=guest)
    key_id = None if key is None else key.id
    place = _Place(guest.actor, key_id, hub.id, standing, writes, dialect)
    return place, options, guest.hub(hub.id)
