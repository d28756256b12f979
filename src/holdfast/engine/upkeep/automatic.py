"""Automatic upkeep in programs without a worker process: records when the lifecycle last ran in a
hub, and runs it when it is due, after the program has its results.

The lifecycle of used hubs runs when the store is closed, or in a thread: every hour after the store
was opened, or earlier if an edge asks for it. A command starts a separate process instead (see
`edges.cli.upkeep`). Failures are retried later, and never fail the operation before. Every command
loads this module, so it imports next to nothing.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.domain.records import Record
from holdfast.errors import (
    DeadlineExceeded,
    HoldfastError,
    NotFound,
    ServerUnreachable,
    StoreClosed,
    StoreReadOnly,
)
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader


_KIND = "upkeep"
_DONE = "lifecycle"
_CLAIMED = "lifecycle claimed"
# The rules count in days.
EVERY = timedelta(days=1)
# A run takes seconds. One that has not finished after this is assumed dead, and another may try.
RETRY_AFTER = timedelta(hours=1)


class LifecycleRun(NamedTuple):
    """A finished automatic run of the lifecycle: the number of memories that it moved, and its
    change set, if it moved any."""

    at: datetime
    moved: int = 0
    change: str | None = None


def last_run(reader: Reader, hub_id: str) -> LifecycleRun | None:
    """The last finished run of the lifecycle over a whole hub."""
    record = reader.record(hub_id, _KIND, _DONE)
    if record is None:
        return None
    return LifecycleRun(record.at, record.body.get("moved", 0), record.body.get("change"))


def note_run(core: Core, hub_id: str, run: LifecycleRun) -> None:
    """Records a finished run of the lifecycle; it is due again a day later."""
    body = {"moved": run.moved, "change": run.change}
    with core.store.write(hub=hub_id) as writer:
        if writer.hub_by_id(hub_id) is not None:
            writer.put_record(Record(hub_id, _KIND, _DONE, run.at, body))


def is_due(core: Core, reader: Reader, hub_id: str) -> bool:
    """Whether an automatic run is due: none has finished for a day, and none is in progress. In a
    new hub the first one is due after a day."""
    if not core.settings["lifecycle.automatic"]:
        return False
    hub = reader.hub_by_id(hub_id)
    if hub is None or hub.state != "active":
        return False
    now = core.now()
    last = reader.record(hub_id, _KIND, _DONE)
    if now - (hub.created_at if last is None else last.at) < EVERY:
        return False
    claimed = reader.record(hub_id, _KIND, _CLAIMED)
    return claimed is None or now - claimed.at >= RETRY_AFTER


def claim(core: Core, hub_id: str, *, deadline_s: float | None = None) -> bool:
    """Claims the automatic run that is due. Only one of several processes gets it; if that one
    dies, the run can be claimed again after `RETRY_AFTER`. The check waits for an unreachable store
    until the deadline."""
    with core.store.read(deadline_s=deadline_s) as reader:
        # Usually nothing is due, and a read never waits for a writer.
        if not is_due(core, reader, hub_id):
            return False
    with core.store.write(hub=hub_id) as writer:
        if not is_due(core, writer, hub_id):
            return False
        writer.put_record(Record(hub_id, _KIND, _CLAIMED, core.now(), {}))
    return True


_RESOURCE = ("upkeep",)
# The rules count in days, so checking more often would find nothing.
_LOOK_EVERY_S = 3600.0
# A pause, so that the last reply is sent before the thread takes processor time.
_PAUSE_S = 1.0
# Closing a store takes no longer than about this. The rest runs the next time.
_CLOSE_S = 5.0
# A program that ends does not wait for an unreachable server. The read takes milliseconds.
_CLOSE_READ_S = 1.0


def upkeep_of(core: Core) -> Upkeep:
    """The upkeep of an open store."""
    found: Upkeep | None = core.resources.get(_RESOURCE)
    return found or core.resources.setdefault(_RESOURCE, Upkeep())


def note_use(hub: Any) -> None:
    """Notes that a hub (a HubMemory) was used, if the upkeep is done in this process."""
    upkeep_of(hub.core).note_use(hub)


class Upkeep:
    """The hubs that were used since the store was opened, and the thread that maintains them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hubs: dict[str, Any] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._asked = False
        # Short programs leave it to `close`.
        self._look_at = monotonic() + _LOOK_EVERY_S

    def note_use(self, hub: Any) -> None:
        self._hubs[hub.id] = hub
        if monotonic() >= self._look_at:
            self._start()

    def start(self) -> None:
        """Checks now, in a thread, unless it did so before. For programs that run long and may be
        killed at the end."""
        if not self._asked:
            self._asked = True
            self._start()

    def _start(self) -> None:
        with self._lock:
            busy = self._thread is not None and self._thread.is_alive()
            if busy or self._stop.is_set():
                return
            self._look_at = monotonic() + _LOOK_EVERY_S
            self._thread = threading.Thread(target=self._run, name="holdfast-upkeep", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        if self._stop.wait(_PAUSE_S):
            return
        for hub in [*self._hubs.values()]:
            if self._stop.is_set():
                return
            _run_if_due(hub)

    def claim_due(self) -> list[str]:
        """Claims the due runs of the used hubs, for a caller that runs them elsewhere, and forgets
        those hubs. Returns the ids of the hubs."""
        hubs, self._hubs = self._hubs, {}
        claimed = []
        for hub_id, hub in hubs.items():
            with suppress(HoldfastError, OSError):
                if claim(hub.core, hub_id):
                    claimed.append(hub_id)
        return claimed

    def forget(self) -> None:
        """Forgets which hubs were used, so that nothing runs when the store is closed."""
        self._hubs = {}

    def wait(self) -> None:
        """Waits for the thread."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Ends the thread and runs what is still due, before the store is closed."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)
        ends = monotonic() + _CLOSE_S
        for hub in self._hubs.values():
            if monotonic() > ends or not _run_if_due(hub, deadline_s=_CLOSE_READ_S):
                return


def _run_if_due(hub: Any, *, deadline_s: float | None = None) -> bool:
    """Runs the lifecycle if it is due. Returns False if the store cannot be reached, so that the
    other hubs are skipped."""
    try:
        if claim(hub.core, hub.id, deadline_s=deadline_s):
            hub._lifecycle_automatically()
    except (StoreReadOnly, StoreClosed, NotFound):
        # The store is read-only, or the hub was removed.
        pass
    except (HoldfastError, OSError) as error:
        import logging

        # Without a handler Python would print to standard error, in the middle of a conversation.
        if not logging.getLogger("holdfast").handlers:
            logging.getLogger("holdfast").addHandler(logging.NullHandler())
        log = logging.getLogger("holdfast.lifecycle")
        log.warning("%s: the lifecycle failed and is tried again later: %s", hub.name, error)
        return not isinstance(error, ServerUnreachable | DeadlineExceeded)
    return True
