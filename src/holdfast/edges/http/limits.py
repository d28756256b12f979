"""Limits for every request before its route: the size and the speed of its body, and the rate per
key (token buckets). A refused request gets an error in the common format. `server.cross_origin`
checks its origin (Host, Origin).

Plain ASGI, so that streamed responses are not buffered.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers

from holdfast.edges.http.answers import problem
from holdfast.edges.http.client_identity import (
    KEYS_OF_A_PERSON,
    METHODS_WITH_BODY,
    Client,
    client_of,
)
from holdfast.edges.mcp import BODY_BYTES_MAX as MCP_BODY_BYTES_MAX
from holdfast.edges.mcp import PATH as MCP_PATH
from holdfast.edges.mcp import PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, has_sessions
from holdfast.edges.server.http_protocol import (
    BodyBudget,
    BodyBudgetSpent,
    BodyTooLarge,
    BodyTooSlow,
    connection_of,
    read_body,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from holdfast.settings import Settings


LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Limits(NamedTuple):
    """The limits of a server; see the settings `server.*`."""

    body_bytes_max: int = 3_000_000
    body_seconds_max: float = 30.0
    # Requests that are answered or wait for it, in total and of one key.
    requests_max: int = 256
    requests_per_key: int = 64
    # Streams of agents, and uploads, of one key.
    streams_per_key: int = 100
    uploads_per_key: int = 8
    # Sessions of agents of one key, and the seconds that one lives without a request.
    sessions_per_key: int = 100
    session_seconds: float = 300.0
    # New sessions of one key: so many at once, then so many a minute.
    session_burst: int = 100
    session_starts_per_minute: int = 120
    per_minute: int = 600
    hosts: tuple[str, ...] = LOOPBACK
    origins: tuple[str, ...] = ()
    # The bodies of these paths are streamed and have a limit of their own.
    streamed: tuple[str, ...] = ("/v1/memories/upload",)

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        """What the settings `server.*` say; hosts and origins are the caller's to add."""
        return cls(
            body_bytes_max=settings["server.body_bytes_max"],
            body_seconds_max=settings["server.body_seconds"],
            requests_max=settings["server.requests_max"],
            requests_per_key=settings["server.requests_per_key"],
            streams_per_key=settings["server.streams_per_key"],
            sessions_per_key=settings["server.sessions_per_key"],
            session_seconds=settings["server.session_seconds"],
            session_starts_per_minute=settings["server.session_starts_per_minute"],
            per_minute=settings["server.per_minute"],
        )


# Frequent and cheap requests, with a bucket of their own.
UNPACED = ("/healthz", "/readyz")
# Events stay open, and are counted by their route.
UNCOUNTED = (*UNPACED, "/metrics", "/v1/events")
# The most bytes of all arriving bodies; one caller may use a quarter.
_BODIES_BYTES = 256_000_000
# The most bodies of a key that keep their connections while they arrive, even if others need them.
_KEPT_PER_KEY = 16
# A request over the rate limit is answered after this delay, unless too many are waiting already.
_DELAY_S = 0.25
_DELAYED_MAX = 200
# For requests without a known key, if one is needed: the burst of an address, and how much lower
# its rate is than that of a key. A request that turns out to have a valid key is not counted.
_STRANGER_BURST_MIN = 60
_STRANGER_SLOWER = 5
# Health checks of one address: a burst, and the pace after it.
_HEALTH_BURST = 60.0
_HEALTH_PER_SECOND = 10.0


def is_mcp(scope: Scope) -> bool:
    path = scope["path"]
    return bool(path == MCP_PATH or path.startswith(MCP_PATH + "/"))


def is_upload(scope: Scope, limits: Limits) -> bool:
    return any(scope["path"].startswith(path) for path in limits.streamed)


def has_no_place(scope: Scope, limits: Limits) -> bool:
    """Whether a request is answered without a place: it costs nothing, or it stays open and is
    counted by its route."""
    if scope["path"] in UNCOUNTED or is_upload(scope, limits):
        return True
    return is_mcp(scope) and scope["method"] == "GET"


