"""The app: routes, middleware, and the state of a running server; and running the server."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.routing import Route

import holdfast
from holdfast.edges.http import (
    answers,
    changes,
    health,
    log,
    mcp_routes,
    memories,
    operations,
    people,
    recall,
    review,
    upkeep,
    uploads,
)
from holdfast.edges.http.client_identity import Identify, Streams
from holdfast.edges.http.concurrency import Admission, Places
from holdfast.edges.http.description import describe
from holdfast.edges.http.limits import (
    LOOPBACK,
    Bodies,
    Limits,
    RateLimit,
    SessionRateLimit,
    has_no_place,
)
from holdfast.edges.http.shapes import ErrorOut
from holdfast.edges.mcp import PATH as MCP_PATH
from holdfast.edges.server import listening
from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.cross_origin import CrossOriginGuard, CrossOriginRules, SecurityHeaders
from holdfast.edges.server.worker import Watcher, Worker
from holdfast.edges.web import agent, files, find, forget, pictures, rendering, today, visit
from holdfast.edges.web import memory as memory_page
from holdfast.edges.web import people as people_pages
from holdfast.edges.web.ui_access import UiAccess, UiGate
from holdfast.engine.people import keys
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.api.memory import Holdfast


# The store has one writer and a pool of readers, so more threads would only wait for each other.
_THREADS = 16
# Concurrent uploads: each is written to disk as it arrives.
_UPLOADS_MAX = 100
# The error statuses of all routes, for the description of the API.
_STATUSES = (400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 421, 422, 429, 500, 503, 504, 507)
# One of them defines the model, the others refer to it: the framework makes a validator for each
# model of each route, 1,400 of them, while the first request waits.
_ERROR = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorOut.__name__}"}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    _STATUSES[0]: {"model": ErrorOut},
    **{code: {"content": _ERROR} for code in _STATUSES[1:]},
}

_ROUTERS = (
    uploads.router,
    memories.router,
    recall.router,
    changes.router,
    upkeep.journal_router,
    log.router,
    upkeep.consolidation_router,
    upkeep.lifecycle_router,
    review.decisions_router,
    review.router,
    upkeep.usage_router,
    log.observing_router,
    operations.router,
    people.hubs_router,
    people.keys_router,
    changes.events_router,
    people.this_hub_router,
    people.orgs_router,
    people.teams_router,
    people.routes_for("hub", "hub"),
    people.routes_for("team", "team"),
    people.routes_for("org", "organisation"),
    people.joining,
)

# The pages, in the order in which paths are matched.
_PAGES = (
    rendering,
    visit,
    find,
    memory_page,
    today,
    agent,
    forget,
    pictures,
    files,
    people_pages,
)


def create_app(
    memory: Holdfast,
    *,
    key_needed: bool = True,
    limits: Limits | None = None,
    access: UiAccess | None = None,
) -> FastAPI:
    """The REST API for an open memory. Without `key_needed`, a caller without a key is the owner of
    the machine: only for a server on loopback. Then `access` requires a ticket or its cookie."""
    limits = limits or Limits()
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description="Long-term memory for agents and people.",
        # The framework's own pages would load scripts from other servers.
        docs_url=None,
        redoc_url=None,
        # Behind a TLS proxy, a redirect would go to an address without TLS, and a client that
        # follows it would send its key in the clear.
        redirect_slashes=False,
        lifespan=_running,
        responses=_ERRORS,
    )
    app.state.memory = memory
    app.state.key_needed = key_needed
    _add_counters(app, limits)
    answers.install(app)
    describe(app)
    # First, so that a request of an agent is not matched against all the routes below, which takes
    # 0.5 ms, a seventh of the cost of starting a session.
    app.state.agents = mcp_routes.Agents(app.state, limits=limits)
    # Otherwise the path without a slash would be redirected, and MCP clients do not follow
    # redirects.
    app.router.routes.append(Route(MCP_PATH, app.state.agents, include_in_schema=False))
    app.mount(MCP_PATH, app.state.agents)
    for router in _ROUTERS:
        app.include_router(router, prefix="/v1")
    app.include_router(uploads.jobs, prefix="/v1")
    app.include_router(health.router)
    for page in _PAGES:
        app.router.routes.extend(page.ROUTES)
    app.router.routes.extend(find.NO_PAGE)
    _add_middleware(app, limits, key_needed=key_needed, access=access)
    return app


def _add_counters(app: FastAPI, limits: Limits) -> None:
    app.state.counts = health.Counts()
    # How many streams each person has open.
    app.state.listeners = Counter[str]()
    # How many long answers each key has open.
    app.state.line_streams = Counter[str]()
    app.state.uploads = Streams("uploads", total=_UPLOADS_MAX, each=limits.uploads_per_key)
    app.state.places = Places(total=limits.requests_max, each=limits.requests_per_key)
    app.state.stopping = asyncio.Event()


def _add_middleware(
    app: FastAPI, limits: Limits, *, key_needed: bool, access: UiAccess | None
) -> None:
    # The middleware added last is the first to run.
    app.add_middleware(
        Admission, places=app.state.places, uncounted=lambda scope: has_no_place(scope, limits)
    )
    app.add_middleware(Bodies, limits=limits)
    app.add_middleware(SessionRateLimit, limits=limits)
    app.add_middleware(Identify)
    app.add_middleware(RateLimit, limits=limits)
    app.add_middleware(visit.CookieSignIn)
    if access is not None:
        app.add_middleware(UiGate, access=access)
    rules = CrossOriginRules.checked(limits.hosts, limits.origins, key_needed=key_needed)
    rules = rules._replace(cookie=f"{visit.NAME}=", has_page=True)
    app.add_middleware(CrossOriginGuard, rules=rules)
    app.add_middleware(health.RequestLog, counts=app.state.counts)
    # Outside all middleware that may respond, so that every response has its headers.
    app.add_middleware(SecurityHeaders)


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    import anyio.to_thread

    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    async with app.state.agents.running():
        try:
            yield
        finally:
            app.state.stopping.set()


PORT = 4653  # HOLD on the keys of a telephone
# How long accepted requests may take to finish at shutdown; writes take milliseconds, a recall at
# most seconds.
_STOP_S = 10
# A thread releases the interpreter lock at each SQL statement, and waits this long to get it back
# while another one computes. Beside exports a good client's p95 is 2.5 times its quiet value with
# the usual 5 ms, and 1.6 times with this (`make test-attack`).
_SWITCH_S = 0.0005


def serve(
    memory: Holdfast,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    key_needed: bool = False,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    quiet: bool = False,
    request_log: bool = True,
    listening_at: Callable[[str], None] | None = None,
    access: UiAccess | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT. Other machines need a key. `listening_at` is called with the
    address of the page as soon as clients can connect. Without `request_log` only failures are
    logged."""
    here = listening.is_loopback(host)
    if not here and not keys.has_keys(memory.core):
        raise InvalidInput(
            f"{host} can be reached from other machines, and there is no key yet.",
            hint="Make one with `holdfast key create NAME`, and give it to who may come in.",
        )
    socket_ = listening.listen(host, port)
    names = [*LOOPBACK, listening.bracketed(host), *hosts]
    if not here:
        names.append(socket.gethostname())
    limits = Limits.from_settings(memory.core.settings)._replace(
        hosts=tuple(dict.fromkeys(names)), origins=tuple(origins)
    )
    needed = key_needed or not here
    app = create_app(memory, key_needed=needed, limits=limits, access=access)
    bound = socket_.getsockname()[1]
    if not quiet:
        _announce(memory, host, bound, key_needed=needed)
    if listening_at is not None:
        listening_at(url_of(host, bound))
    # Only warnings from the libraries, which otherwise log each request, session and file.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    logging.getLogger("holdfast").setLevel(logging.INFO if request_log else logging.WARNING)
    sys.setswitchinterval(_SWITCH_S)
    with Worker(memory), Watcher(memory):
        # Otherwise event streams would stay open until the time limit.
        listening.run(
            app,
            socket_,
            stop_s=_STOP_S,
            limits=ConnectionLimits.from_settings(memory.core.settings),
            stopping=app.state.stopping.set,
        )


