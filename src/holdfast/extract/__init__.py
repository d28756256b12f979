"""Text from files and links, read in a process of its own with limits. Here: zip archives from
elsewhere, which are opened once they are known to be no bombs."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

# A document of a thousand pages has some hundred members.
MEMBERS_MAX = 20_000
# The directory is read before its entries can be counted; an entry takes 200 bytes of it.
_DIRECTORY_BYTES_MAX = 4_000_000
# XML packs ten to thirty times; a run of zeros packs a thousand times.
_RATIO_MAX = 200
_RATIO_FROM = 10_000_000
# The end record with the longest comment there can be, and the locator of the ZIP64 format.
_END_BYTES = 22 + 65_535 + 20
_END, _ZIP64 = b"PK\x05\x06", b"PK\x06\x07"


class ZipRefused(Exception):
    """The archive is not opened; the message says why, as 'it holds too many files'."""


@contextmanager
def open_zip(file: BinaryIO, *, unpacked_max: int | None = None) -> Iterator[zipfile.ZipFile]:
    """An archive with a checked directory. Members are read by the caller, who bounds
    them: a member may unpack to more than the directory says. Raises ZipRefused."""
    _check_directory_size(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise ZipRefused("the archive is broken and cannot be opened") from None
    with archive:
        _check_members(archive.infolist(), unpacked_max)
        yield archive


def _check_directory_size(file: BinaryIO) -> None:
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_BYTES))
    tail = file.read()
    file.seek(0)
    at = tail.find(_END)
    while at >= 0:
        if int.from_bytes(tail[at + 12 : at + 16], "little") > _DIRECTORY_BYTES_MAX:
            raise ZipRefused("it holds too many files")
        at = tail.find(_END, at + 1)
    if _ZIP64 in tail:
        raise ZipRefused("it holds too many files")


def _check_members(members: list[zipfile.ZipInfo], unpacked_max: int | None) -> None:
    unpacked = sum(member.file_size for member in members)
    packed = max(1, sum(member.compress_size for member in members))
    if len(members) > MEMBERS_MAX:
        raise ZipRefused("it holds too many files")
    too_large = unpacked_max is not None and unpacked > unpacked_max
    if too_large or (unpacked > _RATIO_FROM and unpacked / packed > _RATIO_MAX):
        raise ZipRefused(f"it would unpack to {unpacked:,} bytes, which is far too much")
    if any(member.flag_bits & 1 for member in members):
        raise ZipRefused("it is encrypted and needs a password")
