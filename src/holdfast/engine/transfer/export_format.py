"""The lines of an export, parsed and checked (an error names its line), and the digest of a hub:
counts and hashes that are equal exactly if two stores hold the same.

The digest hashes the rows of one table after the other, in constant memory. Vectors are hashed by
the memory, passage and window that they belong to, so that a store's own passage ids do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import REVISED, STATES, TIMES, TRUSTS, Memory, Origin
from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import (
    Record,
    Turn,
    fields_from_plain,
    fields_to_plain,
    memory_from_plain,
    memory_to_plain,
)
from holdfast.engine.traces import note_from_export
from holdfast.engine.writing.drafts import clean_fields, clean_origin
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.store.values import every_memory
from holdfast.text.clean import clean_content, clean_time, content_hash, one_of

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.store.base import Reader
    from holdfast.store.values import Candidate, VectorRow


FORMAT = "holdfast-hub"
FORMAT_VERSION = 1


class ExportLine(NamedTuple):
    """A line of the file: its number, its content, and its length."""

    number: int
    said: dict[str, Any]
    chars: int


def parsed(lines: Iterable[str]) -> Iterator[ExportLine]:
    """The lines of an export except the last one, which counts them: a truncated file is
    noticed."""
    count = 0
    ended = False
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        if ended:
            raise InvalidInput(f"Line {number} comes after the end of the export.")
        try:
            line = json.loads(text)
            if "\\u" in text:
                # JSON can escape a lone surrogate, but no store can hold it.
                json.dumps(line, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict) or "type" not in line:
            raise InvalidInput(
                f"Line {number} is not a line of an export.",
                hint="Import a file that an export has written.",
            )
        if line["type"] == "end":
            ended = True
            if line.get("lines") != count:
                raise InvalidInput(
                    f"The file says it has {line.get('lines')} lines, but {count} were there.",
                    hint="It was changed or damaged; export it again.",
                )
            continue
        count += 1
        yield ExportLine(number, line, len(text))
    if count and not ended:
        raise InvalidInput(
            "The file ends too early: its last line is missing.", hint="Export it again."
        )


Value: TypeAlias = Memory | Change | Revision | Turn | Receipt | Record


def value_of(line: dict[str, Any], hub: Hub, bytes_max: int) -> Value:
    """The value of a line of an export; raises one of UNREADABLE if it cannot be read."""
    fields = {name: value for name, value in line.items() if name != "type"}
    _storable(fields)
    match line["type"]:
        case "memory":
            return memory_from_plain({**_checked(fields, bytes_max), "hub_id": hub.id})
        case "change":
            _texts(fields, "id", "actor", "action")
            _texts_or_null(fields, "undoes", "undone_by")
            _texts_or_empty(fields, "reason")
            return Change(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "revision":
            _texts(fields, "change_id", "memory_id")
            count_of(fields, "version")
            at, changed = from_text(fields.pop("at")), _revised(fields.pop("fields"))
            return Revision(sequence=0, at=at, fields=changed, **fields)
        case "turn":
            _texts(fields, "id", "role", "content")
            _texts_or_null(fields, "session", "speaker", "source")
            if fields.get("trust", "user") not in TRUSTS:
                raise ValueError(f"there is no trust {fields['trust']!r}")
            return Turn(**{**fields, "hub_id": hub.id, "at": from_text(fields["at"])})
        case "receipt":
            _texts(fields, "memory_id", "actor")
            _texts_or_empty(fields, "reason")
            count_of(fields, "number")
            count_of(fields, "revisions", least=0)
            return Receipt(**{**fields, "at": from_text(fields["at"])})
        case "withheld":
            _texts(fields, "turn")
            return note_from_export(hub.id, fields)
        case other:
            raise ValueError(f"there is no line type {other!r}")


# Fields that an import checks like input; Holdfast itself wrote the others.
_CHECKED = frozenset(
    {"content_type", "kind", "stability", "boundary", "layer", "trust", "source"}
    | {"key", "category", "tags", "metadata"}
)
_TEXTS_OR_NULL = (
    *("source_agent", "assisted_by_agent", "source_path", "session", "speaker"),
    *("supersedes", "superseded_by", "parent"),
)
_COUNTS = {"number": 1, "version": 1, "access_count": 0, "shown_count": 0, "mention_count": 0}
# The largest integer of every store.
_COUNT_MAX = 2**63 - 1
UNREADABLE = (KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError)


def _checked(fields: dict[str, Any], bytes_max: int) -> dict[str, Any]:
    """The fields of a memory, each checked as on input."""
    content = clean_content(fields["content"], bytes_max=bytes_max)
    if fields.get("content_hash") != content_hash(content):
        raise ValueError("the content does not match its hash")
    if (origin := fields.get("origin")) is not None:
        clean_origin(Origin(*origin))
    for name in TIMES:
        clean_time(fields.get(name))
    for name, least in _COUNTS.items():
        if name in fields or name == "number":
            count_of(fields, name, least=least)
    _texts(fields, "id", "title", "owner")
    _texts_or_null(fields, *_TEXTS_OR_NULL)
    _texts_or_empty(fields, "summary", "state_reason", "quarantine")
    for name, value in fields.items():
        # A field that has a value unless it is given is never null.
        if value is None and name != "hub_id" and Memory._field_defaults.get(name, "") is not None:
            raise ValueError(f"{name} is null")
    if not isinstance(fields.get("pinned", False), bool):
        raise ValueError("pinned must be true or false")
    out = {**fields, **clean_fields({n: fields[n] for n in _CHECKED if n in fields})}
    if "state" in out:
        out["state"] = one_of(out["state"], STATES, "state")
    return out


def count_of(fields: dict[str, Any], name: str, *, least: int = 1) -> int:
    value = fields[name]
    if type(value) is not int or not least <= value <= _COUNT_MAX:
        raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")
    return value


def text_of(fields: dict[str, Any], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be text, not {value!r}")
    return value


def _texts(fields: dict[str, Any], *names: str) -> None:
    for name in names:
        text_of(fields, name)


def _texts_or_null(fields: dict[str, Any], *names: str) -> None:
    for name in names:
        if not isinstance(fields.get(name), str | None):
            raise ValueError(f"{name} must be text, not {fields[name]!r}")


def _texts_or_empty(fields: dict[str, Any], *names: str) -> None:
    for name in names:
        if not isinstance(fields.get(name, ""), str):
            raise ValueError(f"{name} must be text, not {fields[name]!r}")


def _revised(plain: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The fields of a revision. Their values have the types of the fields of a memory."""
    for name, pair in plain.items():
        if name not in REVISED or not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(f"{name!r} is no field that was revised")
        for value in pair:
            _storable({name: value})
            if not _is_of_field(name, value):
                raise ValueError(f"{name} is never {value!r}")
    return fields_from_plain(plain)


