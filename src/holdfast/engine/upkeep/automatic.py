"""Automatic upkeep in programs without a worker: when the lifecycle last ran in a hub, whether it
is due, and running it after the program has its results.

Hubs that are used are noted. Their lifecycle runs when the memory is closed, or in a thread: an
hour after the memory was opened and every hour from then on, or earlier where an edge asks for it.
A command starts a process of its own instead (see `edges.cli.upkeep`). What fails is tried again
later, and is never an error of the operation before it. Every command loads this module, so it
imports next to nothing.
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
# A run takes seconds. One that has not finished after this has died, and another may try.
RETRY_AFTER = timedelta(hours=1)


class LifecycleRun(NamedTuple):
    """A finished run: how many memories it moved, and the change set, if it moved any."""

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
    """Records a finished run; it is due again a day later."""
    body = {"moved": run.moved, "change": run.change}
    with core.store.write(hub=hub_id) as writer:
        if writer.hub_by_id(hub_id) is not None:
            writer.put_record(Record(hub_id, _KIND, _DONE, run.at, body))


def is_due(core: Core, reader: Reader, hub_id: str) -> bool:
    """Whether an automatic run is due: none has finished for a day, and none is under way. In a
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
    """Claims the automatic run that is due. Of several processes one gets it; where that one dies,
    the run can be claimed again after `RETRY_AFTER`. A store that does not answer the question
    whether one is due is waited for until the deadline."""
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
# The rules count in days, so looking more often would find nothing.
_LOOK_EVERY_S = 3600.0
# A pause, so that the last answer is sent before the thread takes processor time.
_PAUSE_S = 1.0
# Closing a memory takes no longer than about this. What is left over runs the next time.
_CLOSE_S = 5.0
# A program that ends does not wait for a server that is gone. The read takes milliseconds.
_CLOSE_READ_S = 1.0


def upkeep_of(core: Core) -> Upkeep:
    """The upkeep of an open store."""
    found: Upkeep | None = core.resources.get(_RESOURCE)
    return found or core.resources.setdefault(_RESOURCE, Upkeep())


def note_use(hub: Any) -> None:
    """Notes that a hub (a HubMemory) was used, where the upkeep is done in this process."""
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
        """Checks now, in a thread, unless it did so before; for programs that run long and may be
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
        """Claims what is due in the hubs that were used, for a caller that runs it elsewhere, and
        forgets about them. Returns the ids of the hubs."""
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
    """Runs the lifecycle if it is due. False where the store cannot be reached, so that the other
    hubs need not be tried."""
    try:
        if claim(hub.core, hub.id, deadline_s=deadline_s):
            hub._lifecycle_automatically()
    except (StoreReadOnly, StoreClosed, NotFound):
        # Nothing can be written here, or the hub is gone.
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
