"""Folders of Markdown notes: Obsidian or any other (a document for each note), a project of
basic-memory (its observations and relations), and the workspace of an OpenClaw agent (MEMORY.md,
USER.md and the notes of each day)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.memory_servers import about
from holdfast.importers.source_files import read_text

_FENCE = re.compile(r"\A---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S)
_FIELD = re.compile(r"([A-Za-z_][\w.-]*(?: +[\w.-]+)*)\s*:(?:\s+(.*))?$")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)
_TAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]*)")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
# A folder of notes has some thousands.
_FILES_MAX = 200_000
_DEPTH_MAX = 50


class Note(NamedTuple):
    """A note: its path below the folder, its front matter, and the rest of its text."""

    path: str
    fields: dict[str, Any]
    body: str
    modified: float

    @property
    def title(self) -> str:
        name = os.path.splitext(os.path.basename(self.path))[0]
        return str(self.fields.get("title") or name)

    @property
    def listed_tags(self) -> list[str]:
        """The tags of the front matter."""
        given = self.fields.get("tags", self.fields.get("tag"))
        if isinstance(given, str):
            given = re.split(r"[,\s]+", given)
        listed = [str(tag).lstrip("#") for tag in given] if isinstance(given, list) else []
        return [tag for tag in listed if tag.strip()]

    @property
    def tags(self) -> list[str]:
        """Those of the front matter, then those in the text."""
        return list(dict.fromkeys((*self.listed_tags, *_TAG.findall(_CODE.sub("", self.body)))))

    @property
    def links(self) -> list[str]:
        return list(dict.fromkeys(name.strip() for name in _WIKILINK.findall(self.body)))


def notes_in(folder: str) -> Iterator[Note | Skipped]:
    """Every note of a folder, by path. Hidden folders and links are not followed."""
    if not os.path.isdir(folder):
        if os.path.isfile(folder):
            yield read_note(os.path.dirname(folder) or ".", os.path.basename(folder))
            return
        raise NotFound(f"There is no folder {folder}.", hint="Check the path.")
    for number, path in enumerate(_paths(folder, "", 0)):
        if number >= _FILES_MAX:
            raise InvalidInput(
                f"{folder} has more than {_FILES_MAX:,} notes.", hint="Import its parts."
            )
        try:
            yield read_note(folder, path)
        except HoldfastError as error:
            yield Skipped(path, error.message)


def _paths(folder: str, below: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(os.path.join(folder, below)), key=lambda one: one.name)
    except OSError:
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEPTH_MAX:
                yield from _paths(folder, path, depth + 1)
        elif entry.name.lower().endswith(".md") and entry.is_file(follow_symlinks=False):
            yield path


def read_note(folder: str, path: str) -> Note:
    full = os.path.join(folder, path)
    text = read_text(full)
    fields, body = front_matter(text)
    return Note(path, fields, body, os.path.getmtime(full))


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields at the head of a Markdown note, and the text below. Plain values and lists are
    understood; deeper ones are kept as text."""
    found = _FENCE.match(text)
    if found is None:
        return {}, text
    fields: dict[str, Any] = {}
    name = ""
    for line in found.group(1).splitlines():
        item = re.match(r"\s*-\s+(.*)$", line)
        if item and name and isinstance(fields.get(name), list | None):
            fields[name] = [*(fields[name] or []), _scalar(item.group(1))]
        elif (field := _FIELD.match(line)) is not None:
            name = field.group(1)
            fields[name] = _scalar(field.group(2) or "")
        elif line.strip() and name:
            fields[name] = f"{fields[name] or ''}\n{line.strip()}".strip()
    return fields, text[found.end() :]


def _scalar(text: str) -> Any:
    text = text.strip()
    if text[:1] in "\"'" and len(text) > 1 and text[-1] == text[0]:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    return text or None


_OWN = frozenset(("title", "tags", "tag", "category", "created", "date", "updated", "modified"))