class RateLimit:
    """Rate limit of requests: a bucket for each key, filled evenly; without a key, for each
    address. A key that was not accepted yet also takes from the bucket of its address, so that
    invented keys do not get a full bucket each."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._most = float(limits.per_minute)
        self._per_second = limits.per_minute / 60
        self._buckets = TokenBuckets(self._most, self._per_second)
        # The hashes of keys that were accepted.
        self._good: set[str] = set()
        self._delay = _Delay()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        key, now = _key(scope), time.monotonic()
        if scope["path"] in UNPACED:
            # Monitoring sends a request every few seconds, whatever else its machine sends.
            who = f"health {_address(scope)}"
            wait = self._buckets.take(who, now, _HEALTH_BURST, _HEALTH_PER_SECOND)
            await self._answer(scope, receive, send, wait)
            return
        known = key in self._good
        wait = (
            0.0
            if known
            else self._buckets.take(_address(scope), now, *self._pace_of_strangers(scope))
        )
        if key and not wait:
            wait = self._buckets.take(key, now)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                if len(self._good) >= BUCKETS_MAX:
                    # Each is added again by its next request.
                    self._good.clear()
                self._good.add(key)
                self._buckets.give_back(_address(scope))
            await send(message)

        await self._answer(scope, receive, send if known or not key else noted, wait)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, wait: float) -> None:
        if wait <= 0:
            await self._app(scope, receive, send)
            return
        seconds = str(int(wait) + 1)
        answer = problem(
            429,
            "too_many_requests",
            f"This key asks too often; try again in {seconds} s.",
            headers={"Retry-After": seconds},
        )
        await self._delay.wait()
        await answer(scope, receive, send)

    def _pace_of_strangers(self, scope: Scope) -> tuple[float, float]:
        """The burst and the rate of an address. Where a key is needed, requests without a valid one
        get a low rate."""
        if not getattr(getattr(scope.get("app"), "state", None), "key_needed", False):
            return self._most, self._per_second
        burst = min(self._most, max(_STRANGER_BURST_MIN, self._per_second))
        return burst, self._per_second / _STRANGER_SLOWER


class SessionRateLimit:
    """Rate limit of new agent sessions: by each key, and by all keys of a person
    together. To start one costs several times what a request in it costs, and a client needs one
    only when it starts itself. Refused before the body is read and before it takes a place."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._keys = TokenBuckets(limits.session_burst, limits.session_starts_per_minute / 60)
        self._persons = TokenBuckets(
            limits.session_burst * KEYS_OF_A_PERSON,
            limits.session_starts_per_minute / 60 * KEYS_OF_A_PERSON,
        )
        self._delay = _Delay()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._wait(scope) if scope["type"] == "http" and starts_session(scope) else 0.0
        if not wait:
            await self._app(scope, receive, send)
            return
        seconds = str(int(wait) + 1)
        answer = problem(
            429,
            "too_many_sessions",
            f"This key starts too many sessions; try again in {seconds} s.",
            headers={"Retry-After": seconds},
            hint="Keep a session and send its `Mcp-Session-Id` with each request.",
        )
        await self._delay.wait()
        await answer(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        client, now = client_of(scope), time.monotonic()
        return self._keys.take(client.share, now) or self._persons.take(client.person, now)


def starts_session(scope: Scope) -> bool:
    """Whether a request starts a session of MCP. Versions of the protocol that have none say so in
    a header; for the SDK each request without it starts one."""
    if scope["method"] != "POST" or not is_mcp(scope):
        return False
    headers = Headers(scope=scope)
    known = SESSION_ID_HEADER in headers
    return not known and has_sessions(headers.get(PROTOCOL_VERSION_HEADER))


class _Delay:
    """Slows down a client that ignores the rate limit, so that a refusal costs it more than the
    server."""

    def __init__(self) -> None:
        self._waiting = 0

    async def wait(self) -> None:
        if self._waiting < _DELAYED_MAX:
            self._waiting += 1
            try:
                await asyncio.sleep(_DELAY_S)
            finally:
                self._waiting -= 1


def _key(scope: Scope) -> str:
    """The hash of the request's key; empty for none."""
    given = Headers(scope=scope).get("authorization")
    if not given:
        return ""
    return hashlib.sha256(given.encode("utf-8", "surrogateescape")).hexdigest()


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


# A small packed body can be a large one, and bodies are bounded by what arrives.
_UNPACKED = "Send it unpacked."


class Bodies:
    """Reads a body before the route runs, up to a size and within a time, so that a slow or endless
    one occupies no thread and no place. Uploads are streamed, and have limits of their own."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._budget = BodyBudget(_BODIES_BYTES, _BODIES_BYTES // 4)
        # The number of arriving bodies with kept connections, by key and by person.
        self._kept = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._read_here(scope):
            await self._app(scope, receive, send)
            return
        most = MCP_BODY_BYTES_MAX if is_mcp(scope) else self._limits.body_bytes_max
        headers = Headers(scope=scope)
        announced = headers.get("content-length", "")
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            await problem(
                415,
                "unsupported_media_type",
                f"A body is taken as it is, without a Content-Encoding. {_UNPACKED}",
                headers={"Accept-Encoding": "identity"},
                hint=_UNPACKED,
            )(scope, receive, send)
            return
        client = client_of(scope)
        try:
            if announced.isdigit() and int(announced[:18]) > most:
                raise BodyTooLarge
            with self._keeping(scope, client):
                replay = await read_body(
                    receive,
                    bytes_max=most,
                    seconds=self._limits.body_seconds_max,
                    budget=self._budget,
                    caller=client.share,
                )
        except BodyTooLarge:
            said = f"The body is larger than {most:,} bytes."
            await problem(413, "body_too_large", said)(scope, receive, send)
        except BodyTooSlow:
            said = "The body did not arrive in time."
            await problem(408, "too_slow", said)(scope, receive, send)
        except BodyBudgetSpent:
            said = "Too many large bodies are arriving at once; try again."
            answer = problem(503, "overloaded", said, headers={"Retry-After": "1"})
            await answer(scope, receive, send)
        else:
            await self._app(scope, replay, send)

    def _read_here(self, scope: Scope) -> bool:
        return scope["method"] in METHODS_WITH_BODY and not is_upload(scope, self._limits)

    @contextmanager
    def _keeping(self, scope: Scope, client: Client) -> Iterator[None]:
        """Keeps the connections of a few bodies of each key open while they arrive. The others make
        room for new connections if there are too many."""
        connection = connection_of(scope)
        most = {client.person: 2 * _KEPT_PER_KEY, client.share: _KEPT_PER_KEY}
        full = any(self._kept[name] >= number for name, number in most.items())
        if connection is None or not client.known or full:
            yield
            return
        connection.protect()
        self._kept.update(most.keys())
        try:
            yield
        finally:
            self._kept.subtract(most.keys())
            self._kept += Counter[str]()


# With more buckets than this, the fullest half is dropped: those would be full again first.
BUCKETS_MAX = 10_000


class TokenBuckets:
    """The rate limit of each caller: a token bucket for each name; a new name has a full one."""

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        # The tokens left, and the time of that count.
        self._buckets: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(
        self, name: str, now: float, burst: float | None = None, per_second: float | None = None
    ) -> float:
        """Takes a token and returns 0; where there is none, returns the seconds until there is.
        `burst` and `per_second` apply to this bucket instead of the usual ones."""
        burst = self._burst if burst is None else burst
        per_second = self._per_second if per_second is None else per_second
        left, counted_at = self._buckets.get(name, (burst, now))
        left = min(burst, left + (now - counted_at) * per_second)
        if left < 1:
            self._buckets[name] = (left, now)
            return (1 - left) / per_second
        if len(self._buckets) >= BUCKETS_MAX and name not in self._buckets:
            self._drop_fullest()
        self._buckets[name] = (left - 1, now)
        return 0.0

    def give_back(self, name: str) -> None:
        """Returns a token that was taken."""
        if name in self._buckets:
            left, counted_at = self._buckets[name]
            self._buckets[name] = (left + 1, counted_at)

    def _drop_fullest(self) -> None:
        fullest = sorted(self._buckets, key=lambda name: self._buckets[name], reverse=True)
        for name in fullest[: BUCKETS_MAX // 2]:
            del self._buckets[name]
