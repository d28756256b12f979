"""Packs attachments into one file beside a backup or an export: a tar archive with members that are
named by the SHA-256 of their bytes. The store knows the memory of each; the archive of an export
begins with a list of them.

Archives are untrusted: a member's name must be a hash, so it cannot name a path, and every file is
hashed before it is used.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from holdfast.domain.memory import Attachment, attachment_of
from holdfast.engine.writing import origins
from holdfast.errors import AlreadyExists, InvalidInput, NotFound, StoreDamaged
from holdfast.files.attachments import Attachments, Received
from holdfast.system.atomic_file import (
    FILE_MODE,
    file_errors,
    make_folder,
    new_file,
    remove_partials,
    replacing,
)

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core

# The suffix to the name of the backup or export.
BESIDE = ".files.tar"
_LIST = "held.jsonl"
_HASH = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 18
# References that are recorded in one transaction.
_BATCH = 200


class Packed(NamedTuple):
    """A written archive: its path (empty if there was nothing to write), the number of files, and
    the hashes of missing or damaged ones."""

    path: str
    files: int
    missing: tuple[str, ...] = ()


class Held(NamedTuple):
    """An attachment in a tar file, and a memory that was made from it."""

    hash: str
    memory: str
    size: int


def pack(path: str, places: Iterable[Attachments]) -> Packed:
    """Writes all files of these hubs to an archive: complete and flushed, or not at all."""
    held = {one.hash: place for place in places for one in place.held()}
    return _pack(path, held)


def pack_unheld(path: str, places: Iterable[Attachments]) -> Packed:
    """Writes the files that no memory refers to any more, before a worker removes them."""
    found: dict[str, Attachments] = {}
    for place in places:
        held = {one.hash for one in place.held()}
        found |= {digest: place for digest in place.present() if digest not in held}
    return _pack(path, found)


def pack_for_export(path: str, core: Core, hub_id: str, place: Attachments) -> Packed:
    """Writes the files of a hub that `core` may see, with a list of the memories made from them."""
    seen = []
    held = list(place.held())
    for start in range(0, len(held), _BATCH):
        batch = held[start : start + _BATCH]
        with core.read() as reader:
            memories = reader.memories_by_id(hub_id, [one.memory for one in batch])
        seen += [one for one in batch if _is_seen(core, memories.get(one.memory), one.hash)]
    listed = "\n".join(json.dumps(one._asdict()) for one in seen)
    return _pack(path, {one.hash: place for one in seen}, listed)


def _is_seen(core: Core, memory: Memory | None, digest: str) -> bool:
    """The earlier files of another person's memory are not included, because it may have been
    private then."""
    if memory is None or memory.owner == core.actor:
        return memory is not None
    now = attachment_of(memory.metadata)
    return now is not None and now.hash == digest


def _pack(path: str, held: dict[str, Attachments], listed: str = "") -> Packed:
    if os.path.exists(path):
        raise AlreadyExists(f"{path} exists already.", hint="Choose another name.")
    if not held:
        return Packed("", 0)
    missing = []
    remove_partials(path)
    with (
        file_errors(path),
        replacing(path) as file,
        tarfile.open(fileobj=file, mode="w") as archive,
    ):
        if listed:
            _add(archive, _LIST, io.BytesIO(listed.encode()))
        for digest, place in held.items():
            if not _pack_one(archive, digest, place):
                missing.append(digest)
    return Packed(path, len(held) - len(missing), tuple(missing))


def _pack_one(archive: tarfile.TarFile, digest: str, place: Attachments) -> bool:
    """Adds a file; returns False if it is missing or does not match its hash, because only a
    matching one can be restored."""
    try:
        with place.open(digest) as file:
            if _hashed(file) != digest:
                return False
            file.seek(0)
            _add(archive, digest, file)
    except NotFound:
        return False
    return True


def _add(archive: tarfile.TarFile, name: str, file: BinaryIO) -> None:
    info = tarfile.TarInfo(name)
    info.size = file.seek(0, os.SEEK_END)
    info.mode = FILE_MODE
    file.seek(0)
    archive.addfile(info, file)


def _hashed(file: IO[bytes], copy: IO[bytes] | None = None) -> str:
    import hashlib

    found = hashlib.sha256()
    while data := file.read(_PIECE):
        found.update(data)
        if copy is not None:
            copy.write(data)
    return found.hexdigest()


class Staged(NamedTuple):
    """The files of an archive, checked, in a folder of their own: hash → (path, size)."""

    files: dict[str, tuple[str, int]]
    held: list[Held]


@contextmanager
def unpacked(path: str, home: str) -> Iterator[Staged]:
    """The files of an archive, while the block lasts. Raises StoreDamaged if it is not such an
    archive, or if any file does not match its name."""
    folder = os.path.join(home, f".bringing-back-{os.getpid()}-{os.urandom(4).hex()}")
    make_folder(folder)
    try:
        yield _unpack(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def unpacked_beside(path: str, home: str) -> Iterator[Staged]:
    """The archive of attachments beside a backup or an export, if there is one."""
    if not os.path.isfile(path + BESIDE):
        yield Staged({}, [])
        return
    with unpacked(path + BESIDE, home) as staged:
        yield staged


def _unpack(path: str, folder: str) -> Staged:
    staged = Staged({}, [])
    try:
        with tarfile.open(path, "r|") as archive:
            for member in archive:
                # Only regular files: no link, no folder, no sparse file.
                content = archive.extractfile(member) if member.isfile() else None
                if content is None or member.issparse():
                    raise _damaged(path, "it holds something that is no file")
                if member.name == _LIST and not staged.files:
                    staged.held.extend(_read_list(path, content))
                    continue
                if not _HASH.fullmatch(member.name):
                    raise _damaged(path, f"it holds {member.name[:80]!r}, which is no hash")
                target = os.path.join(folder, member.name)
                with file_errors(target), replacing(target) as copy:
                    found = _hashed(content, copy)
                if found != member.name:
                    raise _damaged(path, f"the file {member.name[:12]}… has other bytes")
                staged.files[member.name] = (target, member.size)
    except (tarfile.TarError, EOFError) as error:
        raise _damaged(path, str(error)) from None
    return staged


def _read_list(path: str, file: IO[bytes]) -> Iterator[Held]:
    try:
        for line in file:
            one = Held(**json.loads(line))
            if not all((isinstance(one.hash, str), isinstance(one.memory, str))):
                raise TypeError
            yield Held(one.hash, one.memory, int(one.size))
    except (ValueError, TypeError):
        raise _damaged(path, "its list cannot be read") from None


def _damaged(path: str, why: str) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is no archive of files, or damaged: {why}.", hint="Nothing was changed."
    )


def put_back(places: Iterable[Attachments], staged: Staged) -> tuple[int, int]:
    """Restores the files that the store refers to; returns how many are present now, and how many
    are still missing."""
    there, missing = 0, 0
    for place in places:
        digests = {one.hash for one in place.held()}
        brought = sorted(digests & staged.files.keys())
        with ExitStack() as stack:
            mine = [
                _received(stack, place, digest, *staged.files[digest])
                for digest in brought
                if not _is_good(place, digest)
            ]
            with place.placing(*mine):
                pass
        present = set(place.present())
        there += len(digests & present)
        missing += len(digests - present)
    return there, missing


def _is_good(place: Attachments, digest: str) -> bool:
    """Whether the file exists with the right bytes; one with other bytes is removed."""
    if _is_same(place, digest):
        return True
    path = place.path(digest)
    with file_errors(path), suppress(FileNotFoundError):
        os.unlink(path)
    return False


def _is_same(place: Attachments, digest: str) -> bool:
    with suppress(NotFound), place.open(digest) as file:
        return _hashed(file) == digest
    return False


def bring(place: Attachments, source: Attachments) -> tuple[int, int]:
    """Copies the files of a hub from another home, which is only read; returns how many are present
    now, and how many are missing. Existing files are not copied again."""
    digests = {one.hash for one in place.held()}
    there = sum(
        _is_same(place, digest) or _copy_in(place, source, digest) for digest in sorted(digests)
    )
    return there, len(digests) - there


def _copy_in(place: Attachments, source: Attachments, digest: str) -> bool:
    """Whether the source has the file; one with other bytes is not copied."""
    with suppress(NotFound), source.open(digest) as file:
        path = place.beside(f"{os.getpid()}-{os.urandom(8).hex()}")
        with ExitStack() as stack, file_errors(path):
            stack.callback(_is_missing, path)
            with new_file(path) as copy:
                same = _hashed(file, copy) == digest
                size = copy.tell()
            if same and not _is_good(place, digest):
                with place.placing(Received(path, digest, size, b"")):
                    pass
            return same
    return False


def adopt(core: Core, hub_id: str, place: Attachments, staged: Staged) -> tuple[int, int]:
    """Attaches files to imported memories; returns how many files there were, and how many of the
    list are missing."""
    wanted = [one for one in staged.held if staged.files.get(one.hash, ("", -1))[1] == one.size]
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        with ExitStack() as stack:
            mine = [
                _received(stack, place, digest, *staged.files[digest])
                for digest in dict.fromkeys(one.hash for one in batch)
            ]
            with place.placing(*mine), core.store.write(hub=hub_id) as writer:
                memories = writer.memories_by_id(hub_id, [one.memory for one in batch])
                for one in batch:
                    if one.memory in memories:
                        file = Attachment(one.hash, "", one.size, "")
                        # Files of an archive were accepted once, so the limits of size do not
                        # apply.
                        origins.attach(
                            writer, memories[one.memory], file, core.now(), bytes_max=2**62
                        )
    there = len(set(place.present()))
    return there, len({one.hash for one in staged.held} - {one.hash for one in wanted})


def _received(stack: ExitStack, place: Attachments, digest: str, path: str, size: int) -> Received:
    """Each hub has a copy of its own, since placing a file moves it."""
    if not size:
        raise InvalidInput(f"The file {digest} is empty.")
    copy = place.beside(f"{os.getpid()}-{os.urandom(8).hex()}")
    stack.callback(_is_missing, copy)
    with file_errors(copy):
        try:
            os.link(path, copy)
        except OSError:
            shutil.copyfile(path, copy)
            os.chmod(copy, FILE_MODE)
    return Received(copy, digest, size, b"")


def _is_missing(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
