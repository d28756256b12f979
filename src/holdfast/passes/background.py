"""Runs passes that are due in a thread, in programs that use the library without a worker. A server
has its own worker (`edges.worker`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.passes import schedule

if TYPE_CHECKING:
    from holdfast.engine.core import Core


# Passes run every few hours, so checking after each turn would find nothing.
_EVERY = timedelta(minutes=1)
# Longer than a write takes. A model's answer is not waited for; its run is taken over later.
_STOP_S = 5.0


class Due:
    """Runs what is due, once for each start."""

    def __init__(self, core: Core, open_hub: Callable[[str], Any]) -> None:
        self._core = core
        self._open_hub = open_hub
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._looked: datetime | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        now = self._core.now()
        with self._lock:
            busy = self._thread is not None and self._thread.is_alive()
            fresh = self._looked is not None and now - self._looked < _EVERY
            if self._stop.is_set() or busy or fresh:
                return
            self._looked = now
            self._thread = threading.Thread(target=self._run, name="holdfast-due", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            schedule.run_due(self._core, self._open_hub, stop=self._stop.is_set)
        except (HoldfastError, OSError) as error:
            if not self._stop.is_set():
                import logging

                logging.getLogger("holdfast.worker").warning("no pass is run now: %s", error)

    def stop(self) -> None:
        self._stop.set()
        self._join(_STOP_S)

    def wait(self) -> None:
        self._join(None)

    def _join(self, seconds: float | None) -> None:
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
