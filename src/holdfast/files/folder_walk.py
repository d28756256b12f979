"""Finds the files of a folder to be read, by type, by name and by .gitignore, without following
links; and watches folders of hubs, and folders that are pushed.

It reads names, and opens no file but `.gitignore`. It does not know memories.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import InvalidInput, NotFound, StoreError, install_hint
from holdfast.files import HUBS
from holdfast.system.atomic_file import make_folder

if TYPE_CHECKING:
    from os import DirEntry

# The folder of a hub's own files.
FOLDER = "files"
# Text that people and agents write, not data or text for machines.
_SUFFIXES = (
    "md mdx txt ts tsx js jsx go py rs yaml yml json toml sh bash zsh css html sql graphql proto"
    " dockerfile"
)
TEXT_SUFFIXES = frozenset(_SUFFIXES.split())
# Folders of downloaded or built files; besides these, every folder that begins with a dot.
_FOLDERS = frozenset(("node_modules", "dist", "__pycache__"))
_IGNORE_FILE = ".gitignore"
# The reason to skip a file that is not plain text.
OTHER_KIND = "files of this kind are not indexed"
# A .gitignore longer than this is not one.
_IGNORE_BYTES_MAX = 1_000_000


class FoundFile(NamedTuple):
    """A file of an indexed folder that is to be read. The path is relative to the folder and has
    forward slashes."""

    path: str
    stamp: tuple[int, int, int]  # modified and changed in ns, size in bytes


class Note(NamedTuple):
    """A file or folder that is not read, and why."""

    path: str
    reason: str


def unreadable(path: str, error: OSError) -> Note:
    """The note on a file or folder that cannot be read."""
    return Note(path, f"it cannot be read: {error.strerror}")


class Walked(NamedTuple):
    """The contents of a folder. `unread` are files and folders that could not be read."""

    files: list[FoundFile]
    skipped: list[Note]
    refused: list[Note]
    unread: list[str]


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """Identifies a state of a file. It changes with every write, because nobody can set the time of
    the last change."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def walk(folder: str, *, entries_max: int | None = None) -> Walked:
    """Everything in the folder and its subfolders, in the order of names; at this many entries it
    stops."""
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.", hint="Check the name.")
    out = Walked([], [], [], [])
    root = os.path.realpath(folder)
    waiting: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
    while waiting:
        seen = len(out.files) + len(out.skipped) + len(out.refused)
        if entries_max is not None and seen > entries_max:
            reason = f"there are more than {entries_max:,} entries, so the rest is not read"
            out.refused.append(Note(".", reason))
            break
        inside, rules = waiting.pop()
        below = _look_into(root, inside, rules, out)
        waiting.extend(reversed(below))
    return out


