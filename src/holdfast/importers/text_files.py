"""Reads text, JSON and zip files of other programs, each with a bound on its size; an error is a
sentence that names the file."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from holdfast.errors import InvalidInput, NotFound, TooLarge
from holdfast.files.reading import open_regular
from holdfast.system.zip_archive import ZipRefused, open_zip

# A JSON file is parsed as a whole; its values take about five times as much memory.
JSON_BYTES_MAX = 1_000_000_000
LINE_BYTES_MAX = 50_000_000
TEXT_BYTES_MAX = 50_000_000
_ZIP_BYTES_MAX = 20_000_000_000


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A regular file, for reading bytes."""
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
    """All of a file that is not too large."""
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
    """A zip archive that is no bomb."""
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
