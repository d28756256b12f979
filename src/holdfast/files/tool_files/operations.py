"""The operations of an agent on a hub's folder `files`: view, create, replace, insert, delete,
rename.

Paths are those of Anthropic's memory tool, below `/memories`. Each command applies edits made by
hand, then changes file and memory together, under one lock, as one change set. Error messages are
those of that tool. The dialect words the replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import (
    AlreadyExists,
    Conflict,
    HoldfastError,
    InvalidInput,
    NotFound,
    StoreError,
)
from holdfast.files.tool_files import (
    DEPTH_MAX,
    PATH_CHARS_MAX,
    ROOT,
    Folder,
    FolderItem,
    ToolPath,
    cut,
    open_root,
    parse,
)
from holdfast.files.tool_files.sync import Author, Base, KeptFiles, Sides, digest, wanted
from holdfast.files.tool_files.tree import (
    Listing,
    kind_at,
    listing,
    reach,
    refuse_crowd,
    refuse_taken,
    remove_file,
    remove_folder,
    whole,
)
from holdfast.system.atomic_file import locked

if TYPE_CHECKING:
    from holdfast.engine.writing.recorder import Recorder
    from holdfast.store.base import Writer


class FileText(NamedTuple):
    """The text of an agent's file."""

    path: str
    text: str


class Files:
    """The commands on an agent's files, for one hub and one author."""

    def __init__(self, kept: KeptFiles, author: Author) -> None:
        viewer = kept.scope.core.viewer
        if viewer is not None and "hub" not in viewer.boundaries:
            # A file has no boundary of its own: everybody who sees the hub's shared memories sees
            # it.
            raise NotFound(f"There are no files in hub `{kept.scope.hub}` that you may see.")
        self._kept, self._author = kept, author

    # Viewing

    def look(self, path: str) -> Listing | FileText:
        """A folder's listing, or a file's text."""
        at = parse(path)
        root = open_root(self._kept.folder)
        if root is None:
            if at.names:
                raise _missing(at)
            return Listing(at.shown, 0, ())
        with root:
            if kind_at(root, at) == "folder":
                found = listing(root, at)
                if found is not None:
                    return found
            return FileText(at.shown, self._text(root, at))

    def has(self, path: str) -> bool:
        """Whether the path exists."""
        root = open_root(self._kept.folder)
        if root is None:
            return False
        with root:
            return kind_at(root, parse(path)) is not None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Locks the hub's files against edits by others, and by other threads with this object."""
        with locked(self._kept.folder):
            yield

    def _text(self, root: Folder, at: ToolPath) -> str:
        sides = self._kept.sides(root, at.relative)
        if not self._kept.in_sync(sides):
            self._apply_edits(at)
            sides = self._kept.sides(root, at.relative)
        if sides.file is None:
            raise _missing(at)
        return sides.file.text

    def _apply_edits(self, at: ToolPath) -> None:
        """Applies edits made by hand, ignoring errors: a text that cannot be stored now can still
        be read."""
        try:
            with self._kept.opened() as root:
                self._kept.reconcile(root, at.relative)
        except (InvalidInput, Conflict, StoreError):
            return

    # Changing

    def create(self, path: str, text: str) -> None:
        """A new file, with the folders above it."""
        at = parse(path)
        taken = AlreadyExists(f"File {at.shown} already exists")
        if not at.names:
            raise taken
        with self._kept.opened() as root:
            refuse_taken(root, at, taken)
            refuse_crowd(root)
            sides = self._kept.reconcile(root, at.relative)
            self._kept.save(root, at.relative, text, sides, self._author, f"created {at.shown}")

    def replace(self, path: str, old: str, new: str) -> Edited:
        """Replaces the only occurrence of the old text."""
        at = parse(path)
        with self._kept.opened() as root:
            sides = self._file(root, at)
            edited = replaced(sides.text or "", old, new, at.shown)
            self._save(root, at, edited, sides)
            return edited

    def insert(self, path: str, line: int, text: str) -> Edited:
        """Inserts lines after a line; 0 is before the first."""
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
        """The current file, after hand edits were read."""
        kind = kind_at(root, at)
        if kind == "folder":
            raise InvalidInput(f"The path {at.shown} is not a file.")
        sides = self._kept.reconcile(root, at.relative)
        if sides.file is None:
            raise _missing(at)
        return sides

    def _require(self, root: Folder, at: ToolPath) -> None:
        """Refuses a path that does not exist and should not."""
        if kind_at(root, at) is None and self._kept.reconcile(root, at.relative).file is None:
            raise NotFound(f"The path {at.shown} does not exist")

    def delete(self, path: str) -> None:
        """Removes a file, or a folder with its contents; their memories are archived."""
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
            for names, item in whole(root, top):
                if item.kind == "folder":
                    folders.append(names)
                elif item.is_disposable:
                    litter.append(names)
                else:
                    paths.append(_versioned(names, item))
        kept = {path: self._kept.reconcile(root, path) for path in paths}

        def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
            bases = {}
            for path, sides in kept.items():
                memory = self._kept.record(writer, recorder, path, None, self._author)
                bases[path] = Base(memory.id if memory else "", digest(sides.text), sides.bom)
            return bases

        try:
            with self._kept.change("archive", reason, write):
                for path, sides in kept.items():
                    remove_file(root, path, sides.file.stamp if sides.file else None)
                for names in litter:
                    remove_file(root, "/".join(names), None)
                for names in reversed(folders):
                    remove_folder(root, names)
        except (HoldfastError, OSError):
            self._put_back(root, kept)
            raise
        self._kept.agree({path: Base("", "", sides.bom) for path, sides in kept.items()})

    def _put_back(self, root: Folder, kept: dict[str, Sides]) -> None:
        """Reverts a partial delete: files that were removed already are restored from their
        memories."""
        for path in kept:
            sides = self._kept.sides(root, path)
            if sides.file is None and wanted(sides.memory) is not None:
                self._kept.place(root, path, wanted(sides.memory), sides)

    def rename(self, path: str, new_path: str) -> None:
        """Renames or moves a file or a folder; memories keep their history."""
        old, new = parse(path), parse(new_path)
        if not old.names:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        taken = AlreadyExists(f"The destination {new.shown} already exists")
        if not new.names:
            raise taken
        with self._kept.opened() as root:
            refuse_taken(root, new, taken, itself=old)
            self._require(root, old)
            if new.names[: len(old.names)] == old.names and new.names != old.names:
                raise InvalidInput(f"{old.shown} cannot be moved into itself.")
            self._move(root, old, new)

    def _move(self, root: Folder, old: ToolPath, new: ToolPath) -> None:
        moves = {}
        for names, item in whole(root, old.names):
            to = "/".join((*new.names, *names[len(old.names) :]))
            if to.count("/") >= DEPTH_MAX or len(to) + len(ROOT) + 1 > PATH_CHARS_MAX:
                raise InvalidInput(f"The path {cut(f'{ROOT}/{to}')} would be too long or too deep.")
            if item.kind == "file" and not item.name.startswith("."):
                moves["/".join(names)] = to
        sides = {path: self._kept.reconcile(root, path) for path in moves}
        for to in moves.values():
            self._kept.reconcile(root, to)

        agreed: dict[str, Base] = {}

        def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
            bases = {}
            for path, to in moves.items():
                memory = self._kept.memory_at(writer, path)
                if memory is not None:
                    self._kept.move_memory(writer, recorder, memory, to)
                there = Base(memory.id if memory else "", digest(sides[path].text), sides[path].bom)
                gone = there._replace(digest="")
                # On the disk, they are not exchanged yet.
                bases[path], bases[to] = there, gone
                agreed[path], agreed[to] = gone, there
            return bases

        source, target = reach(root, old.above), reach(root, new.above, make=True)
        assert source is not None and target is not None, "one was found, one was made"
        reason = f"renamed {old.shown} to {new.shown}"
        with source, target, self._kept.change("update", reason, write):
            source.move(old.name, target, new.name)
        self._kept.agree(agreed)