def _place(memory: Holdfast) -> str:
    """The location of the store, and of the files if that is different."""
    address = getattr(memory.core.store, "address", "")
    return f"{address} with files in {memory.home}" if address else memory.home


def url_of(host: str, port: int) -> str:
    """The address of a server for clients on this machine."""
    return f"http://{listening.bracketed(host)}:{port}"


def _announce(memory: Holdfast, host: str, port: int, *, key_needed: bool) -> None:
    url = url_of(host, port)
    key = " -H 'Authorization: Bearer KEY'" if key_needed else ""
    body = '{"content": "Ada prefers tabs"}'
    ask = '{"query": "tabs or spaces?"}'
    json = "-H 'Content-Type: application/json'"
    first = ""
    if not key_needed:
        first = (
            "  It asks for no key: every program on this machine has your rights, and other\n"
            "  machines cannot reach it. See `--require-key` and `--host`.\n"
        )
    elif not memory.hubs():
        # Without a key, the first memory creates the hub; callers with a key only reach existing
        # hubs.
        first = "  There is no hub yet: make one with `holdfast hub create NAME`.\n"
    sys.stderr.write(
        f"holdfast serve: listening on {url}\n"
        f"  the memory in {_place(memory)}, hub {memory.core.settings['hub']} where none is named\n"
        "  REST under /v1 (described in /openapi.json), MCP under /mcp\n"
        f"{first}See it in a browser:\n"
        f"  {url}/\n"
        "Try:\n"
        f"  curl{key} {json} {url}/v1/memories -d '{body}'\n"
        f"  curl{key} {json} {url}/v1/recall -d '{ask}'\n"
        f"  curl{key} {url}/v1/memories\n"
        "Ctrl-C ends it.\n"
    )
    sys.stderr.flush()
