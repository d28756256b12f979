"""A socket in a folder that only its owner may use, and the lock that keeps a second process from
listening at the same place."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress

from holdfast.system.atomic_file import make_folder

LOCK_NAME = "server.lock"
_BACKLOG = 64


def listen(path: str) -> socket.socket:
    """A socket that nobody else may use, also in the moment after it was made."""
    if sys.platform == "win32":
        raise OSError("No process listens there.")
    folder = os.path.dirname(path)
    make_folder(folder)
    # Of the folder itself: a link may be somebody else's, and lead to a folder of ours.
    if os.lstat(folder).st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else.")
    os.chmod(folder, 0o700)
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(_BACKLOG)
    return listener


def mark(path: str) -> tuple[int, int]:
    """Identifies a file of a local socket, so that another one at its place is noticed."""
    try:
        about = os.stat(path)
    except OSError:
        return (0, 0)
    return (about.st_ino, about.st_mtime_ns)


def only_one(folder: str) -> bool:
    """Whether this process is the only one of its kind in this folder, until it ends."""
    if sys.platform == "win32":
        raise OSError("No process listens there.")
    import fcntl

    make_folder(folder)
    lock = os.open(os.path.join(folder, LOCK_NAME), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return True


def is_one_there(folder: str) -> bool:
    """Whether a process that was the only one of its kind in this folder has not ended."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        lock = os.open(os.path.join(folder, LOCK_NAME), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False
