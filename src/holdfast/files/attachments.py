"""Stores the files that memories were made from, beside the database: `attachments/ab/<sha256>` in
the hub's folder. Files are streamed, and the same bytes are stored once.

A file is stored before the transaction that refers to it, and removed after the one that removes
the last reference; a crash in between leaves an unreferenced file, which `sweep` removes. The lock
is held while a file is placed or removed, so that nobody removes a file that another process has
just found. Names given by people are data: no path is made from them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from holdfast.domain.memory import Attachment, attachment_of
from holdfast.engine.writing import origins
from holdfast.errors import InvalidInput, NotFound, TooLarge
from holdfast.files.hub_folder import is_own_state
from holdfast.files.memory_md.cache import Stamp, read_stamp, token_of, write_stamp
from holdfast.files.safe_read import open_regular
from holdfast.system.atomic_file import (
    FILE_MODE,
    file_errors,
    flush,
    locked,
    make_folder,
    publish,
    real_path,
)

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.files.attachments_tar import Held

FOLDER = "attachments"
_INCOMING = "incoming"
# The file beside it that records for which state of the hub unreferenced files were last removed.
_SWEPT = "swept"
_PIECE = 1 << 18
# File systems allow 255; a title has less.
_NAME_CHARS_MAX = 200
# The bytes of a file from which its type is detected: an office document has its first names far
# from the start.
HEAD_BYTES = 1 << 16
# No upload takes this long; an older file was left by a process that died.
_ABANDONED_S = 24 * 3600


class Received(NamedTuple):
    """An attachment that was received completely and is not placed yet."""

    path: str
    hash: str
    size: int
    head: bytes


class Incoming:
    """A file that is being received: hashed as it is written, refused as soon as it is too large,
    and removed if it is not placed. Used in a `with` block."""

    def __init__(self, folder: str, bytes_max: int) -> None:
        import hashlib

        self._bytes_max = bytes_max
        self._hash = hashlib.sha256()
        self._head = b""
        self._size = 0
        self._folder = os.path.join(folder, _INCOMING)
        make_folder(self._folder)
        self._path = os.path.join(self._folder, f"{os.getpid()}-{os.urandom(8).hex()}")
        with file_errors(self._path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(self._path, flags, FILE_MODE), "wb")

    def __enter__(self) -> Incoming:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        with suppress(OSError):
            os.unlink(self._path)

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._bytes_max:
            raise too_large(self._bytes_max)
        if len(self._head) < HEAD_BYTES:
            self._head += data[: HEAD_BYTES - len(self._head)]
        self._hash.update(data)
        with file_errors(self._path):
            self._file.write(data)

    def read_from(self, file: BinaryIO) -> None:
        """Reads a whole file in pieces."""
        if not hasattr(file, "read"):
            raise InvalidInput(f"A file is a path or an open file, not {type(file).__name__}.")
        while data := file.read(_PIECE):
            if not isinstance(data, bytes):
                raise InvalidInput("The file is open as text.", hint='Open it with the mode "rb".')
            self.write(data)

    def received(self) -> Received:
        """The whole file, on disk when this returns."""
        if not self._size:
            raise InvalidInput("The file is empty.", hint="There is nothing in it to remember.")
        with file_errors(self._path):
            flush(self._file)
        self._file.close()
        return Received(self._path, self._hash.hexdigest(), self._size, self._head)


def too_large(bytes_max: int) -> TooLarge:
    return TooLarge(
        f"The file has more than {bytes_max:,} bytes.",
        hint="Send a smaller one, or raise `attachments.bytes_max`.",
    )


class Kept(NamedTuple):
    """A stored attachment: its description and the path of its bytes."""

    attachment: Attachment
    path: str


def described(received: Received, name: str) -> Attachment:
    """The description that is stored of an attached file, with the given name without its
    folders."""
    from holdfast.extract.readers import kind_of

    plain = "".join(char for char in name if char.isprintable())
    plain = plain.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()
    plain = plain[:_NAME_CHARS_MAX] if plain.strip(".") else "file"
    return Attachment(received.hash, plain, received.size, kind_of(received.head, plain)[0])


def swept_for(hub_folder: str) -> Stamp:
    """The hub and its state at the last removal of unreferenced files here."""
    return read_stamp(os.path.join(hub_folder, FOLDER, _SWEPT))


class Attachments:
    """The attachments of one hub. The folder is created with the first one."""

    def __init__(self, core: Core, hub_id: str, hub_folder: str) -> None:
        self._core = core
        self._hub_id = hub_id
        self._hub_folder = hub_folder
        self._folder = os.path.join(hub_folder, FOLDER)

    def incoming(self, size: int | None = None) -> Incoming:
        """Receives a file; refused at once if its size is known and too large."""
        bytes_max = self._core.settings["attachments.bytes_max"]
        if size is not None and size > bytes_max:
            raise too_large(bytes_max)
        if size:
            hub_max = self._core.settings["attachments.hub_bytes_max"]
            with self._core.read() as reader:
                used = origins.usage(reader, self._hub_id)
            # A file that is stored already needs no space, which is known only after it was
            # received.
            if used.bytes >= hub_max:
                raise origins.full(used, size, hub_max)
        return Incoming(self._folder, bytes_max)

    @contextmanager
    def received(self, file: str | os.PathLike[str] | BinaryIO | Received) -> Iterator[Received]:
        """Receives a file from a path or a stream; it is removed afterwards if it was not
        placed."""
        if isinstance(file, Received):
            yield file
            return
        with ExitStack() as stack:
            if isinstance(file, str | os.PathLike):
                file = stack.enter_context(_opened(os.fspath(file)))
            incoming = stack.enter_context(self.incoming())
            incoming.read_from(file)
            yield incoming.received()

    def of(self, memory: Memory) -> Attachment | None:
        """The file of a memory; None if it has none, or if its metadata name a file that is not
        stored."""
        file = attachment_of(memory.metadata)
        if file is None:
            return None
        with self._core.store.read() as reader:
            known = origins.holds(reader, self._hub_id, memory.id, file.hash)
        return file if known else None

    def kept(self, memory: Memory) -> Kept:
        """The file of a memory with its path; raises NotFound if it has none."""
        file = self.of(memory)
        if file is None:
            raise NotFound(f"Memory #{memory.number} has no file.")
        self.open(file.hash).close()
        return Kept(file, self.path(file.hash))

    @contextmanager
    def placing(self, *received: Received) -> Iterator[None]:
        """Places files for a transaction that will refer to them; if it fails, they are removed
        again."""
        with locked(os.path.join(self._folder, _INCOMING)):
            try:
                for one in received:
                    self._place(one)
                yield
            except BaseException:
                self._remove_unheld([one.hash for one in received])
                raise

    def _place(self, received: Received) -> None:
        path = self.path(received.hash)
        with file_errors(path):
            if not os.path.exists(path):
                make_folder(os.path.dirname(path))
                publish(received.path, real_path(path, within=self._hub_folder))

    @contextmanager
    def copied(self, source: Attachments, files: Sequence[Attachment]) -> Iterator[None]:
        """Copies files of another hub here for a transaction that will refer to them."""
        if not files:
            yield
            return
        with ExitStack() as stack:
            received = []
            for one in {file.hash: file for file in files}.values():
                incoming = stack.enter_context(self.incoming(one.size))
                with source.open(one.hash) as data:
                    incoming.read_from(data)
                received.append(incoming.received())
            with self.placing(*received):
                yield

    @contextmanager
    def releasing(self, memory_ids: list[str]) -> Iterator[None]:
        """Wraps a transaction that purges memories: files without a reference are removed
        afterwards."""
        with self._core.store.read() as reader:
            hashes = {
                digest
                for memory_id in memory_ids
                for digest in origins.held_by(reader, self._hub_id, memory_id)
            }
        if not hashes:
            yield
            return
        with locked(os.path.join(self._folder, _INCOMING)):
            yield
            self._remove_unheld(sorted(hashes))

    @contextmanager
    def letting_go(self, digest: str) -> Iterator[None]:
        """Wraps a transaction that removes the last reference to a file: the file is removed
        afterwards."""
        with locked(os.path.join(self._folder, _INCOMING)):
            yield
            self._remove_unheld([digest])

    def _remove_unheld(self, hashes: list[str]) -> None:
        with self._core.store.read() as reader:
            unheld = [one for one in hashes if not origins.is_held(reader, self._hub_id, one)]
        for digest in unheld:
            with file_errors(self.path(digest)), suppress(FileNotFoundError):
                os.unlink(self.path(digest))

    def path(self, digest: str) -> str:
        """The path of the bytes with a hash. Paths are made from hashes alone."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise InvalidInput(f"{digest!r} is no SHA-256.")
        return os.path.join(self._folder, digest[:2], digest)

    def open(self, digest: str) -> BinaryIO:
        """The bytes, to be read."""
        try:
            return open_regular(real_path(self.path(digest), within=self._hub_folder))
        except FileNotFoundError:
            raise NotFound(
                "The file of this memory is not there any more.",
                hint="`holdfast restore-backup` brings back what a backup holds. Where several"
                " machines share one database, it may be in another one's home: let them share"
                " the folder.",
            ) from None

    def held(self) -> Iterator[Held]:
        """Every file that a memory of this hub was made from, with the memory."""
        from holdfast.files.attachments_tar import Held

        with self._core.store.read() as reader:
            yield from (Held(*one) for one in origins.held_files(reader, self._hub_id))

    def beside(self, name: str) -> str:
        """A path for a file that is about to be placed, on the same disk."""
        folder = os.path.join(self._folder, _INCOMING)
        make_folder(folder)
        return os.path.join(folder, name)

    def present(self) -> Iterator[str]:
        """The hashes that are on disk."""
        for part in _listed(self._folder):
            if len(part) == 2:
                names = _listed(os.path.join(self._folder, part))
                yield from (name for name in names if len(name) == 64 and name.startswith(part))

    def check(self) -> list[str]:
        """Problems: missing files, and files that no memory refers to."""
        with self._core.store.read() as reader:
            files = origins.held_files(reader, self._hub_id)
            held = {digest: memory_id for digest, memory_id, _ in files}
        there = set(self.present())
        missing = [one for one in held if one not in there]
        orphaned = there - held.keys()
        notes = [
            f"the file of memory {held[one]} is missing in this home; bring it from a backup, or"
            " from the home of another machine on the same database"
            for one in missing
        ]
        if orphaned:
            swept = swept_for(os.path.dirname(self._folder))
            then = (
                "the next sweep removes them"
                if is_own_state(self._core, self._hub_id, swept)
                else "they stay, as another store that uses this home may have need of them"
            )
            notes.append(f"{len(orphaned)} files belong to no memory; {then}")
        return notes

    def sweep(self) -> int:
        """Removes unreferenced files that crashes have left; returns how many. If another store
        swept this folder last, a file without a reference here may have one there, and stays."""
        if not os.path.isdir(self._folder):
            return 0
        removed = 0
        swept = os.path.join(self._folder, _SWEPT)
        with locked(os.path.join(self._folder, _INCOMING)):
            ours = is_own_state(self._core, self._hub_id, read_stamp(swept))
            with self._core.store.read() as reader:
                if reader.hub_by_id(self._hub_id) is None:
                    return 0
                held = {digest for digest, _, _ in origins.held_files(reader, self._hub_id)}
                token = token_of(reader, self._hub_id)
            for digest in set(self.present()) - held if ours else ():
                os.unlink(self.path(digest))
                removed += 1
            if ours:
                write_stamp(swept, Stamp(self._hub_id, None, token))
        incoming = os.path.join(self._folder, _INCOMING)
        for name in _listed(incoming):
            path = os.path.join(incoming, name)
            with suppress(FileNotFoundError):
                if time.time() - os.stat(path).st_mtime > _ABANDONED_S:
                    os.unlink(path)
                    removed += 1
        return removed


def _opened(path: str) -> BinaryIO:
    try:
        return open_regular(path)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None


def remove_all(hub_folder: str) -> None:
    """Removes the attachments of a deleted hub."""
    import shutil

    folder = os.path.join(hub_folder, FOLDER)
    if os.path.isdir(folder) and not os.path.islink(folder):
        with file_errors(folder):
            shutil.rmtree(folder)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
