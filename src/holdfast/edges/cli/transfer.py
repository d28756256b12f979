"""Commands for export and import of a hub, export for other programs, and moving everything to
another store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from holdfast.edges.cli import imports, push
from holdfast.edges.cli.command import Commands, Namespace, option, switch
from holdfast.edges.cli.output import counted, pasteable, plain_hub
from holdfast.errors import AlreadyExists, InvalidInput, NotFound
from holdfast.importers.export_formats import FORMATS
from holdfast.text.clean import JSON_ESCAPES

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.edges.cli.call import Call
    from holdfast.edges.cli.output import Step
    from holdfast.engine.transfer.copy import Moved
    from holdfast.files.attachments_tar import Packed
    from holdfast.importers.export_formats import Exporter

COMMANDS = Commands()


# Lines between two updates of the progress bar.
_STEP = 500


@COMMANDS.add(
    "export",
    "holdfast export work.jsonl --hub work",
    option("file", "FILE", "where to; - is standard output"),
    switch("--force", "replace a file that is there"),
    option("--format", "FORMAT", "for other programs, without history", offers=FORMATS),
    server="works",
)
def _export(call: Call, args: Namespace) -> None:
    """Write the whole hub as JSON Lines, history included.

    Attached files go into FILE.files.tar, if there are any. With --format, FILE contains
    the current memories for other programs: jsonl, csv, mem0, mcp-memory (the MCP reference
    server's), or markdown (then FILE is a folder)."""
    if args.format:
        export_as(call, args)
        return
    if args.file == "-":
        # The lines are the result, even with --json: each of them is JSON.
        call.out.utf8()
        for line in call.hub.export():
            call.out.stdout.write(line.translate(JSON_ESCAPES) + "\n")
        _note_left_behind(call)
        return
    _check_new_file(args)
    lines = _write_whole(call, args.file)
    packed = _write_files(call, args)
    data = {"file": args.file, "lines": lines, "files": 0 if packed is None else packed.files}
    data["files_path"] = packed and (packed.path or None)
    _show_exported(call, args, data, lines, "line")
    if packed is None:
        _note_left_behind(call)
    elif packed.path:
        call.out.note(f"{counted(packed.files, 'file')} of memories: {packed.path}. Keep both.")
    if packed is not None and packed.missing:
        gone = counted(len(packed.missing), "file")
        call.out.note(f"{gone} of memories could not be read, and the export is without.")


def _check_new_file(args: Namespace) -> None:
    if os.path.isdir(args.file):
        raise InvalidInput(f"{args.file} is a folder.", hint="Name a file in it.")
    if os.path.exists(args.file) and not args.force:
        raise AlreadyExists(f"{args.file} exists already.", hint="Replace it with --force.")
    folder = os.path.dirname(os.path.abspath(args.file))
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.", hint="Make it, or choose another.")


def _show_exported(call: Call, args: Namespace, data: Any, count: int, what: str) -> None:
    hub = call.hub.name
    said = f"Exported hub {hub}: {counted(count, what)} in {args.file}."
    call.out.done("exported", data, said, hub, args.file, str(count))


def _write_files(call: Call, args: Namespace) -> Packed | None:
    """Writes the attached files beside the export; None through a server."""
    if call.server:
        return None
    from holdfast.files.attachments_tar import BESIDE

    path = args.file + BESIDE
    if args.force:
        # Left over from the export that was replaced.
        with suppress(FileNotFoundError):
            os.remove(path)
    return call.hub.export_files(path)


def _note_left_behind(call: Call) -> None:
    """An export is text only, so attached files that are not in it are mentioned."""
    if call.server:
        call.out.note("An export through a server is without the files of memories.")
        return
    files = len({one.hash for one in call.hub.attachments.held()})
    if files:
        call.out.note(
            f"{counted(files, 'file')} of memories: not in it. Export to a file to take them along."
        )


def _write_whole(call: Call, path: str) -> int:
    """Writes the file completely and flushes it, or leaves none."""
    from holdfast.system.atomic_file import file_errors, remove_partials, replacing

    remove_partials(path)
    total = call.hub.statistics()
    expected = total.memories + total.changes + total.revisions
    count = 0
    with file_errors(path), replacing(path) as file, call.out.progress("export") as step:
        for line in call.hub.export():
            file.write(f"{line}\n".encode())
            count += 1
            if count % _STEP == 0:
                step(count, expected)
    return count


COMMANDS += imports.COMMANDS


@COMMANDS.add(
    "import",
    "holdfast import work.jsonl --as work-copy",
    option("file", "FILE", "what export has written, - to read it; or a folder of files"),
    option("--as", "NAME", "the hub under another name", dest="name"),
    *push.FOLDER_OPTIONS,
    server="works",
)
def _import(call: Call, args: Namespace) -> None:
    """Create a hub from an export, all of it or nothing; or store a folder of files.

    FILE is what `holdfast export` has written, and becomes a hub of its own, with the files
    in FILE.files.tar if that is beside it. If it is a folder, its files become documents of
    the hub in use, as with `holdfast push FOLDER`.

    Memories of other programs have commands of their own: `holdfast import mem0`,
    `holdfast import markdown` and others, which `holdfast help admin` lists."""
    if args.file != "-" and os.path.isdir(args.file):
        if args.name:
            raise InvalidInput(
                f"{args.file} is a folder; --as is for what `holdfast export` has written.",
                hint="The files of a folder go into the hub that --hub names.",
            )
        push.push_folders(call, args, [args.file])
        return
    if args.watch or args.dry_run:
        raise InvalidInput(
            "--watch and --dry-run are for a folder; an export is imported once, and whole."
        )
    if call.server:
        raise InvalidInput(
            "An export becomes a hub on the machine that has the memory, not through"
            f" {call.server}.",
            hint="Run it there. A folder of files can be imported from here.",
        )
    with _opened(args.file) as file, call.out.progress("import") as step:
        size = os.fstat(file.fileno()).st_size if args.file != "-" else 0
        beside = _beside(args.file)
        lines = _lines(file, step, size)
        hub = call.local.import_hub(lines, name=args.name, files=beside)
    count = hub.statistics().memories
    data = {"hub": plain_hub(hub.info, used=call.settings["hub"]), "memories": count}
    said = f"Imported hub {hub.name} with {counted(count, 'memory')}."
    call.out.done("imported", data, said, hub.name, hub.id, str(count))
    if beside:
        files = len({one.hash for one in hub.attachments.held()})
        call.out.note(f"{counted(files, 'file')} of memories came along, from {beside}.")
    call.embed_left(backlog=True)


def _beside(file: str) -> str | None:
    """The archive of attached files that was written with an export, if it is beside it."""
    from holdfast.files.attachments_tar import BESIDE

    return file + BESIDE if file != "-" and os.path.isfile(file + BESIDE) else None


def _opened(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    from holdfast.files.safe_read import open_regular

    try:
        return open_regular(path)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", hint=_hint_for(path)) from None


def _hint_for(path: str) -> str:
    """What to do if the name may be that of a program with memories to import."""
    from holdfast.edges.cli.command import nearest
    from holdfast.importers import importers

    programs = [*imports.NAMES.values(), "claude-md", *(one.name for one in importers())]
    near = nearest(path.lower(), programs)
    if near:
        return f"Did you mean `holdfast import {near}`?"
    return "Check the name. `holdfast help admin` lists the programs that can be imported from."


def _lines(file: IO[bytes], step: Step, size: int) -> Iterator[str]:
    read = 0
    for number, line in enumerate(file, 1):
        read += len(line)
        if number % _STEP == 0:
            step(read, size)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(
                f"Line {number} is not UTF-8 text.",
                hint="Nothing was imported; export it again.",
            ) from None


@COMMANDS.add(
    "move",
    "holdfast move --to postgresql://db.example/holdfast --switch",
    option("--to", "URL", "where to, for example postgresql://HOST/NAME"),
    option("--from", "URL", "where from; else store.url", dest="source"),
    switch("--switch", "use the new store from now on (sets store.url)"),
)
def _move(call: Call, args: Namespace) -> None:
    """Move everything to another store.

    History, log, keys, jobs and vectors are moved too; files in the home folder stay where
    they are. With --from the memory.db of another home, attached files are copied into this
    one. The old store is only read. An interrupted move continues when it is started again.
    With --hub, only that hub goes into a store that may have others, with its members and
    without keys; nobody may write to it meanwhile. In a pipe, a line per table: hub, table,
    rows, hash on both sides."""
    from holdfast.wiring import from_anywhere, make_home, refuse_password, store_url
    from holdfast.wiring.copies import bring_attachments, move_store

    if not args.to:
        raise InvalidInput("Say where to.", hint="holdfast move --to postgresql://HOST/NAME")
    if args.switch and args.hub:
        raise InvalidInput(
            "--switch is for a whole store; the other hubs would be left behind.",
            hint="Leave out --hub, or --switch.",
        )
    if args.switch:
        refuse_password(args.to)
        make_home(call.home)
    source = args.source or store_url(call.home, call.settings)
    # None if the files are in this home already.
    brought = bring_attachments(source, call.home, call.settings) if args.source else None
    far: list[tuple[str, int]] = []

    def report(what: str, done: int, total: int) -> None:
        far[:] = [(what, done)]
        step(done, total)

    try:
        with call.out.progress("move") as step:
            moved = move_store(source, args.to, hub=args.hub or "", report=report)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_broken_off(far)) from None
    if args.switch:
        from holdfast.settings import save

        save(call.home, "store.url", from_anywhere(args.to))
    _show_moved(call, args, moved, source, brought)


def _show_moved(
    call: Call, args: Namespace, moved: Moved, source: str, brought: tuple[int, int] | None
) -> None:
    from holdfast.wiring import from_anywhere, without_password

    shown = without_password(args.to)
    rows = [
        (hub.name, table, str(found.rows), found.hash[:16])
        for hub in moved.hubs
        for table, found in hub.tables.items()
    ]
    if call.out.json:
        tables = [dict(zip(("hub", "table", "rows", "hash"), row, strict=True)) for row in rows]
        value = {"to": shown, "tables": tables, "verified": True}
        if brought:
            value |= dict(zip(("files", "files_missing"), brought, strict=True))
        call.out.value(value, result="moved")
        return
    if rows:
        call.out.table(("hub", "table", "rows", "hash on both sides"), rows)
    beside = "" if args.hub else f" and {counted(moved.records, 'other record')}"
    call.out.note(
        f"Moved {counted(len(moved.hubs), 'hub')}{beside} to {shown}; both sides were compared and"
        f" are equal. {without_password(source)} is as it was."
    )
    if brought:
        _note_files(call, *brought)
    if args.hub:
        call.out.note(
            "Keys, people and teams are not part of a hub and were not copied. What is written to"
            " the hub in the old store from now on stays there: take it away with `holdfast hub"
            f" delete {args.hub}` when nobody uses it."
        )
    elif args.switch:
        call.out.note("It is used from now on: store.url is set.")
    else:
        command = pasteable("holdfast", "config", "set", "store.url", from_anywhere(shown))
        call.out.note(f"To use it: {command}")
        if shown != args.to:
            call.out.note("Its password goes into PGPASSWORD or ~/.pgpass.")
        call.out.note(
            "MEMORY.md and journals go with one store: whichever writes first from now on. The"
            " other leaves them alone until `holdfast sync --confirm`."
        )


def _broken_off(far: list[tuple[str, int]]) -> str:
    """The message about an interrupted move: how far it came, and how to continue it."""
    if not far:
        return "Interrupted before anything was moved; the source is as it was."
    what, done = far[0]
    rows = f", {counted(done, 'row')}" if done else ""
    return (
        f"Interrupted at {what}{rows}. The source is as it was; the same command, started again,"
        " goes on from there."
    )


def _note_files(call: Call, there: int, missing: int) -> None:
    if there:
        call.out.note(f"{counted(there, 'file')} of memories: here, and compared.")
    if missing:
        call.out.note(
            f"{counted(missing, 'file')} of memories: not brought, as the source's folder does not"
            " have them. Copy `hubs/*/attachments` from the home that does into"
            f" {call.home}; `holdfast doctor` says what is still missing."
        )


def export_as(call: Call, args: Namespace) -> None:
    """Writes the hub's memories in a format to a file, a folder or standard output."""
    from holdfast.importers.export_formats import exporter_named

    exporter = exporter_named(args.format)
    counting = _Counting(call)
    if args.file == "-":
        if exporter.folder:
            raise InvalidInput(f"{exporter.name} is a folder.", hint="Name one to write it to.")
        call.out.utf8()
        for _, text in exporter.write(counting.memories(), call.hub.name):
            call.out.stdout.write(text)
        return
    if exporter.folder:
        _write_folder(call, args, exporter, counting)
    else:
        _write_file(call, args, exporter, counting)
    count = counting.count
    data = {"file": args.file, "format": exporter.name, "memories": count}
    _show_exported(call, args, data, count, "memory")
    call.out.note("It holds what is remembered now. `holdfast export FILE` has the history too.")


class _Counting:
    """Counts the memories as they are exported."""

    def __init__(self, call: Call) -> None:
        self._call, self.count = call, 0

    def memories(self) -> Iterator[Memory]:
        from holdfast.importers.export_formats import exported

        for memory in exported(self._call.hub.scan()):
            self.count += 1
            yield memory


def _write_file(call: Call, args: Namespace, exporter: Exporter, counting: _Counting) -> None:
    from holdfast.system.atomic_file import remove_partials, replacing

    _check_new_file(args)
    remove_partials(args.file)
    with replacing(args.file) as file:
        for _, text in exporter.write(counting.memories(), call.hub.name):
            file.write(text.encode())


def _write_folder(call: Call, args: Namespace, exporter: Exporter, counting: _Counting) -> None:
    from holdfast.system.atomic_file import write_file

    if os.path.lexists(args.file) and not os.path.isdir(args.file):
        raise AlreadyExists(f"{args.file} is a file.", hint="Name a folder.")
    os.makedirs(args.file, exist_ok=True)
    if os.listdir(args.file) and not args.force:
        raise AlreadyExists(
            f"The folder {args.file} is not empty.",
            hint="Name another, or write into it with --force.",
        )
    for name, text in exporter.write(counting.memories(), call.hub.name):
        write_file(os.path.join(args.file, name), text.encode(), durable=False)
