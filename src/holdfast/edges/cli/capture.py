"""Commands for automatic capture (observe, flush, captured), for journals, and for consolidation of
journals into long-term memory."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.clock import to_text
from holdfast.domain.results import MODES
from holdfast.edges.cli.bind import Flags, flag, text_of
from holdfast.edges.cli.command import Commands, Namespace, option, switch
from holdfast.edges.cli.output import counted, pasteable, short
from holdfast.errors import AlreadyExists, InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.results import CapturedDay, Flushed, Noted, Observed
    from holdfast.edges.cli.call import Call
    from holdfast.files.journal import Day, Days
    from holdfast.passes.consolidation import Consolidated, Plan, Step


COMMANDS = Commands()

# The fields of a turn, as options and in a line of JSON.
_FIELDS = ("user", "assistant", "mode", "session", "source", "at")

_OBSERVE = Flags(
    HubMemory.observe_turn,
    only=_FIELDS,
    user=flag("--user", metavar="TEXT", about="the same, as an option"),
    assistant=flag("--assistant", metavar="TEXT", about="what was answered"),
    mode=flag(about=", ".join(MODES)),
    session=flag(about="the conversation it belongs to"),
    source=flag(metavar="NAME", about="where: telegram, tui"),
)


# observe


@COMMANDS.add(
    "observe",
    'holdfast observe --user "I moved to Lisbon" --assistant "Nice." --session s1',
    option("words", "WORD", "what the user said", nargs="*"),
    _OBSERVE,
    option("--from", "FILE", "turns as JSON lines; - reads", dest="file"),
    switch("--work", "start a process that notes it, where no server does"),
    makes_hub=True,
)
def _observe(call: Call, args: Namespace) -> None:
    """Log a turn of a conversation, and capture facts from it where that is switched on.

    With shadowJournal.enabled it is put into a queue; a server, `holdfast work` or --work
    writes its facts to the journal later, in the background. Turns of the modes cron,
    heartbeat and consolidation are only logged. --from - reads JSON lines with the fields
    user, assistant, mode, session, source and at.
    In a pipe: queued, logged or skipped, ids, why."""
    turns = list(_lines(call, args)) if args.file else [_turn(call, args)]
    if not call.server:
        # This process ends at once, so the turn waits for a worker.
        call.local.core.set_has_worker(True)
    seen = [call.hub.observe_turn(**turn) for turn in turns]
    if args.work and not call.server and any(one.queued for one in seen):
        _start_work(call)
    if call.out.json:
        plain = [_plain_observed(one) for one in seen]
        call.out.value(plain if args.file else plain[0])
        return
    for one in seen:
        if not call.out.terminal:
            ids = " ".join(turn.id for turn in one.turns)
            word = "queued" if one.queued else "logged" if one.turns else "skipped"
            call.out.row(word, ids, one.reason)
        elif one.queued:
            call.out.line("Logged, and queued for the journal.", "green")
        else:
            call.out.line(f"{'Logged' if one.turns else 'Skipped'}: {one.reason}.")
    _note_switch(call, seen)
    if left := sum(one.dropped for one in seen):
        call.out.note(f"{counted(left, 'older turn')} left the queue unread: it was full.")


def _note_switch(call: Call, seen: list[Observed]) -> None:
    """Says how to switch capturing on; on a server, its administrator decides that."""
    if call.server:
        return
    from holdfast.engine.log.observe import SWITCHED_OFF

    if any(one.reason == SWITCHED_OFF for one in seen):
        call.out.note("To have turns noted: `holdfast config set shadowJournal.enabled true`.")


def _turn(call: Call, args: Namespace) -> dict[str, Any]:
    given = {"user": " ".join(args.words), "assistant": "", **_OBSERVE.values(call, args)}
    # A folder may be excluded from the log; a server does not know the folders of this machine.
    return given if call.server else {**given, "folder": os.getcwd()}


def _lines(call: Call, args: Namespace) -> Any:
    """One turn per line. Fields that a line does not have are taken from the options."""
    import json

    common = _turn(call, args)
    for number, line in enumerate(call.read(args.file, "turns").splitlines(), 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict) or not set(given) <= set(_FIELDS):
            raise InvalidInput(
                f"Line {number} is not a turn.",
                hint='For example: {"user": "I moved to Lisbon", "assistant": "Nice."}',
            )
        yield {**common, **given}


def _start_work(call: Call) -> None:
    """Starts a process that works through the queue and ends, without waiting for it."""
    import subprocess

    from holdfast.edges.cli.upkeep import DETACHED

    words = [sys.executable, "-m", "holdfast", "--home", call.home, "--quiet", "work"]
    subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=DETACHED,
    )


def _plain_observed(seen: Observed) -> dict[str, Any]:
    ids = [turn.id for turn in seen.turns]
    return {"queued": seen.queued, "reason": seen.reason, "turns": ids, "dropped": seen.dropped}


# flush


@COMMANDS.shows(
    "flush",
    "holdfast flush --session s1",
    Flags(
        HubMemory.flush,
        messages=flag(
            "--from",
            metavar="FILE",
            about="a conversation instead of the log: JSON or a transcript; - reads it",
            convert=lambda call, path: _conversation(call.read(path, "a conversation")),
        ),
        session=flag(about="turns of this session only"),
    ),
)
def _show_flushed(call: Call, args: Namespace, done: Flushed) -> None:
    """Before a compaction: print the prompt for the agent, and capture what can be.

    Captures by rules what users said in the log and was not processed yet; a second run
    captures nothing new. The log does not say who said what: if others use the hub too,
    only a conversation given with --from is read, at most its newest 200 turns of users.
    The prompt asks the agent to save the rest."""
    if call.out.json:
        call.out.value(done)
        return
    call.out.line(done.prompt)
    call.out.note(_summary(done))
    if done.note:
        call.out.note(done.note)


def _conversation(text: str) -> list[Any] | str:
    """A list of messages, one message per line, or a transcript as plain text."""
    import json

    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return text


def _summary(done: Flushed) -> str:
    kept = [one for one in done.noted if one.outcome in ("stored", "superseded")]
    known = sum(one.outcome == "mentioned" for one in done.noted)
    summary = f"{counted(done.turns, 'turn')} looked at, {counted(len(kept), 'fact')} captured"
    return f"{summary}, {known} known." if known else f"{summary}."


# captured


@COMMANDS.shows(
    "captured",
    "holdfast captured --days 1",
    Flags(HubMemory.captured, days=flag(about="how many days (7)")),
)
def _show_captured(call: Call, args: Namespace, days: list[CapturedDay]) -> None:
    """Show what automatic memory captured, left out, and why, by day.

    Outcomes: queued, stored, mentioned (known already), superseded, held (for review),
    dropped (the turn does not say so), nothing, left out (the queue was full), failed.
    In a pipe, a line each: day, outcome, times, why."""
    data = [_plain_day(call, day) for day in days]
    meanings = _MEANINGS if call.out.terminal else {}
    rows = [
        (day.day, outcome, str(count), _reason_text(day, outcome) or meanings.get(outcome, ""))
        for day in days
        for outcome, count in sorted(day.outcomes.items())
    ]
    none = "Nothing was captured, or left out, in that time."
    shown = call.out.rows(("day", "outcome", "times", "why"), rows, data=data, empty=none)
    if shown and call.out.terminal:
        for at, one in [one for one in days[0].last if one[1].text][-5:]:
            call.out.line(f"{call.out.time(at)}  {_line(one)}")


# The meaning of an outcome, for counts without a reason.
_MEANINGS = {
    "queued": "turns put into the queue",
    "nothing": "turns that say nothing to keep",
    "stored": "new memories",
    "mentioned": "said again",
    "superseded": "took the place of an older one",
}


def _reason_text(day: CapturedDay, outcome: str) -> str:
    found = [(count, why) for why, count in day.reasons_of(outcome).items()]
    return ", ".join(f"{why} ({count})" for count, why in sorted(found, reverse=True))


def _line(one: Noted) -> str:
    return f"{one.outcome}: “{one.text}”" + (f" ({one.reason})" if one.reason else "")


def _plain_day(call: Call, day: CapturedDay) -> dict[str, Any]:
    last = [{"at": to_text(at), **one._asdict()} for at, one in day.last]
    return {**day._asdict(), "last": last}


# journal


@COMMANDS.shows(
    "journal",
    "holdfast journal 2026-05-01..2026-05-27",
    Flags(
        HubMemory.journal,
        when=flag(
            "when",
            metavar="DAY",
            about="today, yesterday, a date, or two: 2026-05-01..2026-05-27 (today)",
        ),
    ),
)
def _show_journal(call: Call, args: Namespace, found: Days) -> None:
    """Print the journal of a day or of a range of days, newest day first.

    Days are in UTC. Edits in the files are read first.
    In a pipe, a line per entry: date, time, number, text.
    See also `holdfast journal add`."""
    if call.out.json:
        plain = [_plain_journal_day(day) for day in found]
        call.out.value(plain, notes=found.notes)
        return
    for place, day in enumerate(found):
        if call.out.terminal:
            if place:
                call.out.line()
            call.out.line(f"## {day.date}", "bold")
            call.out.line(day.text.strip("\n"))
            continue
        for entry in day.entries:
            number = f"#{entry.memory.number}" if entry.memory else ""
            call.out.row(day.date.isoformat(), entry.time, number, entry.text)
    call.out.notes(found.notes)
    if not found:
        call.out.note(f"No journal entry for {args.when or 'today'}.")


def _plain_journal_day(day: Day) -> dict[str, object]:
    entries = [
        {
            "text": entry.text,
            "time": entry.time or None,
            "memory": entry.memory,
        }
        for entry in day.entries
    ]
    return {"date": day.date.isoformat(), "text": day.text, "entries": entries}


# journal add


_ADD = Flags(
    HubMemory.journal_add,
    only=("text", "at"),
    text=flag(nargs="*", metavar="WORD", about="the entry; - reads it", convert=text_of),
)


@COMMANDS.add(
    "journal add", 'holdfast journal add "Moved the standup to ten"', _ADD, makes_hub=True
)
def _add(call: Call, args: Namespace) -> None:
    """Add an entry to today's journal.

    It goes into the file of its UTC day, and recall finds it.
    In a pipe: noted, number, id, file."""
    if not args.text:
        raise InvalidInput("Say what to note.", hint="Give it as words, or - to read it.")
    memory = _ADD.run(call, args, source="cli")
    name = (memory.source_path or "").partition("#")[0]
    if call.out.json:
        call.out.value(memory, result="noted")
    elif call.out.terminal:
        where = f" in {name}" if name else ""
        call.out.parts(("Noted", "green"), (f" #{memory.number}", "bold cyan"), (where, ""))
    else:
        call.out.row("noted", f"#{memory.number}", memory.id, name)


_DIFF_STYLES = {"+": "green", "-": "red"}


@COMMANDS.add(
    "consolidate",
    "holdfast consolidate --dry-run",
    switch("--dry-run", "only print the plan"),
    option("--plan", "FILE", "write the plan to a file, and do nothing"),
    option("--apply", "FILE", "do the plan in a file, which may be edited; - reads it"),
    server="works",
)
def _consolidate(call: Call, args: Namespace) -> None:
    """Move lasting facts from the journals to long-term memory.

    Reads the journals of the last seven days. Facts that were repeated, or said to matter,
    are promoted; long-term memories that say the same are merged; outdated ones are
    retired. Nothing is deleted, and one undo reverts all of it. --plan writes a text that
    you can edit: delete a line to skip its step. In a pipe, a line per step: what, the
    memory, its sources, the text."""
    if args.plan is not None:
        if args.apply is not None:
            raise InvalidInput("Give --plan or --apply, not both.")
        _write_plan(call, args.plan)
        return
    given = None if args.apply is None else call.read(args.apply, "a plan")
    done = call.hub.consolidate(given, dry_run=args.dry_run)
    if call.out.json:
        call.out.value(done)
    elif args.dry_run:
        call.out.raw(done.plan.text)
        _refusals(call, done)
    else:
        _show_consolidated(call, done)
    call.embed_left()


def _write_plan(call: Call, path: str) -> None:
    plan = call.hub.plan_consolidation()
    if path == "-":
        call.out.raw(_as_written(call, plan))
        return
    # An existing file may contain edits.
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise AlreadyExists(
            f"{path} is there already.", hint="Choose another name, or remove it."
        ) from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(_as_written(call, plan))
    call.out.note(
        f"A plan with {counted(len(plan.steps), 'step')} is in {path}. Edit it, then:"
        f" `{pasteable('holdfast', 'consolidate', '--apply', path)}`"
    )


def _as_written(call: Call, plan: Plan) -> str:
    if not call.out.json:
        return plan.text
    import json

    from holdfast.passes.consolidation import to_plain

    return json.dumps(to_plain(plan), ensure_ascii=False, indent=2) + "\n"


def _show_consolidated(call: Call, done: Consolidated) -> None:
    for one in done.done:
        if not call.out.terminal:
            numbers = " ".join(f"#{number}" for number in one.step.sources)
            call.out.row(one.step.kind, f"#{one.memory.number}", numbers, one.memory.content)
    if call.out.terminal:
        for line in done.diff:
            call.out.line(short(line), _DIFF_STYLES.get(line[:1], ""))
    _refusals(call, done)
    call.out.notes(done.plan.notes)
    if done.skipped:
        call.out.note(f"Skipped: {done.skipped}.")
    elif not done.done:
        call.out.note("There is nothing to do.")
    if done.backup:
        call.out.note(f"MEMORY.md as it was is in {done.backup}.")
    if done.change is not None:
        call.out.note(f"`holdfast undo {done.change}` takes it back.")


def _refusals(call: Call, done: Consolidated) -> None:
    for one in done.refused:
        call.out.note(f"Not done: {_step_line(one.step)}: {one.reason}.")


def _step_line(step: Step) -> str:
    numbers = " ".join(f"#{number}" for number in step.sources)
    where = f"line {step.line}, " if step.line else ""
    return f"{where}{step.kind} {numbers}"
