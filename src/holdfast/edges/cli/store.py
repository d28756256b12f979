"""Commands for the store: PostgreSQL set-up, migrations and indexes; backup and restore-backup."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli.command import YES, Commands, Namespace, option, switch, whole
from holdfast.edges.cli.output import counted, pasteable
from holdfast.errors import InvalidInput, StoreDamaged, StoreError

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.store.values import Progress
    from holdfast.wiring import Initialised

COMMANDS = Commands()


@COMMANDS.add(
    "store init",
    "holdfast store init --url postgresql://admin@db.example/holdfast --role app",
    option("--url", "URL", "which database; else store.url"),
    option("--partitions", "N", "how many parts a large table has (16)", type=whole),
    switch("--citus", "spread the tables over Citus nodes"),
    option("--role", "NAME", "let this role of the server use the store", default=""),
)
def _init(call: Call, args: Namespace) -> None:
    """Prepare a PostgreSQL database to be the store.

    Run it once, as an owner of the database, if the programs that use the store may not
    create tables. Running it again is harmless, and updates an older schema like
    `store migrate`. Name the server itself, not a pooler. It has to be PostgreSQL 14 or
    newer."""
    from holdfast.wiring import init_store, store_url

    prepared = init_store(
        args.url or store_url(call.home, call.settings),
        partitions=args.partitions,
        citus=args.citus,
        role=args.role,
        report=call.out.note,
    )
    _show_prepared(call, prepared)


def _show_prepared(call: Call, prepared: Initialised) -> None:
    offered = prepared.offered
    if call.out.json:
        call.out.value(
            {
                "store": prepared.address,
                "schema": offered.version,
                "partitions": offered.partitions,
                "citus": offered.citus,
                "pgvector": bool(offered.vector_schema),
                "notes": list(prepared.notes),
            },
            result="ready",
        )
        return
    parts = "spread by Citus" if offered.citus else f"in {offered.partitions} parts"
    call.out.line(f"{prepared.address} is ready: schema {offered.version}, tables {parts}.")
    call.out.notes(prepared.notes)


@COMMANDS.add(
    "store check",
    "holdfast store check --url postgresql://owner@db.example/holdfast --role app",
    option("--url", "URL", "which database; else store.url"),
    option("--role", "NAME", "the role of programs; else the URL's user", default=""),
)
def _check(call: Call, args: Namespace) -> int:
    """Report what a PostgreSQL database, or a Citus cluster, lacks to be the store.

    Changes nothing, and works before `store init`. Checks rights, settings and
    extensions, and on Citus every node. The exit code is 6 if something is missing. In a
    pipe, a line for each: lacks or note, sentence."""
    from holdfast.wiring import check_store, store_url

    found = check_store(args.url or store_url(call.home, call.settings), role=args.role)
    if call.out.json:
        call.out.value({"ready": not found.lacks, **found._asdict()})
        return StoreError.exit_code if found.lacks else 0
    for sentence in found.lacks:
        call.out.row("lacks", sentence)
    for sentence in found.notes:
        call.out.row("note", sentence)
    if not found.lacks:
        call.out.line(f"{found.address} ({found.server}) lacks nothing.")
    return StoreError.exit_code if found.lacks else 0


@COMMANDS.add(
    "store migrate",
    "holdfast store migrate --url postgresql://owner@db.example/holdfast",
    option("--url", "URL", "which database; else store.url"),
)
def _migrate(call: Call, args: Namespace) -> None:
    """Update the schema of a PostgreSQL database while it is used.

    Run it as the owner of the schema, with the newer Holdfast, before the programs are
    upgraded. Readers and writers go on: a step that locks a table makes them wait for a
    moment at most, and indexes are built concurrently. It resumes after an interruption; if
    several processes run it, one does the work and the others wait."""
    from holdfast.wiring import migrate_store, store_url

    url = args.url or store_url(call.home, call.settings)
    _show_prepared(call, migrate_store(url, report=call.out.note))


@COMMANDS.add(
    "store index",
    "holdfast store index --url postgresql://owner@db.example/holdfast",
    option("name", "HUB", "this hub alone", nargs="?", default=""),
    option("--url", "URL", "which database; else store.url"),
    option(
        "--memory",
        "SIZE",
        "what the server may take for it, as 2GB; else what it is set to",
        default="",
    ),
    switch("--drop", "take the index away instead"),
)
def _index(call: Call, args: Namespace) -> None:
    """Build vector indexes on the PostgreSQL server, for large hubs.

    For hubs of 20,000 vectors and more, with pgvector 0.8 or newer, as the owner of the
    schema. Readers and writers go on meanwhile; from then on, writing keeps the index up to
    date, which costs 4 to 8 ms a memory. Before adding many memories, remove it with
    --drop: recall then compares all vectors, as in small hubs, until it is built again.
    Both resume after an interruption. In a pipe, a line per hub: hub, model, vectors."""
    from holdfast.wiring import drop_store_index, index_store, store_url

    url = args.url or store_url(call.home, call.settings)
    if args.drop and args.memory:
        raise InvalidInput("--memory is for building an index, and --drop takes it away.")
    if args.drop:
        made = list(drop_store_index(url, hub=args.name))
        none = "There is no index to take away."
    else:
        made = list(index_store(url, hub=args.name, memory=args.memory))
        none = "No hub is large enough, or all that are have their index."
    rows = [(one.hub, one.model, str(one.vectors)) for one in made]
    if call.out.rows(("hub", "model", "vectors"), rows, data=made, empty=none) and args.drop:
        call.out.note(
            "Recall compares all vectors of these hubs until `holdfast store index` builds it anew."
        )


@COMMANDS.add(
    "backup",
    "holdfast backup ~/holdfast.db",
    option("path", "PATH", "a new file, or a folder to put it in"),
)
def _backup(call: Call, args: Namespace) -> None:
    """Copy the whole store to a file, while others read and write."""
    path = args.path
    if os.path.isdir(path):
        path = os.path.join(path, f"holdfast-{call.local.core.now():%Y%m%dT%H%M%SZ}.db")
    with call.out.progress("backup") as step:
        packed = call.local.backup(path, progress=step)
    size = os.path.getsize(path)
    data = {"path": path, "bytes": size, "files": packed.files, "files_path": packed.path or None}
    data["files_missing"] = len(packed.missing)
    said = f"Backed up to {path} ({size:,} bytes)."
    call.out.done("backed up", data, said, path, str(size))
    if packed.path:
        call.out.note(f"{counted(packed.files, 'file')} of memories: {packed.path}. Keep both.")
    if packed.missing:
        gone = counted(len(packed.missing), "file")
        call.out.note(f"{gone} of memories could not be read, and the backup is without.")
    call.out.note(f"To bring it back: `{pasteable('holdfast', 'restore-backup', path)}`.")


@COMMANDS.add(
    "restore-backup",
    "holdfast restore-backup ~/holdfast.db --yes",
    option("path", "PATH", "what `holdfast backup` has written"),
    YES,
)
def _restore(call: Call, args: Namespace) -> None:
    """Restore a backup; the current store is kept beside it."""
    from holdfast.files import attachments_tar
    from holdfast.wiring import make_home, store_file, store_url, without_password
    from holdfast.wiring.copies import check_backup, restore_backup

    path = store_file(call.home, call.settings)
    place = path or without_password(store_url(call.home, call.settings))
    try:
        check_backup(args.path)
    except StoreDamaged as error:
        # The usual hint is to restore a backup.
        hint = "Name a file that `holdfast backup` has written; nothing was changed."
        raise StoreDamaged(error.message, hint=hint) from None
    # On a new machine there is nothing to replace.
    if not path or os.path.exists(path):
        call.confirm(f"Replace everything in {place} with the backup {args.path}?")
    make_home(call.home)
    access: list[str] = []
    # Its files are checked before anything is replaced.
    with attachments_tar.unpacked_beside(args.path, call.home) as staged:
        with call.out.progress("restore") as step:
            if path:
                kept = restore_backup(path, args.path, step, home=call.home, notes=access)
            else:
                kept = _restored_into(call, args.path, step, access)
        there, missing = attachments_tar.put_back(call.local._attachments(), staged)
    if kept:
        # Attachments that only the old store knew go into an archive beside its copy.
        attachments_tar.pack_unheld(kept + attachments_tar.BESIDE, call.local._attachments())
    notes = _followed(call)
    data = {"store": place, "safety_copy": kept, "files": there, "files_missing": missing}
    data["access"] = access
    said = f"Restored {place} from {args.path}."
    call.out.done("restored", data, said, place, kept or "")
    if kept:
        call.out.note(f"What was there before is in {kept}.")
    call.out.notes([*access, *notes])
    if missing:
        call.out.note(
            f"{counted(missing, 'file')} of memories: not in the backup, and not on this machine."
        )
    call.embed_left(backlog=True)


def _restored_into(call: Call, backup: str, step: Progress, access: list[str]) -> str:
    from holdfast.wiring.copies import restore_into

    try:
        return restore_into(call.local.core.store, call.home, backup, step, notes=access)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "Interrupted; once hubs have begun to come back, some are missing until the same"
            " command is started again and ends."
        ) from None


def _followed(call: Call) -> list[str]:
    """Updates the files in the hubs' folders to match the backup; returns notes for the user."""
    from holdfast.files import hub_path
    from holdfast.files.restore import follow

    core = call.local.core.acting(sees_all=True)
    with core.store.read() as reader:
        hubs = reader.hubs()
    return [
        note
        for hub in hubs
        if hub.state == "active"
        for note in follow(core, hub, hub_path(call.home, hub.name))
    ]
