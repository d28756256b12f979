"""The format of INBOX.md: renders the held items as a form, and parses the filled form. It knows
only text; permissions and outdated items are checked elsewhere.

The texts of items may be hostile. They are fenced with lines of tildes, longer than any in the
text, so that no viewer renders them and nothing in them is read as part of the form. Invisible
characters are written as references.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from holdfast.domain.memory import Memory
from holdfast.domain.results import Item

FILE_NAME = "INBOX.md"
# A file that does not end with this was not saved completely.
END = "<!-- This is the end of INBOX.md. -->"
# The file has at most this many items; others follow as these are decided.
ITEMS_MAX = 200
# A longer text is cut to this length: it can be approved, but not changed in the file.
CHARS_MAX = 20_000
_FENCE_LEAST = 4

HEAD = """\
# Waiting for your review

These texts are kept, and hidden from agents until you decide. Put an x into a box and save.

- approve: it becomes a memory. Change its text, and it is approved as you wrote it.
- reject: it is archived, and stays hidden.
- keep both: it becomes a memory, and what it would replace stays as well.

What you take out of this file still waits, and is written into it again. `holdfast undo` takes a
decision back. Between the lines of tildes stands what came from elsewhere: it is data, whatever it
tells you to do. Characters that cannot be seen are written like `&#x200B;`.
"""
_OURS = frozenset(line.strip() for line in HEAD.splitlines())

CHOICES = ("approve", "reject", "keep both")
_BOX = re.compile(r"[-*+][ \t]+\[([ xX]?)\][ \t]+(approve|reject|keep both)[ \t]*")
_TITLE = re.compile(r"## #\d+ [a-z_]+[ \t]*")
_FENCE = re.compile(r"(~{4,})[ \t]*")
# The memory, its version, a checksum of the text below the boxes, and whether that was cut.
_MARK = re.compile(r"<!-- (mem_[0-9A-Za-z_-]{1,64}) (\d{1,9}) ([0-9a-f]{8})( cut)? -->[ \t]*")
_ABOUT = re.compile(r"(?:Held because it |Approving it replaces #|\(It goes on: |\(\d+ more wait)")

# Text that looks like a reference already gets one more `amp;`, so that decoding is unambiguous.
_REFERENCE = re.compile(r"&((?:amp;)*)#x([0-9A-F]{1,6});")
# Invisible: controls, formats, separators of lines; and the selectors in which text can be hidden.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SELECTORS = range(0xE0100, 0xE01F0)


class InboxEntry(NamedTuple):
    """An item in the file: the memory and its version, its text and the ticked boxes, and whether
    the text differs from the one that was written. A `cut` text has only its beginning."""

    memory_id: str
    version: int
    text: str
    ticked: tuple[str, ...]
    edited: bool = False
    cut: bool = False


class Filled(NamedTuple):
    """INBOX.md as parsed. It is `whole` if it has its end; `loose` is text outside the form, which
    is stored nowhere else."""

    entries: tuple[InboxEntry, ...]
    whole: bool
    loose: bool


# Writing


def render(items: Sequence[Item]) -> str:
    """INBOX.md for these items; empty if there are none."""
    if not items:
        return ""
    parts = [HEAD, *(_item(item) for item in items[:ITEMS_MAX])]
    if len(items) > ITEMS_MAX:
        parts.append(f"({len(items) - ITEMS_MAX} more wait: `holdfast review` shows them.)\n")
    return "\n".join([*parts, f"{END}\n"])


def _item(item: Item) -> str:
    memory = item.memory
    choices = CHOICES if item.about is not None else CHOICES[:2]
    cut = len(memory.content) > CHARS_MAX
    lines = [
        f"## #{memory.number} {item.kind}",
        "",
        *(f"- [ ] {choice}" for choice in choices),
        "",
        *_fenced(memory.content),
        "",
    ]
    if cut:
        lines += [f"(It goes on: `holdfast get {memory.number}` shows all of it.)", ""]
    leaves = f"It goes by itself on {item.expires_at:%Y-%m-%d}."
    lines += [f"Held because it {_plain(item.why)}. {_came(memory)} {leaves}", ""]
    if item.about is not None:
        lines += [f"Approving it replaces #{item.about.number}:", ""]
        lines += [*_fenced(item.about.content), ""]
    sum_ = _sum_of(memory.content[:CHARS_MAX])
    mark = f"<!-- {memory.id} {memory.version} {sum_}{' cut' if cut else ''} -->"
    return "\n".join([*lines, mark, ""])


def _sum_of(text: str) -> str:
    """A checksum that shows whether a text was changed."""
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def _fenced(text: str) -> list[str]:
    lines = encoded(text[:CHARS_MAX]).split("\n")
    longest = max((len(run) for run in re.findall("~+", text)), default=0)
    fence = "~" * max(_FENCE_LEAST, longest + 1)
    return [fence, *lines, fence]


def _came(memory: Memory) -> str:
    source = " ".join(filter(None, (memory.source, memory.source_agent, memory.source_path)))
    return f"It came from {_plain(source)} ({memory.trust}) on {memory.created_at:%Y-%m-%d}."


def _plain(text: str) -> str:
    """A text on one line, without links, tags or images for any viewer."""
    line = " ".join(encoded(text).split())[:500]
    return re.sub(r"([\\`*_\[\]<>!#|~])", r"\\\1", line)


def encoded(text: str) -> str:
    """The text without invisible characters, and without white space that editors remove at line
    ends."""
    safe = _REFERENCE.sub(r"&\1amp;#x\2;", text)
    if not safe.isascii() or not safe.replace("\n", "").isprintable():
        safe = "".join(_seen(character) for character in safe)
    return re.sub(r"[^\S\n](?=\n|\Z)", lambda found: _named(found[0]), safe)


def _seen(character: str) -> str:
    unseen = unicodedata.category(character) in _UNSEEN or ord(character) in _SELECTORS
    return _named(character) if unseen and character not in "\n\t" else character


def _named(character: str) -> str:
    return f"&#x{ord(character):X};"


def decoded(text: str) -> str:
    """A text of INBOX.md without its escapes; the inverse of `encoded`."""
    return _REFERENCE.sub(_meant, text)


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return f"&{found[1].removeprefix('amp;')}#x{found[2]};"
    code = int(found[2], 16)
    is_character = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else found[0]


# Reading


def parse(text: str) -> Filled:
    """Parses INBOX.md. An item that is incomplete, from its heading to its mark, is ignored."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip().split("\n")
    entries: list[InboxEntry] = []
    reading = _Reading()
    loose = False
    for line in lines[:-1]:
        if reading.fence:
            reading.inside(line)
        elif _TITLE.fullmatch(line):
            # One that began before and has no end is left as it is.
            loose = loose or reading.begun
            reading = _Reading(begun=True)
        elif found := _FENCE.fullmatch(line):
            reading.open(found[1])
        elif found := _BOX.fullmatch(line):
            reading.boxes.append((found[2], bool(found[1].strip())))
        elif found := _MARK.fullmatch(line):
            entry = reading.entry(found)
            loose = loose or entry is None
            entries += [entry] if entry else []
            reading = _Reading()
        elif line.strip() and line.strip() not in _OURS and not _ABOUT.match(line):
            loose = True
    whole = lines[-1].strip() == END and not reading.fence
    return Filled(tuple(entries), whole, loose or reading.begun)


class _Reading:
    """An item that is being read."""

    def __init__(self, *, begun: bool = False) -> None:
        self.begun = begun
        self.fence = ""
        self.boxes: list[tuple[str, bool]] = []
        self._texts: list[list[str]] = []

    def open(self, fence: str) -> None:
        self.fence = fence
        self._texts.append([])

    def inside(self, line: str) -> None:
        if line.rstrip(" \t") == self.fence:
            self.fence = ""
        else:
            self._texts[-1].append(line)

    def entry(self, mark: re.Match[str]) -> InboxEntry | None:
        # One text for an item, and another one where it would replace something.
        if not self.begun or not 1 <= len(self._texts) <= 2:
            return None
        named = [name for name, _ in self.boxes]
        if len(set(named)) != len(named):
            return None
        ticked = tuple(name for name, on in self.boxes if on)
        text = decoded("\n".join(self._texts[0]))
        return InboxEntry(
            mark[1], int(mark[2]), text, ticked, _sum_of(text) != mark[3], bool(mark[4])
        )
