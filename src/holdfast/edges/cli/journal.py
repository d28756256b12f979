"""Journals, and consolidation from journals to long-term memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.edges.cli.bind import Flags, flag, text_of
from holdfast.edges.cli.command import Commands, Namespace, option, switch
from holdfast.edges.cli.output import counted, short
from holdfast.errors import AlreadyExists, InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.files.journal.journal import Day, Days
    from holdfast.passes.consolidation.plan import Consolidated, Plan, Step

COMMANDS = Commands()


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

    Days are in UTC. What was changed in the files is taken in before.
    In a pipe, a line per entry: date, time, number, text.
    See also `holdfast journal add`."""
    if call.out.json:
        plain = [_plain_day(day) for day in found]
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


def _plain_day(day: Day) -> dict[str, object]:
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
    """Note something in the journal of today.

    It goes into the file of its UTC day, and is found by recall.
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
    """Move what lasts from the journals to long-term memory.

    Reads the journals of the last seven days. What was said again, or was said to matter,
    is promoted; long-term memories that say the same become one; what no longer holds
    leaves. Nothing is deleted, and one undo takes all of it back. --plan writes a text that
    you can edit: a line that is taken out is not done. In a pipe, a line per step: what,
    the memory, its sources, the text."""
    if args.plan is not None:
        if args.apply is not None:
            raise InvalidInput("Give --plan or --apply, not both.")
        _write_plan(call, args.plan)
        return
    given = None if args.apply is None else call.read(args.apply, "a plan")
    done = call.hub.consolidate(given, dry_run=args.dry_run)
    if call.out.json:
        call.out.value(_plain_consolidated(done))
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
    # Somebody may have edited the one that is there.
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
        f" `holdfast consolidate --apply {path}`"
    )


def _as_written(call: Call, plan: Plan) -> str:
    if not call.out.json:
        return plan.text
    import json

    from holdfast.passes.consolidation.plan import to_plain

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


def _plain_consolidated(done: Consolidated) -> dict[str, Any]:
    from holdfast.passes.consolidation.plan import plain_refused, plain_step, to_plain

    return {
        "plan": to_plain(done.plan),
        "done": [{"step": plain_step(one.step), "memory": one.memory} for one in done.done],
        "refused": [plain_refused(one) for one in done.refused],
        "change": done.change,
        "skipped": done.skipped,
        "diff": list(done.diff),
        "backup": done.backup,
        "notes": list(done.notes),
    }
