"""Paths of tool files, and the folder of a hub in which agents keep them.

A path as an agent writes it, `/memories/notes/tea.md`, is split into names that are safe on every
system. An ambiguous path is refused with a message, never repaired.

Names are resolved one at a time and never through a link. Each folder is kept open by its handle,
so that a folder or file that is replaced by a link between check and use is refused, not followed.
Systems without such handles check twice instead. This module knows files, bytes and permissions,
but not memories.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias

from holdfast.errors import AlreadyExists, Conflict, InvalidInput
from holdfast.system.atomic_file import FILE_MODE, FOLDER_MODE, file_errors, sync_folder

ROOT = "/memories"
# A source path is a label of at most 1,000 characters; file systems take 255 bytes for a name.
PATH_CHARS_MAX = 1_000
NAME_BYTES_MAX = 255
# The largest depth that a delete or rename walks.
DEPTH_MAX = 16

# Characters of a path in a reply, which must not return ten megabytes.
_SHOWN_CHARS = 200
_ENCODED = re.compile(r"%[0-9a-fA-F]{2}")
# Windows opens a device under these names, with or without an extension.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?")
# Windows refuses these in names, and reads a colon as a stream or a drive.
_FORBIDDEN = frozenset('<>:"|?*')
# Characters that look like a slash but are not normalised to one.
_SLASHES = frozenset("\u2044\u2215\u2216\u29f5\u29f8\u29f9\u2571\u2572\u27cb\u27cd\u1735\u3033")


class ToolPath(NamedTuple):
    """A path below the root: as it was written, and its names. The root itself has none."""

    shown: str
    names: tuple[str, ...]

    @property
    def relative(self) -> str:
        """The path as stored in memories: relative to the folder, with forward slashes."""
        return "/".join(self.names)

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def above(self) -> tuple[str, ...]:
        return self.names[:-1]


def parse(path: str) -> ToolPath:
    """Parses a path; raises InvalidInput with the problem."""
    shown = cut(path)
    if path != ROOT and not path.startswith(ROOT + "/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {shown}")
    if len(path) > PATH_CHARS_MAX:
        raise _refused(shown, f"it has more than {PATH_CHARS_MAX:,} characters", "Shorten it.")
    # Folders are often written with a slash at the end.
    below = path[len(ROOT) + 1 :].removesuffix("/")
    names = tuple(below.split("/")) if below else ()
    if len(names) > DEPTH_MAX:
        raise _refused(shown, f"it has more than {DEPTH_MAX} levels", "Use fewer folders.")
    for name in names:
        _refuse_unsafe(name, shown)
    return ToolPath(path.removesuffix("/"), names)


def cut(text: str) -> str:
    """Text to be quoted in a message: printable, and limited in length."""
    short = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)


def folded(name: str) -> str:
    """A key that is equal for names that some file systems treat as equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _refused(shown: str, reason: str, hint: str) -> InvalidInput:
    return InvalidInput(f"The path {shown} cannot be used: {reason}.", hint=hint)


def _refuse_unsafe(name: str, shown: str) -> None:
    if name in (".", ".."):
        raise InvalidInput(f"Path {shown} would escape {ROOT} directory")
    reason = _problem(name)
    if reason:
        raise _refused(shown, reason, "Use names of letters, digits, spaces, '-', '_' and '.'.")


def _problem(name: str) -> str:
    """The problem of a name; empty if there is none."""
    if not name:
        return "two slashes follow each other"
    if "\\" in name:
        return "it has a backslash; folders are separated by '/'"
    if _ENCODED.search(name):
        return "it is percent-encoded; write the name as it is"
    for letter in name:
        if letter in _FORBIDDEN:
            return f"it has the character {letter}"
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return f"it has an invisible character (U+{ord(letter):04X})"
        if letter in _SLASHES or _looks_like_separator(letter):
            return f"it has a character that looks like a dot or a slash (U+{ord(letter):04X})"
    if name.startswith("."):
        return "names that begin with a dot are hidden files"
    if name != name.strip() or name.endswith("."):
        return "a name begins or ends with a space, or ends with a dot"
    if _DEVICE.fullmatch(name):
        return f"{cut(name)} names a device on Windows"
    if folded(name) == "node_modules":
        return "the folder node_modules is left out of memory"
    if len(name.encode()) > NAME_BYTES_MAX:
        return f"a name has more than {NAME_BYTES_MAX} bytes"
    return ""


def _looks_like_separator(letter: str) -> bool:
    """Whether it looks like a dot or a slash."""
    if letter.isascii():
        return False
    plain = unicodedata.normalize("NFKC", letter)
    return any(sign in plain for sign in "./\\")


Kind: TypeAlias = Literal["file", "folder", "link", "other"]
Stamp: TypeAlias = tuple[int, int, int, int]

