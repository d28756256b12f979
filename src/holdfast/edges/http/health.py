"""Monitoring of a server: a JSON log line for each request, counts and times for Prometheus, and
health and readiness checks. Neither lines nor counts contain keys, queries or texts."""

from __future__ import annotations

import json
import logging
import re
import time
import uuid
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest
from starlette.datastructures import Headers, MutableHeaders

from holdfast.edges.http.answers import problem
from holdfast.edges.http.call import Call, Calling
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("holdfast.http")

# A client proves nothing with a longer text.
_ASKED_CHARS_MAX = 100

router = APIRouter(tags=["server"])

REQUEST_ID = "X-Request-ID"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# A request id sent by a client is used if it is harmless in a log.
_HARMLESS = re.compile(r"[A-Za-z0-9._-]{1,64}")
# A load balancer wants an answer soon; a store that takes longer (see `connections`) is not ready.
_READY_WAIT_S = 1.5
# Checks of the store that may run at once, so that a store that hangs does not use up threads.
_LOOKS_MAX = 2


class Counts:
    """The metrics of one server: two servers in one process have separate ones."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.looking = anyio.CapacityLimiter(_LOOKS_MAX)
        self.requests = Counter(
            "holdfast_requests", "Requests.", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "holdfast_request_seconds",
            "How long requests took.",
            ["route"],
            registry=self.registry,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        self.inside = Gauge(
            "holdfast_requests_inside", "Requests being answered.", registry=self.registry
        )


class RequestLog:
    """Gives each request an id, counts it, and writes a line about it."""

    def __init__(self, app: ASGIApp, *, counts: Counts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if _HARMLESS.fullmatch(given) else uuid.uuid4().hex
        began = time.perf_counter()
        status = 500

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        self._counts.inside.inc()
        try:
            await self._app(scope, receive, answered)
        except Exception:
            # The route failed; the client does not learn why.
            log.exception("request %s failed", request_id)
            if status == 500:
                said = "Something went wrong here; the server's log has it under this request id."
                await problem(500, "internal", said, {"request_id": request_id})(
                    scope, receive, answered
                )
        finally:
            self._counts.inside.dec()
            self._note(scope, status, time.perf_counter() - began, request_id)

    def _note(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        # The route's pattern instead of the path, as ids would make too many counts.
        route = getattr(scope.get("route"), "path", "none")
        # A client may invent methods, so unknown ones are counted together.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._counts.requests.labels(route, method, status).inc()
        self._counts.seconds.labels(route).observe(seconds)
        log.info(
            json.dumps(
                {
                    "request": request_id,
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000, 1),
                }
            )
        )


@router.api_route("/healthz", methods=["GET", "HEAD"], include_in_schema=False)
async def health(request: Request, of: str | None = None) -> dict[str, Any]:
    """The process is running. `of` asks for a proof of the home that it serves, by which `holdfast
    ui` tells it from a server of another memory."""
    if of is None:
        return {"data": {"status": "up"}}
    from holdfast.edges.web.ui_access import port_of, proof_of_home

    asked = (request.app.state.memory.home, port_of(request.scope), of[:_ASKED_CHARS_MAX])
    proof = await anyio.to_thread.run_sync(proof_of_home, *asked)
    return {"data": {"status": "up", "home": proof}}


@router.api_route("/readyz", methods=["GET", "HEAD"], include_in_schema=False)
async def ready(call: Calling, response: Response) -> dict[str, Any]:
    """Whether the store answers within a short time."""
    found: list[bool] = []
    with anyio.move_on_after(_READY_WAIT_S):
        counts: Counts = call.request.app.state.counts
        found.append(
            await anyio.to_thread.run_sync(
                _answers, call, abandon_on_cancel=True, limiter=counts.looking
            )
        )
    if not any(found):
        response.status_code = 503
        return {"data": {"status": "not ready"}}
    return {"data": {"status": "ready"}}


def _answers(call: Call) -> bool:
    try:
        call.memory.hubs()
    except HoldfastError:
        return False
    return True


@router.get("/metrics", include_in_schema=False)
def metrics(call: Calling) -> Response:
    """Counts for Prometheus, for every caller who may use the server."""
    assert call.caller
    counts: Counts = call.request.app.state.counts
    return Response(generate_latest(counts.registry), media_type=CONTENT_TYPE_LATEST)
