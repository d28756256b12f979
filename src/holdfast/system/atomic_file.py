"""Writes files atomically: other processes see the old content or the new one, and after a crash
one of the two is there. One writer at a time, readable by the owner only. Knows folders,
permissions and locks, and nothing of what is written. Every file that Holdfast replaces goes
through here, but for those that `files/tool_files` reaches by the handle of a folder."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from holdfast.errors import (
    HoldfastError,
    InvalidInput,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from holdfast.system import Backoff

FILE_MODE = 0o600
PARTIAL = ".partial-"
# A writer holds the lock of its file from the first moment on, but for that moment.
_ABANDONED_S = 60


@contextmanager
def replacing(path: str, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when the block ends; where the block raises, the
    old one stays. It is on the disk afterwards, unless it is not `durable`: that is for what can be
    derived again."""
    with _staged(path) as partial:
        with new_file(partial, durable=durable) as file:
            yield file
        publish(partial, path, durable=durable)


def write_file(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replaces the content of a file."""
    with replacing(path, durable=durable) as file:
        file.write(data)


def write_file_unless(path: str, data: bytes, unless: Callable[[], bool], *, mode: int) -> bool:
    """Replaces the content of a file, unless the condition holds when the new content is on the
    disk. Returns whether the file was replaced."""
    with _staged(path) as partial:
        with new_file(partial) as file:
            file.write(data)
        if mode != FILE_MODE:
            os.chmod(partial, mode)
        if unless():
            os.unlink(partial)
            return False
        publish(partial, path)
    return True


@contextmanager
def _staged(path: str) -> Iterator[str]:
    """A name for what will take the place of a file; what has it goes where the block raises."""
    partial = partial_path(path)
    try:
        yield partial
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def partial_path(path: str) -> str:
    """A name beside a file for what will take its place."""
    folder, name = os.path.split(path)
    # Two threads of one process may write the same file, so the process id is not enough.
    return os.path.join(folder, f".{name}{PARTIAL}{os.getpid()}-{os.urandom(4).hex()}")


def remove_partials(path: str, *, held: bool = False) -> None:
    """Removes what killed writers of a file left beside it, where nobody would look for it. A
    caller that holds the lock (`held`) knows that nobody writes it; otherwise each is checked."""
    folder, name = os.path.split(path)
    front = f".{name}{PARTIAL}"
    with suppress(OSError):
        for found in os.listdir(folder or "."):
            partial = os.path.join(folder, found)
            if found.startswith(front) and (held or _is_abandoned(partial)):
                os.unlink(partial)


def _is_abandoned(partial: str) -> bool:
    if sys.platform == "win32" or time.time() - os.lstat(partial).st_mtime < _ABANDONED_S:
        return False
    import fcntl

    handle = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # somebody writes it
    finally:
        os.close(handle)
    return True


@contextmanager
def new_file(path: str, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A new file for its owner alone, on the disk when the block ends."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, FILE_MODE), "wb") as file:
        _hold(file)
        yield file
        if durable:
            flush(file)


def _hold(file: BinaryIO) -> None:
    """Locks the file for as long as it is written; some file systems have no locks."""
    if sys.platform == "win32":
        return
    import fcntl

    with suppress(OSError):
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def flush(file: BinaryIO) -> None:
    """Brings what was written to a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def publish(partial: str, path: str, *, durable: bool = True) -> None:
    """Gives a complete file its name at once, in the place of what has it."""
    os.replace(partial, path)
    if durable:
        sync_folder(os.path.dirname(os.path.abspath(path)))


def sync_folder(folder: str) -> None:
    """Makes a rename in the folder last; some systems cannot open folders, and need not."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


FOLDER_MODE = 0o700
# Longer than any honest sync takes: four processes that write one folder waited for 12 seconds on
# a machine with four times the load it can bear. The store itself waits for a minute.
WAIT_S = 30.0
# The first look again comes after a millisecond, as most writes are short; later ones come less
# often, so that many waiting processes do not eat the processor.
_BACKOFF = Backoff(first_s=0.001, longest_s=0.05)


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
    """The real path behind links; an error if that is outside of a folder.

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
