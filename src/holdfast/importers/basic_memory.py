"""A project of basic-memory: Markdown notes with observations and relations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from holdfast.importers.mcp_memory import about
from holdfast.importers.notes import Note, notes_in
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest, moment

_OBSERVATION = re.compile(r"\s*[-*]\s+\[([^\[\]()\n]{1,60})\]\s+(.+?)\s*$")
_CONTEXT = re.compile(r"\s*\(([^()]*)\)\s*$")
_HASHTAG = re.compile(r"(?<!\S)#(\S+)")
_RELATION = re.compile(
    r"\s*[-*]\s+(?:([^\[\]\n]{0,80}?)\s+)?\[\[([^\]\n]+)\]\](?:\s*\((.*)\))?\s*$"
)
# Check boxes of a to-do list look like categories.
_BOXES = frozenset((" ", "x", "X", "-"))


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each observation and relation, and for the prose of each note."""
    folder = os.path.basename(os.path.abspath(path))
    for note in notes_in(path):
        if isinstance(note, Skipped):
            yield note
        else:
            yield from _records(folder, note)


def _records(folder: str, note: Note) -> Iterator[Found]:
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
            whose = {**noted, **record.noted}
            yield record._replace(created=created, updated=updated, noted=whose)
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
        kind, text = found.groups()
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


IMPORTER = Importer(
    "basic-memory",
    "basic-memory",
    "the folder of a project, for example ~/basic-memory",
    read,
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
    tried="notes whose observations and relations the parser of basic-memory 0.20.3 reads alike (2"
    " and 3; it could not write them here)",
)