def _is_of_field(name: str, value: Any) -> bool:
    if value is None or name in TIMES:
        return True  # Times are parsed.
    if name == "tags":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if name == "origin":
        clean_origin(Origin(*value))
        return True
    types = {"pinned": bool, "metadata": dict}
    return isinstance(value, types.get(name, str))


def _storable(fields: dict[str, Any]) -> None:
    """Refuses text that a store cannot hold. Lone surrogates were refused with the line."""
    for name, value in fields.items():
        if isinstance(value, str) and "\0" in value:
            raise ValueError(f"{name} has a NUL character")


def bad_line(number: int, error: Exception) -> HoldfastError:
    """The error for an invalid line of an export."""
    return InvalidInput(
        f"Line {number} cannot be read: {_reason(error)}.",
        hint="Nothing was imported; export it again.",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return (error.message if isinstance(error, HoldfastError) else str(error)).rstrip(".")


_BATCH = 500
# The kind of the records with the progress of a move, which belong to the target only.
MOVE = "move"
_WIDE = 1 << 256


class Digest(NamedTuple):
    """The number of rows of a table and their hash, for comparing both sides of a move."""

    rows: int
    hash: str


def digest(reader: Reader, hub_id: str) -> dict[str, Digest]:
    """The digest of every table of a hub, by name."""
    out = {
        "memories": _of_rows(memory_to_plain(one) for one in memories_of(reader, hub_id)),
        "changes": _of_rows(one._asdict() for one in reader.scan_changes(hub_id)),
        "revisions": _of_rows(
            {**one._asdict(), "sequence": 0, "fields": fields_to_plain(one.fields)}
            for one in reader.scan_revisions(hub_id)
        ),
        "receipts": _of_rows(one._asdict() for one in reader.receipts(hub_id)),
        "turns": _of_rows(one._asdict() for one in reader.scan_turns(hub_id)),
        "agreed": _of_rows(one._asdict() for one in reader.scan_agreed(hub_id)),
        "clashes": _of_rows(one._asdict() for one in reader.clashes(hub_id, settled=True)),
        "records": digest_of_records(reader, hub_id),
    }
    for model in reader.vector_models(hub_id):
        out[f"vectors of {model}"] = _of_vectors(reader, hub_id, model)
    return out


def digest_of_records(reader: Reader, hub_id: str) -> Digest:
    return _of_rows(one._asdict() for one in records_of(reader, hub_id))


def records_of(reader: Reader, hub_id: str) -> Iterator[Record]:
    """The records that are exported."""
    return (one for one in reader.scan_records(hub_id) if one.kind != MOVE)


def memories_of(reader: Reader, hub_id: str, after: int = 0) -> Iterator[Memory]:
    """Every memory with a number above `after`, by number."""
    return every_memory(reader, hub_id, EVERYTHING, after=(after, after))


class Placed(NamedTuple):
    """A vector, with its memory and the ordinal of its passage."""

    memory_id: str
    ordinal: int
    row: VectorRow


def vectors_by_place(
    reader: Reader, hub_id: str, model: str, after: int = 0
) -> Iterator[list[Placed]]:
    """Vectors of passages above `after`, a few hundred at a time, whole passages together."""
    batch: list[VectorRow] = []
    for row in reader.vectors(hub_id, model, after=after):
        if len(batch) >= _BATCH and row.passage_id != batch[-1].passage_id:
            yield _placed(reader, hub_id, batch)
            batch = []
        batch.append(row)
    if batch:
        yield _placed(reader, hub_id, batch)


def _placed(reader: Reader, hub_id: str, rows: list[VectorRow]) -> list[Placed]:
    ids = list(dict.fromkeys(row.passage_id for row in rows))
    found: dict[int, Candidate] = {
        one.passage_id: one for one in reader.candidates(hub_id, ids, EVERYTHING)
    }
    return [
        Placed(found[row.passage_id].memory_id, found[row.passage_id].ordinal, row)
        for row in rows
        if row.passage_id in found
    ]


def _of_rows(rows: Iterable[Mapping[str, Any]]) -> Digest:
    import hashlib

    hashed, count = hashlib.sha256(), 0
    for row in rows:
        hashed.update(json.dumps(row, sort_keys=True, default=_plain).encode())
        hashed.update(b"\n")
        count += 1
    return Digest(count, hashed.hexdigest())


def _of_vectors(reader: Reader, hub_id: str, model: str) -> Digest:
    import hashlib

    total = count = 0
    for batch in vectors_by_place(reader, hub_id, model):
        for memory_id, ordinal, row in batch:
            said = f"{memory_id}\0{ordinal}\0{row.window}\0".encode() + bytes(row.vector)
            # A sum does not depend on the order, which differs between stores.
            total += int.from_bytes(hashlib.sha256(said).digest())
            count += 1
    return Digest(count, f"{total % _WIDE:064x}")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    return dict(value) if isinstance(value, Mapping) else str(value)
