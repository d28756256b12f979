"""The library for asyncio: the same operations, off the event loop."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.reference import async_stub

import holdfast
from holdfast.api.asynchronous import in_thread
from holdfast.api.operation import operations_of


def test_every_operation_of_a_hub_has_an_asynchronous_twin() -> None:
    for name, operation in operations_of(holdfast.HubMemory).items():
        twin = getattr(holdfast.AsyncHub, name)
        assert inspect.signature(twin) == inspect.signature(getattr(holdfast.HubMemory, name))
        assert inspect.iscoroutinefunction(twin) is not operation.stream


def test_the_signatures_for_type_checkers_are_up_to_date() -> None:
    assert async_stub.PATH.read_text(encoding="utf-8") == async_stub.stub(), "run `make reference`"


def test_a_memory_is_written_read_and_undone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with holdfast.aopen(tmp_path) as memory:
            hub = await memory.create_hub("work")
            assert isinstance(hub, holdfast.AsyncHub)
            await hub.remember("Prefers tabs")
            assert [hit.memory.content for hit in await hub.recall("tabs?")] == ["Prefers tabs"]
            await hub.update(1, content="Prefers spaces")
            await hub.undo()
            assert (await hub.get(1)).content == "Prefers tabs"

    asyncio.run(scene())


def test_a_hub_is_passed_as_an_argument(tmp_path: Path) -> None:
    async def scene() -> None:
        async with holdfast.aopen(tmp_path) as memory:
            first, second = await memory.create_hub("first"), await memory.create_hub("second")
            await first.remember("The printer is on the second floor")
            await first.move_many([1], to=second)
            assert [one.content for one in await second.list()] == [
                "The printer is on the second floor"
            ]

    asyncio.run(scene())


def test_a_stream_is_iterated_in_one_thread_of_its_own(tmp_path: Path) -> None:
    async def scene() -> None:
        async with holdfast.aopen(tmp_path) as memory:
            hub = await memory.create_hub("work")
            await hub.remember_many([f"Shelf {number} holds bolts" for number in range(250)])
            read = [one.number async for one in hub.scan()]
            assert sorted(read) == list(range(1, 251))
            async for _ in hub.export():
                break  # the reader is closed with the generator

    asyncio.run(scene())
    assert not [one for one in threading.enumerate() if one.name.startswith("holdfast-stream")]


def test_the_event_loop_goes_on_while_a_call_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran_meanwhile = threading.Event()
    statistics = holdfast.HubMemory.statistics

    def slow(hub: holdfast.HubMemory) -> Any:
        assert ran_meanwhile.wait(30), "the event loop was blocked"
        return statistics(hub)

    monkeypatch.setattr(holdfast.HubMemory, "statistics", slow)

    async def scene() -> None:
        async with holdfast.aopen(tmp_path) as memory:
            hub = await memory.create_hub("work")
            call = asyncio.create_task(hub.statistics())
            await asyncio.sleep(0)
            ran_meanwhile.set()
            assert (await call).memories == 0

    asyncio.run(scene())


def test_a_cancelled_write_has_ended_when_the_cancellation_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()
    pin = holdfast.HubMemory.pin

    def slow(hub: holdfast.HubMemory, reference: Any) -> Any:
        began.set()
        assert may_end.wait(30)
        pinned = pin(hub, reference)
        ended.set()
        return pinned

    monkeypatch.setattr(holdfast.HubMemory, "pin", slow)

    async def scene() -> None:
        async with holdfast.aopen(tmp_path) as memory:
            hub = await memory.create_hub("work")
            await hub.remember("Prefers tabs")
            call = asyncio.create_task(hub.pin(1))
            await asyncio.to_thread(began.wait, 30)
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
            may_end.set()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert ended.is_set()

    asyncio.run(scene())


def test_an_error_is_the_same_as_of_the_library(tmp_path: Path) -> None:
    async def scene() -> None:
        memory = await holdfast.aopen(tmp_path)
        with pytest.raises(holdfast.NotFound):
            await memory.hub("nowhere")
        await memory.aclose()

    asyncio.run(scene())


def test_a_call_that_is_cancelled_twice_has_ended_too(tmp_path: Path) -> None:
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        began.set()
        assert may_end.wait(30)
        ended.set()
        raise holdfast.NotFound("What nobody hears of is no warning of the loop's either.")

    async def scene() -> None:
        heard: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: heard.append(said))
        call = asyncio.create_task(in_thread(slow))
        await asyncio.to_thread(began.wait, 30)
        for _ in range(3):
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.is_set()
        del call
        gc.collect()
        assert heard == []

    asyncio.run(scene())


def test_a_stream_that_is_cancelled_does_not_stop_the_loop(tmp_path: Path) -> None:
    asked, may_go_on = threading.Event(), threading.Event()
    waited: list[bool] = []

    def items() -> Iterator[str]:
        yield "Prefers tabs"
        asked.set()
        waited.append(may_go_on.wait(10))

    async def scene() -> None:
        async with holdfast.aopen(tmp_path, settings={"embed.model": "none"}) as memory:
            hub = await memory.create_hub("work")

            async def write() -> None:
                async for _ in hub.remember_stream(items()):
                    pass

            task = asyncio.create_task(write())
            await asyncio.to_thread(asked.wait, 30)
            task.cancel()
            # While the thread of the stream waits, the loop has to run this.
            await asyncio.sleep(0)
            may_go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert waited == [True]
            assert [hit.content for hit in await hub.list()] in ([], ["Prefers tabs"])

    asyncio.run(scene())
