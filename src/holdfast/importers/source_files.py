"""Reads files of other programs without writing to them: text, JSON and zip files, each with a
bound on its size, SQLite databases, and pickled data, of which nothing is run. An error is a
sentence that names the file."""

from __future__ import annotations

import io
import json
import os
import pickle
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.request import pathname2url

from holdfast.errors import InvalidInput, NotFound, TooLarge
from holdfast.extract import ZipRefused, open_zip
from holdfast.files.safe_read import open_regular

# A JSON file is parsed as a whole; its values take about five times as much memory.
JSON_BYTES_MAX = 1_000_000_000
LINE_BYTES_MAX = 50_000_000
TEXT_BYTES_MAX = 50_000_000
_ZIP_BYTES_MAX = 20_000_000_000


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A regular file of another program, for reading bytes."""
    try:
        with open_regular(path) as file:
            yield file
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", hint="Check the path.") from None
    except PermissionError:
        raise InvalidInput(f"{path} cannot be read.", hint="Check who may read it.") from None


def read_text(path: str) -> str:
    with opened(path) as file:
        return decoded(bounded(file, path, TEXT_BYTES_MAX), path)


def read_json(path: str) -> Any:
    with opened(path) as file:
        return parse_json(bounded(file, path, JSON_BYTES_MAX), path)


def bounded(file: IO[bytes], path: str, bytes_max: int) -> bytes:
    """All of an imported file that is not too large."""
    data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise TooLarge(
            f"{path} has more than {bytes_max:,} bytes.", hint="Split it, and import the parts."
        )
    return data


def decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
            hint="Save it as UTF-8.",
        ) from None


def parse_json(data: bytes | str, path: str) -> Any:
    text = data if isinstance(data, str) else decoded(data, path)
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{path} is nested too deeply to be read.") from None
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not valid JSON: {error}.",
            hint="It may be cut off; export or copy it again.",
        ) from None


def json_lines(path: str) -> Iterator[tuple[int, Any]]:
    """The value on each line, with its number. A line that is no JSON gives the ValueError."""
    with opened(path) as file:
        number = 0
        while line := file.readline(LINE_BYTES_MAX):
            number += 1
            if not line.strip():
                continue
            try:
                yield number, json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except (ValueError, RecursionError) as error:
                yield number, ValueError(f"line {number} is not valid JSON: {error}")


@contextmanager
def zip_members(path: str) -> Iterator[zipfile.ZipFile]:
    """An imported zip archive that is no bomb."""
    with opened(path) as file:
        try:
            with open_zip(file, unpacked_max=_ZIP_BYTES_MAX) as archive:  # type: ignore[arg-type]
                yield archive
        except ZipRefused as error:
            raise InvalidInput(
                f"{path} cannot be read: {error}.", hint="Download or export it again."
            ) from None


def member(archive: zipfile.ZipFile, name: str, path: str) -> bytes:
    """One file of an archive, bounded by what it really unpacks to."""
    try:
        with archive.open(name) as file:
            return bounded(file, f"{name} in {path}", JSON_BYTES_MAX)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise InvalidInput(
            f"{name} in {path} cannot be unpacked: {error}.",
            hint="The archive is damaged or cut off; download it again.",
        ) from None


def is_zip(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with opened(path) as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


_SQLITE_MAGIC = b"SQLite format 3\0"
# In the header: 2 where the file is written through a log beside it.
_WRITE_VERSION, _WAL = 18, 2


def is_sqlite(path: str) -> bool:
    """Whether a file to be imported begins as SQLite's do."""
    if not os.path.isfile(path):
        return False
    with open_regular(path) as file:
        return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC


class Database:
    """An open SQLite file of another program."""

    def __init__(self, path: str, program: str, connection: sqlite3.Connection) -> None:
        self.path, self.program, self._connection = path, program, connection

    def tables(self) -> set[str]:
        return {str(row["name"]) for row in self.rows("SELECT name FROM sqlite_master")}

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none for a view, which may have endless rows."""
        kind = self.rows("SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table'", [table])
        if next(kind, None) is None:
            return set()
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
    """Another program's SQLite file, opened for reading. A program that has it open is not
    disturbed."""
    if not os.path.exists(path):
        raise NotFound(f"There is no file {path}.", hint="Check the path.")
    with open_regular(path) as file:
        header = file.read(100)
    if not header.startswith(_SQLITE_MAGIC):
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


_BYTES_MAX = 2_000_000_000
# What is deeper is left out.
_DEPTH_MAX = 50
# How many values a byte may stand for: some share a part, as points of one collection do.
_UNFOLDS_MAX = 16
# Plain values that pickle spells as calls.
_PLAIN_CALLS: dict[tuple[str, str], Any] = {
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("collections", "OrderedDict"): dict,
}
# Classes with instances that are read as their fields.
_PACKAGES = ("qdrant_client.", "grpc.", "numpy")


class PickleRefused(Exception):
    """The data would run code, or is no pickle; the message says which."""


class _Fields:
    """Replaces an object of a class that is not imported; `state` is what was pickled of it."""

    state: Any = None

    def __new__(cls, *args: Any, **named: Any) -> _Fields:
        made = object.__new__(cls)
        made.state = {}
        return made

    def __init__(self, *args: Any, **named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __call__(self, *args: Any, **named: Any) -> _Fields:
        return self


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN_CALLS:
            return _PLAIN_CALLS[module, name]
        if module.startswith(_PACKAGES):
            return _Fields
        raise PickleRefused(f"it names {module}.{name}, which is not read from a file")


def unpickled(data: bytes) -> Any:
    """The values in pickled data of another program."""
    if len(data) > _BYTES_MAX:
        raise PickleRefused(f"it has more than {_BYTES_MAX:,} bytes")
    try:
        return _Plain(_UNFOLDS_MAX * len(data)).of(_Unpickler(io.BytesIO(data)).load())
    except PickleRefused:
        raise
    except Exception as error:  # noqa: BLE001  Broken data fails in the unpickler in any way.
        raise PickleRefused(f"it cannot be read: {type(error).__name__}") from None


class _Plain:
    """Turns what was unpickled into plain values, at most so many. Each value takes a byte of the
    data, but one that is in two places takes them once: a few hundred bytes can unfold to more than
    any memory holds."""

    def __init__(self, values_max: int) -> None:
        self._left = values_max

    def of(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0:
            raise PickleRefused("it unfolds to far more than it holds")
        if depth > _DEPTH_MAX:
            return None
        if isinstance(value, _Fields):
            state = value.state
            if isinstance(state, tuple) and state:
                state = state[0]
            # Pydantic keeps the fields of a model under this name.
            if isinstance(state, dict) and isinstance(state.get("__dict__"), dict):
                state = state["__dict__"]
            return self.of(state, depth + 1)
        if isinstance(value, dict):
            return {key: self.of(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.of(one, depth + 1) for one in value)
        return value
