"""Commands that import: from other memory programs (import mem0, mcp-memory, …), conversations of
agents (import claude-code, codex, gemini), and instruction files (import claude-md)."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import YES, Commands, Namespace, Option, option, switch
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput, StoreFull
from holdfast.importers import importers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.api.imports import ImportReport
    from holdfast.api.instructions import FileReport
    from holdfast.edges.cli.call import Call
    from holdfast.edges.hooks.past_sessions import Conversation
    from holdfast.importers import Importer

COMMANDS = Commands()


# The columns of the table, in order. On a terminal, columns without any number are left out.
_OUTCOMES = ("new", "updated", "known", "duplicate", "held", "forgotten", "edited", "refused")


_FORCE = switch("--force", "with --undo: also where something was changed since")


def _options_of(importer: Importer) -> list[Option]:
    options = [
        option("path", "PATH", importer.path),
        switch("--dry-run", "say what would come in, write nothing"),
        switch("--undo", "take back the last import of PATH"),
        _FORCE,
    ]
    if importer.scopes:
        options += [
            switch("--split", f"a hub for each {importer.scopes}"),
            option("--only", "NAME", f"only this {importer.scopes}"),
        ]
    if importer.scopes in ("user", "agent", "namespace"):
        options.append(switch("--merge", f"every {importer.scopes} into one hub"))
    if importer.maps:
        about = "which column is what, for example text=content,created=date"
        options.append(option("--map", "FIELDS", about))
    return options


def _add_importer(importer: Importer) -> None:
    """Adds the command that imports from one program."""
    scopes = f"Each {importer.scopes} there can have a hub of its own: --split. "
    text = (
        f"Import memories from {importer.title}.\n\n"
        f"PATH is {importer.path}.\n{scopes if importer.scopes else ''}"
        "What is known is not imported again, so it can be interrupted and run again; all of it\n"
        "is one change set, which `holdfast undo` takes back.\n"
        "In a pipe, a line each: hub, owner, and how many were new, updated, known, duplicate,\n"
        "held for review, forgotten here, edited here and refused."
    )
    example = f"holdfast import {importer.name} {importer.example} --dry-run"

    @COMMANDS.add(f"import {importer.name}", example, *_options_of(importer), text=text)
    def run(call: Call, args: Namespace) -> None:
        if args.undo:
            _undo(call, importer, args)
            return
        with call.out.progress("import") as step, _resumable():
            report = call.local.import_from(
                importer.name,
                args.path,
                hub=call.hub.info.name,
                split=bool(getattr(args, "split", False)),
                merge=bool(getattr(args, "merge", False)),
                only=getattr(args, "only", None),
                options=_mapping(getattr(args, "map", None)),
                dry_run=args.dry_run,
                progress=step,
            )
        _show(call, report, dry_run=args.dry_run)
        if not args.dry_run:
            call.embed_left(backlog=True)


@contextmanager
def _resumable() -> Iterator[None]:
    """Adds to an error that the import can be resumed. It writes in batches: if the store is full,
    one of them is refused, and those before it are stored."""
    try:
        yield
    except StoreFull as error:
        error.hint = "Free some space and run it again: what is imported already is left out."
        raise


def _mapping(text: str | None) -> dict[str, str]:
    """Parses `text=content,created=date` into a dictionary."""
    if not text:
        return {}
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not equals or not name.strip() or not column.strip() for name, equals, column in pairs):
        raise InvalidInput(
            f"--map {text} is not understood.", hint="Write it like text=content,created=date."
        )
    return {name.strip(): column.strip() for name, _, column in pairs}


def _undo(call: Call, importer: Importer, args: Namespace) -> None:
    undone = call.local.undo_import(importer.name, args.path, force=args.force)
    rows = [(hub, one.change.id, str(len(one.memories))) for hub, one in undone.items()]
    names = ("hub", "change", "memories")
    data = {"undone": [dict(zip(names, row, strict=True)) for row in rows]}
    call.out.rows(names, rows, data=data)
    for one in undone.values():
        if one.note:
            call.out.note(one.note)


def _show(call: Call, report: ImportReport, *, dry_run: bool) -> None:
    if call.out.json:
        call.out.value(_plain(report, dry_run=dry_run))
        return
    if not report.rows:
        call.out.note("There is nothing to import.")
    else:
        used = [
            name
            for name in _OUTCOMES
            if not call.out.terminal or any(row.counts.get(name) for row in report.rows)
        ]
        call.out.table(
            ("hub", "of", *used),
            [
                (row.hub, row.scope or "-", *(str(row.counts.get(name, 0)) for name in used))
                for row in report.rows
            ],
        )
    for row in report.rows if dry_run else ():
        for title in row.examples:
            call.out.note(f"For example in {row.hub}: {title}")
    if report.skipped:
        call.out.note(f"{counted(report.skipped, 'entry')} of the source left out:")
    for one in report.notes[:_NOTES_SHOWN]:
        call.out.note(f"  {one.id}: {one.reason}")
    if dry_run:
        call.out.note("Nothing was written. Without --dry-run it is.")
        return
    changes = {row.hub: row.change for row in report.rows if row.change}
    for hub, change in changes.items():
        call.out.note(f"To take it back: `holdfast undo {change} --hub {hub}`.")


# Notes on skipped records that are printed; --json has a hundred.
_NOTES_SHOWN = 10


def _plain(report: ImportReport, *, dry_run: bool) -> dict[str, object]:
    return {
        "result": "previewed" if dry_run else "imported",
        "program": report.program,
        "path": report.path,
        "rows": [
            {
                "hub": row.hub,
                "scope": row.scope,
                **{name: row.counts.get(name, 0) for name in _OUTCOMES},
                "change": row.change,
                "examples": list(row.examples),
            }
            for row in report.rows
        ],
        "skipped": report.skipped,
        "notes": [one._asdict() for one in report.notes],
    }


def _confirm(call: Call, found: Sequence[Conversation]) -> None:
    """Asks before conversations are copied into memory, after showing where they took place."""
    rows = [(one.folder, one.session, one.turns) for one in found]
    if call.out.terminal and not call.args.yes:
        call.out.table(("folder", *_SUMS), _by_place(rows))
    call.confirm(f"Import {_size(rows)}? They stay on this machine, and secrets are replaced.")


# What one conversation, its place and its new turns are called in JSON.
_NAMES = ("where", "session", "count")
# A prompt and the reply to it are two turns of the log.
_SUMS = ("conversations", "prompts")
# With more conversations than this, a terminal shows only how many there are.
_LISTED_MAX = 10


def _by_place(rows: Sequence[tuple[str, str, int]]) -> list[tuple[str, str, str]]:
    """How many conversations and prompts there are in each folder or hub, without those that have
    nothing."""
    places: dict[str, list[int]] = {}
    for place, _, count in rows:
        if count:
            places.setdefault(place or "(not known)", []).append(count)
    return [(place, str(len(counts)), str(sum(counts))) for place, counts in places.items()]


def _size(rows: Sequence[tuple[str, str, int]]) -> str:
    """`3 conversations with 6 prompts`, not counting conversations without any."""
    counts = [count for *_, count in rows if count]
    return f"{counted(len(counts), 'conversation')} with {counted(sum(counts), 'prompt')}"


def _show_conversations(call: Call, place: str, rows: list[tuple[str, str, int]]) -> None:
    """Prints a row for each conversation; on a terminal only those with something new, or a row for
    each place where they are many."""
    data = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    listed = [row for row in rows if row[2]] if call.out.terminal else rows
    headings: tuple[str, str, str] = (place, "session", "prompts")
    shown = [(where, session, str(count)) for where, session, count in listed]
    if call.out.terminal and len(listed) > _LISTED_MAX:
        headings, shown = (place, *_SUMS), _by_place(listed)
    known = "All of it is known already; nothing was imported."
    empty = known if rows else "There is nothing to import."
    call.out.rows(headings, shown, data=data, empty=empty)


NAMES = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}

_OF_AGENTS = """\
Each goes to the hub of the repository where it took place, or to your own. Turns are
logged with their times, secrets are replaced, and facts are captured as hooks do it.
It lists what there is and asks first; in a script, --yes says yes beforehand.
What is known is not imported again: it can be interrupted and run again. An import is
one change set, of the same id in each hub: `--undo` takes it back everywhere, and
`holdfast undo ID` in one hub.
In a pipe, a line each: hub (or folder), session, how many prompts were new."""


def _add_agent(client: str, title: str) -> None:
    """Adds the command that imports the conversations of one agent."""

    @COMMANDS.add(
        f"import {NAMES[client]}",
        f"holdfast import {NAMES[client]} --dry-run",
        switch("--dry-run", "list what there is, import nothing"),
        switch("--undo", "take the last import back"),
        _FORCE,
        option("--from", "FOLDER", "another home folder", dest="folder"),
        YES,
        text=f"Import the conversations that {title} has kept on this machine.\n\n{_OF_AGENTS}",
    )
    def run(call: Call, args: Namespace) -> None:
        from holdfast.edges.hooks import past_sessions

        if args.undo:
            _take_back(call, client, force=args.force)
            return
        person = os.path.abspath(os.path.expanduser(args.folder or "~"))
        found = list(past_sessions.conversations(client, person))
        if args.dry_run:
            _list_found(call, found)
            return
        if found:
            _confirm(call, found)
        _take_in(call, client, found)


def _take_back(call: Call, client: str, *, force: bool) -> None:
    """Undoes the last import of a client's conversations."""
    from holdfast.edges.hooks import past_sessions
    from holdfast.edges.hooks.cold import open_memory

    with open_memory(call.home, words_only=True) as memory:
        taken = past_sessions.take_back(memory, client, force=force)
    undone = [(name, "taken back", str(count)) for name, count in taken.items()]
    data = [dict(zip(_NAMES, (*row[:2], taken[row[0]]), strict=True)) for row in undone]
    none = "There is no import to take back."
    call.out.rows(("hub", "what", "memories"), undone, data=data, empty=none)


