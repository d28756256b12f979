"""Moving a hub: export to and import from JSON Lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from holdfast.edges.cli import push
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.edges.cli.plain import plain_hub
from holdfast.errors import AlreadyExists, InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.edges.cli.output import Step

# Lines between two looks at the progress bar.
_STEP = 500


def _export_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="where to; - is standard output")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def _export(call: Call, args: Namespace) -> None:
    if args.file == "-":
        # The lines are the answer, also with --json: each of them is JSON.
        call.out.utf8()
        for line in call.hub.export():
            call.out.stdout.write(line + "\n")
        return
    if os.path.isdir(args.file):
        raise InvalidInput(f"{args.file} is a folder.", hint="Name a file in it.")
    if os.path.exists(args.file) and not args.force:
        raise AlreadyExists(f"{args.file} exists already.", hint="Replace it with --force.")
    folder = os.path.dirname(os.path.abspath(args.file))
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.", hint="Make it, or choose another.")
    lines = _write_whole(call, args.file)
    if call.out.json:
        call.out.value({"result": "exported", "file": args.file, "lines": lines})
    elif call.out.terminal:
        call.out.line(
            f"Exported hub {call.hub.name}: {counted(lines, 'line')} in {args.file}.", "green"
        )
    else:
        call.out.row("exported", call.hub.name, args.file, str(lines))


def _write_whole(call: Call, path: str) -> int:
    """The file is complete and flushed, or not there at all."""
    partial = f"{path}.partial-{os.getpid()}"
    total = call.hub.statistics()
    expected = total.memories + total.changes + total.revisions
    count = 0
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file, call.out.progress("export") as step:
            for line in call.hub.export():
                file.write(line + "\n")
                count += 1
                if count % _STEP == 0:
                    step(count, expected)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(partial)
        raise
    return count


def _import_options(parser: Parser) -> None:
    help_ = "what export has written, - to read it; or a folder of files"
    parser.add_argument("file", metavar="FILE", help=help_)
    parser.add_argument("--as", dest="name", metavar="NAME", help="the hub under another name")
    push.add_folder_options(parser)


def _import(call: Call, args: Namespace) -> None:
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
        hub = call.memory.import_hub(_lines(file, step, size), name=args.name)
    count = hub.statistics().memories
    if call.out.json:
        used = call.settings["hub"]
        call.out.value(
            {"result": "imported", "hub": plain_hub(hub.info, used=used), "memories": count}
        )
    elif call.out.terminal:
        call.out.line(f"Imported hub {hub.name} with {counted(count, 'memory')}.", "green")
    else:
        call.out.row("imported", hub.name, hub.id, str(count))
    call.embed_left(backlog=True)


def _opened(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", hint="Check the name.") from None


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


COMMANDS = (
    Command(
        "export",
        "Write the whole hub as JSON Lines, history included.",
        "holdfast export work.jsonl --hub work",
        _export_options,
        _export,
    ),
    Command(
        "import",
        "Make a hub from an export, all of it or nothing; or take in a folder of files.",
        "holdfast import work.jsonl --as work-copy",
        _import_options,
        _import,
        "FILE is what `holdfast export` has written, and becomes a hub of its own. Where it is a\n"
        "folder, its files become documents of the hub in use, as `holdfast push FOLDER` does.",
    ),
)
