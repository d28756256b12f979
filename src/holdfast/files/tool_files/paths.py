"""Paths as an agent writes them, `/memories/notes/tea.md`, into names that are safe everywhere.

Only the text of a path is looked at; what is on the disk is for `kept_folder`. A path that could be
read in two ways is refused with a sentence, never repaired: its author meant something else.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from holdfast.errors import InvalidInput

ROOT = "/memories"
# A source path is a label of at most 1,000 characters; file systems take 255 bytes for a name.
PATH_CHARS_MAX = 1_000
NAME_BYTES_MAX = 255
# Deeper than people file things; a bound on what one delete or rename has to walk.
DEPTH_MAX = 16

# Enough of a path to know it by; a reply must not carry ten megabytes back.
_SHOWN_CHARS = 200
_ENCODED = re.compile(r"%[0-9a-fA-F]{2}")
# Windows opens a device under these names, with or without an extension.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?")
# Windows refuses these in names, and reads a colon as a stream or a drive.
_FORBIDDEN = frozenset('<>:"|?*')
# Drawn like a slash and normalised to none.
_SLASHES = frozenset("\u2044\u2215\u2216\u29f5\u29f8\u29f9\u2571\u2572\u27cb\u27cd\u1735\u3033")


class ToolPath(NamedTuple):
    """A path below the root: as it was written, and its names. The root itself has none."""

    shown: str
    names: tuple[str, ...]

    @property
    def relative(self) -> str:
        """The path as memories have it: relative to the folder, with forward slashes."""
        return "/".join(self.names)

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def above(self) -> tuple[str, ...]:
        return self.names[:-1]


def parse(path: str) -> ToolPath:
    """The path, or InvalidInput that says what is wrong with it."""
    shown = cut(path)
    if path != ROOT and not path.startswith(ROOT + "/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {shown}")
    if len(path) > PATH_CHARS_MAX:
        raise _refused(shown, f"it has more than {PATH_CHARS_MAX:,} characters", "Shorten it.")
    # One slash at the end is how folders are often written.
    below = path[len(ROOT) + 1 :].removesuffix("/")
    names = tuple(below.split("/")) if below else ()
    if len(names) > DEPTH_MAX:
        raise _refused(shown, f"it has more than {DEPTH_MAX} levels", "Use fewer folders.")
    for name in names:
        _refuse_unsafe(name, shown)
    return ToolPath(path.removesuffix("/"), names)


def cut(text: str) -> str:
    """Text to be quoted in a sentence: printable, and not without end."""
    short = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)


def folded(name: str) -> str:
    """What two names have in common that some file systems take for one."""
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
    """What is wrong with one name; nothing where all is well."""
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
        if letter in _SLASHES or _poses(letter):
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


def _poses(letter: str) -> bool:
    """Whether it is another way to write a dot or a slash."""
    if letter.isascii():
        return False
    plain = unicodedata.normalize("NFKC", letter)
    return any(sign in plain for sign in "./\\")