def _list_found(call: Call, found: Sequence[Conversation]) -> None:
    """Prints a client's conversations, without importing them."""
    rows = [(one.folder, one.session, one.turns) for one in found]
    _show_conversations(call, "folder", rows)
    if found:
        call.out.note(
            f"{_size(rows)}, known ones included. Nothing was written; without --dry-run"
            " what is not known yet is imported."
        )


def _take_in(call: Call, client: str, found: Sequence[Conversation]) -> None:
    """Imports a client's conversations, each into the hub of its repository."""
    from holdfast.edges.hooks import past_sessions
    from holdfast.edges.hooks.cold import open_memory

    rows = []
    with open_memory(call.home, words_only=True) as memory:
        memory.core.set_has_worker(True)
        taking = past_sessions.Import(memory, client)
        try:
            with call.out.progress("import") as step:
                for number, one in enumerate(found, 1):
                    name = past_sessions.hub_for(memory, one).name
                    rows.append((name, one.session, taking.import_session(one)))
                    step(number, len(found))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Interrupted after {len(rows)} of {counted(len(found), 'conversation')}."
                f" `holdfast import {NAMES[client]}` takes in the rest, with `--undo` it takes"
                " back what came in."
            ) from None
        taking.finish()
    _show_conversations(call, "hub", rows)
    if any(count for *_, count in rows):
        call.out.note(f"{_size(rows)} taken in; `holdfast list` shows what was noted.")
        call.out.note(f"To take it back: `holdfast import {NAMES[client]} --undo`.")
        call.embed_left()


