"""Tables of any program: CSV, JSON and JSON Lines, with a mapping of columns to fields."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.memory import KINDS
from holdfast.errors import InvalidInput
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.source_files import LINE_BYTES_MAX, json_lines, opened, read_json

# The fields that a mapping may name, and the columns that are taken where it does not.
_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("text", "content", "memory", "fact", "note", "body"),
    "id": ("id", "uuid"),
    "title": ("title",),
    "created": ("created", "created_at", "date", "timestamp"),
    "updated": ("updated", "updated_at", "modified"),
    "expires": ("expires", "expires_at"),
    "category": ("category",),
    "kind": ("kind",),
    "tags": ("tags",),
    "scope": ("scope", "user_id", "user"),
    "session": ("session",),
    "speaker": ("speaker",),
}


# A cell that a spreadsheet would calculate instead of showing it: one such as =HYPERLINK(…) sends
# what is beside it elsewhere. An item of a list or a phone number is none. A formula may go on in
# the next line, and begin with a sign of full width.
_FORMULA = re.compile(r"'*(?:[=@＝＠\t\r]|[+＋－-][^(!|]*[(!|])")


def as_cell(text: str) -> str:
    """The text for a cell of a CSV file: an apostrophe marks what is no formula for
    spreadsheets."""
    return f"'{text}" if _FORMULA.match(text) else text


def _from_cell(text: Any) -> Any:
    is_marked = isinstance(text, str) and text.startswith("'") and _FORMULA.match(text)
    return text[1:] if is_marked else text


def read_csv(path: str, options: Options) -> Iterator[Found]:
    """A record for each row of a CSV file with a heading."""
    _check_fields(options)
    csv.field_size_limit(LINE_BYTES_MAX)
    with opened(path) as raw:
        sample = raw.read(64_000)
        raw.seek(0)
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="strict", newline="")
        try:
            rows = csv.DictReader(text, delimiter=_delimiter(sample))
            names = _mapped(path, list(rows.fieldnames or ()), options)
            for number, row in enumerate(rows, 2):
                cells = {key: _from_cell(one) for key, one in row.items() if key}
                yield _record(f"row {number}", cells, names)
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
                hint="Save it as UTF-8.",
            ) from None
        except csv.Error as error:
            raise InvalidInput(
                f"{path} is not a CSV file that can be read: {error}.",
                hint="Check the row that is named, and that quotes are closed.",
            ) from None


def _delimiter(sample: bytes) -> str:
    """The one that the heading has most often."""
    heading = sample.split(b"\n", 1)[0].decode("utf-8", "replace")
    return max(",;\t|", key=heading.count)


def read_table(path: str, options: Options) -> Iterator[Found]:
    """A record for each object of a JSON list or of JSON Lines."""
    _check_fields(options)
    # Objects need not have the same fields; those that do share a mapping.
    known: dict[tuple[str, ...], dict[str, str]] = {}
    count = 0
    for place, value in _objects(path):
        if not isinstance(value, dict):
            problem = str(value) if isinstance(value, ValueError) else "it is no object"
            yield Skipped(place, problem)
            continue
        columns = tuple(value)
        if columns not in known:
            given = {field: one for field, one in options.items() if one in value}
            # The first object says whether the mapping fits at all.
            wanted = {**given, "text": options["text"]} if "text" in options else given
            if known and not _has_text(columns, wanted):
                yield Skipped(place, "it has no text")
                continue
            known[columns] = _mapped(path, list(columns), given if known else wanted)
        count += 1
        yield _record(place, value, known[columns])
    if not count:
        raise InvalidInput(
            f"{path} holds no objects.", hint="Give a JSON list of objects, or one on each line."
        )


def _has_text(columns: tuple[str, ...], options: Options) -> bool:
    if "text" in options:
        return options["text"] in columns
    return any(str(column).strip().lower() in _FIELDS["text"] for column in columns)


def _objects(path: str) -> Iterator[tuple[str, Any]]:
    if os.path.splitext(path)[1].lower() != ".json":
        yield from ((f"line {number}", value) for number, value in json_lines(path))
        return
    value = read_json(path)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        value = lists[0] if len(lists) == 1 else [value]
    for number, one in enumerate(value if isinstance(value, list) else [], 1):
        yield f"entry {number}", one


def _check_fields(options: Options) -> None:
    unknown = sorted(options.keys() - _FIELDS.keys())
    if unknown:
        raise InvalidInput(
            f"A mapping has no field {unknown[0]!r}.", hint=f"There are: {', '.join(_FIELDS)}."
        )


def _mapped(path: str, columns: list[str], options: Options) -> dict[str, str]:
    """The column of each field."""
    missing = sorted(one for one in options.values() if one not in columns)
    if missing:
        raise InvalidInput(
            f"{path} has no column {missing[0]!r}.", hint=f"It has: {', '.join(columns[:20])}."
        )
    by_name = {str(column).strip().lower(): column for column in columns if column}
    names = {
        field: next((by_name[one] for one in known if one in by_name), "")
        for field, known in _FIELDS.items()
    }
    # A column is used once: what is mapped by name is not guessed for anything else.
    taken = set(options.values())
    names = {field: "" if column in taken else column for field, column in names.items()}
    names |= dict(options)
    if not names["text"]:
        raise InvalidInput(
            f"Which column of {path} holds the text? It has: {', '.join(columns[:20]) or 'none'}.",
            hint="Name it in the mapping.",
            command="Say it with --map text=COLUMN.",
        )
    return names


def _record(place: str, row: Mapping[str, Any], names: Mapping[str, str]) -> Found:
    given = {field: row.get(column) for field, column in names.items() if column}
    text = given["text"]
    if isinstance(text, dict | list):
        text = json.dumps(text, ensure_ascii=False)
    if text is None or not str(text).strip():
        return Skipped(place, "it has no text")
    used = {column for column in names.values() if column}
    kind = str(given.get("kind") or "").lower()
    scope = str(given.get("scope") or "")
    return Record(
        f"id:{given['id']}" if given.get("id") else f"text:{digest(scope, str(text))}",
        str(text),
        created=moment(given.get("created")),
        updated=moment(given.get("updated")),
        expires=moment(given.get("expires")),
        title=str(given.get("title") or ""),
        category=str(given["category"]) if given.get("category") else None,
        kind=next((one for one in KINDS if one == kind), None),
        tags=_tags(given.get("tags")),
        scope=scope,
        labels=("user", scope) if scope else (),
        session=str(given["session"]) if given.get("session") else None,
        speaker=str(given["speaker"]) if given.get("speaker") else None,
        metadata=_metadata({key: one for key, one in row.items() if key not in used}),
    )


def _metadata(rest: Mapping[str, Any]) -> dict[str, Any]:
    """The other columns; one called metadata that holds an object is taken as what it holds."""
    found = {str(key): one for key, one in rest.items() if one not in (None, "")}
    inner = found.get("metadata")
    if isinstance(inner, str) and inner.startswith("{"):
        try:
            inner = json.loads(inner)
        except (ValueError, RecursionError):
            return found
    if isinstance(inner, dict):
        del found["metadata"]
        found |= inner
    return found


def _tags(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(one) for one in value]
    return [one.strip() for one in re.split(r"[,;]", str(value or "")) if one.strip()]


ROWS = (
    Row("the column of the text", "a memory"),
    Row("columns for id, title, category, kind, tags, session, speaker", "the same fields"),
    Row("columns for created, updated, expires", "valid from, and expires at", "both times"),
    Row("column for the scope", "the scope: a hub of its own with `--split`"),
    Row("other columns", "metadata"),
    Row("row without text", "left out, and counted"),
    Row("a column that `--map` does not name", "is taken by its name: text or content, id, …"),
)


CSV = Importer(
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


JSON = Importer(
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
