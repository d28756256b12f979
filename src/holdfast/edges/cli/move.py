"""Moving everything from one store to another: from the file to a database server, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call


def _options(parser: Parser) -> None:
    parser.add_argument("--to", metavar="URL", help="where to, for example postgresql://HOST/NAME")
    parser.add_argument("--from", dest="source", metavar="URL", help="where from; else store.url")
    parser.add_argument(
        "--switch", action="store_true", help="use the new store from now on (sets store.url)"
    )


def _move(call: Call, args: Namespace) -> None:
    from holdfast.wiring import make_home, store_url
    from holdfast.wiring.copies import bring_attachments, move_store
    from holdfast.wiring.urls import from_anywhere, refuse_password, without_password

    if not args.to:
        raise InvalidInput("Say where to.", hint="holdfast move --to postgresql://HOST/NAME")
    if args.switch:
        refuse_password(args.to)
        make_home(call.home)
    source = args.source or store_url(call.home, call.settings)
    # None where the files are in this home already.
    brought = bring_attachments(source, call.home, call.settings) if args.source else None
    far: list[tuple[str, int]] = []

    def told(what: str, done: int, total: int) -> None:
        far[:] = [(what, done)]
        step(done, total)

    try:
        with call.out.progress("move") as step:
            moved = move_store(source, args.to, told=told)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_broken_off(far)) from None
    if args.switch:
        from holdfast.settings.file import save

        save(call.home, "store.url", from_anywhere(args.to))
    shown = without_password(args.to)
    rows = [
        (hub.name, table, str(found.rows), found.hash[:16])
        for hub in moved.hubs
        for table, found in hub.tables.items()
    ]
    if call.out.json:
        tables = [dict(zip(("hub", "table", "rows", "hash"), row, strict=True)) for row in rows]
        value = {"result": "moved", "to": shown, "tables": tables, "verified": True}
        if brought:
            value |= dict(zip(("files", "files_missing"), brought, strict=True))
        call.out.value(value)
        return
    if rows:
        call.out.table(("hub", "table", "rows", "hash on both sides"), rows)
    call.out.note(
        f"Moved {counted(len(moved.hubs), 'hub')} and {counted(moved.records, 'other record')}"
        f" to {shown}; both sides were compared and are equal."
        f" {without_password(source)} is as it was."
    )
    if brought:
        _tell_of_files(call, *brought)
    if args.switch:
        call.out.note("It is used from now on: store.url is set.")
    else:
        call.out.note(f"To use it: holdfast config set store.url {from_anywhere(shown)}")
        call.out.note(
            "MEMORY.md and journals go with one store: whichever writes first from now on. The"
            " other leaves them alone until `holdfast sync --confirm`."
        )


def _broken_off(far: list[tuple[str, int]]) -> str:
    """What to say of a move that was interrupted: how far it came, and how it goes on."""
    if not far:
        return "Interrupted before anything was moved; the source is as it was."
    what, done = far[0]
    rows = f", {counted(done, 'row')}" if done else ""
    return (
        f"Interrupted at {what}{rows}. The source is as it was; the same command, started again,"
        " goes on from there."
    )


def _tell_of_files(call: Call, there: int, missing: int) -> None:
    if there:
        call.out.note(f"{counted(there, 'file')} of memories: here, and compared.")
    if missing:
        call.out.note(
            f"{counted(missing, 'file')} of memories: not brought, as the source's folder does not"
            " have them. Copy `hubs/*/attachments` from the home that does into"
            f" {call.home}; `holdfast doctor` says what is still missing."
        )


COMMANDS = (
    Command(
        "move",
        "Move everything to another store.",
        "holdfast move --to postgresql://db.example/holdfast --switch",
        _options,
        _move,
        "History, log, keys, jobs and vectors are moved too; files in the home folder stay where\n"
        "they are. With --from the memory.db of another home, files that memories were made from\n"
        "are copied into this one. The old store is only read. A move that was broken off goes\n"
        "on when it is started again. In a pipe, a line per table: hub, table, rows, hash on both\n"
        "sides.",
    ),
)
