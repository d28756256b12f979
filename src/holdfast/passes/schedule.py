"""Passes that run automatically in each hub: which there are, when they are due, and that one of a
kind runs at a time.

A run is recorded in the store, so that all processes that use it agree on when the last one was and
on who is running it (see `engine.jobs.singleton`). A server or `holdfast work` asks what is due; in
a program that uses the library without a worker, `Background` runs it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.engine.jobs import singleton
from holdfast.engine.upkeep import automatic
from holdfast.errors import HoldfastError
from holdfast.passes import logger

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.engine.jobs.singleton import Singleton
    from holdfast.settings import Settings
    from holdfast.store.base import Reader


# Modules that have a PERIODIC; imported when a worker first asks.
MODULES: tuple[str, ...] = ("holdfast.passes.consolidation.run", "holdfast.passes.schedule")
# When a pass was last begun by itself is noted apart: one that had nothing to do, or failed, notes
# nothing of its own.
_BY_ITSELF = "by itself"
# Longer than any run. One that died is followed by the next after this, or at once where the store
# knows that it died.
LASTS = timedelta(minutes=30)


class Periodic(NamedTuple):
    """A pass. `every` says how often, from the settings as they are now; None where it is switched
    off. `run` is given the hub (a HubMemory). A pass that records its runs itself, and makes sure
    that one process runs it, says with `is_due` whether it is due in a hub."""

    name: str
    every: Callable[[Settings], timedelta | None]
    run: Callable[[Any], object]
    is_due: Callable[[Core, Reader, str], bool] | None = None


class Run(NamedTuple):
    """The last run of a pass in a hub; it is still going on, or died, where it has no end."""

    started_at: datetime
    ended_at: datetime | None = None


def registered() -> list[Periodic]:
    """All passes that run by themselves."""
    from importlib import import_module

    return [import_module(name).PERIODIC for name in MODULES]


def last_run(core: Core, hub_id: str, name: str) -> Run | None:
    """When a pass last ran in a hub."""
    with core.store.read() as reader:
        record = reader.record(hub_id, singleton.KIND, name)
    if record is None:
        return None
    ended = record.body["ended_at"]
    return Run(from_text(record.body["started_at"]), from_text(ended) if ended else None)


def taking_turn(
    core: Core, hub_id: str, name: str, *, lasts: timedelta = LASTS, after: timedelta | None = None
) -> AbstractContextManager[Singleton]:
    """The one run of a pass in a hub; false where another is at it, or it is not time yet."""
    return singleton.taking_turn(core, hub_id, name, lasts=lasts, after=after)


def run_due(
    core: Core,
    open_hub: Callable[[str], Any],
    *,
    stop: Callable[[], bool],
    passes: list[Periodic] | None = None,
) -> int:
    """Runs what is due, hub by hub, and returns how many runs that were. Errors are logged, and the
    run is tried again when it is due the next time."""
    core.settings.refresh()
    wanted = [
        (one, every)
        for one in (registered() if passes is None else passes)
        if (every := one.every(core.settings)) is not None
    ]
    if not wanted:
        return 0
    # One look for all hubs: mostly nothing is due, and nobody's turn is taken for that.
    with core.store.read() as reader:
        due = [
            (hub, one, every)
            for hub in reader.hubs()
            for one, every in wanted
            if hub.state == "active" and _is_due(core, reader, hub.id, one, every)
        ]
    done = 0
    for hub, one, every in due:
        if stop():
            return done
        if one.is_due is not None:
            done += _run(one, open_hub, hub.name)
            continue
        last = last_run(core, hub.id, one.name)
        if last is not None and last.started_at + every > core.now():
            # Somebody asked for one meanwhile.
            continue
        with taking_turn(core, hub.id, f"{one.name} {_BY_ITSELF}", after=every) as mine:
            if mine:
                _run(one, open_hub, hub.name)
                done += 1
    return done


def _is_due(core: Core, reader: Reader, hub_id: str, one: Periodic, every: timedelta) -> bool:
    if one.is_due is not None:
        return one.is_due(core, reader, hub_id)
    names = (one.name, f"{one.name} {_BY_ITSELF}")
    records = (reader.record(hub_id, singleton.KIND, noted) for noted in names)
    return not any(
        record is not None and from_text(record.body["started_at"]) + every > core.now()
        for record in records
    )


def _run(one: Periodic, open_hub: Callable[[str], Any], hub: str) -> bool:
    """Runs a pass; returns False where the pass says that there was no run after all."""
    log = logger(f"holdfast.{one.name}")
    try:
        ran = one.run(open_hub(hub)) is not False
        log.debug("%s: %s is done", hub, one.name)
        return ran
    except (HoldfastError, OSError) as error:
        log.warning("%s: %s failed and is tried again later: %s", hub, one.name, error)
        return True


def _every(settings: Settings) -> timedelta | None:
    return automatic.EVERY if settings["lifecycle.automatic"] else None


def run_if_due(hub: Any) -> bool:
    """Runs the lifecycle in a hub (a HubMemory) where it is due; returns whether it did. Expired
    responses of idempotent requests are removed with it."""
    if not automatic.claim(hub.core, hub.id):
        return False
    from holdfast.engine import idempotency

    hub._lifecycle_automatically()
    idempotency.drop_old(hub.core)
    return True


PERIODIC = Periodic("lifecycle", _every, run_if_due, automatic.is_due)


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
            run_due(self._core, self._open_hub, stop=self._stop.is_set)
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
