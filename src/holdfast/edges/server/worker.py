"""Threads of a server: workers that run jobs as they come and passes when they are due (also for
`holdfast work --watch`), and the watcher that syncs files as soon as people save them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.engine import jobs
from holdfast.errors import HoldfastError
from holdfast.extract import run
from holdfast.passes import schedule
from holdfast.passes.work import JobWorker

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast


_log = logging.getLogger("holdfast.worker")
_watcher_log = logging.getLogger("holdfast.watcher")

# A check takes less than a millisecond, and a file may wait half a second to be read.
_EVERY_S = 0.5
# A pass comes every few hours.
_SCHEDULE_S = 60.0
# A store that is busy or full is not asked twice a second.
_AFTER_TROUBLE_S = 5.0
# Longer than it takes to end a process and to put its job back, or to sync a large file.
_STOP_S = 10.0


class Worker:
    """Works from `start` until `stop`; use it in a `with` block. A job that is being worked on when
    it stops is put back, and goes on wherever a worker is next. `allowed` is for tests."""

    def __init__(self, memory: Holdfast, *, allowed: tuple[str, ...] = ()) -> None:
        self._memory = memory
        self._allowed = allowed
        self._stop = threading.Event()
        self._hands: list[JobWorker] = []
        # A model that hangs keeps no file waiting, nor the other way round.
        readers = memory.core.settings["extract.workers"]
        self._threads = [
            self._thread(f"reader-{n}", self._looks_for(jobs.EXTRACT, tidies=n == 0))
            for n in range(readers)
        ]
        self._threads.append(self._thread("journaler", self._looks_for(jobs.JOURNAL)))
        self._threads.append(self._thread("passes", self._run_due))

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._memory.core.set_has_worker(True)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_STOP_S)
        for hand in self._hands:
            # A thread that still waits for a model writes nothing when the answer comes.
            hand.let_go()
        self._memory.core.set_has_worker(False)

    def _thread(self, name: str, look: Callable[[], float]) -> threading.Thread:
        return threading.Thread(
            target=self._work, name=f"holdfast-{name}", args=(look,), daemon=True
        )

    def _looks_for(self, work: str, *, tidies: bool = False) -> Callable[[], float]:
        """A function that does one piece of work of this kind, where there is any, and returns the
        seconds to pause after it."""
        core, home, stop = self._memory.core, self._memory.home, self._stop.is_set
        hand = JobWorker(core, work, home, allowed=self._allowed, stop=stop)
        self._hands.append(hand)
        untidy = [tidies]

        def look() -> float:
            if untidy[0]:
                # One of them is enough for that.
                run.tidy(core, home)
                untidy[0] = False
            return _EVERY_S if hand.work_on_next() is None else 0.0

        return look

    def _run_due(self) -> float:
        schedule.run_due(self._memory.core, self._memory.hub, stop=self._stop.is_set)
        return _SCHEDULE_S

    def _work(self, look: Callable[[], float]) -> None:
        while not self._stop.is_set():
            try:
                pause_s = look()
            except (HoldfastError, OSError) as error:
                _log.warning("work on a job failed and is tried again: %s", error)
                pause_s = _AFTER_TROUBLE_S
            except Exception:  # noqa: BLE001  # the last stop of this thread
                # A worker that ended would leave every later file unread, and nobody would know.
                _log.exception("work on a job failed")
                pause_s = _AFTER_TROUBLE_S
            self._stop.wait(pause_s)


class Watcher:
    """Watches from the beginning of a `with` block to its end."""

    def __init__(self, memory: Holdfast) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="holdfast-watcher", daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(_STOP_S)

    def _watch(self) -> None:
        from holdfast.files.folder_walk import watch_hubs

        try:
            for names in watch_hubs(self._memory.home, stop=self._stop):
                for name in sorted(names):
                    self._read_edits(name)
        except (HoldfastError, OSError) as error:
            _watcher_log.warning(
                "files are not watched; edits are taken in by the next request: %s", error
            )

    def _read_edits(self, name: str) -> None:
        try:
            hub = self._memory.hub(name)
            # Like every operation it takes in first what was edited; it makes no files itself.
            hub.conflicts()
            if os.path.isdir(os.path.join(hub.folder, "files")):
                hub.index_files()
        except (HoldfastError, OSError) as error:
            _watcher_log.warning("%s: what was saved is not taken in yet: %s", name, error)
            return
        for note in hub.notes:
            _watcher_log.info("%s: %s", name, note)
