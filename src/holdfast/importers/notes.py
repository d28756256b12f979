"""Folders of Markdown notes, such as an Obsidian vault: the files, front matter, tags and links of
each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.text_files import read_text

_FENCE = re.compile(r"\A---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S)
_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?$")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)
_TAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]*)")
_WIKILINK = re.compile(r"!?\[\[([^\]|#\n]+)(?:#[^\]|\n]*)?(?:\|[^\]\n]*)?\]\]")
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


def notes_in(folder: str, endings: tuple[str, ...] = (".md",)) -> Iterator[Note | Skipped]:
    """Every note of a folder, by path. Hidden folders and links are not followed."""
    if not os.path.isdir(folder):
        if os.path.isfile(folder):
            yield read_note(os.path.dirname(folder) or ".", os.path.basename(folder))
            return
        raise NotFound(f"There is no folder {folder}.", hint="Check the path.")
    for number, path in enumerate(_paths(folder, "", endings, 0)):
        if number >= _FILES_MAX:
            raise InvalidInput(
                f"{folder} has more than {_FILES_MAX:,} notes.", hint="Import its parts."
            )
        try:
            yield read_note(folder, path)
        except HoldfastError as error:
            yield Skipped(path, error.message)


def _paths(folder: str, below: str, endings: tuple[str, ...], depth: int) -> Iterator[str]:
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
                yield from _paths(folder, path, endings, depth + 1)
        elif entry.name.lower().endswith(endings) and entry.is_file(follow_symlinks=False):
            yield path


def read_note(folder: str, path: str) -> Note:
    full = os.path.join(folder, path)
    text = read_text(full)
    fields, body = front_matter(text)
    return Note(path, fields, body, os.path.getmtime(full))


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The fields at the head of a note, and the text below. Plain values and lists are understood;
    deeper ones are kept as text."""
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


def read(path: str, options: Options) -> Iterator[Found]:
    folder = os.path.basename(os.path.abspath(path))
    for note in notes_in(path):
        yield note if isinstance(note, Skipped) else _record(folder, note)


def _record(folder: str, note: Note) -> Found:
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


IMPORTER = Importer(
    "markdown",
    "Obsidian, or any folder of Markdown notes",
    "the folder (the vault), or one note",
    read,
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