_HANDLES = os.open in os.supports_dir_fd and os.listdir in os.supports_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED
# So that opening a pipe in a file's place does not block.
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | _CLOSED
_PARTIAL = ".partial-"
# Files that desktops create in every folder they show.
_LITTER = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))
_BOM = "\ufeff"


class FileText(NamedTuple):
    """The text of a file, whether it begins with a byte order mark, and its version."""

    text: str
    bom: bool
    stamp: Stamp


class FolderItem(NamedTuple):
    """One entry of a folder."""

    name: str
    kind: Kind
    size_bytes: int

    @property
    def hidden(self) -> bool:
        """Not shown to agents."""
        return self.name.startswith(".") or self.name == "node_modules"

    @property
    def is_disposable(self) -> bool:
        """Deleted with its folder, without being mentioned."""
        return self.kind == "file" and (self.name in _LITTER or self.name.startswith(_PARTIAL))


def encoded(text: str, *, bom: bool = False) -> bytes:
    return ((_BOM if bom else "") + text).encode()


class Folder:
    """An open folder; a context manager that closes its handle."""

    def __init__(self, path: str, handle: int | None, shown: str) -> None:
        self._path, self._handle, self._shown = path, handle, shown

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def reopened(self) -> Folder:
        """The same folder under a handle of its own."""
        handle = None if self._handle is None else os.dup(self._handle)
        return Folder(self._path, handle, self._shown)

    # Subfolders

    def below(self, name: str, *, make: bool = False) -> Folder | None:
        """Opens a subfolder; with `make`, creates it. None if it does not exist."""
        shown = f"{self._shown}/{name}"
        kind = self.kind(name)
        if kind is None and make:
            with file_errors(shown), suppress(FileExistsError):
                os.mkdir(self._at(name), FOLDER_MODE, dir_fd=self._handle)
            kind = self.kind(name)
        if kind is None or (kind == "file" and not make):
            return None
        if kind != "folder":
            raise _unusable(shown, kind, "a folder")
        handle = None
        if _HANDLES:
            try:
                handle = os.open(name, _FOLDER, dir_fd=self._handle)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    # It was replaced since the check.
                    raise _unusable(shown, "link", "a folder") from None
                if error.errno == errno.ENOENT:
                    return None
                raise InvalidInput(f"{shown} cannot be opened: {error.strerror}.") from None
        return Folder(os.path.join(self._path, name), handle, shown)

    def kind(self, name: str) -> Kind | None:
        """The type of the entry with exactly this name; None if there is none."""
        status = self._status(name)
        return None if status is None or not self._exact(name, status) else _kind_of(status)

    def items(self) -> list[FolderItem]:
        """All entries, in the order of their names."""
        with file_errors(self._shown):
            names = sorted(os.listdir(self._path if self._handle is None else self._handle))
        found = ((name, self._status(name)) for name in names)
        return [
            FolderItem(name, _kind_of(status), status.st_size) for name, status in found if status
        ]

    def size_bytes(self) -> int:
        """The folder's own size according to the system."""
        with file_errors(self._shown):
            return os.stat(self._path if self._handle is None else self._handle).st_size

    # Files

    def read(self, name: str, *, bytes_max: int) -> FileText | None:
        """A file's text; None if it does not exist. Raises InvalidInput if it cannot be read."""
        shown = f"{self._shown}/{name}"
        kind = self.kind(name)
        if kind is None:
            return None
        if kind != "file":
            raise _unusable(shown, kind, "a file")
        try:
            with os.fdopen(os.open(self._at(name), _READ, dir_fd=self._handle), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise _unusable(shown, "other", "a file")
                data = file.read(bytes_max + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise _unusable(shown, "link", "a file") from None
            raise InvalidInput(f"The file {shown} cannot be read: {error.strerror}.") from None
        if len(data) > bytes_max:
            raise InvalidInput(
                f"The file {shown} has more than {bytes_max:,} bytes, the most that is kept.",
                hint="Split it into smaller files.",
            )
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"The file {shown} is not UTF-8 text: byte {error.start} cannot be read.",
                hint="It was put there by hand and is left alone.",
            ) from None
        return FileText(text.removeprefix(_BOM), text.startswith(_BOM), _stamp(status))

    def stage(self, data: bytes) -> str:
        """Writes and flushes a hidden file; returns its name.

        The caller holds the lock of the whole tree, so any older staged file is litter.
        """
        with file_errors(self._shown):
            for item in self.items():
                if item.name.startswith(_PARTIAL):
                    self.discard(item.name)
            name = f"{_PARTIAL}{os.getpid()}-{os.urandom(4).hex()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _CLOSED
            try:
                handle = os.open(self._at(name), flags, FILE_MODE, dir_fd=self._handle)
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            except BaseException:
                self.discard(name)
                raise
        return name

    def discard(self, name: str) -> None:
        """Removes a staged file, if it still exists."""
        with suppress(OSError):
            os.unlink(self._at(name), dir_fd=self._handle)

    def put(self, staged: str, name: str, over: Stamp | None) -> None:
        """Renames a staged file to a new name, or over exactly the file that was read."""
        shown = f"{self._shown}/{name}"
        if over is None:
            with file_errors(shown):
                self._rename_to_free(staged, self, name)
        else:
            self.refuse_moved(name, over)
            with file_errors(shown):
                os.replace(
                    self._at(staged),
                    self._at(name),
                    src_dir_fd=self._handle,
                    dst_dir_fd=self._handle,
                )
        self.sync()

    def move(self, name: str, to: Folder, new: str) -> None:
        """Renames a file or a folder; an existing entry with the new name stays."""
        with file_errors(f"{self._shown}/{name}"):
            # If only the case differs, some systems find the file itself under its new name.
            itself = self._inode(name) == to._inode(new)
            if self.kind(name) == "file" and not itself:
                self._rename_to_free(name, to, new)
            else:
                os.rename(
                    self._at(name), to._at(new), src_dir_fd=self._handle, dst_dir_fd=to._handle
                )
        self.sync()
        to.sync()

    def remove(self, name: str, stamp: Stamp | None = None) -> None:
        """Removes a file; with a stamp, only if it is unchanged."""
        if stamp is not None:
            self.refuse_moved(name, stamp)
        with file_errors(f"{self._shown}/{name}"), suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._handle)

    def remove_folder(self, name: str) -> None:
        """Removes an empty folder."""
        with file_errors(f"{self._shown}/{name}"), suppress(FileNotFoundError):
            os.rmdir(self._at(name), dir_fd=self._handle)

    def refuse_moved(self, name: str, stamp: Stamp) -> None:
        """Refuses if somebody saved the file between reading and writing it."""
        status = self._status(name)
        if status is None or _stamp(status) != stamp:
            raise Conflict(
                f"The file {self._shown}/{name} was changed by someone else in this moment.",
                hint="View it again, then repeat the edit.",
            )

    def sync(self) -> None:
        """Flushes renames and deletions in this folder to disk."""
        if self._handle is None:
            sync_folder(self._path)
        else:
            with file_errors(self._shown):
                os.fsync(self._handle)

    # System calls

    def _at(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self._path, name)

    def _status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise InvalidInput(f"{self._shown}/{name} cannot be used: {error.strerror}.") from None

    def _inode(self, name: str) -> tuple[int, int] | None:
        status = self._status(name)
        return None if status is None else (status.st_dev, status.st_ino)

    def _exact(self, name: str, status: os.stat_result) -> bool:
        """Whether the entry has exactly this name: some systems find `Tea.md` under `tea.md`."""
        swapped = name.swapcase()
        if swapped == name or self._inode(swapped) != (status.st_dev, status.st_ino):
            return True
        return name in os.listdir(self._path if self._handle is None else self._handle)

    def _rename_to_free(self, name: str, to: Folder, new: str) -> None:
        """Renames a file to a free name; a plain rename would overwrite an existing file."""
        taken = AlreadyExists(f"File {to._shown}/{new} already exists")
        handles = {"src_dir_fd": self._handle, "dst_dir_fd": to._handle}
        try:
            os.link(self._at(name), to._at(new), follow_symlinks=False, **handles)
        except FileExistsError:
            raise taken from None
        except (OSError, NotImplementedError):
            # Not every file system has hard links; without them, a check and a rename.
            if to._status(new) is not None:
                raise taken from None
            os.rename(self._at(name), to._at(new), **handles)
        else:
            os.unlink(self._at(name), dir_fd=self._handle)


def open_root(path: str) -> Folder | None:
    """Opens the root folder; None if it does not exist. It may be a link, which is its owner's
    choice; entries inside still cannot lead out."""
    if not os.path.isdir(path):
        return None
    handle = None
    if _HANDLES:
        with file_errors(path):
            handle = os.open(path, _FOLDER & ~_NO_LINK)
    return Folder(path, handle, ROOT)


def _kind_of(status: os.stat_result) -> Kind:
    # Windows junctions are not links by their mode, but lead elsewhere too.
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", False):
        return "link"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(status.st_mode) else "other"


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def _unusable(shown: str, kind: Kind, wanted: str) -> InvalidInput:
    if kind == "link":
        return InvalidInput(
            f"The path {shown} is a link, and links are not followed: it could escape {ROOT}.",
            hint="Use another name.",
        )
    if kind == "other":
        return InvalidInput(f"Unsupported file type for {shown}")
    if wanted == "a folder":
        return InvalidInput(
            f"The path {shown} is a file, so nothing can be below it.", hint="Use another name."
        )
    return InvalidInput(f"The path {shown} is not a file.")
