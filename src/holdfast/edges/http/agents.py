"""MCP under `/mcp` and `/mcp/{hub}`: the same tools as over stdio, for whoever a key speaks for.

Each guest has a server of their own for a hub, made when they first ask and kept while they do. How
they stand to the hub is asked again with every request: a key that is revoked or a role that
changes counts at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

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
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
# Guests whose servers are kept at once; who has asked least recently makes room.
_SERVERS_MAX = 200


class Agents:
    """The ASGI app that is mounted, and the servers behind it."""

    def __init__(self, state: Any, *, hosts: tuple[str, ...], origins: tuple[str, ...]) -> None:
        self._state = state
        self._hosts = hosts
        self._origins = origins
        self._servers: OrderedDict[Any, tuple[ASGIApp, anyio.CancelScope]] = OrderedDict()
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
            await of_error(error)(scope, receive, send)
            return
        await app(
            {**scope, "path": PATH, "raw_path": PATH.encode(), "root_path": ""}, receive, send
        )

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
            if len(self._servers) > _SERVERS_MAX:
                _, (_, oldest) = self._servers.popitem(last=False)
                oldest.cancel()
            return app

    @staticmethod
    async def _run(server: Any, *, task_status: TaskStatus[anyio.CancelScope]) -> None:
        with anyio.CancelScope() as until:
            async with server.session_manager.run():
                task_status.started(until)
                await anyio.sleep_forever()


def _standing(call: Call, name: str | None, dialect: str) -> tuple[Any, Options, Any]:
    guest = call.guest
    hub, standing = guest.stands(name)
    key = guest.key
    writes = standing.allows("write", key)
    options = Options(dialect, read_only=not writes, every_hub=True, guest=guest)
    place = (None if key is None else key.id, guest.actor, hub.id, standing, writes, dialect)
    return place, options, guest.hub(hub.id)
