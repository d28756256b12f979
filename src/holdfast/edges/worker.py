"""The worker: threads that work on jobs as they come, in a server or for `holdfast work --watch`.
What a job needs is read in processes of its own; this only waits, and starts the next one."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.extract import run

if TYPE_CHECKING:
    from holdfast.library import Holdfast

_log = logging.getLogger("holdfast.worker")

# A look costs less than a millisecond, and nobody notices half a second before a file is read.
_EVERY_S = 0.5
# A store that is busy or full is not asked twice a second.
_AFTER_TROUBLE_S = 5.0
# Longer than it takes to end a process and to put its job back.
_STOP_S = 10.0


class Worker:
    """Works from `start` until `stop`; use it in a `with` block. A job that is being worked on when
    it stops is put back, and goes on wherever a worker is next. `allowed` is for tests."""

    def __init__(self, memory: Holdfast, *, allowed: tuple[str, ...] = ()) -> None:
        self._memory = memory
        self._allowed = allowed
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name=f"holdfast-worker-{n}", args=(n,), daemon=True)
            for n in range(memory.core.settings["extract.workers"])
        ]

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_STOP_S)

    def _work(self, number: int) -> None:
        core, home = self._memory.core, self._memory.home
        # One of them is enough for that.
        tidied = number > 0
        while not self._stop.is_set():
            pause_s = 0.0
            try:
                if not tidied:
                    run.tidy(core, home)
                    tidied = True
                allowed, stop = self._allowed, self._stop.is_set
                if run.work_on_next(core, home, allowed=allowed, stop=stop) is None:
                    pause_s = _EVERY_S
            except (HoldfastError, OSError) as error:
                _log.warning("work on a job failed and is tried again: %s", error)
                pause_s = _AFTER_TROUBLE_S
            except Exception:  # noqa: BLE001  # the last stop of this thread
                # A worker that ended would leave every later file unread, and nobody would know.
                _log.exception("work on a job failed")
                pause_s = _AFTER_TROUBLE_S
            self._stop.wait(pause_s)
