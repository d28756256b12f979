"""Reads SQLite files of other programs: never writes to them, and says what is wrong with those
that cannot be read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import pathname2url

from holdfast.errors import InvalidInput, NotFound
from holdfast.files.reading import open_regular

_MAGIC = b"SQLite format 3\0"
# In the header: 2 where the file is written through a log beside it.
_WRITE_VERSION, _WAL = 18, 2


def is_sqlite(path: str) -> bool:
    """Whether it is a file that begins as SQLite's do."""
    if not os.path.isfile(path):
        return False
    with open_regular(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


class Database:
    """An open file of another program."""

    def __init__(self, path: str, program: str, connection: sqlite3.Connection) -> None:
        self.path, self.program, self._connection = path, program, connection

    def tables(self) -> set[str]:
        return {str(row["name"]) for row in self.rows("SELECT name FROM sqlite_master")}

    def columns(self, table: str) -> set[str]:
        quoted = table.replace('"', '""')
        return {str(row["name"]) for row in self.rows(f'PRAGMA table_info("{quoted}")')}

    def require(self, table: str, columns: Iterable[str]) -> set[str]:
        """The columns of a table; InvalidInput where one that is needed is not there."""
        found = self.columns(table)
        if not found:
            raise InvalidInput(
                f"{self.path} has no table `{table}`, so it is no database of {self.program}.",
                hint="Check the path.",
            )
        missing = sorted(set(columns) - found)
        if missing:
            raise InvalidInput(
                f"The table `{table}` in {self.path} has no column `{missing[0]}`: this version of"
                f" {self.program} stores its data differently.",
                hint="Export it from there as JSON and import that, or report it.",
            )
        return found

    def rows(self, query: str, values: Iterable[Any] = ()) -> Iterator[dict[str, Any]]:
        try:
            cursor = self._connection.execute(query, tuple(values))
            names = [column[0] for column in cursor.description or ()]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise _unreadable(self.path, error) from None


@contextmanager
def open_database(path: str, program: str) -> Iterator[Database]:
    """The file, for reading. A program that has it open is not disturbed."""
    if not os.path.exists(path):
        raise NotFound(f"There is no file {path}.", hint="Check the path.")
    with open_regular(path) as file:
        header = file.read(100)
    if not header.startswith(_MAGIC):
        raise InvalidInput(
            f"{path} is not a SQLite database.", hint=f"Name the database file of {program}."
        )
    # Reading through a log would make files beside the database. Where there is no log, nobody has
    # it open, and it can be read as it is.
    untouched = header[_WRITE_VERSION] == _WAL and not os.path.exists(path + "-wal")
    mode = "immutable=1" if untouched else "mode=ro"
    uri = f"file:{pathname2url(os.path.abspath(path))}?{mode}"
    try:
        connection = sqlite3.connect(uri, uri=True)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from None
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        yield Database(path, program, connection)
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from None
    finally:
        connection.close()


def _unreadable(path: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be read: {error}.",
        hint="Close the program that uses it, and check the file with `sqlite3 FILE 'PRAGMA"
        " integrity_check'`.",
    )
