"""JSON and JSON Lines with a mapping."""

from __future__ import annotations

from holdfast.importers.record import Importer
from holdfast.importers.tables import ROWS, read_table

IMPORTER = Importer(
    "json",
    "JSON or JSON Lines",
    "a .json file with a list of objects, or any other file with an object on each line",
    read_table,
    ROWS,
    scopes="user",
    example="facts.jsonl --map text=content,created=date",
    tried="files of this form",
    maps=True,
)
