"""A hub's folder `files` as an agent works with it: look, create, replace, insert, delete, rename.

Paths are written as Anthropic's memory tool has them, below `/memories`. Each command takes in what
was done by hand, then changes file and memory together, under one lock, as one change set. Errors
read as that tool says them. How answers are worded is the dialect's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import (
    AlreadyExists,
    HoldfastError,
    InvalidInput,
    NotFound,
    StoreReadOnly,
)
from holdfast.files.atomic import locked
from holdfast.files.kept_files import Author, Base, KeptFiles, Sides, digest, wanted
from holdfast.files.kept_folder import Folder, Item, below, open_root, reach
from holdfast.files.line_edits import Edited, inserted, replaced
from holdfast.files.tool_paths import (
    DEPTH_MAX,
    PATH_CHARS_MAX,
    ROOT,
    ToolPath,
    cut,
    folded,
    parse,
)

if TYPE_CHECKING:
    from holdfast.engine.recorder import Recorder
    from holdfast.store.base import Writer

# What a folder view, a delete and a rename walk at most; far more than a model can oversee.
FILES_MAX = 10_000
LEVELS_SHOWN = 2


class Shown(NamedTuple):
    """An entry of a folder view: its path below the folder, its size, and what it is."""

    path: str
    size_bytes: int
    folder: bool


class Listing(NamedTuple):
    """A folder, two levels deep, in the order of names; hidden entries and links are left out."""

    path: str
    size_bytes: int
    items: tuple[Shown, ...]


class Page(NamedTuple):
    """A file's text."""

    path: str
    text: str


