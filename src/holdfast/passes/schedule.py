"""Schedules the passes that run automatically in each hub: which exist, when they are due, and a
lock so that only one of a kind runs in a hub at a time, over all processes and machines.

Runs are recorded in the store, so that all processes agree on the last and the current one. There
are two mechanisms: the store's lock (`store.alone`) is released at once when its process ends, but
not every store has it; the lease in the record expires, for stores without locks and for a run that
hangs. A run that was replaced because it took too long finds that out when it writes (`require`).

A server or `holdfast work` asks what is due; in a program that uses the library without a worker,
`Due` runs it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.engine.jobs import shared_now
from holdfast.engine.upkeep import automatic
from holdfast.errors import Conflict, HoldfastError
from holdfast.passes import logger
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.settings import Settings
    from holdfast.store.base import Reader, Writer


KIND = "pass"
# Longer than any run. After one that died, the next can begin after this time, or at once if the
# store knows that it died.
LASTS = timedelta(minutes=30)


class Singleton:
    """A scheduled run of a pass, of which one is active at a time in a hub; true if it may
    proceed."""

    def __init__(self, hub_id: str, name: str, lease: str) -> None:
        self.hub_id, self.name, self._lease = hub_id, name, lease

    def __bool__(self) -> bool:
        return bool(self._lease)

    def require(self, writer: Writer) -> None:
        """Raises Conflict if another run has replaced this one; called in the transaction that
        writes."""
        if not self.holds(writer.record(self.hub_id, KIND, self.name)):
            raise Conflict(
                f"Another run of `{self.name}` took the place of this one, which took too long.",
                hint="Nothing was written.",
            )

    def holds(self, record: Record | None) -> bool:
        """Whether the record in the store is this run's."""
        return record is not None and record.body["lease"] == self._lease


@contextmanager
def taking_turn(
    core: Core, hub_id: str, name: str, *, lasts: timedelta = LASTS, after: timedelta | None = None
) -> Iterator[Singleton]:
    """Yields a run that is true if it may proceed: not while another is active, nor within `after`
    of the start of the last one. A run that died is over at once if the store knows that, and in
    any case when its lease expires."""
    knows = Capability.ALONE in core.store.capabilities
    with core.store.alone(name, hub_id) as mine:
        lease = core.ids.next("run")
        now = shared_now(core)
        with core.store.write(hub=hub_id) as writer:
            record = writer.record(hub_id, KIND, name)
            free = _is_free(record, now, lasts, mine=mine, knows=knows)
            if free and record is not None and after is not None:
                free = from_text(record.body["started_at"]) + after <= now
            if free and writer.hub_by_id(hub_id) is None:
                free = False
            if free:
                body = {
                    "started_at": to_text(now),
                    "ended_at": None,
                    "lease": lease,
                    "known": knows and mine,
                }
                writer.put_record(Record(hub_id, KIND, name, now, body))
        run = Singleton(hub_id, name, lease if free else "")
        try:
            yield run
        finally:
            if run:
                _end(core, run)


def _end(core: Core, run: Singleton) -> None:
    """Records the end of a run. The hub may have been removed, and another run may have replaced
    this one."""
    with core.store.write(hub=run.hub_id) as writer:
        record = writer.record(run.hub_id, KIND, run.name)
        if record is not None and run.holds(record):
            body = {**record.body, "ended_at": to_text(shared_now(core))}
            writer.put_record(record._replace(body=body))


def _is_free(
    record: Record | None, now: datetime, lasts: timedelta, *, mine: bool, knows: bool
) -> bool:
    if record is None or record.body["ended_at"] is not None:
        # Without the lock: another run has just begun, and is not recorded yet.
        return mine
    if from_text(record.body["started_at"]) + lasts <= now:
        return True
    # It held the lock that this run holds now, so it is dead. (A run that replaced an overdue one
    # may not have held it.)
    return knows and mine and record.body["known"] is True


# Modules that define a PERIODIC; imported when a worker first needs them.
MODULES: tuple[str, ...] = ("holdfast.passes.consolidation.run", "holdfast.passes.schedule")
# The last automatic start of a pass is recorded separately: a run that had nothing to do, or
# failed, records nothing itself.
_BY_ITSELF = "by itself"


class Periodic(NamedTuple):
    """An automatic pass and how often it runs. `every` returns its interval from the current
    settings; None if it is disabled. `run` is called with the hub (a HubMemory). A pass with its
    own record of runs and its own lock defines `is_due`."""

    name: str
    every: Callable[[Settings], timedelta | None]
    run: Callable[[Any], object]
    is_due: Callable[[Core, Reader, str], bool] | None = None


class Run(NamedTuple):
    """The last run of a pass in a hub; without an end it is in progress, or died."""

    started_at: datetime
    ended_at: datetime | None = None


def registered() -> list[Periodic]:
    """All automatic passes that are scheduled."""
    from importlib import import_module

    return [import_module(name).PERIODIC for name in MODULES]


def last_run(core: Core, hub_id: str, name: str) -> Run | None:
    """When a pass last ran in a hub."""
    with core.store.read() as reader:
        record = reader.record(hub_id, KIND, name)
    if record is None:
        return None
    ended = record.body["ended_at"]
    return Run(from_text(record.body["started_at"]), from_text(ended) if ended else None)


def run_due(
    core: Core,
    open_hub: Callable[[str], Any],
    *,
    stop: Callable[[], bool],
    passes: list[Periodic] | None = None,
) -> int:
    """Runs the due passes, hub by hub, and returns the number of runs. Errors are logged, and the
    pass runs again when it is next due."""
    core.settings.refresh()
    wanted = [
        (one, every)
        for one in (registered() if passes is None else passes)
        if (every := one.every(core.settings)) is not None
    ]
    if not wanted:
        return 0
    # One read for all hubs: usually nothing is due, and no lock is taken for that.
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
            # Somebody started one meanwhile.
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
    records = (reader.record(hub_id, KIND, noted) for noted in names)
    return not any(
        record is not None and from_text(record.body["started_at"]) + every > core.now()
        for record in records
    )


def _run(one: Periodic, open_hub: Callable[[str], Any], hub: str) -> bool:
    """Runs a pass; returns False if the pass says that there was no run after all."""
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
    """Runs the lifecycle in a hub (a HubMemory) if it is due; returns whether it did. Also removes
    expired responses of idempotent requests."""
    if not automatic.claim(hub.core, hub.id):
        return False
    from holdfast.engine import idempotency

    hub._lifecycle_automatically()
    idempotency.drop_old(hub.core)
    return True


PERIODIC = Periodic("lifecycle", _every, run_if_due, automatic.is_due)


# Passes run every few hours, so checking after each turn would find nothing.
_EVERY = timedelta(minutes=1)
# Longer than a write takes. A model's answer is not waited for; another process takes over its run
# later.
_STOP_S = 5.0


class Due:
    """Runs the due passes in a thread, once for each start."""

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
