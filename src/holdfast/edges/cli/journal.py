"""Journals: journal and journal add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli import options
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.plain import plain_memory
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.files.journal.journal import Day

# journal


def _journal_options(parser: Parser) -> None:
    help_ = "today, yesterday, a date, or two: 2026-05-01..2026-05-27 (today)"
    parser.add_argument("when", nargs="?", default="today", metavar="DAY", help=help_)


def _journal(call: Call, args: Namespace) -> None:
    found = call.hub.journal(args.when)
    if call.out.json:
        plain = [_plain_day(day, call.hub.name) for day in found]
        call.out.value({"days": plain, "notes": found.notes})
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
    for note in found.notes:
        call.out.note(note)
    if not found:
        call.out.note(f"No journal entry for {args.when}.")


def _plain_day(day: Day, hub: str) -> dict[str, object]:
    entries = [
        {
            "text": entry.text,
            "time": entry.time or None,
            "memory": plain_memory(entry.memory, hub) if entry.memory else None,
        }
        for entry in day.entries
    ]
    return {"date": day.date.isoformat(), "text": day.text, "entries": entries}


# journal add


def _add_options(parser: Parser) -> None:
    parser.add_argument("content", nargs="*", metavar="WORD", help="the entry; - reads it")
    parser.add_argument("--at", metavar="WHEN", help=f"when it was: {options.WHEN}")


def _add(call: Call, args: Namespace) -> None:
    if not args.content:
        raise InvalidInput("Say what to note.", hint="Give it as words, or - to read it.")
    text = call.read("-", "text") if args.content == ["-"] else " ".join(args.content)
    memory = call.hub.journal_add(text, at=call.when(args.at), source="cli")
    name = (memory.source_path or "").partition("#")[0]
    if call.out.json:
        call.out.value({"result": "noted", "memory": plain_memory(memory, call.hub.name)})
    elif call.out.terminal:
        where = f" in {name}" if name else ""
        call.out.parts(("Noted", "green"), (f" #{memory.number}", "bold cyan"), (where, ""))
    else:
        call.out.row("noted", f"#{memory.number}", memory.id, name)


COMMANDS = (
    # The one-word command comes last: it is what is meant where no other matches.
    Command(
        "journal add",
        "Note something in the journal of today.",
        'holdfast journal add "Moved the standup to ten"',
        _add_options,
        _add,
        "It goes into the file of its UTC day, and is found by recall.\n"
        "In a pipe: noted, number, id, file.",
    ),
    Command(
        "journal",
        "Print the journal of a day or of a range of days, newest day first.",
        "holdfast journal 2026-05-01..2026-05-27",
        _journal_options,
        _journal,
        "Days are in UTC. What was changed in the files is taken in before.\n"
        "In a pipe, a line per entry: date, time, number, text.\n"
        "See also `holdfast journal add`.",
    ),
)
