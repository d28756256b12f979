"""`holdfast backup` and `holdfast restore-backup`: the whole store to a file, and back from it,
with the files of memories beside it. How a store is copied, the library and `wiring` know.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.edges.cli import options
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.edges.cli.output import counted
from holdfast.errors import StoreDamaged

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.store.values import Progress


def _backup_options(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a new file, or a folder to put it in")


def _backup(call: Call, args: Namespace) -> None:
    path = args.path
    if os.path.isdir(path):
        path = os.path.join(path, f"holdfast-{call.memory.core.now():%Y%m%dT%H%M%SZ}.db")
    with call.out.progress("backup") as step:
        packed = call.memory.backup(path, progress=step)
    size = os.path.getsize(path)
    if call.out.json:
        files = {"files": packed.files, "files_path": packed.path or None}
        value = {"result": "backed up", "path": path, "bytes": size}
        call.out.value({**value, **files, "files_missing": len(packed.missing)})
    elif call.out.terminal:
        call.out.line(f"Backed up to {path} ({size:,} bytes).", "green")
    else:
        call.out.row("backed up", path, str(size))
    if packed.path:
        call.out.note(f"{counted(packed.files, 'file')} of memories: {packed.path}. Keep both.")
    if packed.missing:
        gone = counted(len(packed.missing), "file")
        call.out.note(f"{gone} of memories could not be read, and the backup is without.")
    call.out.note(f"To bring it back: `holdfast restore-backup {path}`.")


def _restore_options(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="what `holdfast backup` has written")
    options.add_yes(parser)


def _restore(call: Call, args: Namespace) -> None:
    from holdfast.files.attachments import archive
    from holdfast.wiring import make_home, store_file, store_url
    from holdfast.wiring.copies import check_backup, restore_backup
    from holdfast.wiring.urls import without_password

    path = store_file(call.home, call.settings)
    place = path or without_password(store_url(call.home, call.settings))
    try:
        check_backup(args.path)
    except StoreDamaged as error:
        # The usual hint is to bring back a backup.
        hint = "Name a file that `holdfast backup` has written; nothing was changed."
        raise StoreDamaged(error.message, hint=hint) from None
    call.confirm(f"Replace everything in {place} with the backup {args.path}?")
    make_home(call.home)
    # Its files are checked before anything is replaced.
    with archive.unpacked_beside(args.path, call.home) as staged:
        with call.out.progress("restore") as step:
            if path:
                kept = restore_backup(path, args.path, step, home=call.home)
            else:
                kept = _restored_into(call, args.path, step)
        there, missing = archive.put_back(call.memory._attachments(), staged)
    if kept:
        # What only the store knew that was there before: its copy can be brought back with them.
        archive.pack_unheld(kept + archive.BESIDE, call.memory._attachments())
    notes = _followed(call)
    if call.out.json:
        value = {"result": "restored", "store": place, "safety_copy": kept}
        call.out.value({**value, "files": there, "files_missing": missing})
    elif call.out.terminal:
        call.out.line(f"Restored {place} from {args.path}.", "green")
    else:
        call.out.row("restored", place, kept or "")
    if kept:
        call.out.note(f"What was there before is in {kept}.")
    for note in notes:
        call.out.note(note)
    if missing:
        call.out.note(
            f"{counted(missing, 'file')} of memories: not in the backup, and not on this machine."
        )
    call.embed_left(backlog=True)


def _restored_into(call: Call, backup: str, step: Progress) -> str:
    from holdfast.wiring.copies import restore_into

    try:
        return restore_into(call.memory.core.store, call.home, backup, step)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "Interrupted; once hubs have begun to come back, some are missing until the same"
            " command is started again and ends."
        ) from None


def _followed(call: Call) -> list[str]:
    """Lets the files in the hubs' folders follow the backup; what there is to know of them."""
    from holdfast.files import restored
    from holdfast.files.atomic import hub_folder

    core = call.memory.core.for_upkeep()
    with core.store.read() as reader:
        hubs = reader.hubs()
    return [
        note
        for hub in hubs
        if hub.state == "active"
        for note in restored.follow(core, hub, hub_folder(call.home, hub.name))
    ]


BACKUP = Command(
    "backup",
    "Copy the whole store to a file, while others read and write.",
    "holdfast backup ~/holdfast.db",
    _backup_options,
    _backup,
)
RESTORE = Command(
    "restore-backup",
    "Bring back a backup; what is there now is kept beside it.",
    "holdfast restore-backup ~/holdfast.db --yes",
    _restore_options,
    _restore,
)
