"""What every request passes before a route: how large and how slow its body is, how many are asked
at once, and how often by one key. Whoever is turned away gets the usual shape of an error; nobody
is told more than that. Where a request comes from (Host, Origin), `edges.cross_origin` checks.

Plain ASGI, so that answers that stream are not held back.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers

from holdfast.edges.http.answers import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Limits(NamedTuple):
    """What a server bears; see the settings `server.*`."""

    body_bytes_max: int = 3_000_000
    body_seconds_max: float = 30.0
    requests_max: int = 64
    per_minute: int = 600
    hosts: tuple[str, ...] = LOOPBACK
    origins: tuple[str, ...] = ()
    # Paths whose bodies are streamed and have a limit of their own.
    streamed: tuple[str, ...] = ("/v1/memories/upload",)


class Crowd:
    """Bears so many requests at once; the next is told to come back, rather than all to wait."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._most = limits.requests_max
        self.inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Streams of events are counted by their route; they would fill the house.
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            await self._app(scope, receive, send)
            return
        if self.inside >= self._most:
            answer = problem(
                503, "overloaded", "Too many requests at once.", headers={"Retry-After": "1"}
            )
            await answer(scope, receive, send)
            return
        self.inside += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self.inside -= 1


# Asked often, and cheap.
UNPACED = ("/healthz", "/readyz")
# Events stay open, and are counted by their route.
UNCOUNTED = (*UNPACED, "/metrics", "/v1/events")


class Pace:
    """A bucket of requests for each key, filled evenly; without one, for each address. A key that
    has not opened anything yet also takes from its address's: whoever makes keys up does not get a
    full bucket with each."""

    # More buckets than this and the fullest are dropped: they would be full again anyway.
    _BUCKETS_MAX = 10_000

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._most = float(limits.per_minute)
        self._per_second = limits.per_minute / 60
        self._buckets: dict[str, tuple[float, float]] = {}
        # Keys that have opened something, by their hashes.
        self._good: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNPACED:
            await self._app(scope, receive, send)
            return
        key, now = _key(scope), time.monotonic()
        known = key in self._good
        wait = 0.0 if known else self._take(_address(scope), now)
        if key and not wait:
            wait = self._take(key, now)
        if wait > 0:
            seconds = str(int(wait) + 1)
            answer = problem(
                429,
                "too_many_requests",
                f"This key asks too often; try again in {seconds} s.",
                headers={"Retry-After": seconds},
            )
            await answer(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                if len(self._good) >= self._BUCKETS_MAX:
                    # Each is known again after its next request.
                    self._good.clear()
                self._good.add(key)
            await send(message)

        await self._app(scope, receive, send if known or not key else noted)

    def _take(self, who: str, now: float) -> float:
        """Takes one from the bucket; returns how many seconds to wait where it is empty."""
        left, at = self._buckets.get(who, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        if left < 1:
            self._buckets[who] = (left, now)
            return (1 - left) / self._per_second
        if len(self._buckets) >= self._BUCKETS_MAX and who not in self._buckets:
            fullest = sorted(self._buckets, key=lambda one: self._buckets[one], reverse=True)
            for one in fullest[: self._BUCKETS_MAX // 2]:
                del self._buckets[one]
        self._buckets[who] = (left - 1, now)
        return 0.0


def _key(scope: Scope) -> str:
    """The key that was brought, by its hash; empty for none."""
    given = Headers(scope=scope).get("authorization")
    if not given:
        return ""
    return hashlib.sha256(given.encode("utf-8", "surrogateescape")).hexdigest()


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


class Bodies:
    """Reads a body before the route runs, up to a size and for a time: a slow or endless one holds
    no thread. Uploads are streamed, and have limits of their own."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._read_here(scope):
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced[:18]) > self._limits.body_bytes_max:
            await self._too_large()(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limits.body_seconds_max):
                messages = await self._read(receive)
        except TimeoutError:
            answer = problem(408, "too_slow", "The body did not arrive in time.")
            await answer(scope, receive, send)
            return
        if messages is None:
            await self._too_large()(scope, receive, send)
            return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    def _read_here(self, scope: Scope) -> bool:
        return scope["method"] in ("POST", "PUT", "PATCH", "DELETE") and not any(
            scope["path"].startswith(path) for path in (*self._limits.streamed, "/mcp")
        )

    async def _read(self, receive: Receive) -> list[Message] | None:
        """The whole body as it came; None where it is too large."""
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._limits.body_bytes_max:
                return None
            if message["type"] != "http.request" or not message.get("more_body", False):
                return messages

    def _too_large(self) -> ASGIApp:
        return problem(
            413,
            "body_too_large",
            f"The body is larger than {self._limits.body_bytes_max:,} bytes.",
        )
