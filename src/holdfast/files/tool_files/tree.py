"""The tree of folders below a hub's files: opening, listing and walking it within limits. Every
step uses `Folder`, so no link is followed. It does not know memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.errors import AlreadyExists, InvalidInput
from holdfast.files.tool_files import ROOT, Folder, FolderItem, Stamp, ToolPath, folded

# The most entries that a folder view, a delete or a rename walks; far more than a model can handle.
FILES_MAX = 10_000
LEVELS_SHOWN = 2


class Shown(NamedTuple):
    """An entry in the listing of an agent's folder: its path below the folder, its size, and its
    type."""

    path: str
    size_bytes: int
    folder: bool


class Listing(NamedTuple):
    """A folder, two levels deep, in the order of names; hidden entries and links are left out."""

    path: str
    size_bytes: int
    items: tuple[Shown, ...]


def reach(root: Folder, names: Sequence[str], *, make: bool = False) -> Folder | None:
    """Opens a folder some levels down, one by one; None if one is missing."""
    # The caller keeps the root open; a second handle can be closed like the others.
    here: Folder | None = root.reopened()
    for name in names:
        assert here is not None, "a missing folder ends the way"
        with here:
            here = here.below(name, make=make)
        if here is None:
            return None
    return here


def below(
    root: Folder, names: Sequence[str], *, most: int
) -> Iterator[tuple[tuple[str, ...], FolderItem]]:
    """Everything below a folder, folders before their contents; raises an error for more than
    `most`."""
    waiting = [tuple(names)]
    count = 0
    while waiting:
        inside = waiting.pop()
        folder = reach(root, inside)
        if folder is None:
            continue
        with folder:
            items = folder.items()
        for item in items:
            count += 1
            if count > most:
                raise InvalidInput(
                    f"There are more than {most:,} files and folders in {ROOT}.",
                    hint="Delete or join some of them.",
                )
            yield (*inside, item.name), item
            if item.kind == "folder":
                waiting.append((*inside, item.name))


def kind_at(root: Folder, at: ToolPath) -> str | None:
    """The type of the entry at a path; None if there is none. A link anywhere on the path is
    refused."""
    if not at.names:
        return "folder"
    folder = reach(root, at.above)
    if folder is None:
        return None
    with folder:
        kind = folder.kind(at.name)
        if kind in ("link", "other"):
            folder.read(at.name, bytes_max=0)
        return kind


def listing(root: Folder, at: ToolPath) -> Listing | None:
    folder = reach(root, at.names)
    if folder is None:
        return None
    with folder:
        size = folder.size_bytes()
        items = tuple(_shown_in(folder, "", LEVELS_SHOWN))
    return Listing(at.shown, size, items)


def _shown_in(folder: Folder, front: str, levels: int) -> Iterable[Shown]:
    count = 0
    for item in folder.items():
        if item.hidden or item.kind in ("link", "other"):
            continue
        count += 1
        if count > FILES_MAX:
            raise InvalidInput(f"There are more than {FILES_MAX:,} files in one folder.")
        yield Shown(front + item.name, item.size_bytes, item.kind == "folder")
        if item.kind == "folder" and levels > 1:
            inner = folder.below(item.name)
            if inner is not None:
                with inner:
                    yield from _shown_in(inner, f"{front}{item.name}/", levels - 1)


def whole(root: Folder, top: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], FolderItem]]:
    """An agent's file or folder and all below it."""
    folder = reach(root, top[:-1])
    if folder is None:
        return
    with folder:
        kind = folder.kind(top[-1])
    if kind is None:
        return
    yield top, FolderItem(top[-1], kind, 0)
    if kind == "folder":
        yield from below(root, top, most=FILES_MAX)


def refuse_taken(
    root: Folder, at: ToolPath, taken: AlreadyExists, itself: ToolPath | None = None
) -> None:
    """Refuses a path that exists, or that some systems treat as equal to an existing one."""
    for depth, name in enumerate(at.names):
        folder = reach(root, at.names[:depth])
        if folder is None:
            return
        with folder:
            items = folder.items()
        last = depth == len(at.names) - 1
        for item in items:
            if item.name == name:
                if last:
                    raise taken
            elif folded(item.name) == folded(name):
                there = (*at.names[:depth], item.name)
                if itself is None or there != itself.names:
                    raise AlreadyExists(
                        f"The path {at.shown} cannot be used: {ROOT}/{'/'.join(there)} is"
                        " there, and some systems take the two for one.",
                        hint="Use that path, or another name.",
                    )


def refuse_crowd(root: Folder) -> None:
    """Refuses to add an agent's file if there are too many."""
    for _ in below(root, (), most=FILES_MAX - 1):
        pass


def remove_file(root: Folder, path: str, stamp: Stamp | None) -> None:
    """Removes a file; with a stamp only as long as it is that writing."""
    *above, name = path.split("/")
    folder = reach(root, above)
    if folder is not None:
        with folder:
            folder.remove(name, stamp)
            folder.sync()


def remove_folder(root: Folder, names: tuple[str, ...]) -> None:
    folder = reach(root, names[:-1])
    if folder is not None:
        with folder:
            folder.remove_folder(names[-1])
            folder.sync()
