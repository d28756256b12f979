"""Writes files atomically: whole or not at all, one writer at a time, readable by the owner only.
Knows folders, permissions and locks, and nothing of what is written."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from holdfast.errors import (
    HoldfastError,
    InvalidInput,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from holdfast.system.atomic_file import FILE_MODE, PARTIAL, sync_folder, write_file_unless
from holdfast.system.backoff import Backoff

HUBS = "hubs"
FOLDER_MODE = 0o700
# Longer than any honest sync takes: four processes that write one folder waited for 12 seconds on
# a machine with four times the load it can bear. The store itself waits for a minute.
WAIT_S = 30.0
# The first look again comes after a millisecond, as most writes are short; later ones come less
# often, so that many waiting processes do not eat the processor.
_BACKOFF = Backoff(first_s=0.001, longest_s=0.05)


def hub_folder(home: str, hub_name: str) -> str:
    """Where a hub's files live. A hub's name is checked to be safe as a folder's name."""
    return os.path.join(home, HUBS, hub_name)


def rename_hub_folder(home: str, old: str, new: str) -> None:
    """A renamed hub takes its files along; files that have the new name already stay."""
    source, target = hub_folder(home, old), hub_folder(home, new)
    if os.path.isdir(source) and not os.path.lexists(target):
        with file_errors(target):
            os.rename(source, target)


def make_folder(path: str) -> None:
    """The folder and those above it, each new one for its owner only."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with file_errors(folder):
            # Another process may make it between the look and the making.
            with suppress(FileExistsError):
                os.mkdir(folder, FOLDER_MODE)
            if not os.path.isdir(folder):
                raise StoreError(
                    f"{folder} is a file where a folder is needed.", hint="Move it away."
                )


def real_path(path: str, *, within: str) -> str:
    """Where a path really leads; an error where that is outside of a folder.

    The folder itself may be a link: that is its owner's choice. What is inside may not lead out,
    or a file brought in from elsewhere could make Holdfast write over anything.
    """
    real = os.path.realpath(path)
    inside = os.path.realpath(within)
    if os.path.commonpath([real, inside]) != inside:
        raise InvalidInput(
            f"{path} is a link that leads out of {within}.",
            hint="Put the file itself there, or make the whole folder a link.",
        )
    return real


def write_atomic(
    path: str,
    text: str | bytes,
    *,
    within: str | None = None,
    mode: int = FILE_MODE,
    unless: Callable[[], bool] | None = None,
) -> bool:
    """Replaces a file's content: other processes see the old text or the new one, and after a
    crash one of them is there. `within` is the folder that no link may lead out of; by default
    the one the file is in. `mode` is for files that are not Holdfast's own.

    `unless` is asked when the new content is on the disk, right before it takes the place of the
    old: where it is true, the old one stays. Returns whether the file was replaced."""
    folder = os.path.dirname(path)
    make_folder(folder)
    target = real_path(path, within=within or folder)
    data = text.encode() if isinstance(text, str) else text
    with file_errors(path):
        return write_file_unless(target, data, unless or _never, mode=mode)


def _never() -> bool:
    return False


def append_line(path: str, line: str, *, within: str | None = None) -> None:
    """Adds a line at the end, on disk when this returns; the caller holds the file's lock.

    A last line without its end, as an editor or a crash may leave it, is ended first.
    """
    folder = os.path.dirname(path)
    make_folder(folder)
    target = real_path(path, within=within or folder)
    with file_errors(path):
        new = not os.path.exists(target)
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
        with os.fdopen(handle, "rb+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            ended = True
            if size:
                file.seek(size - 1)
                ended = file.read(1) == b"\n"
            data = (b"" if ended else b"\n") + line.encode() + b"\n"
            try:
                if file.write(data) != len(data):
                    # That is how a disk that has become full says it.
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                # Half a line would be taken for a whole one.
                file.truncate(size)
                raise
        if new:
            sync_folder(os.path.dirname(target))


def remove_partials(path: str) -> None:
    """Removes what writers of this file left when they were killed; the caller holds its lock."""
    folder, name = os.path.split(path)
    front = f".{name}{PARTIAL}"
    with suppress(OSError):
        for found in os.listdir(folder):
            if found.startswith(front):
                os.unlink(os.path.join(folder, found))


@contextmanager
def locked(path: str, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Holds the lock of a file, across processes and threads, until the block ends.

    The lock is on a file of its own beside it, as a file that is replaced by renaming is another
    file afterwards. It cannot be taken twice by the same thread.
    """
    folder, name = os.path.split(path)
    make_folder(folder)
    with file_errors(path):
        # Opened anew each time: threads that share a handle would share the lock.
        handle = os.open(os.path.join(folder, f".{name}.lock"), os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        _wait_for(lambda: _take(handle), path, wait_s)
        yield
    finally:
        # Closing lets the lock go.
        os.close(handle)


def _wait_for(take: Callable[[], bool], path: str, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    attempt = 1
    while not take():
        if time.monotonic() >= until:
            raise StoreBusy(
                f"Another process has been writing {path} for {wait_s:g} seconds.",
                hint="Try again; if it stays so, see which process holds it.",
            )
        time.sleep(_BACKOFF.pause_s(attempt))
        attempt += 1


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turns what the system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise _sentence(path, error) from error


def _sentence(path: str, error: OSError) -> HoldfastError:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreReadOnly(
            f"{path} cannot be written: {error.strerror}.", hint="Check who owns the folder."
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"There is no room left for {path}.", hint="Make room and try again.")
    return StoreError(f"{path} cannot be written: {error.strerror}.", hint="Nothing was changed.")


# The folder of `files.attachments`, which is not imported for its name alone.
ATTACHMENTS = "attachments"


def is_kept_in_files(folder: str) -> bool:
    """Whether the hub has a folder for people. One with nothing but attachments does not count:
    pushing a file does not ask for memories as files, which every operation would pay for."""
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as found:
        return [entry.name for _, entry in zip(range(2), found, strict=False)] != [ATTACHMENTS]
