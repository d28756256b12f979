"""Looking back and taking back: history, diff, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.edges.cli.output import counted, plain_change, plain_entry, plain_memory, short

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Entry
    from holdfast.domain.memory import Memory
    from holdfast.edges.cli.call import Call

_CHANGES = 20


# history


def _history_options(parser: Parser) -> None:
    help_ = "one memory; without it, the change sets of the hub"
    parser.add_argument("reference", nargs="?", metavar="REF", help=help_)
    command.add_limit(parser, f"how many change sets ({_CHANGES})")
    parser.add_argument("--before", metavar="CHANGE", help="older than this change set")


def _history(call: Call, args: Namespace) -> None:
    if args.reference is not None:
        _history_of_one(call, args.reference)
        return
    limit = _CHANGES if args.limit is None else max(1, args.limit)
    found = call.hub.changes(limit=limit, before=args.before)
    touched = call.hub.touched([change.id for change in found])
    if call.out.json:
        plain = [
            {**plain_change(change), "memories": [memory.number for memory in touched[change.id]]}
            for change in found
        ]
        call.out.value(plain)
        return
    rows = [
        (c.id, call.out.time(c.at), c.actor, c.action, _which(touched[c.id]), _told(c))
        for c in found
    ]
    if rows:
        call.out.table(("change", "when", "who", "what", "memory", "why"), rows)
    else:
        call.out.note("Nothing has happened yet.")


# The memory's title in a table: what is enough to know it by.
_TITLE_CHARS = 30


def _which(memories: list[Memory]) -> str:
    if len(memories) == 1:
        return f"#{memories[0].number} {short(memories[0].title, _TITLE_CHARS)}"
    return counted(len(memories), "memory") if memories else ""


def _told(change: Change) -> str:
    if change.undoes is not None:
        said = f"undoes {change.undoes}"
    elif change.undone_by is not None:
        said = f"undone by {change.undone_by}"
    else:
        return change.reason
    return f"{change.reason} ({said})" if change.reason else said


def _history_of_one(call: Call, reference: str) -> None:
    found = call.hub.history(reference)
    if call.out.json:
        call.out.value([plain_entry(entry, call.hub.name) for entry in found])
        return
    rows = [
        (
            str(entry.revision.version),
            call.out.time(entry.revision.at),
            entry.change.actor,
            entry.change.action,
            entry.change.id,
            _changed(entry),
            entry.change.reason,
        )
        for entry in found
    ]
    call.out.table(("version", "when", "who", "what", "change", "fields", "why"), rows)


def _changed(entry: Entry) -> str:
    return ", ".join(name for name in entry.revision.fields if name != "content_hash")


# diff


def _diff_options(parser: Parser) -> None:
    command.add_reference(parser)
    parser.add_argument("--from", dest="old", type=whole, metavar="VERSION", help="the older one")
    parser.add_argument("--to", dest="new", type=whole, metavar="VERSION", help="the newer one")


def _diff(call: Call, args: Namespace) -> None:
    from holdfast.engine.history import plain_diff

    found = call.hub.diff(args.reference, old=args.old, new=args.new)
    if call.out.json:
        call.out.value(plain_diff(found))
        return
    if not found:
        call.out.note("Nothing differs.")
    for part in found:
        if part.lines:
            call.out.line(f"{part.field}:", "bold")
            for line in part.lines:
                call.out.line(line, _LINE_STYLES.get(line[:1], ""))
        else:
            call.out.line(f"{part.field}:", "bold")
            call.out.line(f"-{_shown(call, part.old)}", "red")
            call.out.line(f"+{_shown(call, part.new)}", "green")


_LINE_STYLES = {"-": "red", "+": "green", "@": "cyan"}


def _shown(call: Call, value: Any) -> str:
    from datetime import datetime

    if isinstance(value, datetime):
        return call.out.time(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


# undo


def _undo_options(parser: Parser) -> None:
    help_ = "the change set (chg_…); without it, the last one"
    parser.add_argument("change", nargs="?", metavar="CHANGE", help=help_)
    parser.add_argument("--force", action="store_true", help="also over later changes")


def _undo(call: Call, args: Namespace) -> None:
    done = call.hub.undo(args.change, force=args.force)
    if call.out.json:
        call.out.value(
            {
                "undone": plain_change(done.undone),
                "change": plain_change(done.change),
                "memories": [plain_memory(memory, call.hub.name) for memory in done.memories],
            },
            result="undone",
        )
        return
    if call.out.terminal:
        at = call.out.time(done.undone.at)
        call.out.line(f"Took back {done.undone.action} of {at} ({done.undone.id}):", "green")
    for memory in done.memories:
        now = "forgotten" if memory.forgotten_at is not None else f"version {memory.version}"
        if call.out.terminal:
            call.out.line(f"  #{memory.number}  {memory.title}  (now {now})")
        else:
            call.out.row("undone", done.undone.id, done.undone.action, f"#{memory.number}", now)
    call.out.note(f"To bring it back: `holdfast undo {done.change.id}`.")


COMMANDS = (
    Command(
        "history",
        "Show everything that happened to a memory, or to the hub.",
        "holdfast history 12",
        _history_options,
        _history,
        "In a pipe, a line per version: version, time, who, what, change set, fields,\n"
        "why; or a line per change set: change set, time, who, what, memory, why.",
        server="works",
    ),
    Command(
        "diff",
        "Show what differs between two versions of a memory.",
        "holdfast diff 12 --from 1 --to 3",
        _diff_options,
        _diff,
        "Without versions, the last change.",
        server="works",
    ),
    Command(
        "undo",
        "Take back the last change set, or the one named.",
        "holdfast undo",
        _undo_options,
        _undo,
        "Undoing an undo brings the change back.\n"
        "In a pipe, a line per memory: undone, change set, what it was, number, how it is now.",
        server="works",
    ),
)
