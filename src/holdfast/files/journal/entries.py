"""Parses a journal into blocks (entries and the text between them), and reads the memories of its
entries and the base (the last synced state)."""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from holdfast import engine
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.records import Agreed
from holdfast.engine.core import Scope
from holdfast.errors import InvalidInput, StoreError, StoreReadOnly
from holdfast.files.journal.changes import JournalChanges, Signature, signature_of
from holdfast.files.merge import removed_by_conflict
from holdfast.store.base import Reader
from holdfast.system.atomic_file import real_path
from holdfast.text.clean import without_controls

# A fence or a comment must be closed within this many lines, and before the next entry with a time;
# otherwise it does not count, because it would swallow the entries added after it.
_CLOSED_WITHIN_LINES = 200
_ADDED = re.compile(r"- \d\d:\d\d ")
# Digits of a SHA-256: enough for the entries of one day, short enough to read.
_KEY_DIGITS = 12

_MARKER = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:((?:[01]\d|2[0-3]):[0-5]\d)[ \t]+(?=\S))?")
_HEADING_OR_RULE = re.compile(r"#{1,6}(?:[ \t]|$)|[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_FENCE = re.compile(r"(```+|~~~+)")


class JournalBlock(NamedTuple):
    """A block of the text. `text` is the content of an entry; empty for other blocks."""

    raw: str
    text: str = ""
    time: str = ""


def parse(text: str) -> list[JournalBlock]:
    """The blocks of a journal, in order."""
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    blocks = []
    at = _front_matter(lines)
    if at:
        blocks.append(JournalBlock("".join(lines[:at])))
    while at < len(lines):
        end, entry = _extent(lines, at)
        raw = "".join(lines[at:end])
        blocks.append(_entry(raw) if entry else JournalBlock(raw))
        at = end
    return blocks


def render(text: str, time: str = "") -> str:
    """The lines of a journal entry, without the last line end."""
    # New content has no control characters; content of an older store may.
    first, *rest = without_controls(text).strip().split("\n")
    lines = [f"- {time} {first}" if time else f"- {first}"]
    lines += [f"  {line}" if line.strip() else "" for line in rest]
    return "\n".join(line.rstrip("\r") for line in lines)


def render_bare(text: str) -> str:
    """An entry of a journal without its time; a table or a fenced block is an entry as it is."""
    return without_controls(text).strip() if _stands_alone(text.strip()) else render(text)


def keys_of(blocks: Iterable[JournalBlock]) -> list[str]:
    """A key for each entry, empty for other blocks: made from its time and words, and numbered
    among equal ones. White space and composed letters are ignored, because editors change them."""
    seen: dict[str, int] = {}
    keys = []
    for block in blocks:
        key = key_of(block.text, block.time) if block.text else ""
        if key:
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = f"{key}-{seen[key]}"
        keys.append(key)
    return keys


def key_of(text: str, time: str) -> str:
    import hashlib

    said = f"{time}\n{plain(text)}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).hexdigest()[:_KEY_DIGITS]


def plain(text: str) -> str:
    """The words of a journal entry, for comparing."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _front_matter(lines: list[str]) -> int:
    if lines and lines[0].lstrip("\ufeff").rstrip() == "---":
        for at, line in enumerate(lines[1:_CLOSED_WITHIN_LINES], 1):
            if line.rstrip() == "---":
                return at + 1
    return 0


def _extent(lines: list[str], at: int) -> tuple[int, bool]:
    """The end of the block that begins here, and whether it is an entry."""
    line = lines[at].lstrip("\ufeff").rstrip()
    if not line or _HEADING_OR_RULE.match(line):
        return at + 1, False
    if line.startswith("<!--") and (end := _closing(lines, at, re.compile(".*-->"))):
        return end, False
    fence = _FENCE.match(line)
    if fence and (end := _closing(lines, at + 1, re.compile(rf"{fence[1]}\s*$"))):
        return end, True
    if line.startswith("|"):
        end = at + 1
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        return end, True
    return _continued(lines, at + 1), True


def _closing(lines: list[str], at: int, closed: re.Pattern[str]) -> int:
    """The end of the first line that closes what was opened; 0 if none does."""
    for end in range(at, min(len(lines), at + _CLOSED_WITHIN_LINES)):
        if _ADDED.match(lines[end]):
            return 0
        if closed.match(lines[end]):
            return end + 1
    return 0


def _continued(lines: list[str], at: int) -> int:
    """The end of the indented lines; empty lines count if another indented one follows."""
    end = at
    while at < len(lines):
        line = lines[at]
        if line.strip() and not line.startswith(("  ", "\t")):
            break
        at += 1
        if line.strip():
            end = at
    return end


def _stands_alone(text: str) -> bool:
    return text.startswith("|") or _FENCE.match(text) is not None


def _entry(raw: str) -> JournalBlock:
    lines = raw.lstrip("\ufeff").split("\n")
    if _stands_alone(lines[0]):
        return JournalBlock(raw, raw.strip())
    found = _MARKER.match(lines[0])
    assert found is not None, "every part of the pattern may be missing"
    said = [lines[0][found.end() :], *(re.sub(r"^(?:  |\t)", "", line) for line in lines[1:])]
    text = "\n".join(line.rstrip("\r") for line in said).strip()
    return JournalBlock(raw, text, found[1] or "" if text else "")


# More than a year of a busy agent; a larger file is a misplaced log.
FILE_BYTES_MAX = 16_000_000


class JournalFolder(NamedTuple):
    """The journals of one hub: its scope, its folder, and the state of the files when last seen."""

    scope: Scope
    folder: str
    changes: JournalChanges


class File(NamedTuple):
    """A journal that was read: its text, and the signature that shows whether it was written
    since."""

    text: str
    signature: Signature


class JournalLine(NamedTuple):
    """A block of the file and the id of its memory; '' for what is no entry."""

    block: JournalBlock
    memory_id: str = ""


class Base(NamedTuple):
    """For each entry its key and its memory's id; for other blocks the raw text and an empty id."""

    items: tuple[tuple[str, str], ...] = ()

    @property
    def ids(self) -> dict[str, str]:
        return {key: memory_id for key, memory_id in self.items if memory_id}


# Names


def name_of(day: date) -> str:
    return f"{day.isoformat()}.md"


def path_of(place: JournalFolder, day: date) -> str:
    return os.path.join(place.folder, name_of(day))


def source_path(day: date, key: str) -> str:
    """The source path of an entry's memory: the day's file and the entry's key."""
    return f"{name_of(day)}#{key}"


# Reading


def read_file(place: JournalFolder, day: date) -> File | None:
    """Reads the journal file of a day; None if there is none.

    Bytes that are not UTF-8 are preserved when the text is written again.
    """
    path = path_of(place, day)
    target = real_path(path, within=place.folder)
    try:
        # Not waiting for the other end of a pipe that somebody put there.
        handle = os.open(target, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except PermissionError:
        raise StoreReadOnly(f"{path} cannot be read.", hint="Check who owns it.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise StoreError(f"{path} is not a file.", hint="Move it away.")
    with os.fdopen(handle, "rb") as file:
        if about.st_size > FILE_BYTES_MAX:
            raise InvalidInput(
                f"{path} has {about.st_size:,} bytes; a journal has at most {FILE_BYTES_MAX:,}.",
                hint="Give it another name, or move it into the files of the hub.",
            )
        text = file.read().decode("utf-8", "surrogateescape")
    return File(text, signature_of(about))


def live_memories(place: JournalFolder, first: date, last: date) -> list[Memory]:
    """The memories of the journal layer from these days, by number."""
    start = datetime.combine(first, time.min, UTC)
    # There is no day after `date.max`.
    end = None if last == date.max else datetime.combine(last + timedelta(days=1), time.min, UTC)
    wanted = Filter(layers=("journal",), since=start, until=end)
    return list(engine.listing.scan_memories(place.scope, wanted))


def time_of(memory: Memory) -> str:
    """The time of day before a journal entry."""
    return f"{memory.occurred_at or memory.created_at:%H:%M}"


def texts_of(reader: Reader, memory: Memory) -> list[tuple[str, str]]:
    """The texts that a journal entry's memory has had, newest first, each with its time of day
    then."""
    out = [(memory.content, time_of(memory))]
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        before = {
            name: revision.fields[name][0]
            for name in ("content", "occurred_at")
            if name in revision.fields
        }
        # The first revision of a memory has no before.
        if before and before.get("content", "") is not None:
            memory = memory._replace(**before)
            out.append((memory.content, time_of(memory)))
    return out


# The base


def base_of(reader: Reader, place: JournalFolder, day: date) -> Base:
    """The last synced state of a day's file; empty if there was no sync."""
    return _parsed(reader.agreed(place.scope.hub_id, name_of(day)))


def _parsed(agreed: Agreed | None) -> Base:
    if agreed is None:
        return Base()
    value = json.loads(agreed.text)
    return Base(tuple((item[0], item[1]) for item in value["items"]))


def items_of(lines: Sequence[JournalLine]) -> list[tuple[str, str]]:
    """The base of these lines. For entries only the key is stored: a purged text must leave no
    trace here."""
    keys = keys_of(line.block for line in lines)
    return [
        (key, line.memory_id) if line.memory_id else (line.block.raw, "")
        for key, line in zip(keys, lines, strict=True)
    ]


def agree(place: JournalFolder, day: date, items: Sequence[tuple[str, str]]) -> None:
    """Records the new base of a day's file after a sync."""
    text = json.dumps({"items": items})
    with place.scope.core.store.read() as reader:
        known = reader.agreed(place.scope.hub_id, name_of(day))
    if known is not None and known.text == text:
        return
    with place.scope.write_unfiltered() as writer:
        writer.set_agreed(place.scope.hub_id, Agreed(name_of(day), text, place.scope.now()))


ENTERED = "entered in the journal"
# The most times that one line can be typed, edited away and typed again in a day.
_ATTEMPTS_AT_A_PATH = 1_000


def free_path(place: JournalFolder, day: date, key: str, text: str, used: set[str]) -> str:
    """The path for a new entry's memory: named after its key, unless a memory of another line has
    that path. One that belongs to no line and has the same text is this entry's: it was left by a
    crash, or removed and added again."""
    path = wanted = source_path(day, key)
    with place.scope.core.store.read() as reader:
        for number in range(2, _ATTEMPTS_AT_A_PATH):
            memory = reader.memory_by_path(place.scope.hub_id, path)
            if memory is None or (memory.id not in used and plain(memory.content) == plain(text)):
                break
            path = f"{wanted}~{number}"
    return path


def block_of(memory: Memory, time_of_day: str | None = None) -> JournalBlock:
    """The lines of a memory, with its time. The time is left out if the file's line had none,
    unless the text needs it: `---` or `14:30` alone would be parsed as something else."""
    if time_of_day == "":
        bare = parse(render_bare(memory.content) + "\n")
        if len(bare) == 1 and plain(bare[0].text) == plain(memory.content):
            return bare[0]
    return parse(render(memory.content, time_of_day or time_of(memory)) + "\n")[0]


def follow_store(
    place: JournalFolder, day: date, lines: Sequence[JournalLine], known: set[str]
) -> list[JournalLine]:
    """The lines of a day's file updated from the store; `known` are the memories that had a
    line."""
    with place.scope.core.store.read() as reader:
        rows = reader.memories_by_id(
            place.scope.hub_id, [one.memory_id for one in lines if one.memory_id]
        )
    out: list[JournalLine] = []
    for line in lines:
        memory = rows.get(line.memory_id)
        if not line.memory_id:
            out.append(line)
        elif memory is not None and memory.visible and not removed_by_conflict(memory):
            same = plain(memory.content) == plain(line.block.text)
            out.append(line if same else JournalLine(block_of(memory, line.block.time), memory.id))
    front = source_path(day, "")
    for memory in live_memories(place, day, day):
        from_here = (memory.source_path or front).startswith(front)
        # The file is for everyone who may read the hub.
        if memory.id not in known and from_here and memory.boundary != "private":
            if out and not out[-1].block.raw.endswith("\n"):
                last = out[-1].block
                out[-1] = out[-1]._replace(block=last._replace(raw=last.raw + "\n"))
            out.append(JournalLine(block_of(memory), memory.id))
    return out


def set_paths(place: JournalFolder, day: date, lines: Sequence[JournalLine]) -> None:
    """Gives a path to memories that are new to a day's file, before it is written: after a crash,
    their lines must not be remembered a second time."""
    with place.scope.core.store.read() as reader:
        ids = [line.memory_id for line in lines if line.memory_id]
        rows = reader.memories_by_id(place.scope.hub_id, ids)
    homeless = {memory.id for memory in rows.values() if memory.source_path is None}
    if not homeless:
        return
    from holdfast.engine.writing.recorder import Recorder

    keys = keys_of(line.block for line in lines)
    paths = {
        line.memory_id: free_path(place, day, key, rows[line.memory_id].content, set(ids))
        for key, line in zip(keys, lines, strict=True)
        if line.memory_id in homeless
    }
    with place.scope.core.store.write(hub=place.scope.hub_id) as writer:
        recorder = Recorder(place.scope, writer, "update", reason=ENTERED)
        for memory_id, path in paths.items():
            memory = writer.memory(place.scope.hub_id, memory_id)
            if memory is not None and writer.memory_by_path(place.scope.hub_id, path) is None:
                recorder.revise(memory, source_path=path)
