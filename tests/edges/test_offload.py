"""The bridge from async edges to the synchronous core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import anyio
import pytest

from holdfast.edges.server.offload import Offload, Report
from holdfast.errors import CallCancelled, NotFound

PATIENCE_S = 20


def test_work_runs_in_another_thread_and_its_answer_comes_back() -> None:
    async def main() -> int:
        return await Offload().run(lambda report: threading.get_ident())

    assert anyio.run(main) != threading.get_ident()


def test_an_error_comes_back_as_itself() -> None:
    def work(report: Report) -> None:
        raise NotFound("There is no such thing.")

    with pytest.raises(NotFound, match="no such thing"):
        anyio.run(lambda: Offload().run(work))


def test_the_loop_goes_on_while_work_blocks() -> None:
    async def main() -> bool:
        free = threading.Event()

        async def let_go() -> None:
            free.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(let_go)
            return await Offload().run(lambda report: free.wait(PATIENCE_S))

    assert anyio.run(main)


def test_no_more_threads_run_than_allowed() -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def work(report: Report) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.005)
        with lock:
            running -= 1

    async def main() -> None:
        offload = Offload(threads_max=3)
        async with anyio.create_task_group() as tasks:
            for _ in range(30):
                tasks.start_soon(offload.run, work)

    anyio.run(main)
    assert 1 < most <= 3


def test_progress_comes_back_in_order_and_ends_with_the_last_step() -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def send(done: float, total: float | None, note: str | None) -> None:
        heard.append((done, total, note))

    def work(report: Report) -> None:
        for step in range(1, 1001):
            report(step, 1000, "steps")

    anyio.run(lambda: Offload().run(work, send=send))
    assert heard[0] == (1, 1000, "steps") and heard[-1] == (1000, 1000, "steps")
    assert len(heard) < 100


def _cancelled_after(begun: threading.Event, work: Callable[[Report], None]) -> None:
    async def main() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(Offload().run, work)
                while not begun.is_set():
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

    anyio.run(main)


def test_cancelled_work_hears_it_at_its_next_report_and_is_waited_for() -> None:
    begun = threading.Event()
    ended: list[str] = []

    def work(report: Report) -> None:
        until = time.monotonic() + PATIENCE_S / 2
        try:
            while time.monotonic() < until:
                report(1, None, "")
                begun.set()
        except CallCancelled:
            ended.append("heard")
            raise

    _cancelled_after(begun, work)
    assert ended == ["heard"]


def test_work_that_never_reports_is_finished_not_abandoned() -> None:
    begun = threading.Event()
    written: list[str] = []

    def work(report: Report) -> None:
        begun.set()
        threading.Event().wait(0.05)
        written.append("whole")

    _cancelled_after(begun, work)
    assert written == ["whole"]


def test_a_caller_who_cannot_be_told_is_as_good_as_gone() -> None:
    begun = threading.Event()
    ended: list[str] = []

    async def never(done: float, total: float | None, note: str | None) -> None:
        begun.set()
        await anyio.sleep_forever()

    def work(report: Report) -> None:
        try:
            report(1, None, "")
        except CallCancelled:
            ended.append("heard")
            raise

    async def main() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: Offload().run(work, send=never))
                while not begun.is_set():
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

    anyio.run(main)
    assert ended == ["heard"]