def read_markdown(path: str, options: Options) -> Iterator[Found]:
    folder = os.path.basename(os.path.abspath(path))
    for note in notes_in(path):
        yield note if isinstance(note, Skipped) else _note_record(folder, note)


def _note_record(folder: str, note: Note) -> Found:
    if not note.body.strip():
        return Skipped(note.path, "it is empty")
    fields = note.fields
    return Record(
        f"{folder}/{note.path}",
        note.body.strip(),
        created=moment(fields.get("created") or fields.get("date")),
        updated=moment(fields.get("updated") or fields.get("modified")),
        title=note.title,
        category=str(fields["category"]) if fields.get("category") else None,
        layer="library",
        content_type="markdown",
        tags=note.tags,
        metadata={name: one for name, one in fields.items() if name not in _OWN},
        noted={"path": note.path, "links": note.links},
    )


MARKDOWN = Importer(
    "markdown",
    "Obsidian, or any folder of Markdown notes",
    "the folder (the vault), or one note",
    read_markdown,
    (
        Row("note", "a document with its title and text, without the front matter", "path"),
        Row("front matter: title, tags, category", "the same"),
        Row("front matter: created or date, updated", "valid from", "both times"),
        Row("other fields of the front matter", "metadata; nested ones as text"),
        Row("#tags in the text", "tags"),
        Row("[[wikilinks]]", "stay in the text", "links"),
        Row("hidden folders (.obsidian, .trash), links to elsewhere", "left out"),
        Row("attachments, canvases", "left out: `holdfast push FILE` keeps a file"),
    ),
    example="~/Vault",
    tried="notes written by hand in the format of Obsidian",
)


_OBSERVATION = re.compile(r"\s*[-*]\s+\[([^\[\]()\n]{1,60})\]\s+(\S.*)$")
_CONTEXT = re.compile(r"(?<!\s)\s*+\(([^()]*)\)\s*$")
_HASHTAG = re.compile(r"(?<!\S)#(\S+)")
_RELATION = re.compile(
    r"\s*[-*]\s+(?:([^\[\]\n]{0,80}?)\s+)?\[\[([^\]\n]+)\]\](?:\s*\((.*)\))?\s*$"
)
# Check boxes of a to-do list look like categories.
_BOXES = frozenset((" ", "x", "X", "-"))


def read_basic_memory(path: str, options: Options) -> Iterator[Found]:
    """A record for each observation and relation, and for the prose of each note."""
    folder = os.path.basename(os.path.abspath(path))
    for note in notes_in(path):
        if isinstance(note, Skipped):
            yield note
        else:
            yield from _basic_memory_records(folder, note)


def _basic_memory_records(folder: str, note: Note) -> Iterator[Found]:
    name = f"{folder}/{note.fields.get('permalink') or note.path}"
    created = moment(note.fields.get("created") or note.fields.get("date"))
    updated = moment(note.fields.get("modified") or note.fields.get("updated"))
    noted = {"note": note.title, "path": note.path, "permalink": note.fields.get("permalink")}
    prose: list[str] = []
    seen: set[str] = set()
    fenced = False
    for line in note.body.splitlines():
        fenced ^= line.lstrip().startswith("```")
        record = None if fenced else _fact(name, note, line)
        if record is None:
            prose.append(line)
        elif record.id not in seen:
            seen.add(record.id)
            known = {**noted, **record.noted}
            yield record._replace(created=created, updated=updated, noted=known)
    text = _without_empty_sections("\n".join(prose))
    if text:
        own = ("title", "tags", "created", "date", "modified", "updated", "permalink", "type")
        yield Record(
            name,
            text,
            created=created,
            updated=updated,
            title=note.title,
            layer="library",
            content_type="markdown",
            tags=note.tags,
            metadata={key: one for key, one in note.fields.items() if key not in own},
            noted={**noted, "type": note.fields.get("type"), "links": note.links},
        )
    elif not seen:
        yield Skipped(note.path, "it is empty")