class Files:
    """The commands, for one hub and one author."""

    def __init__(self, kept: KeptFiles, author: Author) -> None:
        viewer = kept.core.viewer
        if viewer is not None and "hub" not in viewer.boundaries:
            # A file has no boundary of its own: it is for all who see what is the hub's.
            raise NotFound(f"There are no files in hub `{kept.hub}` that you may see.")
        self._kept, self._author = kept, author

    # Looking

    def look(self, path: str) -> Listing | Page:
        """A folder's listing, or a file's text."""
        at = parse(path)
        root = open_root(self._kept.folder)
        if root is None:
            if at.names:
                raise _missing(at)
            return Listing(at.shown, 0, ())
        with root:
            if _kind(root, at) == "folder":
                return _listing(root, at)
            return Page(at.shown, self._text(root, at))

    def has(self, path: str) -> bool:
        """Whether there is something at the path."""
        root = open_root(self._kept.folder)
        if root is None:
            return False
        with root:
            return _kind(root, parse(path)) is not None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else edits files of this hub meanwhile; neither can this object."""
        with locked(self._kept.folder):
            yield

    def _text(self, root: Folder, at: ToolPath) -> str:
        sides = self._kept.sides(root, at.relative)
        if not self._kept.in_step(sides):
            self._settle_quietly(at)
            sides = self._kept.sides(root, at.relative)
        if sides.file is None:
            raise _missing(at)
        return sides.file.text

    def _settle_quietly(self, at: ToolPath) -> None:
        """Takes in what was done by hand. What cannot be stored, or not now, can still be read."""
        try:
            with self._kept.opened() as root:
                self._kept.settle(root, at.relative)
        except (InvalidInput, StoreReadOnly):
            return

    # Changing

    def create(self, path: str, text: str) -> None:
        """A new file, with the folders above it."""
        at = parse(path)
        taken = AlreadyExists(f"File {at.shown} already exists")
        if not at.names:
            raise taken
        with self._kept.opened() as root:
            self._refuse_taken(root, at, taken)
            _refuse_crowd(root)
            sides = self._kept.settle(root, at.relative)
            self._kept.save(root, at.relative, text, sides, self._author, f"created {at.shown}")

    def replace(self, path: str, old: str, new: str) -> Edited:
        """Replaces the one place where the old text stands."""
        at = parse(path)
        with self._kept.opened() as root:
            sides = self._file(root, at)
            edited = replaced(sides.text or "", old, new, at.shown)
            self._save(root, at, edited, sides)
            return edited

    def insert(self, path: str, line: int, text: str) -> Edited:
        """Puts lines in after a line; 0 is before the first."""
        at = parse(path)
        with self._kept.opened() as root:
            sides = self._file(root, at)
            edited = inserted(sides.text or "", line, text)
            self._save(root, at, edited, sides)
            return edited

    def _save(self, root: Folder, at: ToolPath, edited: Edited, before: Sides) -> None:
        reason = f"edited {at.shown}"
        self._kept.save(root, at.relative, edited.text, before, self._author, reason)

    def _file(self, root: Folder, at: ToolPath) -> Sides:
        """The file as it stands, hand edits taken in."""
        kind = _kind(root, at)
        if kind == "folder":
            raise InvalidInput(f"The path {at.shown} is not a file.")
        sides = self._kept.settle(root, at.relative)
        if sides.file is None:
            raise _missing(at)
        return sides

    def _require(self, root: Folder, at: ToolPath) -> None:
        """Refuses a path at which there is nothing, and nothing that should be there."""
        if _kind(root, at) is None and self._kept.settle(root, at.relative).file is None:
            raise NotFound(f"The path {at.shown} does not exist")

    def delete(self, path: str) -> None:
        """Removes a file, or a folder with all that is in it; their memories are archived."""
        at = parse(path)
        if not at.names:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        with self._kept.opened() as root:
            self._require(root, at)
            self._remove(root, [at.names], f"deleted {at.shown}")

    def clear(self) -> None:
        """Removes all files and folders, as one change set."""
        with self._kept.opened() as root:
            self._remove(root, [(item.name,) for item in root.items()], f"cleared {ROOT}")

    def _remove(self, root: Folder, tops: Iterable[tuple[str, ...]], reason: str) -> None:
        paths, folders, litter = [], [], []
        for top in tops:
            for names, item in _tree(root, top):
                if item.kind == "folder":
                    folders.append(names)
                elif item.litter:
                    litter.append(names)
                else:
                    paths.append(_versioned(names, item))
        kept = {path: self._kept.settle(root, path) for path in paths}

        def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
            bases = {}
            for path, sides in kept.items():
                memory = self._kept.record(writer, recorder, path, None, self._author)
                bases[path] = Base(memory.id if memory else "", digest(sides.text), sides.bom)
            return bases

        try:
            with self._kept.change("archive", reason, write):
                for path, sides in kept.items():
                    _unlink(root, path, sides)
                for names in litter:
                    _unlink(root, "/".join(names), None)
                for names in reversed(folders):
                    _remove_folder(root, names)
        except (HoldfastError, OSError):
            self._put_back(root, kept)
            raise
        self._kept.agree({path: Base("", "", sides.bom) for path, sides in kept.items()})

    def _put_back(self, root: Folder, kept: dict[str, Sides]) -> None:
        """Half a delete is none: files that are gone already come back from their memories."""
        for path in kept:
            sides = self._kept.sides(root, path)
            if sides.file is None and wanted(sides.memory) is not None:
                self._kept.place(root, path, wanted(sides.memory), sides)

    def rename(self, path: str, new_path: str) -> None:
        """Gives a file or a folder another name or place; memories keep their history."""
        old, new = parse(path), parse(new_path)
        if not old.names:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        taken = AlreadyExists(f"The destination {new.shown} already exists")
        if not new.names:
            raise taken
        with self._kept.opened() as root:
            self._refuse_taken(root, new, taken, itself=old)
            self._require(root, old)
            if new.names[: len(old.names)] == old.names and new.names != old.names:
                raise InvalidInput(f"{old.shown} cannot be moved into itself.")
            self._move(root, old, new)

    def _move(self, root: Folder, old: ToolPath, new: ToolPath) -> None:
        moves = {}
        for names, item in _tree(root, old.names):
            to = "/".join((*new.names, *names[len(old.names) :]))
            if to.count("/") >= DEPTH_MAX or len(to) + len(ROOT) + 1 > PATH_CHARS_MAX:
                raise InvalidInput(f"The path {cut(f'{ROOT}/{to}')} would be too long or too deep.")
            if item.kind == "file" and not item.name.startswith("."):
                moves["/".join(names)] = to
        sides = {path: self._kept.settle(root, path) for path in moves}
        for to in moves.values():
            self._kept.settle(root, to)

        agreed: dict[str, Base] = {}

        def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
            bases = {}
            for path, to in moves.items():
                memory = self._kept.memory_at(writer, path)
                if memory is not None:
                    self._kept.move_memory(writer, recorder, memory, to)
                there = Base(memory.id if memory else "", digest(sides[path].text), sides[path].bom)
                gone = there._replace(digest="")
                # On the disk it is still the other way round.
                bases[path], bases[to] = there, gone
                agreed[path], agreed[to] = gone, there
            return bases

        source, target = reach(root, old.above), reach(root, new.above, make=True)
        assert source is not None and target is not None, "one was found, one was made"
        reason = f"renamed {old.shown} to {new.shown}"
        with source, target, self._kept.change("update", reason, write):
            source.move(old.name, target, new.name)
        self._kept.agree(agreed)

    def _refuse_taken(
        self, root: Folder, at: ToolPath, taken: AlreadyExists, itself: ToolPath | None = None
    ) -> None:
        """Refuses a path that is there, or that some systems take for one that is there."""
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


def _missing(at: ToolPath) -> NotFound:
    return NotFound(f"The path {at.shown} does not exist. Please provide a valid path.")


def _kind(root: Folder, at: ToolPath) -> str | None:
    """What is at a path; None where nothing is. A link anywhere on the way is refused."""
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


def _listing(root: Folder, at: ToolPath) -> Listing:
    folder = reach(root, at.names)
    if folder is None:
        raise _missing(at)
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


def _tree(root: Folder, top: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Item]]:
    """An entry and all below it."""
    folder = reach(root, top[:-1])
    if folder is None:
        return
    with folder:
        kind = folder.kind(top[-1])
    if kind is None:
        return
    yield top, Item(top[-1], kind, 0)
    if kind == "folder":
        yield from below(root, top, most=FILES_MAX)


def _versioned(names: tuple[str, ...], item: Item) -> str:
    """The path of a file that can be brought back; what cannot is not deleted here."""
    path = "/".join(names)
    if item.kind != "file" or item.hidden:
        what = "a link" if item.kind == "link" else "a hidden file"
        raise InvalidInput(
            f"{ROOT}/{cut(path)} is {what}, of which no version is kept; nothing was deleted.",
            hint="It was put there by hand, and is to be removed by hand.",
        )
    return path


def _unlink(root: Folder, path: str, sides: Sides | None) -> None:
    *above, name = path.split("/")
    folder = reach(root, above)
    if folder is not None:
        with folder:
            folder.remove(name, sides.file.stamp if sides and sides.file else None)
            folder.sync()


def _remove_folder(root: Folder, names: tuple[str, ...]) -> None:
    folder = reach(root, names[:-1])
    if folder is not None:
        with folder:
            folder.remove_folder(names[-1])
            folder.sync()


def _refuse_crowd(root: Folder) -> None:
    """Counts what is there before something is added."""
    for _ in below(root, (), most=FILES_MAX - 1):
        pass
