"""Limits how many requests run at once, and schedules them fairly.

A request takes a place when its body has arrived. Each key has its share of the places, and all
keys of a person together have twice that; a key without any admitted request gets in even if all
places are taken. Of the admitted requests, a few run at a time: a single caller may use every
thread; as soon as others send requests, each runs one at a time and they take turns. So one
caller's flood competes with another's request like one request, not like hundreds.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from holdfast.edges.http.answers import problem
from holdfast.edges.http.client_identity import Client, client_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# As many as there are threads; more would only wait for each other.
RUNNING_MAX = 16
# The running requests of one caller, while others send requests too. Two make a good client's p95
# under a flood 3.0 times its quiet value, one makes it 2.5 times (`make test-attack`, mean of three
# runs on a busy machine).
RUNNING_FAIR = 1
# The same for all keys of one person, while other people send requests too.
RUNNING_FAIR_PERSON = 3
# A caller counts as active for this long after a request, as clients compute between two requests.
_RECENT_S = 2.0
# A request that runs longer than this waits for something, a model or a slow reader, and no longer
# counts against its caller.
_TURN_S = 2.0
# A key with fewer admitted requests than this always gets in.
_ALWAYS = 2
# Nobody waits for a turn longer than this.
_WAIT_S = 10.0


class Full(Exception):
    """The server has no place for another request; the message says which limit was reached."""


class Places:
    """Admits requests to the server up to a number at once, and schedules them."""

    def __init__(self, *, total: int, each: int, clock: Callable[[], float] | None = None) -> None:
        self._total = total
        self._each = each
        self._clock = clock
        self._inside = Counter[str]()
        self._count = 0
        self._running = Counter[str]()
        self._running_count = 0
        # The requests that wait for a turn, by share; the first one is next.
        self._waiting: OrderedDict[str, deque[tuple[Client, asyncio.Future[None]]]] = OrderedDict()
        # The time of the last request of each share and each person; the oldest first.
        self._recent: OrderedDict[str, float] = OrderedDict()

    @property
    def count(self) -> int:
        """Admitted requests: running or waiting for their turn."""
        return self._count

    @asynccontextmanager
    async def place(self, client: Client) -> AsyncIterator[None]:
        """Takes a place, then waits for a turn; raises Full if there is no place."""
        self._enter(client)
        try:
            await self._turn(client)
            turn = _Turn(self, client)
            try:
                yield
            finally:
                turn.end()
        finally:
            self._leave(client)

    def others_ask(self, client: Client) -> bool:
        """Whether another key or person has sent a request recently."""
        return self._others_ask(client.share) or self._others_ask(client.person)

    # Places

    def _enter(self, client: Client) -> None:
        own = self._inside[client.share]
        if own >= self._each:
            raise Full("You have too many requests at once; wait for some of them.")
        if self._inside[client.person] >= 2 * self._each:
            raise Full("Your keys have too many requests at once; wait for some of them.")
        if self._count >= self._total and not (client.known and own < _ALWAYS):
            raise Full("The server has too many requests at once; try again.")
        self._count += 1
        for name in _names(client):
            self._inside[name] += 1

    def _leave(self, client: Client) -> None:
        self._count -= 1
        for name in _names(client):
            _lower(self._inside, name)

    # Turns

    async def _turn(self, client: Client) -> None:
        self._note(client)
        if client.share not in self._waiting and self._may_run(client):
            self._start(client)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (client, future)
        self._waiting.setdefault(client.share, deque()).append(entry)
        # Requests that wait because another caller was active start when that caller is not active
        # any more.
        self._later()
        try:
            async with asyncio.timeout(_WAIT_S):
                await future
        except BaseException as error:
            if future.done() and not future.cancelled():
                self._stop(client)
            else:
                self._forget(entry)
            if isinstance(error, TimeoutError):
                raise Full("The server did not get to this request; try again.") from None
            raise

    def _start(self, client: Client) -> None:
        self._running_count += 1
        for name in _names(client):
            self._running[name] += 1

    def _stop(self, client: Client) -> None:
        self._running_count -= 1
        for name in _names(client):
            _lower(self._running, name)
        self._next()

    def _next(self) -> None:
        """Starts the requests that may run now, taking turns between callers."""
        while True:
            share = next(
                (one for one, queue in self._waiting.items() if self._may_run(queue[0][0])), None
            )
            if share is None:
                return
            queue = self._waiting[share]
            client, future = queue.popleft()
            if queue:
                self._waiting.move_to_end(share)
            else:
                del self._waiting[share]
            if not future.done():
                self._start(client)
                future.set_result(None)

    def _may_run(self, client: Client) -> bool:
        if self._running_count >= RUNNING_MAX:
            return False
        if self._running[client.share] < RUNNING_FAIR:
            return (
                self._running[client.person] < RUNNING_FAIR_PERSON
                or client.share == client.person
                or not self._others_ask(client.person)
            )
        return not self.others_ask(client)

    def _others_ask(self, name: str) -> bool:
        """Whether another share or person has sent a request recently."""
        oldest = self._now() - _RECENT_S
        while self._recent and next(iter(self._recent.values())) < oldest:
            self._recent.popitem(last=False)
        kind = name.partition(":")[0]
        if kind == "person":
            return any(one != name and not one.startswith("key:") for one in self._recent)
        return any(one != name and not one.startswith("person:") for one in self._recent)

    def _note(self, client: Client) -> None:
        for name in _names(client):
            self._recent[name] = self._now()
            self._recent.move_to_end(name)

    def _forget(self, entry: tuple[Client, asyncio.Future[None]]) -> None:
        queue = self._waiting.get(entry[0].share)
        if queue is not None and entry in queue:
            queue.remove(entry)
            if not queue:
                del self._waiting[entry[0].share]

    def _later(self) -> None:
        asyncio.get_running_loop().call_later(_RECENT_S + 0.01, self._next)

    def _now(self) -> float:
        return asyncio.get_running_loop().time() if self._clock is None else self._clock()


class _Turn:
    """A request that runs; its turn ends with it, or when it has taken long."""

    def __init__(self, places: Places, client: Client) -> None:
        self._places = places
        self._client = client
        self._ended = False
        self._timer = asyncio.get_running_loop().call_later(_TURN_S, self.end)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._timer.cancel()
            self._places._stop(self._client)


def _names(client: Client) -> tuple[str, ...]:
    return (client.share,) if client.share == client.person else (client.share, client.person)


def _lower(counter: Counter[str], name: str) -> None:
    counter[name] -= 1
    if counter[name] <= 0:
        del counter[name]


class Admission:
    """Gives each request a place. `uncounted` are paths with answers that stay open or cost
    nothing; their routes count them."""

    def __init__(self, app: ASGIApp, *, places: Places, uncounted: Callable[[Scope], bool]) -> None:
        self._app = app
        self._places = places
        self._uncounted = uncounted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._uncounted(scope):
            await self._app(scope, receive, send)
            return
        inside = False
        try:
            async with self._places.place(client_of(scope)):
                inside = True
                await self._app(scope, receive, send)
        except Full as full:
            if inside:
                raise
            answer = problem(503, "overloaded", str(full), headers={"Retry-After": "1"})
            await answer(scope, receive, send)