def _fact(name: str, note: Note, line: str) -> Record | None:
    """The observation or relation on a line."""
    if (found := _OBSERVATION.match(line)) and found.group(1) not in _BOXES:
        kind, text = found[1], found[2].rstrip()
        # A link that begins with a bracket, [like this](url), is no category.
        if text.startswith("("):
            return None
        context = _CONTEXT.search(text)
        observed = _CONTEXT.sub("", text) if context else text
        tags = _HASHTAG.findall(observed)
        observed = _HASHTAG.sub("", observed).strip() or observed
        return Record(
            f"{name}#observation:{digest(line.strip())}",
            about(note.title, observed),
            category=kind,
            tags=[*note.listed_tags, *tags],
            noted={"observation": kind, "context": context.group(1) if context else None},
        )
    if found := _RELATION.match(line):
        kind, target, said = found.groups()
        kind = (kind or "relates_to").strip() or "relates_to"
        target = target.partition("|")[0].strip()
        return Record(
            f"{name}#relation:{digest(line.strip())}",
            f"{note.title} {kind.replace('_', ' ')} {target}",
            tags=note.listed_tags,
            noted={
                "relation": {"from": note.title, "type": kind, "to": target},
                "context": said,
            },
        )
    return None


def _without_empty_sections(text: str) -> str:
    """The text without headings that have nothing below them."""
    kept: list[str] = []
    for line in text.splitlines():
        heading = re.match(r"(#{1,6})\s", line)
        if heading:
            while kept and (last := _last_heading(kept)) and len(last) >= len(heading.group(1)):
                _drop_last_heading(kept)
        kept.append(line)
    while _last_heading(kept):
        _drop_last_heading(kept)
    return "\n".join(kept).strip()


def _last_heading(lines: list[str]) -> str:
    """The marks of the heading that ends these lines; empty where something else does."""
    last = next((line for line in reversed(lines) if line.strip()), "")
    found = re.match(r"(#{1,6})\s", last)
    return found.group(1) if found else ""


def _drop_last_heading(lines: list[str]) -> None:
    while lines and not lines[-1].strip():
        lines.pop()
    if lines:
        lines.pop()


BASIC_MEMORY = Importer(
    "basic-memory",
    "basic-memory",
    "the folder of a project, for example ~/basic-memory",
    read_basic_memory,
    (
        Row("observation `- [category] text #tag (context)`", "a memory `TITLE: text`", "context"),
        Row("category, tags", "category, tags", "observation"),
        Row("relation `- type [[Target]]`", "a memory `TITLE type Target`", "from, type, to"),
        Row("the rest of a note", "a document with its title", "path, permalink, type, links"),
        Row("front matter: tags, created, modified", "tags, valid from", "both times"),
        Row("other fields of the front matter", "metadata of the document"),
        Row("its database", "not read: it is made from the files"),
    ),
    example="~/basic-memory",
    tried="notes in which the parser of basic-memory 0.20.3 finds the same observations and"
    " relations (2 and 3; it could not write them here)",
)


_DAY = re.compile(r"(\d{4}-\d\d-\d\d)")
_HEADING = re.compile(r"(#{1,6})\s+(.*)$")
_BULLET = re.compile(r"\s*[-*+]\s+(.*)$")
# The agent's persona and instructions, which are no memories.
_INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md")
_FACTS = ("MEMORY.md", "memory.md", "USER.md")


def read_openclaw(path: str, options: Options) -> Iterator[Found]:
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
    for headings, text in _headed_parts(note.body):
        yield Record(
            f"{folder}/{note.path}#{digest(text)}",
            text,
            category="core" if user else None,
            tags=headings[-1:],
            noted={"file": note.path, "headings": list(headings)},
        )


def _headed_parts(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
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
            headings.append((depth, heading.group(2).rstrip().rstrip("#").rstrip()))
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


OPENCLAW = Importer(
    "openclaw",
    "OpenClaw",
    "the workspace of an agent (~/.openclaw/workspace), or ~/.openclaw",
    read_openclaw,
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
