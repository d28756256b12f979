"""Runs jobs: the runner of each kind, and running all that are due, or each as it comes, in a
thread. A hub's files are synced around the writes of a pass: edits are read before, files are
written after. `edges.server.worker` runs jobs in a server."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from typing import TYPE_CHECKING

from holdfast.engine import jobs
from holdfast.engine.core import Scope
from holdfast.engine.jobs import Runner, work_on_next
from holdfast.engine.quiet import Quiet
from holdfast.errors import HoldfastError, StoreClosed
from holdfast.files import hub_path, is_kept_in_files
from holdfast.passes import logger
from holdfast.store.values import Capability
from holdfast.system.atomic_file import make_folder

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core
    from holdfast.engine.jobs import Job


@contextmanager
def synced_files(
    core: Core, home: str, hub: Hub, days: Iterable[date], *, make: bool = False
) -> Iterator[None]:
    """Wraps a write to the journals of these days, and perhaps to MEMORY.md. For a hub without
    files it only checks the folder; with `make`, the files are created."""
    folder = hub_path(home, hub.name)
    notes: list[str] = []
    if make:
        with _noted(notes):
            make_folder(folder)
    if not is_kept_in_files(home, hub.name):
        yield
        _log_notes(hub.name, notes)
        return
    from holdfast.files import journal
    from holdfast.files.file_sync import FileSync
    from holdfast.files.journal.changes import JournalChanges
    from holdfast.files.journal.entries import JournalFolder

    # Files belong to the hub: they are synced with the permissions of its owner, and contain what
    # the store does.
    owner = core.acting(hub.owner, sees_all=True)
    scope = Scope(owner, hub.id, hub.name)
    sync = FileSync(scope, os.path.join(folder, "MEMORY.md"))
    place = JournalFolder(scope, folder, JournalChanges())
    with _noted(notes):
        sync.before()
        journal.apply_edits(place, place.changes.changed(owner, hub.id, folder))
        if sync.decisions():
            notes += journal.follow(place)
    yield
    for day in sorted(set(days)):
        with _noted(notes):
            notes += journal.sync_day(place, day)
    with _noted(notes):
        sync.after()
        # A pass may have held uncertain proposals for review.
        sync.waiting()
    _log_notes(hub.name, [*notes, *sync.notes, *place.changes.notes])


def makes_journals(core: Core) -> bool:
    """Whether journals are created as files in a hub with automatic memory. A store that several
    machines use has its files in one folder, which a person chooses."""
    settings = core.settings
    alone = Capability.MACHINES not in core.store.capabilities
    return bool(settings["shadowJournal.enabled"] and settings["shadowJournal.files"] and alone)


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    try:
        yield
    except (HoldfastError, OSError) as error:
        notes.append(str(error))


def _log_notes(hub: str, notes: list[str]) -> None:
    for note in notes:
        logger("holdfast.passes").info("%s: %s", hub, note)


# Each kind has a thread of its own: a model that hangs must not delay the reading of files.
WORKS = (jobs.EXTRACT, jobs.JOURNAL)
# Longer than any step except a model's answer; a program that ends does not wait for that.
STOP_S = 5.0
# When the store is closed, delayed work is done for at most this long.
_CLOSE_S = 1.0
# The delay before the retry of a failed job, and the longest wait for a retry.
_RETRY_S = 15.0
_RETRY_SOON = timedelta(minutes=2)


def _never() -> bool:
    return False


def runner_of(
    work: str, home: str, *, allowed: tuple[str, ...] = (), stop: Callable[[], bool] = _never
) -> Runner:
    """The runner of each kind of work."""
    if work == jobs.EXTRACT:
        from holdfast.extract import run

        return run.runner(home, allowed=allowed, stop=stop)
    from holdfast.passes import journaler

    return journaler.runner(home, stop=stop)


class JobWorker:
    """Runs jobs of one kind, one after the other, and can release the current one. An unexpected
    error is logged, and the job is retried."""

    def __init__(
        self,
        core: Core,
        work: str,
        home: str,
        *,
        allowed: tuple[str, ...] = (),
        stop: Callable[[], bool] = _never,
    ) -> None:
        self._core = core.acting(sees_all=True)
        # Created on first use, so that enqueueing a job does not load the code that runs it.
        self._make: Callable[[], Runner] = lambda: runner_of(work, home, allowed=allowed, stop=stop)
        self._made: Runner | None = None
        self._lock = threading.Lock()
        self._job: Job | None = None
        # Hubs take turns; the next search begins after this one.
        self._hub_id = ""

    @property
    def _runner(self) -> Runner:
        if self._made is None:
            self._made = self._make()
        return self._made

    def work_on_next(self) -> Job | None:
        """Runs the next job and returns it, also if it failed; None if none is due."""
        held: list[Job] = []

        def holds(job: Job | None) -> None:
            with self._lock:
                self._job = job
            if job is not None:
                held.append(job)
                self._hub_id = job.hub_id

        try:
            return work_on_next(self._core, self._runner, holds=holds, after=self._hub_id)
        # A job may raise anything; that is logged, the job is retried, and the next one runs.
        except Exception as error:
            if not held or self._runner.failed is None:
                raise
            self._note(held[0], error)
            return held[0]

    def _note(self, job: Job, error: Exception) -> None:
        if isinstance(error, StoreClosed):
            # The thread that closed the store has put the job back.
            return
        log = logger("holdfast.worker")
        if isinstance(error, (HoldfastError, OSError)):
            reason = str(error)
            log.warning("work on a job failed and is tried again: %s", reason)
        else:
            reason = f"an error of our own: {type(error).__name__}"
            log.error("work on a job failed", exc_info=error)
        assert self._runner.failed is not None, "it was asked before"
        # Another worker took it over, or the store cannot be written: its lease expires.
        with suppress(HoldfastError):
            self._runner.failed(self._core, job, reason)

    def let_go(self) -> None:
        """Releases the current job, from another thread; its worker then writes nothing more."""
        with self._lock:
            job = self._job
        if job is not None:
            # It has just ended, or another worker has it.
            with suppress(HoldfastError):
                jobs.put_back(self._core, job)


def work_until_done(
    core: Core, home: str, *, works: tuple[str, ...] = WORKS, allowed: tuple[str, ...] = ()
) -> int:
    """Runs all due jobs; returns how many."""
    done = 0
    for work in works:
        worker = JobWorker(core, work, home, allowed=allowed)
        while worker.work_on_next() is not None:
            done += 1
    return done


class Shadow:
    """Runs the journaler in a background thread of a program that uses the library. The thread ends
    when nothing is left to do, and the next turn starts it again. A turn is processed in a quiet
    moment, at the latest after some seconds, or when the queue is half full."""

    def __init__(self, core: Core, home: str) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._stop, self._wake, self._idle = (threading.Event() for _ in range(3))
        self._idle.set()
        self._thread: threading.Thread | None = None
        self._quiet = Quiet(core)
        self._waiting = 0
        self._worker = JobWorker(core, jobs.JOURNAL, home, stop=self._stop.is_set)

    def start(self) -> None:
        """Starts the thread, or makes it check again, unless it was stopped permanently."""
        with self._lock:
            if self._stop.is_set():
                return
            self._idle.clear()
            self._quiet.asked()
            self._waiting += 1
            if 2 * self._waiting >= self._core.settings["shadowJournal.queueMax"]:
                self._quiet.hurry()
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="holdfast-journaler", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.clear()
            self._work()
            with self._lock:
                if not self._wake.is_set():
                    self._quiet.done()
                    self._waiting = 0
                if self._stop.is_set() or not (self._wake.is_set() or self._is_more_to_come()):
                    self._thread = None
                    self._idle.set()
                    return
                if not self._wake.is_set():
                    self._idle.set()
            # A new turn, or the end, wakes it at once.
            self._wake.wait(_RETRY_S)

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                self._quiet.wait()
                if self._stop.is_set() or self._worker.work_on_next() is None:
                    return
        except Exception as error:  # noqa: BLE001  # the last stop of this thread
            # So that nobody waits for ever. The turn is in the store, and is processed with the
            # next one.
            if not self._stop.is_set():
                logger("holdfast.worker").warning("nothing is noted now: %r", error)

    def _is_more_to_come(self) -> bool:
        """Whether a turn waits for a retry soon."""
        with suppress(HoldfastError):
            return jobs.is_due(self._core, (jobs.JOURNAL,), within=_RETRY_SOON)
        return False

    def stop(self) -> None:
        """Stops soon and permanently: another process continues unfinished work."""
        if self._quiet.hurry():
            self._idle.wait(_CLOSE_S)
        self._stop.set()
        self._quiet.hurry()
        self._wake.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(STOP_S)
            if thread.is_alive():
                self._worker.let_go()

    def wait(self) -> None:
        """Waits until there is nothing to do."""
        self._quiet.hurry()
        self._idle.wait()
