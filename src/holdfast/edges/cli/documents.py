"""Documents from files: index-files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.files.folders.documents import Report

# So many files of a folder that is not the hub's own are taken in without asking.
_UNASKED = 10
# So many notes are shown on a terminal; a pipe and JSON have them all.
_NOTES = 20


def _options(parser: Parser) -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="which folder; without it, the hub's own files"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _index_files(call: Call, args: Namespace) -> None:
    if args.folder is not None and not args.dry_run and not args.yes:
        coming = call.hub.index_files(args.folder, dry_run=True).added
        if len(coming) > _UNASKED:
            call.confirm(f"Take in {len(coming)} files of {args.folder}?")
    with call.out.progress("index") as step:
        report = call.hub.index_files(
            args.folder, dry_run=args.dry_run, remove_many=args.yes, progress=step
        )
    show_report(call, report, dry_run=args.dry_run)
    if report.withheld:
        call.out.note(
            f"{len(report.withheld)} files are gone, more than a third of all. Their memories"
            " stay. If that is meant, run it again with --yes."
        )


_PATHS = ("added", "updated", "unchanged", "removed", "withheld")
_NOTED = ("skipped", "refused", "redacted")


def show_report(call: Call, report: Report, *, dry_run: bool) -> None:
    """What became of each file of a folder."""
    if call.out.json:
        call.out.value(
            {"result": "would index" if dry_run else "indexed", "hub": call.hub.name}
            | {name: list(getattr(report, name)) for name in _PATHS}
            | {name: [note._asdict() for note in getattr(report, name)] for name in _NOTED}
        )
    elif call.out.terminal:
        _show(call, report, dry_run=dry_run)
    else:
        _print_rows(call, report)


def _show(call: Call, report: Report, *, dry_run: bool) -> None:
    from holdfast.files.folders.documents import HELD

    held = sum(note.reason.startswith(HELD) for note in report.refused)
    counts = {name: len(getattr(report, name)) for name in (*_PATHS[:4], *_NOTED[:2])}
    counts["refused"] -= held
    told = [f"{count} {name}" for name, count in counts.items()]
    if held:
        # These are taken in, and wait for a person.
        told.append(f"{held} {HELD}")
    call.out.line(f"{'Would be' if dry_run else 'Files'}: {', '.join(told)}.", "green")
    notes = [*report.redacted, *report.refused, *report.skipped]
    for note in notes[:_NOTES]:
        call.out.parts((f"  {note.path}", "cyan"), (f"  {note.reason}", "dim"))
    if len(notes) > _NOTES:
        call.out.note(f"and {len(notes) - _NOTES} more; --json lists them all")


def _print_rows(call: Call, report: Report) -> None:
    for name in _PATHS:
        if name != "unchanged":
            for path in getattr(report, name):
                call.out.row(name, path)
    for name in _NOTED:
        for note in getattr(report, name):
            call.out.row(name, note.path, note.reason)


COMMANDS = (
    Command(
        "index-files",
        "Bring documents up to date with a folder of files.",
        "holdfast index-files",
        _options,
        _index_files,
        "Without FOLDER: hubs/HUB/files in the home folder. Files that did not change are not\n"
        "read again; the memory of a file that is gone is archived, and comes back with it.\n"
        "More than 10 new files of another folder are asked about first.\n"
        "In a pipe, a line per file that was not unchanged: what became of it, path, reason.",
    ),
)
