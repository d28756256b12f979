"""A client's settings file on the disk: read whole, written whole, a backup beside it first.

A link is followed, so that dotfiles kept elsewhere stay links; the mode stays. It knows nothing of
what is in the file.

The folders that a setup has made are recorded in `clients.json` in Holdfast's home, so that a
teardown removes those and no others. A folder that is not in it is left alone, also where it is
empty: a client may need it, or a person may have made it.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from holdfast.errors import HoldfastError, InvalidInput, StoreError, StoreReadOnly
from holdfast.system.atomic_file import FILE_MODE, make_folder, write_atomic

# Claude Code keeps more than settings in its file, and that has reached some megabytes; what is
# larger than this is no file of settings.
BYTES_MAX = 50_000_000
# The last few changes, and how the file was before the first of them. Not more: each holds what the
# file holds, secrets too.
BACKUPS_MAX = 5

_STAMP = "%Y%m%dT%H%M%SZ"
_BACKUP = re.compile(r"\.holdfast-\d{8}T\d{6}Z(?:-\d+)?\.bak")


class FileChanged(Exception):
    """The file is not as it was read: someone else has written it."""


def read(path: str) -> bytes | None:
    """The text of a client's settings file, or None if there is none."""
    try:
        # Asked before it is opened: opening a pipe would wait for someone to write to it.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _no_file(path)
        with open(path, "rb") as file:
            data = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise _no_file(path) from None
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror}.", hint="Check who owns it."
        ) from error
    if len(data) > BYTES_MAX:
        raise InvalidInput(
            f"{path} has more than {BYTES_MAX:,} bytes, too many for settings.",
            hint="Name the right file with --file.",
        )
    return data


def decode(path: str, data: bytes) -> str:
    """The settings file of a client as text. Nothing is translated, so that encoding gives the same
    bytes again."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text: byte {error.start + 1} cannot be read.",
            hint="Save it as UTF-8, or add the entry yourself: --print shows it.",
        ) from None


def write(path: str, data: bytes, *, old: bytes | None, now: datetime) -> str | None:
    """Replaces the file, which still holds `old`; returns where the backup of that is."""
    target = os.path.realpath(path)
    mode = _mode(path, target)
    make_folder(os.path.dirname(path))
    backup = None
    if old is not None:
        backup = _free_name(path, now)
        write_atomic(backup, old)
    try:
        # A client may have written it since; of the time until the rename we cannot be sure.
        if read(path) != old:
            raise FileChanged
        write_atomic(target, data, mode=mode)
    except BaseException:
        if backup is not None:
            with suppress(OSError):
                os.unlink(backup)
        raise
    for extra in backups(path)[BACKUPS_MAX - 1 : -1]:
        with suppress(OSError):
            os.unlink(extra)
    return backup


def remove(path: str, *, old: bytes) -> None:
    """Removes the file, which still holds `old`."""
    _mode(path, path)
    if read(path) != old:
        raise FileChanged
    os.unlink(path)


def put_aside(path: str, *, old: bytes, now: datetime) -> str:
    """Makes a backup of the file, which still holds `old`, and removes it; returns where the backup
    is."""
    backup = _free_name(path, now)
    write_atomic(backup, old)
    try:
        remove(path, old=old)
    except BaseException:
        with suppress(OSError):
            os.unlink(backup)
        raise
    return backup


def backups(path: str) -> list[str]:
    """The backups of a file, newest first."""
    folder, name = os.path.split(path)
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    ours = [
        one for one in found if one.startswith(name) and _BACKUP.fullmatch(one.removeprefix(name))
    ]
    return [os.path.join(folder, one) for one in sorted(ours, key=_age, reverse=True)]


def remove_equal_backups(path: str, *texts: str) -> None:
    """Removes the backups that hold what the file holds, or one of these texts."""
    data = read(path)
    if data is None:
        return
    for backup in backups(path):
        with suppress(HoldfastError, OSError):
            held = read(backup)
            if held == data or (held is not None and decode(backup, held) in texts):
                os.unlink(backup)


def _age(name: str) -> tuple[str, int]:
    """Sorts by the time in the name, then by the number behind it."""
    stamp, _, number = name.rpartition(".holdfast-")[2].removesuffix(".bak").partition("-")
    return stamp, int(number or 1)


def _free_name(path: str, now: datetime) -> str:
    first = f"{path}.holdfast-{now.strftime(_STAMP)}"
    name, number = f"{first}.bak", 1
    while os.path.lexists(name):
        number += 1
        name = f"{first}-{number}.bak"
    return name


def _mode(path: str, target: str) -> int:
    """The mode to keep. A file that nobody may write is refused, although a rename would get
    around that: it is how a person or a package says that it is kept elsewhere."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except OSError:
        return FILE_MODE
    if not mode & 0o222:
        raise StoreReadOnly(
            f"{path} is read-only.",
            hint="Make it writable, or add the entry where it comes from: --print shows it.",
        )
    return mode


def _no_file(path: str) -> InvalidInput:
    return InvalidInput(
        f"{path} is not a file, or its folder is none.", hint="Move it away, or name another."
    )


_RECORD = "clients.json"


@contextmanager
def recorded(home: str, paths: Iterable[str]) -> Iterator[None]:
    """Records the folders of these files that are missing now and there when the block ends. The
    caller holds the lock."""
    missing = {folder for path in paths for folder in _above(path) if not os.path.isdir(folder)}
    try:
        yield
    finally:
        made = {folder for folder in missing if os.path.isdir(folder)}
        if made:
            _save(home, _made(home) | made)


def remove_made(home: str, paths: Iterable[str]) -> None:
    """Removes the folders of these files that a setup made and that are empty now. The caller
    holds the lock."""
    made = _made(home)
    # If its file is still there, the next teardown asks about a folder again.
    gone = {folder for path in paths if not os.path.lexists(path) for folder in _above(path)} & made
    for folder in sorted(gone, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)
    kept = {folder for folder in gone if _holds_more(folder)}
    if gone - kept:
        _save(home, made - (gone - kept))


def holds_only(home: str, folder: str, paths: Collection[str]) -> bool:
    """Whether a setup made the folder, and nothing has come into it but these files and their
    backups."""
    if os.path.abspath(folder) not in _made(home):
        return False
    known = {os.path.abspath(path) for path in paths}
    return all(
        name.endswith(".bak") or os.path.abspath(os.path.join(above, name)) in known
        for above, _, names in os.walk(folder)
        for name in names
    )


def _holds_more(folder: str) -> bool:
    """Whether a folder has more in it than backups, such as files of ours for another client."""
    try:
        return any(not name.endswith(".bak") for name in os.listdir(folder))
    except OSError:
        return False


def _above(path: str) -> Iterator[str]:
    folder = os.path.dirname(os.path.abspath(path))
    while folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)


def _made(home: str) -> set[str]:
    try:
        with open(os.path.join(home, _RECORD), encoding="utf-8") as file:
            folders = json.load(file)["folders"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {one for one in folders if isinstance(one, str)} if isinstance(folders, list) else set()


def _save(home: str, folders: set[str]) -> None:
    path = os.path.join(home, _RECORD)
    # Without a record folders stay, which harms nobody.
    with suppress(HoldfastError, OSError):
        if folders:
            write_atomic(path, json.dumps({"folders": sorted(folders)}, indent=2) + "\n")
        else:
            os.unlink(path)
