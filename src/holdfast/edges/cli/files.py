"""Commands for memory as files (sync, watch, conflicts, compact) and for documents (index-files,
sources)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.api.hub import HubMemory
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Commands, Namespace, Option, option, switch, whole
from holdfast.edges.cli.output import short
from holdfast.files.merge import KEEPS

if TYPE_CHECKING:
    from holdfast.domain.records import Clash
    from holdfast.edges.cli.call import Call
    from holdfast.engine.upkeep.lifecycle import Compacted
    from holdfast.files.documents import Report
    from holdfast.files.memory_md.merge import SyncReport

COMMANDS = Commands()


# More new files than this in a folder outside the hub need a confirmation.
_UNASKED = 10
# Notes shown on a terminal; a pipe and JSON have all of them.
_NOTES = 20


# sync


@COMMANDS.shows(
    "sync",
    "holdfast sync",
    Flags(
        HubMemory.sync,
        confirm=flag(
            about="take the files as they are: archive what is missing, make this folder the place"
        ),
    ),
    makes_hub=True,
)
def _show_synced(call: Call, args: Namespace, report: SyncReport) -> None:
    """Bring MEMORY.md and the store together, and keep them in sync.

    The first sync creates the hub's folder. From then on every command reads edits in
    MEMORY.md first, and new memories appear there. In a pipe, a line per memory: taken in
    or archived, number, title."""
    if call.out.json:
        names = ("taken_in", "written", "archived", "clashes", "refused", "notes")
        plain = {name: getattr(report, name) for name in names}
        plain["conflicts"] = plain.pop("clashes")
        call.out.value({"file": call.hub.memory_md, **plain})
        return
    _show(call, call.hub, report)


def _show(call: Call, hub: HubMemory, report: SyncReport) -> None:
    from holdfast.files.file_sync import notes_of

    for memory in report.taken_in:
        _line(call, "taken in", memory.number, memory.title)
    for memory in report.archived:
        _line(call, "archived", memory.number, memory.title)
    if call.out.terminal and not (report.taken_in or report.archived):
        call.out.line(f"{hub.memory_md} {'was written' if report.written else 'is up to date'}.")
    call.out.notes(notes_of(report))


def _line(call: Call, what: str, number: int, title: str) -> None:
    if call.out.terminal:
        call.out.line(f"{what.capitalize()} #{number}  {title}")
    else:
        call.out.row(what, str(number), title)


# watch


@COMMANDS.add("watch", "holdfast watch")
def _watch(call: Call, args: Namespace) -> None:
    """Apply edits of MEMORY.md and journals as soon as they are saved.

    It runs until Ctrl-C."""
    from holdfast.files.folder_walk import watch_hubs

    call.hub.sync()
    names = [args.hub] if args.hub else [hub.name for hub in call.memory.hubs()]
    call.out.note(f"Watching {', '.join(names)}. Ctrl-C ends it.")
    for changed in watch_hubs(call.local.home):
        for name in sorted(changed):
            if not args.hub or name == args.hub:
                _sync_hub(call, name)
        call.out.stdout.flush()


def _sync_hub(call: Call, name: str) -> None:
    """Syncs one hub. An error is printed, and the watch goes on."""
    from holdfast.errors import HoldfastError, with_command

    try:
        hub = call.memory.hub(name)
        report = hub.sync()
        documents = hub.index_files()
    except HoldfastError as error:
        call.out.note(f"{name}: {with_command(error)}")
        return
    if report.taken_in or report.archived or report.refused or report.clashes or report.notes:
        _show(call, hub, report)
    changed = len(documents.added) + len(documents.updated) + len(documents.removed)
    if changed:
        call.out.line(f"{name}: {changed} of its documents taken in")


# conflicts


@COMMANDS.shows("conflicts", "holdfast conflicts", Flags(HubMemory.conflicts))
def _show_conflicts(call: Call, args: Namespace, found: list[Clash]) -> None:
    """List memories that were changed both in MEMORY.md and in the store.

    In a pipe, a line per conflict: its id, the memory, since when, the store's text, the
    file's text."""
    names = ("conflict", "memory", "since", "in the store", "in the file")
    rows = [_row(call, clash) for clash in found]
    if call.out.rows(names, rows, data=found, empty="There is no conflict."):
        call.out.note("`holdfast conflicts settle ID --keep store|file|both` ends one.")


def _row(call: Call, clash: Clash) -> tuple[str, ...]:
    # On a terminal both texts share a line; in a pipe they are complete.
    shown = (lambda text: short(text, 40)) if call.out.terminal else str
    since = call.out.time(clash.at)
    return clash.id, clash.memory_id, since, shown(clash.in_store), shown(clash.in_file)


_SETTLE = Flags(
    HubMemory.settle,
    conflict=flag(metavar="ID", about="the conflict (cls_…)"),
    keep=flag("--keep", offers=KEEPS, metavar="TEXT", about="store, file or both"),
)


