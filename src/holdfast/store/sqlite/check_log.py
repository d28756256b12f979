"""Looks for committed transactions in the write-ahead log that SQLite does not read.

SQLite reads the log up to the first frame that fails its checksum and takes that for the end: after
a crash, the last transaction may be half written. A damaged frame looks the same, but has whole
transactions of the same log behind it, or is itself the end of one.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import apsw

from holdfast.store.values import Problem

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)
# Each time the log starts anew, its first salt grows by one: what older logs left has smaller ones.
_OLDER_LOGS_MAX = 1_000_000


def problems(connection: apsw.Connection, path: str) -> Iterator[Problem]:
    """At most one: the log has frames that should have been read, and were not."""
    log = f"{path}-wal"
    try:
        if os.path.getsize(log) < _HEADER.size + _FRAME.size:
            return
    except OSError:
        return
    # Nobody else may write to the log while it is read here. A connection that holds the lock
    # cannot ask how far the log is read, so another one does; it changes nothing.
    connection.execute("BEGIN IMMEDIATE")
    try:
        asking = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            _, used, _ = asking.execute("PRAGMA wal_checkpoint(NOOP)").get
        finally:
            asking.close()
        with open(log, "rb") as file:
            data = file.read()
    finally:
        connection.execute("ROLLBACK")
    if _has_more(data, used):
        yield Problem(
            f"the write-ahead log is damaged after frame {used}: what was written last cannot be"
            " read",
            False,
        )


def _has_more(data: bytes, used: int) -> bool:
    magic, _, page_size, _, salt_one, salt_two, *sums = _HEADER.unpack_from(data)
    header_is_whole = magic in _MAGIC and _checksum(data[:24], magic) == tuple(sums)
    if not header_is_whole:
        # An empty header is that of a log that was truncated; any other was damaged.
        return any(data[: _HEADER.size])
    at = _HEADER.size + used * (_FRAME.size + page_size)
    while at + _FRAME.size + page_size <= len(data):
        _, pages, one, two, *_ = _FRAME.unpack_from(data, at)
        if pages and _is_of_this_log((one, two), (salt_one, salt_two)):
            return True
        at += _FRAME.size + page_size
    return False


def _is_of_this_log(frame: tuple[int, int], log: tuple[int, int]) -> bool:
    if frame[0] == log[0] or frame[1] == log[1]:
        return True
    older = (log[0] - frame[0]) % 2**32
    return older > _OLDER_LOGS_MAX and frame != (0, 0)


def _checksum(data: bytes, magic: int) -> tuple[int, int]:
    order = ">" if magic & 1 else "<"
    one = two = 0
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for left, right in zip(words[::2], words[1::2], strict=True):
        one = (one + left + two) % 2**32
        two = (two + right + one) % 2**32
    return one, two
