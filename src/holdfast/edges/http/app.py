"""The app: routes, what a request passes before them, and what a server keeps while it runs.
The server that runs it opens and closes the memory."""

from __future__ import annotations

import asyncio
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
    events,
    health,
    hubs,
    journal,
    lifecycle,
    log,
    mcp_routes,
    memories,
    operations,
    people,
    recall,
    review,
    uploads,
)
from holdfast.edges.http.client_identity import Identify, Streams
from holdfast.edges.http.concurrency import Admission, Places
from holdfast.edges.http.limits import Bodies, Limits, RateLimit, SessionRateLimit, has_no_place
from holdfast.edges.http.shapes import ErrorOut
from holdfast.edges.mcp.protocol import PATH as MCP_PATH
from holdfast.edges.server.cross_origin import CrossOriginGuard, CrossOriginRules, SecurityHeaders
from holdfast.edges.web import agent, files, find, pictures, rendering, today, visit
from holdfast.edges.web import memory as memory_page
from holdfast.edges.web import people as people_pages

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast

# The store has one writer and a pool of readers: more threads would only wait for each other.
_THREADS = 16
# Uploads at once: each is written to the disk as it comes.
_UPLOADS_MAX = 100
# What any route may answer with, for the description of the API.
_STATUSES = (400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 421, 422, 429, 500, 503, 504, 507)
# One of them brings the model in, the others point to it: for each model of each route the
# framework makes a validator of its own, 1,400 of them while the first request waits.
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
    journal.router,
    log.router,
    journal.consolidation_router,
    lifecycle.router,
    review.decisions_router,
    review.router,
    lifecycle.usage_router,
    log.observing_router,
    operations.router,
    hubs.router,
    people.keys_router,
    events.router,
    hubs.joining,
    people.orgs_router,
    people.teams_router,
    people.routes_for("hub", "hub"),
    people.routes_for("team", "team"),
    people.routes_for("org", "organisation"),
    people.joining,
)

# The pages, in the order in which addresses are compared.
_PAGES = (
    rendering,
    visit,
    find,
    memory_page,
    today,
    agent,
    pictures,
    files,
    people_pages,
)


def create_app(
    memory: Holdfast, *, key_needed: bool = True, limits: Limits | None = None
) -> FastAPI:
    """The REST API over an open memory. Without `key_needed`, who brings no key is the one whose
    machine this is: only for a server that listens to this machine alone."""
    limits = limits or Limits()
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description="Long-term memory for agents and people.",
        # The pages that the framework would show load their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        # Behind a proxy that speaks TLS a redirect would name an address without it, and a client
        # that follows it would send its key in the clear.
        redirect_slashes=False,
        lifespan=_running,
        responses=_ERRORS,
    )
    app.state.memory = memory
    app.state.key_needed = key_needed
    _add_counters(app, limits)
    answers.install(app)
    # First, so that a request of an agent is not compared with all the routes below: that takes
    # 0.5 ms, a seventh of what it costs to start a session.
    app.state.agents = mcp_routes.Agents(app.state, limits=limits)
    # Without this the address without a slash would be answered with a redirect, which clients of
    # MCP do not follow.
    app.router.routes.append(Route(MCP_PATH, app.state.agents, include_in_schema=False))
    app.mount(MCP_PATH, app.state.agents)
    for router in _ROUTERS:
        app.include_router(router, prefix="/v1")
    app.include_router(uploads.jobs, prefix="/v1")
    app.include_router(health.router)
    for page in _PAGES:
        app.router.routes.extend(page.ROUTES)
    _add_middleware(app, limits, key_needed=key_needed)
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


def _add_middleware(app: FastAPI, limits: Limits, *, key_needed: bool) -> None:
    # The last one added is the first one passed.
    app.add_middleware(
        Admission, places=app.state.places, uncounted=lambda scope: has_no_place(scope, limits)
    )
    app.add_middleware(Bodies, limits=limits)
    app.add_middleware(SessionRateLimit, limits=limits)
    app.add_middleware(Identify)
    app.add_middleware(RateLimit, limits=limits)
    app.add_middleware(visit.CookieSignIn)
    rules = CrossOriginRules.checked(limits.hosts, limits.origins, key_needed=key_needed)
    rules = rules._replace(cookie=f"{visit.NAME}=", has_page=True)
    app.add_middleware(CrossOriginGuard, rules=rules)
    app.add_middleware(health.Watching, counts=app.state.counts)
    # Outside everything that answers by itself, so that no response is without its headers.
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
