"""Taking in files of instructions: import claude-md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.edges.instructions import FileReport

_OUTCOMES = ("new", "updated", "removed", "known", "duplicate", "held", "edited", "forgotten")
_NOTES_SHOWN = 10


def _options(parser: Parser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="a project (where you are)")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and stop")
    parser.add_argument("--undo", action="store_true", help="take the last import back")
    force = "with --undo: also where something was changed since"
    parser.add_argument("--force", action="store_true", help=force)
    parser.add_argument("--from", dest="person", metavar="FOLDER", help="another home folder")


def _run(call: Call, args: Namespace) -> None:
    from holdfast.edges import instructions

    if args.undo:
        taken = instructions.take_back(call.local, force=args.force)
        if call.out.json:
            call.out.value([{"hub": hub, "memories": count} for hub, count in taken.items()])
            return
        rows = [(hub, str(count)) for hub, count in taken.items()]
        if rows:
            call.out.table(("hub", "memories taken back"), rows)
        else:
            call.out.note("There is no import to take back.")
        return
    person = os.path.abspath(os.path.expanduser(args.person or "~"))
    folder = os.path.abspath(os.path.expanduser(args.folder or os.getcwd()))
    reports = instructions.take_in(call.local, person, folder, dry_run=args.dry_run)
    _show(call, reports, dry_run=args.dry_run)


def _show(call: Call, reports: list[FileReport], *, dry_run: bool) -> None:
    counts = [
        {name: sum(one.outcome == name for one in report.taken) for name in _OUTCOMES}
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
    used = [
        name for name in _OUTCOMES if not call.out.terminal or any(count[name] for count in counts)
    ]
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


COMMANDS = (
    Command(
        "import claude-md",
        "Take in CLAUDE.md, AGENTS.md, GEMINI.md, Cursor's rules and Claude Code's own memory.",
        "holdfast import claude-md --dry-run",
        _options,
        _run,
        "Each bullet and paragraph becomes a memory that names its file and section. Files in\n"
        "your home go to your own hub, those of a repository to its hub. Run again, it follows\n"
        "edits: a changed line is a new version of its memory, a line that is gone is archived,\n"
        "and what you have changed or forgotten here stays so. A run is one change set.\n"
        "In a pipe, a line each: hub, file, and how many were new, updated, removed, known,\n"
        "duplicate, held for review, edited here and forgotten here.",
    ),
)