def _look_into(
    root: str, inside: str, rules: tuple[_Rules, ...], out: Walked
) -> list[tuple[str, tuple[_Rules, ...]]]:
    """Notes the files of one folder, and returns its folders."""
    try:
        with os.scandir(os.path.join(root, inside)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        out.refused.append(unreadable(_shown(inside), error))
        out.unread.append(inside)
        return []
    if any(entry.name == _IGNORE_FILE for entry in entries):
        rules = (*rules, _read_rules(root, inside, out))
    below = []
    for entry in entries:
        if entry.name == _IGNORE_FILE:
            continue
        path = inside + entry.name
        try:
            folder = _note(root, path, entry, rules, out)
        except OSError as error:
            out.refused.append(unreadable(_shown(path), error))
            out.unread.append(path)
            continue
        if folder:
            below.append((path + "/", rules))
    return below


def _note(
    root: str, path: str, entry: DirEntry[str], rules: tuple[_Rules, ...], out: Walked
) -> bool:
    """Records one entry; returns True for a folder to be walked."""
    # The folders above it were checked already.
    if not entry.name.isascii() and not _is_text(entry.name):
        out.skipped.append(Note(_shown(path), "its name is not UTF-8"))
        return False
    if entry.is_symlink():
        _note_link(root, path, out)
        return False
    folder = entry.is_dir(follow_symlinks=False)
    reason = _unwanted_folder(entry.name) if folder else _unwanted_file(entry.name)
    if not reason and rules and _ignored(path + "/" if folder else path, rules):
        reason = "it is ignored by .gitignore"
    if reason:
        out.skipped.append(Note(path + "/" if folder else path, reason))
        return False
    if folder:
        return True
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISREG(status.st_mode):
        out.files.append(FoundFile(path, stamp_of(status)))
    else:
        out.skipped.append(Note(path, "it is not a plain file"))
    return False


def _note_link(root: str, path: str, out: Walked) -> None:
    """Records a link. Links are not followed, so there are no loops: one that leads out of the
    folder is refused, and the target of one inside is indexed at its own path."""
    target = os.path.realpath(os.path.join(root, path))
    if not is_inside(target, root):
        out.refused.append(Note(path, "it is a link that leads out of the folder"))
    elif not os.path.exists(target):
        out.skipped.append(Note(path, "it is a link that leads nowhere"))
    else:
        out.skipped.append(Note(path, "it is a link; what it leads to is read at its own place"))


def is_inside(real: str, root: str) -> bool:
    """Whether a real path is the root or below it."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def _unwanted_folder(name: str) -> str:
    if name.startswith(".") or name in _FOLDERS:
        return "folders of this name are not indexed"
    return ""


def _unwanted_file(name: str) -> str:
    if name.startswith(".env"):
        return "such files hold secrets"
    if name == ".DS_Store":
        return "files of this name are not indexed"
    front, _, kind = name.lower().rpartition(".")
    if not (front and kind in TEXT_SUFFIXES) and (front or kind != "dockerfile"):
        return OTHER_KIND
    return ""


def _is_text(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _shown(path: str) -> str:
    """A printable form of a path, even if its name is not valid text."""
    return path.encode("utf-8", "backslashreplace").decode() or "."


# .gitignore


class _Rules(NamedTuple):
    """The rules of one .gitignore, for its folder and subfolders."""

    inside: str
    spec: Any


def _ignored(path: str, rules: Iterable[_Rules]) -> bool:
    """The decision of the nearest .gitignore with a rule for the path."""
    for one in reversed(tuple(rules)):
        said: bool | None = one.spec.check_file(path[len(one.inside) :]).include
        if said is not None:
            return said
    return False


def _read_rules(root: str, inside: str, out: Walked) -> _Rules:
    spec = _need_pathspec().GitIgnoreSpec
    path = inside + _IGNORE_FILE
    full = os.path.join(root, path)
    lines: list[str] = []
    if os.path.islink(full) or not os.path.isfile(full):
        out.refused.append(Note(path, "it is not a plain file, so its rules are not used"))
        return _Rules(inside, spec.from_lines([]))
    with open(full, encoding="utf-8", errors="replace") as file:
        lines = file.read(_IGNORE_BYTES_MAX).splitlines()
    try:
        return _Rules(inside, spec.from_lines(lines))
    except ValueError:
        good = [line for line in lines if _is_rule(spec, line)]
        bad = len(lines) - len(good)
        out.refused.append(Note(path, f"{bad} of its rules cannot be understood"))
        return _Rules(inside, spec.from_lines(good))


def _is_rule(spec: Any, line: str) -> bool:
    try:
        spec.from_lines([line])
    except ValueError:
        return False
    return True


def _need_pathspec() -> Any:
    """The package that implements .gitignore; only folders that have one need it."""
    from importlib import import_module

    try:
        return import_module("pathspec")
    except ImportError:
        raise InvalidInput(
            "The folder has a .gitignore, and the package pathspec, which reads it, is missing.",
            hint=install_hint(),
        ) from None


# Watching

# An editor's save is several events within a few milliseconds; this merges them into one, and is
# still immediate for a person.
DEBOUNCE_MS = 200
# MEMORY.md, INBOX.md, the pages of categories and the journals; not hidden files, nor temporary
# files of editors.
_MIRRORED = re.compile(r"(?:MEMORY|INBOX)\.md|[a-z0-9]+(?:-[a-z0-9]+)*\.md")


def watch_hubs(home: str, *, stop: Any = None) -> Iterator[set[str]]:
    """Yields the names of hubs with changed mirrored files, until `stop` (an event) is set or
    the process is interrupted."""
    watch = _need_watch()
    root = os.path.realpath(os.path.join(home, HUBS))
    make_folder(root)
    found = watch(
        root,
        watch_filter=lambda _, path: hub_of(root, path) is not None,
        debounce=DEBOUNCE_MS,
        stop_event=stop,
    )
    try:
        for changes in found:
            yield {name for _, path in changes if (name := hub_of(root, path)) is not None}
    except KeyboardInterrupt:
        # That is how a person ends it.
        return


def watch_paths(paths: Sequence[str]) -> Iterator[None]:
    """Yields whenever one of these folders or files has changed, until the process is
    interrupted."""
    watch = _need_watch()
    real = [os.path.realpath(path) for path in paths]
    folders = [path for path in real if os.path.isdir(path)]
    files = {path for path in real if not os.path.isdir(path)}
    # Editors replace a file by a new one, so its folder is watched.
    roots = dict.fromkeys([*folders, *(os.path.dirname(path) for path in files)])

    def meant(_: Any, path: str) -> bool:
        return path in files or any(path.startswith(folder + os.sep) for folder in folders)

    try:
        for _ in watch(*roots, watch_filter=meant, debounce=DEBOUNCE_MS):
            yield
    except KeyboardInterrupt:
        # That is how a person ends it.
        return


def _need_watch() -> Any:
    try:
        from watchfiles import watch
    except ImportError as error:
        raise StoreError(
            f"Watching files needs the package watchfiles, which cannot be imported ({error}).",
            hint=install_hint(),
        ) from error
    return watch


def hub_of(root: str, path: str) -> str | None:
    """The hub that a mirrored file or a document belongs to; None for any other file."""
    parts = os.path.relpath(path, root).split(os.sep)
    if len(parts) == 2 and _MIRRORED.fullmatch(parts[1]):
        return parts[0]
    if len(parts) > 2 and parts[0] != os.pardir and parts[1] == FOLDER:
        return parts[0]
    return None
