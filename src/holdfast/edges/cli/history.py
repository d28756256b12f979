"""Commands for history and undo: timeline, history, diff, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import SOURCES, without_copies
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Commands, Namespace, option
from holdfast.edges.cli.output import counted, plain_entry, short
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.change import Change, Entry
    from holdfast.domain.memory import Memory
    from holdfast.edges.cli.call import Call
    from holdfast.engine.history import FieldDiff, Undone

COMMANDS = Commands()

_CHANGES = 20


_TIMELINE = 200


# timeline


_TIMELINE_LIST = Flags(
    HubMemory.list,
    source=flag(about=f"where it came in: {', '.join(SOURCES)}"),
    only=("category", "since", "until", "limit"),
    limit=flag(about=f"how many, the newest ones ({_TIMELINE})"),
)


@COMMANDS.add(
    "timeline",
    "holdfast timeline last week",
    option("when", "WHEN", "a window, such as: last week", nargs="*"),
    _TIMELINE_LIST,
)
def _timeline(call: Call, args: Namespace) -> None:
    """Show what happened or was learnt in a window of time, by date.

    Without a window, the last seven days.
    In a pipe, a line per memory: time, happened or learnt, number, category, title."""
    words = " ".join(args.when)
    if words and (args.since or args.until):
        raise InvalidInput("Give the window in words or as --since and --until, not both.")
    since = call.when(words or args.since or (None if args.until else "7d"))
    until = call.when(words or args.until, end=True) if words or args.until else None
    if words and since == until:
        # `7d` and `an hour ago` are points in time; the window goes from there to now.
        until = None
    limit = _TIMELINE if args.limit is None else args.limit
    window: dict[str, Any] = {"since": since, "until": until}
    found = call.hub.list(**window, category=args.category, order="happened", limit=limit)
    happened = found[::-1]
    if call.out.json:
        call.out.value(happened, **window)
        return
    if not happened:
        asked = words or args.since or args.until
        when = "then" if asked else "in the last seven days; `--since 30d` looks further back"
        call.out.note(f"Nothing happened or was learnt {when}.")
    if call.out.terminal:
        _show_days(call, without_copies(happened))
        return
    for memory in happened:
        how = "learnt" if memory.event_at is None else "happened"
        at = call.out.time(_moment(memory))
        call.out.row(at, how, f"#{memory.number}", memory.category, memory.title)


def _moment(memory: Memory) -> Any:
    return memory.occurred_at or memory.created_at


def _show_days(call: Call, memories: list[Memory]) -> None:
    shown = ""
    for memory in memories:
        local = _moment(memory).astimezone(call.out.zone)
        day = local.strftime("%A, %Y-%m-%d")
        if day != shown:
            call.out.line(day, "bold")
            shown = day
        learnt = "" if memory.event_at else "  (learnt)"
        call.out.parts(
            (f"  {local:%H:%M}  ", "dim"),
            (f"#{memory.number}", "cyan"),
            (f"  {memory.title}", ""),
            (learnt, "dim"),
        )


# history


_LIST = Flags(
    HubMemory.changes,
    limit=flag(about=f"how many change sets ({_CHANGES})"),
    before=flag(metavar="CHANGE", about="older than this change set"),
)


@COMMANDS.add(
    "history",
    "holdfast history 12",
    option("reference", "REF", "one memory; without it, the change sets of the hub", nargs="?"),
    _LIST,
)
def _history(call: Call, args: Namespace) -> None:
    """Show everything that happened to a memory, or to the hub.

    In a pipe, a line per version: version, time, actor, action, change set,
    changed fields, reason; or a line per change set: change set, time, actor,
    action, memory, reason."""
    if args.reference is not None:
        _history_of_one(call, args.reference)
        return
    limit = _CHANGES if args.limit is None else args.limit
    # One row more than is shown, to know whether there are more.
    found = call.hub.changes(limit=limit + 1 if limit > 0 else limit, before=args.before)
    has_more = len(found) > limit
    found = found[:limit]
    touched = call.hub.touched([change.id for change in found])
    data = [
        {**change._asdict(), "memories": [memory.number for memory in touched[change.id]]}
        for change in found
    ]
    rows = [
        (
            c.id,
            call.out.time(c.at),
            c.actor,
            _action(call, c),
            _memories_text(call, touched[c.id]),
            _reason_text(call, c),
        )
        for c in found
    ]
    if call.out.json:
        call.out.value(data)
    elif rows:
        _table(call, ("change", "when", "by", "action", "memory", "reason"), rows)
        if has_more:
            call.out.note(f"There is more: add --before {found[-1].id}")
    else:
        call.out.note("Nothing has happened yet.")
        call.note_own_hub()


# The length of a memory's title in a table: enough to recognise it.
_TITLE_CHARS = 30


def _memories_text(call: Call, memories: list[Memory]) -> str:
    if call.out.terminal:
        memories = without_copies(memories)
    if not memories:
        return ""
    first = memories[0]
    if len(memories) == 1:
        return f"{call.named(first)} {short(first.title, _TITLE_CHARS)}"
    if not call.out.terminal:
        return counted(len(memories), "memory")
    # A narrow table cuts the end, so the title comes last.
    more = f" and {len(memories) - 1:,} more: "
    return f"{call.named(first)}{more}{short(first.title, _TITLE_CHARS - len(more))}"


def _action(call: Call, change: Change) -> str:
    """What was done, and for a person whether it was undone since: a column of ids would leave no
    room for what it was about."""
    return f"{change.action}, undone" if call.out.terminal and change.undone_by else change.action


def _reason_text(call: Call, change: Change) -> str:
    if call.out.terminal:
        return change.reason
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
        call.out.value([plain_entry(entry) for entry in found])
        return
    headings = ("version", "when", "by", "action", "change", "fields changed", "reason")
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
    _table(call, headings, rows)


def _table(call: Call, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Prints all columns in a pipe. On a terminal, columns without any value are left out, and the
    author's if it is always the same."""
    places = [at for at in range(len(headings)) if _is_shown(call, headings[at], rows, at)]
    call.out.table([headings[at] for at in places], [[row[at] for at in places] for row in rows])
    if call.out.terminal:
        call.out.note("`holdfast undo CHANGE` takes one of these changes back.")


