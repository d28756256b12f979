"""A folder of Markdown notes, such as an Obsidian vault: a document for each note."""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.importers.notes import Note, notes_in
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment

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