@COMMANDS.add("conflicts settle", "holdfast conflicts settle cls_1k09t --keep file", _SETTLE)
def _settle(call: Call, args: Namespace) -> None:
    """Resolve a conflict: keep one text, or both.

    The other text is archived or stays in the history."""
    keep = args.keep or "both"
    clash = _SETTLE.run(call, args, keep=keep)
    call.out.answer(
        {"settled": clash, "keep": keep},
        f"Settled {clash.id}; kept: {keep}.",
        "settled",
        clash.id,
        keep,
    )


# compact


@COMMANDS.shows(
    "compact",
    "holdfast compact --dry-run",
    Flags(HubMemory.compact, dry_run=flag(about="only say what would be done")),
)
def _show_compacted(call: Call, args: Namespace, done: Compacted) -> None:
    """Merge long-term memories that say the same.

    Texts are the same if they have the same words in the same order; case, punctuation
    and articles do not count. One memory stays, the others are archived with a link to
    it; one undo brings them back. In MEMORY.md, sections of the same category are joined.
    In a pipe, a line per merge: the number that stays, then those it replaces."""
    if call.out.json:
        call.out.value(
            {
                "merged": done.merged,
                "change": done.change,
                "dry_run": args.dry_run,
                "notes": list(done.notes),
            }
        )
        return
    for one in done.merged:
        numbers = [memory.number for memory in one.sources]
        if call.out.terminal:
            verb = "Would stand" if args.dry_run else "Stands"
            others = ", ".join(f"#{number}" for number in numbers)
            call.out.line(f"#{one.survivor.number}  {one.survivor.title}")
            call.out.line(f"    {verb} for {others} too.")
        else:
            call.out.row(str(one.survivor.number), *map(str, numbers))
    if done.change is not None:
        call.out.note(f"`holdfast undo {done.change}` takes it back.")
    elif not done.merged and not done.notes:
        call.out.note("There is nothing to merge.")
    call.out.notes(done.notes)


# index-files


@COMMANDS.add(
    "index-files",
    "holdfast index-files",
    option("folder", "FOLDER", "which folder; without it, the hub's own files", nargs="?"),
    switch("--dry-run", "only say what would happen"),
    switch("--yes", "do not ask"),
    server="works",
    makes_hub=True,
)
def _index_files(call: Call, args: Namespace) -> None:
    """Update the documents in memory from a folder of files.

    Without FOLDER: hubs/HUB/files in the home folder. Unchanged files are not read again;
    the memory of a missing file is archived, and restored when the file is back.
    More than 10 new files of another folder need a confirmation.
    In a pipe, a line per file that was not unchanged: what became of it, path, reason."""
    if args.folder is not None and not args.dry_run and not args.yes:
        coming = call.hub.index_files(args.folder, dry_run=True).added
        if len(coming) > _UNASKED:
            call.confirm(f"Index {len(coming)} files of {args.folder}?")
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
    """Prints what happened to each file of a folder."""
    if call.out.json:
        call.out.value(
            {"hub": call.hub.name} | {name: getattr(report, name) for name in (*_PATHS, *_NOTED)},
            result="would index" if dry_run else "indexed",
        )
    elif call.out.terminal:
        _show_index_report(call, report, dry_run=dry_run)
    else:
        _print_rows(call, report)


def _show_index_report(call: Call, report: Report, *, dry_run: bool) -> None:
    held = len(report.held)
    counts = {name: len(getattr(report, name)) for name in (*_PATHS[:4], *_NOTED[:2])}
    counts["refused"] -= held
    parts = [f"{count} {name}" for name, count in counts.items()]
    if held:
        # These are stored, and wait for a person's review.
        parts.append(f"{held} held for review")
    call.out.line(f"{'Would be' if dry_run else 'Files'}: {', '.join(parts)}.", "green")
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


# A person waits while a folder is read for the first time; an agent does not.
_BUDGET_MS = 30_000


@COMMANDS.add(
    "sources",
    'holdfast sources "where do we deploy?"',
    option("query", "QUERY", "what to ask them; without it, list them", nargs="?"),
    Option(
        ("-n", "--limit"), {"type": whole, "metavar": "N", "help": "how many excerpts at most (5)"}
    ),
)
def _sources(call: Call, args: Namespace) -> None:
    """List the read-only memories beside the hub's own, or search them.

    The setting sources.read names them. Their content is shown and never stored.
    In a pipe, a line per source: name, kind, where, its content or what is wrong with it;
    with QUERY a line per excerpt: source, where, text."""
    if args.query is None:
        _list(call)
    else:
        _ask(call, args.query, 5 if args.limit is None else args.limit)


def _list(call: Call) -> None:
    from holdfast.sources.configured import described

    found = described(call.hub)
    rows = [(one.name, one.kind, one.where, one.problem or one.state) for one in found]
    none = "There are no sources. To name one: `holdfast config set sources.read notes=~/notes`."
    call.out.rows(("name", "kind", "where", "what is in it"), rows, data=found, empty=none)


def _ask(call: Call, query: str, limit: int) -> None:
    from holdfast import sources

    answers = sources.ask(call.hub, query, limit=limit, budget_ms=_BUDGET_MS)
    rows = [(one.source, one.where, one.text) for one in answers.excerpts]
    none = "No source has anything on that."
    call.out.rows(("source", "where", "text"), rows, data=answers.plain(), empty=none)
    if not call.out.json:
        call.out.notes(answers.notes)
