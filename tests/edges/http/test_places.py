"""Whose requests are answered: each key has its share, and they take turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from holdfast.edges.http import concurrency as module
from holdfast.edges.http.client_identity import Client, Streams
from holdfast.edges.http.concurrency import RUNNING_FAIR, RUNNING_MAX, Full, Places
from holdfast.errors import HoldfastError


def key(name: str, person: str | None = None) -> Client:
    return Client(f"key:{name}", f"person:{person or name}", known=True)


STRANGER = Client("address:a", "address:a")


class Scene:
    """Requests that run until they are told to end."""

    def __init__(self, *, total: int = 1_000, each: int = 100) -> None:
        self.now = 0.0
        self.places = Places(total=total, each=each, clock=lambda: self.now)
        self.running: list[Client] = []
        self._ends: list[tuple[Client, asyncio.Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def _request(self, client: Client) -> None:
        end = asyncio.Event()
        async with self.places.place(client):
            self.running.append(client)
            self._ends.append((client, end))
            await end.wait()
            self.running.remove(client)

    async def ask(self, client: Client, times: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._request(client)) for _ in range(times)]
        await self.settle()

    async def end(self, client: Client) -> None:
        found = next(one for one in self._ends if one[0] == client)
        self._ends.remove(found)
        found[1].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    def refused(self) -> int:
        return sum(one.done() and isinstance(one.exception(), Full) for one in self.tasks)

    async def over(self) -> None:
        while self._ends:
            await self.end(self._ends[0][0])
        await asyncio.gather(*self.tasks, return_exceptions=True)
        assert self.places.count == 0
        assert not self.places._running
        assert not self.places._inside
        assert not self.places._waiting


def play(scene: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(scene())  # type: ignore[arg-type]


def test_a_caller_alone_uses_every_thread() -> None:
    async def scene() -> None:
        one = Scene()
        await one.ask(key("eve"), 40)
        assert len(one.running) == RUNNING_MAX
        await one.over()

    play(scene)


def test_another_caller_does_not_wait_behind_a_flood() -> None:
    async def scene() -> None:
        one = Scene()
        eve, ada = key("eve"), key("ada")
        await one.ask(ada)
        await one.end(ada)
        await one.ask(eve, 90)
        assert one.running == [eve] * RUNNING_FAIR
        await one.ask(ada)
        assert one.running.count(ada) == 1
        await one.end(eve)
        assert one.running.count(eve) == RUNNING_FAIR
        await one.over()

    play(scene)


def test_many_keys_of_one_person_do_not_take_the_turns_of_others() -> None:
    async def scene() -> None:
        one = Scene()
        ada = key("ada")
        await one.ask(ada)
        await one.end(ada)
        for number in range(10):
            await one.ask(key(f"k{number}", "eve"), 5)
        assert len(one.running) == module.RUNNING_FAIR_PERSON
        await one.ask(ada)
        assert ada in one.running
        await one.over()

    play(scene)


def test_a_flood_goes_on_when_the_others_are_gone() -> None:
    async def scene() -> None:
        one = Scene()
        eve, ada = key("eve"), key("ada")
        await one.ask(ada)
        await one.end(ada)
        await one.ask(eve, 40)
        one.now += 60
        await one.end(eve)
        assert len(one.running) == RUNNING_MAX
        await one.over()

    play(scene)


def test_what_takes_long_does_not_hold_up_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TURN_S", 0.01)

    async def scene() -> None:
        one = Scene()
        eve, ada = key("eve"), key("ada")
        await one.ask(ada)
        await one.ask(eve, 4)
        while one.running.count(eve) < 4:
            await asyncio.sleep(0.005)
        await one.over()

    play(scene)


def test_each_key_has_its_share_and_a_person_twice_that() -> None:
    async def scene() -> None:
        one = Scene(each=3)
        await one.ask(key("a", "eve"), 5)
        assert one.refused() == 2
        await one.ask(key("b", "eve"), 5)
        assert one.refused() == 4
        await one.ask(key("c", "eve"))
        assert one.refused() == 5
        await one.ask(key("ada"))
        assert one.refused() == 5
        await one.over()

    play(scene)


def test_a_key_with_nothing_inside_is_let_into_a_full_house() -> None:
    async def scene() -> None:
        one = Scene(total=4, each=4)
        await one.ask(key("eve"), 4)
        await one.ask(STRANGER)
        assert one.refused() == 1
        await one.ask(key("ada"), 3)
        assert one.refused() == 2
        await one.over()

    play(scene)


def test_whoever_waits_too_long_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT_S", 0.01)

    async def scene() -> None:
        one = Scene()
        await one.ask(key("eve"), RUNNING_MAX + 3)
        while one.refused() < 3:
            await asyncio.sleep(0.005)
        await one.over()

    play(scene)


def test_a_request_that_is_cancelled_while_it_waits_leaves_nothing_behind() -> None:
    async def scene() -> None:
        one = Scene()
        await one.ask(key("eve"), RUNNING_MAX + 2)
        for task in one.tasks[-2:]:
            task.cancel()
        await one.settle()
        await one.over()

    play(scene)


def test_streams_are_bounded_for_a_key_a_person_and_in_all() -> None:
    streams = Streams("streams", total=6, each=2)
    opened: list[Any] = []

    def open_one(client: Client) -> bool:
        stream = streams.open(client)
        try:
            stream.__enter__()
        except HoldfastError as refused:
            assert "too many open streams" in str(refused)
            return False
        opened.append(stream)
        return True

    assert [open_one(key("a", "eve")) for _ in range(3)] == [True, True, False]
    assert [open_one(key(f"k{one}", "eve")) for one in range(3)] == [True, True, False]
    assert [open_one(key(f"p{one}")) for one in range(3)] == [True, True, False]
    for stream in opened:
        stream.__exit__(None, None, None)
    assert (streams.count, dict(streams._open)) == (0, {})
