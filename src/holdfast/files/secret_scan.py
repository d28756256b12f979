"""Secrets in the files of a hub. What Holdfast writes (MEMORY.md, its pages, journals, archives) is
cleaned; what is somebody's own (the hub's files, anything else that lies there) is named and left
as it is. Files that are attached to memories are scanned by `files.attachments.text`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.engine.core import Core
from holdfast.engine.upkeep.secret_scan import Secret, for_everything, secrets_found, together
from holdfast.engine.writing.edit import settle
from holdfast.errors import HoldfastError
from holdfast.files import conversation_archive
from holdfast.files.atomic import locked, real_path, write_atomic
from holdfast.files.attachments import storage
from holdfast.files.journal import journal
from holdfast.files.journal.changes import day_of_name
from holdfast.files.journal.entries import Place
from holdfast.files.memory_md.cache import COPY, drop_copy
from holdfast.files.memory_md.disk import page_names
from holdfast.files.memory_md.document import FILE_NAME
from holdfast.files.memory_md.edit import forget_seen
from holdfast.files.memory_md.sync import Mirror
from holdfast.files.reading import open_regular

# What is larger is no text that somebody wrote, and would fill the memory.
_BYTES_MAX = 16_000_000


def find_in_files(place: Place) -> list[Secret]:
    """The secrets in the files below a hub's folder."""
    found: list[Secret] = []
    core, folder = for_everything(place.scope.core), place.folder
    with core.read() as reader:
        mirrored = {FILE_NAME, *page_names(reader, place.scope.hub_id)}
    for path in _paths(folder):
        text = _text(folder, path)
        if text is not None:
            core.redactor.take()
            core.redactor.text(text)
            ours = path in mirrored or day_of_name(path) is not None or _is_archive(folder, path)
            ours = ours or path == FILE_NAME + COPY
            found += secrets_found(core, path, fixable=ours)
    return together(found)


def clean_files(place: Place) -> list[str]:
    """Replaces them in what Holdfast writes; returns notes on what could not be. The store is clean
    already, so that both sides come to say the same."""
    notes: list[str] = []
    core, folder = place.scope.core, place.folder
    forget_seen(place.scope)
    for path in _paths(folder):
        text = _text(folder, path)
        if text is None or not core.redactor.found(text):
            continue
        day = day_of_name(path)
        try:
            if day is not None:
                notes += journal.sync_day(place, day)
            elif path == FILE_NAME + COPY:
                drop_copy(os.path.join(folder, FILE_NAME))
            elif _is_archive(folder, path):
                _clean_archive(core, folder, path)
        except (HoldfastError, OSError) as error:
            notes.append(str(error))
    memory_md = os.path.join(folder, FILE_NAME)
    if os.path.exists(memory_md):
        try:
            notes += Mirror(place.scope, memory_md).sync().notes
        except (HoldfastError, OSError) as error:
            notes.append(str(error))
    settle(core, "The secrets are replaced")
    core.redactor.take()
    return notes


def _clean_archive(core: Core, folder: str, path: str) -> None:
    with locked(os.path.join(folder, conversation_archive.FOLDER)):
        text = _text(folder, path)
        if text is not None:
            write_atomic(os.path.join(folder, path), core.redactor.text(text), within=folder)


def _paths(folder: str) -> Iterator[str]:
    """Every file below the folder, relative to it; links are not followed."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(root, name), folder).replace(os.sep, "/")
            # Locks and stamps hold no words.
            if _is_attached(path) or name.startswith("."):
                continue
            if not os.path.islink(os.path.join(root, name)):
                yield path


def _is_attached(path: str) -> bool:
    front, _, name = path.rpartition("/")
    return len(name) == 64 and front == f"{storage.FOLDER}/{name[:2]}"


def _text(folder: str, path: str) -> str | None:
    """The text of a file; None where it is none."""
    try:
        full = real_path(os.path.join(folder, path), within=folder)
        with open_regular(full) as file:
            data = file.read(_BYTES_MAX + 1)
    except (OSError, HoldfastError):
        return None
    if len(data) > _BYTES_MAX or b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "surrogateescape")


def _is_archive(folder: str, path: str) -> bool:
    return path.startswith(f"{conversation_archive.FOLDER}/") and conversation_archive.is_archive(
        os.path.join(folder, path)
    )