_add_agent("claude-code", "Claude Code")
_add_agent("codex", "Codex")
_add_agent("gemini-cli", "Gemini CLI")


_FILE_OUTCOMES = ("new", "updated", "removed", "known", "duplicate", "held", "edited", "forgotten")


@COMMANDS.add(
    "import claude-md",
    "holdfast import claude-md --dry-run",
    option("folder", "FOLDER", "a project (where you are)", nargs="?"),
    switch("--dry-run", "say what would change, and stop"),
    switch("--undo", "take the last import back"),
    _FORCE,
    option("--from", "FOLDER", "another home folder", dest="person"),
)
def _import_instructions(call: Call, args: Namespace) -> None:
    """Import CLAUDE.md, AGENTS.md, GEMINI.md, Cursor's rules and Claude Code's own memory.

    Each bullet and paragraph becomes a memory that names its file and section. Files in
    your home go to your own hub, those of a repository to its hub. Run again to follow
    edits: a changed line is a new version of its memory, a deleted line is archived,
    and memories that you changed or forgot here stay so. A run is one change set.
    In a pipe, a line each: hub, file, and how many were new, updated, removed, known,
    duplicate, held for review, edited here and forgotten here."""
    from holdfast.api import instructions

    if args.undo:
        taken = instructions.take_back(call.local, force=args.force)
        data = [{"hub": hub, "memories": count} for hub, count in taken.items()]
        rows = [(hub, str(count)) for hub, count in taken.items()]
        none = "There is no import to take back."
        call.out.rows(("hub", "memories taken back"), rows, data=data, empty=none)
        return
    person = os.path.abspath(os.path.expanduser(args.person or "~"))
    folder = os.path.abspath(os.path.expanduser(args.folder or os.getcwd()))
    reports = instructions.import_files(call.local, person, folder, dry_run=args.dry_run)
    _show_instructions(call, reports, dry_run=args.dry_run)


def _show_instructions(call: Call, reports: list[FileReport], *, dry_run: bool) -> None:
    counts = [
        {name: sum(one.outcome == name for one in report.taken) for name in _FILE_OUTCOMES}
        for report in reports
    ]
    if call.out.json:
        call.out.value(
            [
                {"hub": report.hub, "file": report.path, **count, "note": report.note}
                for report, count in zip(reports, counts, strict=True)
            ]
        )
        return
    if not reports:
        call.out.note("There are no files of instructions here.")
        return
    shows_all = not call.out.terminal
    used = [name for name in _FILE_OUTCOMES if shows_all or any(count[name] for count in counts)]
    rows = [
        (report.hub, report.path, *(str(count[name]) for name in used))
        for report, count in zip(reports, counts, strict=True)
    ]
    call.out.table(("hub", "file", *used), rows)
    for report in reports:
        if report.note:
            call.out.note(f"{report.path}: {report.note}")
        if not dry_run:
            continue
        changed = [one for one in report.taken if one.memory and one.outcome != "known"]
        for one in changed[:_NOTES_SHOWN]:
            assert one.memory is not None
            call.out.note(f"{one.outcome}: {' '.join(one.memory.content.split())[:100]}")
    if dry_run:
        call.out.note("Nothing was written. Without --dry-run it is.")
    elif any(count[name] for count in counts for name in ("new", "updated", "removed", "held")):
        call.out.note("To take it back: `holdfast import claude-md --undo`.")


for _importer in importers():
    _add_importer(_importer)
