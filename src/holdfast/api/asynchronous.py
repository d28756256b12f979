"""The library for asyncio: `holdfast.aopen()`, `AsyncHoldfast` and `AsyncHub`.

The methods are generated from those of `Holdfast` and the operations that `HubMemory` declares,
with the same names, arguments, results and errors. Each call runs in a thread, so that the event
loop is not blocked. `asynchronous.pyi`, written by `make reference`, has the signatures for type
checkers.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial, wraps
from itertools import islice
from typing import Any

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.api.operation import operations_of

# Items of a stream fetched from its thread per round trip.
_BATCH = 100


class AsyncHub:
    """A hub with coroutines as methods. `wrapped` is the synchronous hub."""

    def __init__(self, hub: HubMemory) -> None:
        self.wrapped = hub

    def __repr__(self) -> str:
        return f"<async {self.wrapped!r}>"

    @property
    def name(self) -> str:
        return self.wrapped.name

    @property
    def id(self) -> str:
        return self.wrapped.id


class AsyncHoldfast:
    """An open memory, or a `holdfast.Client`, with coroutines as methods. `wrapped` is the
    synchronous object."""

    def __init__(self, memory: Any) -> None:
        self.wrapped = memory

    async def __aenter__(self) -> AsyncHoldfast:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Writes pending data and closes the store. A second call does nothing."""
        await in_thread(self.wrapped.close)


class _Opening:
    """What `aopen` returns. It can be awaited or entered with `async with`."""

    def __init__(self, opens: Callable[[], Holdfast]) -> None:
        self._opens = opens
        self._memory: AsyncHoldfast | None = None

    def __await__(self) -> Any:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncHoldfast:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(self, *raised: object) -> None:
        if self._memory is not None:
            await self._memory.aclose()

    async def _open(self) -> AsyncHoldfast:
        return AsyncHoldfast(await in_thread(self._opens))


def aopen(*args: Any, **values: Any) -> _Opening:
    """Opens the memory as `holdfast.open` does: `async with holdfast.aopen() as memory:`."""
    return _Opening(partial(open_memory, *args, **values))


async def in_thread(call: Callable[..., Any], *args: Any, **values: Any) -> Any:
    """Runs a call in a thread. If the task is cancelled, it still waits for the call to end: a
    thread cannot be stopped, and the call must not change anything after the caller has moved on.
    """
    work = asyncio.ensure_future(asyncio.to_thread(call, *args, **values))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await _ended(work)
        raise


async def _ended(work: asyncio.Future[Any]) -> None:
    """Waits for work in a thread to end, however often the task that waits is cancelled. Nobody
    hears of its error any more, so the loop does not warn of it either."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({work})
    if not work.cancelled():
        work.exception()


async def _stream(call: Callable[[], Iterator[Any]]) -> AsyncIterator[Any]:
    """Yields the items of an iterator, which runs in one thread because it may hold locks."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="holdfast-stream") as thread:
        items = await loop.run_in_executor(thread, call)
        try:
            while batch := await loop.run_in_executor(thread, list, islice(items, _BATCH)):
                for item in batch:
                    yield item
        finally:
            # Not waited for by the thread of the loop: a batch may be on its way, and others wait.
            await _ended(loop.run_in_executor(thread, getattr(items, "close", lambda: None)))


def _wrapped(value: Any) -> Any:
    return AsyncHub(value) if isinstance(value, HubMemory) else value


def _unwrapped(value: Any) -> Any:
    return value.wrapped if isinstance(value, AsyncHub) else value


def _bound(self: Any, name: str, args: tuple[Any, ...], values: dict[str, Any]) -> partial[Any]:
    given = (_unwrapped(one) for one in args)
    named = {key: _unwrapped(one) for key, one in values.items()}
    return partial(getattr(self.wrapped, name), *given, **named)


def _coroutine(name: str, method: Callable[..., Any]) -> Any:
    @wraps(method)
    async def call(self: Any, *args: Any, **values: Any) -> Any:
        return _wrapped(await in_thread(_bound(self, name, args, values)))

    return call


def _generator(name: str, method: Callable[..., Any]) -> Any:
    @wraps(method)
    def call(self: Any, *args: Any, **values: Any) -> AsyncIterator[Any]:
        return _stream(_bound(self, name, args, values))

    return call


def public_methods(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class by name, except those that open and close it."""
    return {
        name: method
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    }


for _name, _operation in operations_of(HubMemory).items():
    _make = _generator if _operation.stream else _coroutine
    setattr(AsyncHub, _name, _make(_name, getattr(HubMemory, _name)))
for _name, _method in public_methods(Holdfast).items():
    setattr(AsyncHoldfast, _name, _coroutine(_name, _method))
