"""Taking in what other memory programs have stored: import mem0, import mcp-memory, …"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput
from holdfast.importers import importers

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.api.imports import ImportReport
    from holdfast.edges.cli.call import Call
    from holdfast.importers.record import Importer

# The columns of the table, in its order; a column without any number is left out on a terminal.
_OUTCOMES = (*("new", "updated", "known", "duplicate", "held", "forgotten", "edited", "refused"),)


def _configuring(importer: Importer) -> Callable[[Parser], None]:
    def configure(parser: Parser) -> None:
        parser.add_argument("path", metavar="PATH", help=importer.path)
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would come in, write nothing"
        )
        parser.add_argument("--undo", action="store_true", help="take back the last import of PATH")
        force = "with --undo: also where something was changed since"
        parser.add_argument("--force", action="store_true", help=force)
        if importer.scopes:
            parser.add_argument(
                "--split", action="store_true", help=f"a hub for each {importer.scopes}"
            )
            parser.add_argument("--only", metavar="NAME", help=f"only this {importer.scopes}")
        if importer.scopes in ("user", "agent", "namespace"):
            parser.add_argument(
                "--merge", action="store_true", help=f"every {importer.scopes} into one hub"
            )
        if importer.maps:
            parser.add_argument(
                "--map",
                metavar="FIELDS",
                help="which column is what, for example text=content,created=date",
            )

    return configure


def _importing(importer: Importer) -> Callable[[Call, Namespace], None]:
    def run(call: Call, args: Namespace) -> None:
        if args.undo:
            _undo(call, importer, args)
            return
        split = bool(getattr(args, "split", False))
        with call.out.progress("import") as step:
            report = call.local.import_from(
                importer.name,
                args.path,
                hub=call.hub.info.name,
                split=split,
                merge=bool(getattr(args, "merge", False)),
                only=getattr(args, "only", None),
                options=_mapping(getattr(args, "map", None)),
                dry_run=args.dry_run,
                progress=step,
            )
        _show(call, report, dry_run=args.dry_run)
        if not args.dry_run:
            call.embed_left(backlog=True)

    return run


def _mapping(text: str | None) -> dict[str, str]:
    """`text=content,created=date` as a dictionary."""
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
    if call.out.json:
        names = ("hub", "change", "memories")
        call.out.value({"undone": [dict(zip(names, row, strict=True)) for row in rows]})
        return
    call.out.table(("hub", "change", "memories"), rows)


def _show(call: Call, report: ImportReport, *, dry_run: bool) -> None:
    if call.out.json:
        call.out.value(_plain(report, dry_run=dry_run))
        return
    if not report.rows:
        call.out.note("There is nothing to take in.")
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


# As many of what was left out are named; --json has a hundred.
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


def _command(importer: Importer) -> Command:
    scopes = (
        f"Each {importer.scopes} there can have a hub of its own: --split. "
        if importer.scopes
        else ""
    )
    return Command(
        f"import {importer.name}",
        f"Take in memories from {importer.title}.",
        f"holdfast import {importer.name} {importer.example} --dry-run",
        _configuring(importer),
        _importing(importer),
        f"PATH is {importer.path}.\n{scopes}What is known is not taken in again, so it can be\n"
        "broken off and run again; all of it is one change set, which `holdfast undo` takes back.\n"
        "In a pipe, a line each: hub, whose, and how many were new, updated, known, duplicate,\n"
        "held for review, forgotten here, edited here and refused.",
    )


COMMANDS = tuple(_command(one) for one in importers())
