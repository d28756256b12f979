"""CSV files with a mapping."""

from __future__ import annotations

from holdfast.importers.record import Importer
from holdfast.importers.tables import ROWS, read_csv

IMPORTER = Importer(
    "csv",
    "a CSV file",
    "a CSV file with a heading; commas, semicolons, tabs or bars between the columns",
    read_csv,
    ROWS,
    scopes="user",
    example="facts.csv --map text=content,created=date",
    tried="files of this form",
    maps=True,
)
