"""Commands for upkeep: the lifecycle, statistics, missing embeddings, the use of language models,
the scan for secrets, and background work (jobs and scheduled passes), run once or until stopped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from holdfast.api.hub import HubMemory
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import YES, Commands, Namespace, switch
from holdfast.edges.cli.output import counted
from holdfast.errors import EmbedderError, InvalidInput

if TYPE_CHECKING:
    from datetime import datetime
    from subprocess import Popen

    from holdfast.edges.cli.call import Call
    from holdfast.engine.jobs import Job
    from holdfast.engine.upkeep.secret_scan import Secret


COMMANDS = Commands()


_LIFECYCLE = Flags(
    HubMemory.lifecycle,
    category=flag(about="only what is of this category"),
    dry_run=flag(about="only say what would move and why"),
)


@COMMANDS.add("lifecycle", "holdfast lifecycle --dry-run", _LIFECYCLE)
def _lifecycle(call: Call, args: Namespace) -> None:
    """Cool and archive memories that are due by the rules.

    In a pipe, a line per memory: number, its new state, why, title."""
    # Otherwise the automatic run after the command would apply what a dry run has only listed.
    call.upkeep = False
    moves = _LIFECYCLE.run(call, args)
    data = {"dry_run": args.dry_run, "change": moves.change, "moves": moves}
    rows = [(f"#{move.memory.number}", move.to, move.reason, move.memory.title) for move in moves]
    if call.out.rows(("#", "to", "why", "title"), rows, data=data, empty="Nothing is due."):
        undo = f"To take it back: `holdfast undo {moves.change}`."
        call.out.note("This was a dry run: nothing has moved." if args.dry_run else undo)


COMMANDS.prints(
    "stats",
    "holdfast stats",
    Flags(HubMemory.statistics),
    text="""Count what is in the hub.

    In a pipe, a line per count: what, how many.""",
    lifecycle_at="last lifecycle run",
)


@COMMANDS.add("embed", "holdfast embed")
def _embed(call: Call, args: Namespace) -> None:
    """Make the missing vectors; continues after an interruption.

    In a pipe: embedded, how many passages, the model."""
    from holdfast.api.checkup import embedding_model

    embedder = call.local.core.embedder
    if embedder is None:
        raise EmbedderError(
            "There is no embedding model.", hint=embedding_model(call.local)["note"]
        )
    with call.out.progress("embed") as step:
        made = call.local.embed_missing(step)
    call.out.answer(
        {"model": embedder.identity, "passages": made},
        f"Made the vectors of {counted(made, 'passage')} with {embedder.identity}.",
        "embedded",
        str(made),
        embedder.identity,
    )


_HEADINGS = ("hub", "day", "pass", "model", "requests", "failed", "tokens in", "tokens out")


_USAGE = Flags(HubMemory.usage, days=flag(about="of the last N days (30)"))


@COMMANDS.add(
    "usage",
    "holdfast usage --days 7",
    _USAGE,
    switch("--all", "of every hub, not only the one in use"),
)
def _usage(call: Call, args: Namespace) -> None:
    """Show what language models cost, by day, pass and model.

    Requests and tokens, as counted by the model's server, or else estimated.
    `llm.tokens_per_day` sets a limit for a day. In a pipe, a line each: hub, day, pass,
    model, requests, failed, tokens in, tokens out."""
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()] if args.all else [call.hub]
    found = [(hub.name, row) for hub in hubs for row in hub.usage(**_USAGE.values(call, args))]
    found.sort(key=lambda one: one[1].day, reverse=True)
    data = [{"hub": name, **row._asdict(), "day": row.day.isoformat()} for name, row in found]
    rows = [[str(field) for field in one.values()] for one in data]
    none = "No language model was asked in that time."
    if call.out.rows(_HEADINGS, rows, data=data, empty=none):
        total = sum(row.tokens_in + row.tokens_out for _, row in found)
        call.out.note(f"{total:,} tokens in all. Days are those of UTC.")


# The opposite of grep: for a script that wants no secrets, finding some is the failure.
FOUND = 1

_Found: TypeAlias = "tuple[str, Secret]"  # (hub, secret)


@COMMANDS.add(
    "scan",
    "holdfast scan --fix",
    switch("--fix", "replace them, in old versions too"),
    switch("--attachments", "with --fix, remove attached files that hold some"),
    switch("--all", "in every hub, not only the one in use"),
    YES,
)
def _scan(call: Call, args: Namespace) -> int:
    """Find secrets in memories, history, log and files; replace them.

    Says where, of which kind and how many, never the secrets themselves. --fix replaces
    each by a placeholder, in old versions and the log too, and cannot be undone. Attached
    files are searched too; --fix --attachments deletes those with secrets, and their
    memories stay. Files that cannot be searched, such as pictures, are noted. The exit code
    is 1 if secrets remain. In a pipe, a line each: hub, where, kind, how many."""
    if call.server:
        raise InvalidInput(
            "Secrets are looked for on the machine that has the memory.", hint="Run it there."
        )
    if args.attachments and not args.fix:
        raise InvalidInput(
            "--attachments removes files, so it needs --fix.", hint="Without it, they are named."
        )
    hubs = [call.memory.hub(hub.name) for hub in call.memory.hubs()] if args.all else [call.hub]
    found, notes = _find(call, hubs)
    fixable = sum(one.times for _, one in found if one.fixable)
    attached = {(hub, one.where) for hub, one in found if one.attached}
    files = len(attached) if args.attachments else 0
    if args.fix and (fixable or files):
        call.confirm(_question(fixable, files))
        changed: list[str] = []
        for hub in hubs:
            with call.out.progress("replace") as step:
                changed += hub.redact_secrets(step, attachments=args.attachments)
        found, notes = _find(call, hubs)
        _show_secrets(call, found, changed + notes, replaced=fixable, removed=files)
    else:
        _show_secrets(call, found, notes, replaced=0, removed=0)
    return FOUND if found else 0


def _find(call: Call, hubs: list[HubMemory]) -> tuple[list[_Found], list[str]]:
    """The secrets found in each hub, and the files that could not be searched."""
    found: list[_Found] = []
    notes: list[str] = []
    for hub in hubs:
        with call.out.progress("scan") as step:
            found += [(hub.name, one) for one in hub.find_secrets(step, note=notes.append)]
    return found, notes


def _question(fixable: int, files: int) -> str:
    removed = f"{counted(files, 'attached file')}"
    replaced = f"Replace {counted(fixable, 'secret')}, also in old versions"
    if not files:
        return f"{replaced}, for good?"
    if not fixable:
        return f"Remove {removed} for good? No undo brings them back; their memories stay."
    return f"{replaced}, and remove {removed}, for good? No undo brings them back."


def _show_secrets(
    call: Call, found: list[_Found], notes: list[str], *, replaced: int, removed: int
) -> None:
    if call.out.json:
        left = [{"hub": name, **one._asdict()} for name, one in found]
        plain = {"replaced": replaced, "removed": removed, "left": left, "notes": notes}
        call.out.value(plain)
        return
    rows = [(name, one.where, one.kind, str(one.times)) for name, one in found]
    if rows:
        call.out.table(("hub", "where", "kind", "how many"), rows)
    call.out.notes(notes)
    if replaced:
        call.out.note(f"{counted(replaced, 'secret')} replaced. Change them where they are used.")
    if removed:
        call.out.note(f"{counted(removed, 'attached file')} removed, which cannot be undone.")
    if not found and not replaced and not removed:
        elsewhere = " in what was looked at" if notes else ""
        call.out.note(f"No secrets were found{elsewhere}.")
    if any(one.fixable for _, one in found):
        call.out.note("To replace them by placeholders: `holdfast scan --fix`.")
    if any(one.attached for _, one in found):
        call.out.note(
            "Attached files are not changed. To remove those that hold secrets, for good:"
            " `holdfast scan --fix --attachments`."
        )
    if any(not one.fixable and not one.attached for _, one in found):
        call.out.note("Files of your own are not changed: edit or remove those yourself.")


# Kept because Python warns when the object of a running process is garbage collected.
started: list[Popen[bytes]] = []


# DETACHED_PROCESS on Windows; elsewhere the new session detaches it.
DETACHED = 0x00000008 if sys.platform == "win32" else 0


def start(where: str | None, hub_ids: Sequence[str]) -> None:
    """Starts the process, detached from the terminal, without waiting for it. If it cannot be
    started, the lifecycle becomes due again later."""
    import subprocess

    words = [sys.executable, "-m", "holdfast.edges.cli.upkeep", where or "", *hub_ids]
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


@COMMANDS.add("work", "holdfast work", switch("--watch", "go on until it is interrupted"))
def _work(call: Call, args: Namespace) -> None:
    """Run background jobs once: read pushed files and pages, capture turns, run passes.

    A server does this by itself. Each file is read in a process with limits; one that
    cannot be read can still be found by its title, with the reason. Facts from observed
    turns are written to the journal. Passes that are switched on run if they are due."""
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
    _note_undone(call, begun)
    call.embed_left()


def _note_undone(call: Call, begun: datetime) -> None:
    """Says which work was not done, so that a count of jobs is not read as success."""
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
        # In short waits: on some systems a signal does not interrupt an endless wait.
        while not stop.wait(1.0):
            pass


@COMMANDS.add("jobs", "holdfast jobs --all", switch("--all", "those that are done, too"))
def _jobs(call: Call, args: Namespace) -> None:
    """List jobs that are waiting, running or failed.

    In a pipe, a line per job: id, work, about, state, attempts, how far, since when, reason."""
    from holdfast.edges.to_json import job_to_json

    found = [job for job in call.hub.jobs(limit=1_000) if args.all or job.state != "done"]
    data = [{**job_to_json(job), "about": _about(job)} for job in found] if call.out.json else None
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
        # A reason is a sentence, too long for a table on a terminal.
        call.out.table(heads[:-1], [row[:-1] for row in rows])
        for job in found:
            if job.reason:
                call.out.line(f"{job.id}: {job.reason}")
    else:
        call.out.rows(heads, rows, data=data, empty="There is nothing to do.")
    if not call.out.json:
        _note_left_out(call)


def _note_left_out(call: Call) -> None:
    """Warns if a queue was too short for the turns that came."""
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


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
