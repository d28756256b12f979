"""The files in which OpenClaw keeps memory: MEMORY.md, USER.md and the notes of each day."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from holdfast.errors import NotFound
from holdfast.importers.notes import Note, notes_in, read_note
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest, moment

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"\s*[-*+]\s+(.*)$")
# The agent's persona and instructions, which are no memories.
_INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md")
_FACTS = ("MEMORY.md", "memory.md", "USER.md")


def read(path: str, options: Options) -> Iterator[Found]:
    """A memory for each line of MEMORY.md and USER.md, a document for each part of a day."""
    folder = _workspace(path)
    name = os.path.basename(os.path.abspath(folder))
    for file in _FACTS:
        if os.path.isfile(os.path.join(folder, file)):
            yield from _facts(name, read_note(folder, file))
    for file in _INSTRUCTIONS:
        if os.path.isfile(os.path.join(folder, file)):
            yield Skipped(file, "it tells the agent what to be and do, and is no memory")
    days = os.path.join(folder, "memory")
    if os.path.isdir(days):
        for note in notes_in(days):
            yield from [note] if isinstance(note, Skipped) else _day(name, note)


def _workspace(path: str) -> str:
    for folder in (path, os.path.join(path, "workspace")):
        if any(os.path.isfile(os.path.join(folder, one)) for one in _FACTS) or os.path.isdir(
            os.path.join(folder, "memory")
        ):
            return folder
    raise NotFound(
        f"There is neither MEMORY.md nor a folder memory in {path}.",
        hint="Name the workspace of the agent, for example ~/.openclaw/workspace.",
    )


def _facts(folder: str, note: Note) -> Iterator[Found]:
    """Each line of a list, and each paragraph, below its headings."""
    user = note.path == "USER.md"
    for headings, text in _parts(note.body):
        yield Record(
            f"{folder}/{note.path}#{digest(text)}",
            text,
            category="core" if user else None,
            tags=headings[-1:],
            noted={"file": note.path, "headings": list(headings)},
        )


def _parts(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    headings: list[tuple[int, str]] = []
    part: list[str] = []

    def ended() -> Iterator[tuple[tuple[str, ...], str]]:
        if part:
            yield tuple(name for _, name in headings), "\n".join(part).strip()
            part.clear()

    for line in text.splitlines():
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading:
            yield from ended()
            depth = len(heading.group(1))
            headings[:] = [one for one in headings if one[0] < depth]
            headings.append((depth, heading.group(2)))
        elif bullet and not line.startswith((" ", "\t")):
            yield from ended()
            part.append(bullet.group(1))
        elif line.strip():
            part.append(line.rstrip())
        else:
            yield from ended()
    yield from ended()


def _day(folder: str, note: Note) -> Iterator[Found]:
    """A note of a day; one without a date in its name is a document without a time."""
    found = _DAY.search(os.path.basename(note.path))
    day = found and moment(found.group(1))
    if not note.body.strip():
        yield Skipped(f"memory/{note.path}", "it is empty")
        return
    yield Record(
        f"{folder}/memory/{note.path}",
        note.body.strip(),
        created=day or None,
        title=note.title,
        kind="episodic" if day else None,
        layer="library",
        content_type="markdown",
        tags=note.tags,
        event=bool(day),
        noted={"file": f"memory/{note.path}"},
    )


IMPORTER = Importer(
    "openclaw",
    "OpenClaw",
    "the workspace of an agent (~/.openclaw/workspace), or ~/.openclaw",
    read,
    (
        Row("MEMORY.md", "a memory for each line of a list or paragraph", "file, headings"),
        Row("USER.md", "the same, of category core", "file, headings"),
        Row("memory/YYYY-MM-DD.md", "a document that happened on that day", "file"),
        Row("other notes in memory/", "a document", "file"),
        Row("AGENTS.md, SOUL.md, IDENTITY.md, TOOLS.md", "left out, and named: no memories"),
        Row("its search index", "not read: it is made from the files"),
    ),
    example="~/.openclaw/workspace",
    tried="files in the documented layout of its workspace",
)