def _is_shown(call: Call, heading: str, rows: Sequence[tuple[str, ...]], at: int) -> bool:
    values = {row[at] for row in rows}
    if not call.out.terminal:
        return True
    return len(values) > 1 if heading == "by" else any(values)


def _changed(entry: Entry) -> str:
    return ", ".join(name for name in entry.revision.fields if name != "content_hash")


# diff


@COMMANDS.shows(
    "diff",
    "holdfast diff 12 --from 1 --to 3",
    Flags(
        HubMemory.diff,
        old=flag("--from", metavar="VERSION", about="the older one"),
        new=flag("--to", metavar="VERSION", about="the newer one"),
    ),
)
def _show_diff(call: Call, args: Namespace, found: list[FieldDiff]) -> None:
    """Show what differs between two versions of a memory.

    Without versions, the last change."""
    from holdfast.engine.history import plain_diff

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


@COMMANDS.shows(
    "undo",
    "holdfast undo",
    Flags(
        HubMemory.undo,
        change=flag("change", about="the change set (chg_…); without it, the last one"),
    ),
)
def _show_undone(call: Call, args: Namespace, done: Undone) -> None:
    """Undo the last change, or the one named.

    Undoing an undo brings the change back.
    In a pipe, a line per memory: undone, change set, what it was, number, how it is now."""
    if call.out.json:
        call.out.value(
            {
                "undone": done.undone,
                "change": done.change,
                "memories": done.memories,
                "turns": done.turns,
                "missing": done.missing,
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
            call.out.line(f"  {call.named(memory)}  {memory.title}  (now {now})")
        else:
            call.out.row("undone", done.undone.id, done.undone.action, call.named(memory), now)
    back = f"`holdfast undo {done.change.id}`"
    if done.note:
        call.out.note(done.note)
    what = "the memories" if done.turns else "it"
    call.out.note(f"To bring {what} back: {back}.")
