"""`holdfast work`: runs jobs and passes that are due, once, in the background or until it is
stopped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.edges.cli.command import Commands, Namespace, switch

if TYPE_CHECKING:
    from datetime import datetime
    from subprocess import Popen

    from holdfast.edges.cli.call import Call
    from holdfast.engine.jobs import Job

COMMANDS = Commands()


# Kept so that a process which is still running is not warned about when it is forgotten.
started: list[Popen[bytes]] = []


# DETACHED_PROCESS of Windows; elsewhere the new session does it.
DETACHED = 0x00000008 if sys.platform == "win32" else 0


def start(where: str | None, hub_ids: Sequence[str]) -> None:
    """Starts the process, detached from the terminal, and does not wait for it. Where none can be
    started, the lifecycle is due again later."""
    import subprocess

    words = [sys.executable, "-m", "holdfast.edges.cli.work", where or "", *hub_ids]
    nothing = subprocess.DEVNULL
    with suppress(OSError):
        started.append(
            subprocess.Popen(
                words,
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                start_new_session=True,
                creationflags=DETACHED,
            )
        )


def main(where: str, hub_ids: Sequence[str]) -> None:
    from holdfast.api import memory as library
    from holdfast.api.hub import HubMemory

    with library.open(where or None, settings={"embed.background": False}) as memory:
        with memory.core.store.read() as reader:
            hubs = [reader.hub_by_id(hub_id) for hub_id in hub_ids]
        for hub in hubs:
            if hub is not None:
                HubMemory(memory.core, hub, memory.home)._lifecycle_automatically()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])


@COMMANDS.add("work", "holdfast work", switch("--watch", "go on until it is interrupted"))
def _work(call: Call, args: Namespace) -> None:
    """Do what waits: read files and pages that were pushed, note turns, run passes; and end.

    A server does this by itself. Each file is read in a process with limits; what cannot be
    read stays findable by its title, with the reason. Turns that were observed are noted in
    the journal. Passes that are switched on run where they are due."""
    from holdfast.extract import run
    from holdfast.passes import schedule
    from holdfast.passes.work import work_until_done

    core, home = call.local.core, call.local.home
    begun = core.now()
    if args.watch:
        _watch(call)
        return
    run.tidy(core, home)
    done = work_until_done(core, home)
    passes = schedule.run_due(core, call.memory.hub, stop=lambda: False)
    if call.out.json:
        call.out.value({"jobs": done, "passes": passes}, result="worked")
    elif call.out.terminal:
        call.out.line(f"Worked on {done} job{'' if done == 1 else 's'}.")
    else:
        call.out.row("worked", str(done))
    _tell_undone(call, begun)
    call.embed_left()


def _tell_undone(call: Call, begun: datetime) -> None:
    """Says where work was not done, so that a count of jobs is not read as success."""
    found = [job for hub in call.memory.hubs() for job in call.memory.hub(hub.name).jobs()]
    waiting = [job for job in found if job.state == "waiting"]
    again = sum(job.attempts > 0 for job in waiting)
    # One process at a time works on the jobs of a hub, in order.
    behind = len(waiting) - again
    failed = sum(
        job.state == "failed" and job.ended_at is not None and job.ended_at >= begun
        for job in found
    )
    parts = []
    if failed:
        parts.append(f"{failed} failed")
    if again:
        parts.append(f"{again} {'waits' if again == 1 else 'wait'} for another attempt")
    if behind:
        parts.append(f"{behind} {'waits' if behind == 1 else 'wait'} for another process")
    if parts:
        call.out.note(f"{', '.join(parts)}: `holdfast jobs` says why.")


def _watch(call: Call) -> None:
    import signal
    import threading

    from holdfast.edges.server.listening import guard_log
    from holdfast.edges.server.worker import Worker

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    call.out.note("Working on jobs as they come; Ctrl-C ends it.")
    guard_log()
    with Worker(call.local):
        # In pieces: a wait without end would not hear a signal on every system.
        while not stop.wait(1.0):
            pass


@COMMANDS.add("jobs", "holdfast jobs --all", switch("--all", "those that are done, too"))
def _jobs(call: Call, args: Namespace) -> None:
    """List what waits to be worked on, is being worked on, or could not be.

    In a pipe, a line per job: id, work, about, state, attempts, how far, since when, reason."""
    found = [job for job in call.hub.jobs(limit=1_000) if args.all or job.state != "done"]
    data = [_plain(job) for job in found]
    rows = [
        (
            job.id,
            job.work,
            _about(job),
            job.state,
            str(job.attempts),
            _how_far(job),
            call.out.time(job.at),
            job.reason,
        )
        for job in found
    ]
    heads = ("id", "work", "about", "state", "attempts", "done", "since", "reason")
    if rows and call.out.terminal:
        # A reason is a sentence, for which a table on a screen has no room.
        call.out.table(heads[:-1], [row[:-1] for row in rows])
        for job in found:
            if job.reason:
                call.out.line(f"{job.id}: {job.reason}")
    else:
        call.out.rows(heads, rows, data=data, empty="There is nothing to do.")
    if not call.out.json:
        _tell_left_out(call)


def _tell_left_out(call: Call) -> None:
    """Says where a queue was too short for what came."""
    today = f"{call.local.core.now():%Y-%m-%d}"
    for day in call.hub.captured(days=1):
        count = day.outcomes.get("left out", 0)
        if count and day.day == today:
            were = "turn was" if count == 1 else "turns were"
            call.out.note(f"{count} {were} left out today: the queue was full.")


def _about(job: Job) -> str:
    turns = " ".join(job.about.get("turns", {}).values())
    subject = job.about.get("name") or job.about.get("address") or job.about.get("memory") or turns
    return str(subject or "")


def _how_far(job: Job) -> str:
    if not job.done:
        return ""
    return str(job.done) if job.total is None else f"{job.done} of {job.total}"


def _plain(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "work": job.work,
        "memory": job.about.get("memory"),
        "about": _about(job),
        "state": job.state,
        "attempts": job.attempts,
        "done": job.done,
        "total": job.total,
        "reason": job.reason,
        "created_at": job.at.isoformat(),
        "ended_at": None if job.ended_at is None else job.ended_at.isoformat(),
    }