def _missing(at: ToolPath) -> NotFound:
    return NotFound(f"The path {at.shown} does not exist. Please provide a valid path.")


def _versioned(names: tuple[str, ...], item: FolderItem) -> str:
    """The path of a file that can be restored; raises an error for another, which is not deleted
    here."""
    path = "/".join(names)
    if item.kind != "file" or item.hidden:
        what = "a link" if item.kind == "link" else "a hidden file"
        raise InvalidInput(
            f"{ROOT}/{cut(path)} is {what}, of which no version is kept; nothing was deleted.",
            hint="It was put there by hand, and is to be removed by hand.",
        )
    return path


# The most lines that show where a replacement is ambiguous.
_LINES_SHOWN = 100
# Characters of a quoted text in a reply, which must not return ten megabytes.
_QUOTED_CHARS = 500


class Edited(NamedTuple):
    """The new text of an agent's file, and the line (counted from 0) on which the change begins."""

    text: str
    line: int


def replaced(text: str, old: str, new: str, shown: str) -> Edited:
    """The text with the one occurrence of `old` replaced."""
    if not old:
        raise InvalidInput(
            "No replacement was performed, old_str is empty.", hint="Use insert to add text."
        )
    if _windows(text):
        if old not in text:
            old = _to_windows(old)
        new = _to_windows(new)
    places = _places(text, old)
    if not places:
        raise InvalidInput(
            f"No replacement was performed, old_str `{_quoted(old)}` did not appear verbatim in"
            f" {shown}."
        )
    if len(places) > 1:
        lines = [str(text.count("\n", 0, place) + 1) for place in places[:_LINES_SHOWN]]
        more = ["…"] if len(places) > _LINES_SHOWN else []
        raise InvalidInput(
            f"No replacement was performed. Multiple occurrences of old_str `{_quoted(old)}` in"
            f" lines: {', '.join(lines + more)}. Please ensure it is unique"
        )
    at = places[0]
    return Edited(text[:at] + new + text[at + len(old) :], text.count("\n", 0, at))


def _places(text: str, old: str) -> list[int]:
    """The positions where it begins, including overlaps; one more than are shown."""
    out: list[int] = []
    at = text.find(old)
    while at >= 0 and len(out) <= _LINES_SHOWN:
        out.append(at)
        at = text.find(old, at + 1)
    return out


def inserted(text: str, line: int, new: str) -> Edited:
    """The text with lines inserted after the given line; 0 is before the first."""
    lines = text.split("\n")
    # A line end at the end of the text does not begin a line.
    count = len(lines) - (lines[-1] == "")
    if not 0 <= line <= count:
        raise InvalidInput(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {count}]."
        )
    end = "\r\n" if _windows(text) else "\n"
    body = (_to_windows(new) if end == "\r\n" else new).removesuffix(end)
    before = "\n".join(lines[:line])
    if line and line == len(lines):
        # After a last line without a line end; the text still ends without one.
        return Edited(text + end + body, line)
    if line:
        before += "\n"
    return Edited(before + body + end + text[len(before) :], line)


def _quoted(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "…"


def _windows(text: str) -> bool:
    ends = text.count("\n")
    return ends > 0 and text.count("\r\n") == ends


def _to_windows(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
