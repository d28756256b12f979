"""Replaces files atomically: other processes see the old content or the new one, and after a crash
one of the two is there. Every file that Holdfast replaces goes through here, but for those that
`files/tool_files` reaches by the handle of a folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

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


def remove_abandoned(path: str) -> None:
    """Removes what killed writers of a file left beside it. It holds what the file would have had,
    and nobody would look for it there."""
    folder, name = os.path.split(path)
    front = f".{name}{PARTIAL}"
    with suppress(OSError):
        for found in os.listdir(folder or "."):
            partial = os.path.join(folder, found)
            if found.startswith(front) and _is_abandoned(partial):
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
    """Brings what was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def publish(partial: str, path: str, *, durable: bool = True) -> None:
    """Gives a complete file its name, in the place of what has it."""
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
