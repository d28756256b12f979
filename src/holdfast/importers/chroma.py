"""Collections of Chroma, as its persistent client writes them: the documents with their metadata.
mem0 keeps its memories in a form of its own there, which `importers/mem0.py` reads."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast.errors import NotFound
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.source_files import Database, open_database

_PROGRAM = "Chroma"
FILE = "chroma.sqlite3"
# Under this key its metadata holds the text of a document; others that begin so are its own too.
_DOCUMENT = "chroma:document"
_OWN = "chroma:"
_VALUES = ("string_value", "int_value", "float_value", "bool_value")


class Entry(NamedTuple):
    """An entry of a Chroma collection, with its document among its metadata."""

    id: str
    collection: str
    created: Any
    values: dict[str, Any]
    # Names the collection where an earlier one, of another of Chroma's databases, has its name.
    place: str


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each entry of Chroma that has a document."""
    with open_database(_file(path), _PROGRAM) as database:
        for entry in entries(database):
            yield _record(entry)


def _file(path: str) -> str:
    if not os.path.isdir(path):
        return path
    found = sorted(glob.glob(os.path.join(glob.escape(path), FILE)))
    if not found:
        raise NotFound(
            f"There is no {FILE} in {path}.",
            hint="Name the folder that was given to Chroma's PersistentClient.",
        )
    return found[0]


def entries(database: Database) -> Iterator[Entry]:
    """The entries of all Chroma collections, with their metadata."""
    columns = database.require("embedding_metadata", ("id", "key", "string_value"))
    of_entries = database.require("embeddings", ("id", "embedding_id"))
    values = ", ".join(f"m.{one} AS {one}" for one in _VALUES if one in columns)
    created = "e.created_at" if "created_at" in of_entries else "NULL"
    name, collection, joined = "''", "''", ""
    firsts: dict[str, str] = {}
    if {"segments", "collections"} <= database.tables():
        name, collection = "coalesce(c.name, '')", "coalesce(c.id, '')"
        joined = (
            " LEFT JOIN segments s ON s.id = e.segment_id"
            " LEFT JOIN collections c ON c.id = s.collection"
        )
        for row in database.rows("SELECT id, name FROM collections ORDER BY rowid"):
            firsts.setdefault(str(row["name"]), str(row["id"]))
    query = (
        f"SELECT e.id AS row, e.embedding_id AS id, {name} AS collection, {created} AS created,"
        f" {collection} AS collection_id, m.key AS key, {values} FROM embeddings e{joined}"
        " LEFT JOIN embedding_metadata m ON m.id = e.id ORDER BY e.id"
    )
    lists = _lists(database)
    last, found = None, None
    for row in database.rows(query):
        if found is None or last != row["row"]:
            if found is not None:
                yield found
            last = row["row"]
            called, its_id = str(row["collection"]), str(row["collection_id"])
            place = called if firsts.get(called, its_id) == its_id else its_id
            there = lists.pop(row["row"], {})
            found = Entry(str(row["id"]), called, row["created"], there, place)
        if row["key"] is not None:
            found.values[str(row["key"])] = _value(row)
    if found is not None:
        yield found


def _lists(database: Database) -> dict[int, dict[str, Any]]:
    """The metadata that are lists, by entry; older versions have none."""
    there = database.columns("embedding_metadata_array")
    if not {"id", "key"} <= there:
        return {}
    values = ", ".join(one for one in _VALUES if one in there)
    found: dict[int, dict[str, Any]] = {}
    query = f"SELECT id, key, {values} FROM embedding_metadata_array ORDER BY rowid"
    for row in database.rows(query):
        found.setdefault(row["id"], {}).setdefault(str(row["key"]), []).append(_value(row))
    return found


def _value(row: dict[str, Any]) -> Any:
    """The one column of a value that is filled."""
    flag = row.get("bool_value")
    if flag is not None:
        return bool(flag)
    return next((row[one] for one in _VALUES if row.get(one) is not None), None)


def _record(entry: Entry) -> Found:
    place = f"{entry.place}/{entry.id}"
    text = entry.values.get(_DOCUMENT)
    if not isinstance(text, str) or not text.strip():
        return Skipped(place, "it has no document")
    return Record(
        place,
        text,
        created=moment(entry.created),
        scope=entry.collection,
        metadata={name: value for name, value in entry.values.items() if not name.startswith(_OWN)},
        noted={"collection": entry.collection},
    )


IMPORTER = Importer(
    "chroma",
    "Chroma",
    "the folder of its PersistentClient, or the file chroma.sqlite3 in it. Each collection is a"
    " scope",
    read,
    (
        Row("document of a collection", "a memory with its metadata", "id, collection"),
        Row("metadata that are lists", "lists in the metadata"),
        Row("created_at", "valid from", "created"),
        Row("collection", "the scope: a hub of its own with `--split`"),
        Row("entry without a document", "left out, and counted"),
        Row("memories that mem0 keeps in Chroma", "`holdfast import mem0` reads them"),
        Row("vectors", "nothing: they are made anew"),
    ),
    scopes="project",
    example="./chroma",
    tried="collections that chromadb 1.5.9 wrote (5 documents of 2 collections in, 5 out)",
)
