"""Converts rows to values and back, for the SQL stores: hubs, change sets, revisions, turns,
records. Each store lists its columns, in the order of the fields, without the hub and with the
checksum last.

Times are microseconds since 1970, so that a cursor of one store is valid on another. Classes that a
recall does not need are imported where they are used, because imports cost start-up time.

A row has a checksum of 64 bits over its table, its hub and every field. It is written in the same
statement as the row, and compared whenever the row is read. It detects a row that was changed
outside Holdfast, by a failing disk or by hand; a row that was moved to another table, hub or key;
and a value that cannot be decoded. It is not a signature: a program that can write to the store can
write a matching checksum too. It is the first 8 bytes of the BLAKE2b hash of the values as
`marshal` writes them in its version 2, as a signed integer. Recall reads 200 rows per question, and
JSON takes five times as long. That version is the same on every Python since 2.5; a test compares a
known value.

Counters change on every read, without a revision, so they have a check of their own: a sum that is
updated with them.

Also checks the candidates of a substring index (the index says which texts may contain the needle,
and each text is searched here), and makes the index entries of a turn of the conversation log. A
turn is indexed in the transaction that writes it, so that it is found by its words at once; its
vectors are made later, off the path of the reply (engine/writing/indexing.py).
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import EPOCH, MICROSECOND, to_micros
from holdfast.domain.hub import Hub
from holdfast.domain.memory import (
    BOUNDARIES,
    CONTENT_TYPES,
    COUNTERS,
    KINDS,
    LAYERS,
    SOURCES,
    STABILITIES,
    STATES,
    TIMES,
    TRUSTS,
    Memory,
    Origin,
)
from holdfast.domain.records import fields_from_plain, fields_to_plain
from holdfast.errors import StoreDamaged
from holdfast.store.values import IndexEntry, TextQuery
from holdfast.text.analysis.terms import searchable, symbols, terms, trigram_text

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.records import Agreed, Clash, Record, Turn

try:
    # The interpreter's own module: `hashlib` loads OpenSSL, which takes a tenth of a short command.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - an interpreter with another name for it
    from hashlib import blake2b

# Later versions of the format have references to values written before, which differ between equal
# rows.
_FORMAT = 2

# Distinct primes: a change of one counter is never balanced by a small change of another.
ACCESS_WEIGHT = 1_000_003
SHOWN_WEIGHT = 10_007
MENTION_WEIGHT = 101
ACCESSED_AT_WEIGHT = 7
_COUNTERS_BASE = 0x484C4446


def row_checksum(table: str, hub_id: str, fields: Sequence[Any]) -> int:
    """The checksum of a row: `fields` are its values as the store has them."""
    try:
        data = marshal.dumps((table, hub_id, *fields), _FORMAT)
    except ValueError:
        # Subclasses of str are converted, because rows are read back as plain str.
        plain = [str(one) if isinstance(one, str) else one for one in fields]
        data = marshal.dumps((str(table), str(hub_id), *plain), _FORMAT)
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


def passage_checksum(hub_id: str, memory_id: str, fields: Sequence[Any]) -> int:
    """The checksum of a passage, which belongs to a memory."""
    return row_checksum("passages", hub_id, (memory_id, *fields))


def vector_checksum(hub_id: str, model: str, passage: int, window: int, vector: bytes) -> int:
    """The checksum of the vector of a window."""
    return row_checksum("vectors", hub_id, (model, passage, window, vector))


def counters_check(
    access_count: int, shown_count: int, mention_count: int, accessed_at: int | None
) -> int:
    """The check of a memory's counters; SQL adds the weights when it counts."""
    return (
        _COUNTERS_BASE
        + access_count * ACCESS_WEIGHT
        + shown_count * SHOWN_WEIGHT
        + mention_count * MENTION_WEIGHT
        + (accessed_at or 0) * ACCESSED_AT_WEIGHT
    )


def is_intact(table: str, hub_id: str, fields: Sequence[Any], checksum: Any) -> bool:
    """Whether a stored row matches its checksum."""
    try:
        return bool(row_checksum(table, hub_id, fields) == checksum)
    except (TypeError, ValueError):
        return False


def are_counters_intact(counters: Sequence[Any], check: Any) -> bool:
    """Whether a memory's counters match their check."""
    try:
        return bool(counters_check(*counters) == check)
    except TypeError:
        return False


def require_intact(
    table: str, hub_id: str, fields: Sequence[Any], checksum: Any, name: str = ""
) -> None:
    """Raises StoreDamaged if a row does not match its checksum."""
    if not is_intact(table, hub_id, fields, checksum):
        raise damaged_row(table, name or str(fields[0]))


def damaged_row(table: str, name: str) -> StoreDamaged:
    """The error for a read of a row that fails its checksum."""
    return StoreDamaged(
        f"A row of the table {table} is damaged and cannot be read: {name[:80]!r} does not match"
        " its checksum.",
        hint="Run `holdfast doctor` to see what is damaged; `holdfast doctor --fix` repairs what"
        " can be repaired, and `holdfast restore-backup` brings back a backup.",
    )


def sealed(table: str, hub_id: str, fields: Sequence[Any]) -> Row:
    """The fields of a row, followed by their checksum."""
    return (*fields, row_checksum(table, hub_id, fields))


Row = tuple[Any, ...]


# `json.dumps` makes a new one on every call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def dumps(value: Any) -> str:
    return _ENCODER.encode(value)


def from_micros(micros: int) -> datetime:
    """The time that a store keeps as microseconds; the inverse of `to_micros`."""
    return EPOCH + timedelta(0, 0, micros)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


# The columns of a memory: its fields without the hub, and two checks. Counters come last, and are
# not part of the checksum.
MEMORY_FIELDS = tuple(name for name in Memory._fields if name != "hub_id")
COUNTERS_AT = len(MEMORY_FIELDS) - len(COUNTERS)
assert set(MEMORY_FIELDS[COUNTERS_AT:]) == COUNTERS
MEMORY_STORED = (*MEMORY_FIELDS, "checksum", "counters_check")
MEMORY_COLUMNS = ", ".join(f"m.{name}" for name in MEMORY_STORED)

_HUB_ID_AT = Memory._fields.index("hub_id")
_TIMES_AT = tuple(i for i, name in enumerate(Memory._fields) if name in TIMES)
_TAGS_AT = Memory._fields.index("tags")
_PINNED_AT = Memory._fields.index("pinned")
_ORIGIN_AT = Memory._fields.index("origin")
_METADATA_AT = Memory._fields.index("metadata")
_NO_METADATA: Mapping[str, Any] = {}
# Columns with few values, which are interned: thousands of cached memories share one string of
# each.
_NAMED = (
    ("content_type", CONTENT_TYPES),
    ("kind", KINDS),
    ("stability", STABILITIES),
    ("boundary", BOUNDARIES),
    ("state", STATES),
    ("layer", LAYERS),
    ("trust", TRUSTS),
    ("source", SOURCES),
)
_NAMES_AT = tuple((Memory._fields.index(name), {one: one for one in few}) for name, few in _NAMED)


def memory_from_row(
    row: Row, hub_id: str, tags_of: Callable[[Any], tuple[str, ...]] = tuple
) -> Memory:
    """A memory from a row of MEMORY_COLUMNS; StoreDamaged where it fails its checksum."""
    if not is_memory_intact(row, hub_id):
        raise damaged_row("memories", f"#{row[1]}")
    values = [*row[:_HUB_ID_AT], hub_id, *row[_HUB_ID_AT:-2]]
    last = moment = None
    for at in _TIMES_AT:
        micros = values[at]
        if micros is None:
            continue
        # Most memories were never changed: then both times are equal.
        if micros != last:
            # Inlined `from_micros`: a call for each time of 200 rows would slow down every recall.
            last, moment = micros, EPOCH + timedelta(0, 0, micros)
        values[at] = moment
    for at, names in _NAMES_AT:
        values[at] = names.get(values[at], values[at])
    values[_TAGS_AT] = tags_of(values[_TAGS_AT])
    values[_PINNED_AT] = bool(values[_PINNED_AT])
    if values[_ORIGIN_AT] is not None:
        values[_ORIGIN_AT] = Origin(*json.loads(values[_ORIGIN_AT]))
    metadata = values[_METADATA_AT]
    values[_METADATA_AT] = _NO_METADATA if metadata == "{}" else json.loads(metadata)
    return Memory._make(values)


def is_memory_intact(row: Row, hub_id: str) -> bool:
    """Whether a row of MEMORY_COLUMNS matches its checksum and the check of its counters."""
    return is_intact("memories", hub_id, row[:COUNTERS_AT], row[-2]) and are_counters_intact(
        row[COUNTERS_AT:-2], row[-1]
    )


def memory_to_row(memory: Memory, tags: Any, pinned: Any) -> list[Any]:
    """The row of a memory, with tags and pin in the store's form."""
    values: list[Any] = list(memory)
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = (values[at] - EPOCH) // MICROSECOND
    values[_TAGS_AT], values[_PINNED_AT] = tags, pinned
    values[_ORIGIN_AT] = None if memory.origin is None else dumps(list(memory.origin))
    values[_METADATA_AT] = dumps(dict(memory.metadata)) if memory.metadata else "{}"
    del values[_HUB_ID_AT]
    checksum = row_checksum("memories", memory.hub_id, values[:COUNTERS_AT])
    return [*values, checksum, counters_check(*values[COUNTERS_AT:])]


def hub_from_row(row: Row) -> Hub:
    """A hub from a row without its checksum, which covers different columns in each store."""
    return Hub(row[0], row[1], row[2], from_micros(row[3]), row[4], row[5])


def change_from_row(row: Row, hub_id: str) -> Change:
    from holdfast.domain.change import Change

    *fields, checksum = row
    require_intact("changes", hub_id, fields, checksum)
    return Change(row[0], hub_id, from_micros(row[1]), *fields[2:])


def change_to_row(change: Change) -> Row:
    return sealed("changes", change.hub_id, (change.id, to_micros(change.at), *change[3:]))


def revision_from_row(row: Row, hub_id: str) -> Revision:
    from holdfast.domain.change import Revision

    sequence, change_id, memory_id, version, at, text, checksum = row
    # All but the sequence, which is assigned when the row is written.
    require_intact("revisions", hub_id, row[1:-1], checksum, f"version {version} of {memory_id}")
    fields = {} if text == "{}" else fields_from_plain(json.loads(text))
    return Revision(sequence, change_id, memory_id, version, from_micros(at), fields)


def revision_to_row(
    hub_id: str,
    fields: Mapping[str, tuple[Any, Any]],
    change_id: str,
    memory_id: str,
    version: int,
    at: int,
) -> Row:
    """The row without its sequence, with the time in microseconds."""
    text = dumps(fields_to_plain(fields)) if fields else "{}"
    return sealed("revisions", hub_id, (change_id, memory_id, version, at, text))


def receipt_from_row(row: Row, hub_id: str) -> Receipt:
    from holdfast.domain.change import Receipt

    *fields, checksum = row
    require_intact("receipts", hub_id, fields, checksum)
    return Receipt(row[0], row[1], from_micros(row[2]), *fields[3:])


def receipt_to_row(receipt: Receipt, hub_id: str) -> Row:
    return sealed("receipts", hub_id, (*receipt[:2], to_micros(receipt.at), *receipt[3:]))


def turn_from_row(row: Row, hub_id: str) -> Turn:
    from holdfast.domain.records import Turn

    *fields, checksum = row
    require_intact("turns", hub_id, fields, checksum)
    return Turn(row[0], hub_id, row[1], row[2], from_micros(row[3]), *fields[4:])


def turn_to_row(turn: Turn) -> Row:
    where = (turn.source, turn.session, turn.speaker, turn.trust)
    fields = (turn.id, turn.role, turn.content, to_micros(turn.at), *where)
    return sealed("turns", turn.hub_id, fields)


def agreed_from_row(row: Row, hub_id: str) -> Agreed:
    from holdfast.domain.records import Agreed

    path, text, at, checksum = row
    require_intact("agreed", hub_id, (path, text, at), checksum)
    return Agreed(path, text, from_micros(at))


def agreed_to_row(agreed: Agreed, hub_id: str) -> Row:
    return sealed("agreed", hub_id, (agreed.path, agreed.text, to_micros(agreed.at)))


def clash_from_row(row: Row, hub_id: str) -> Clash:
    from holdfast.domain.records import Clash

    name, memory_id, path, in_store, in_file, at, settled, checksum = row
    require_intact("clashes", hub_id, row[:-1], checksum)
    return Clash(name, memory_id, path, in_store, in_file, from_micros(at), _moment(settled))


def clash_to_row(clash: Clash, hub_id: str) -> Row:
    fields = (*clash[:5], to_micros(clash.at), _micros(clash.settled_at))
    return sealed("clashes", hub_id, fields)


def record_from_row(row: Row, hub_id: str) -> Record:
    from holdfast.domain.records import Record

    kind, name, at, body, lookup, due, checksum = row
    require_intact("records", hub_id, row[:-1], checksum, f"{kind} {name}")
    return Record(hub_id, kind, name, from_micros(at), json.loads(body), lookup, _moment(due))


def record_to_row(record: Record) -> Row:
    body, due = dumps(dict(record.body)), _micros(record.due)
    fields = (record.kind, record.id, to_micros(record.at), body, record.lookup, due)
    return sealed("records", record.hub_id, fields)


# Rows read at a time; usually the first page is enough.
_BATCH = 32


def ids_holding(memories: Iterable[Memory], needle: str, limit: int) -> list[str]:
    """The ids of the first memories that contain the needle; reads no more than it needs."""
    return list(islice((one.id for one in memories if needle in searchable(one)), limit))


def turn_ids_holding(turns: Iterable[tuple[str, str]], needle: str, limit: int) -> list[str]:
    """The ids of the first turns that contain the needle; `turns` are ids and contents."""
    return list(islice((one for one, said in turns if needle in trigram_text(said)), limit))


def matching(
    keys: Sequence[tuple[int, object]],
    read: Callable[[list[int]], Mapping[int, Memory]],
    query: TextQuery,
) -> Iterator[Memory]:
    """The memories with these keys that match, in order. Each key comes with whether its words
    match; if not, its text decides."""
    for start in range(0, len(keys), _BATCH):
        batch = dict(keys[start : start + _BATCH])
        there = read(list(batch))
        for key, by_words in batch.items():
            memory = there[key]
            if by_words or query.needle in trigram_text(memory.content):
                yield memory


def turn_entries(content: str) -> list[IndexEntry]:
    """The index rows of a turn: one per passage, and always at least one."""
    # A command that only reads opens the same store and must not pay for these.
    from holdfast.text.chunking import Chunk, chunk, windows_of

    pieces = chunk(content) or [Chunk(0, len(content))]
    windows = sum(len(windows_of(content, piece.start, piece.end)) for piece in pieces)
    out = []
    for ordinal, piece in enumerate(pieces):
        said = content[piece.start : piece.end]
        body = terms(said)
        around = " ".join((*piece.headings, piece.speaker))
        head = (terms(around) if around else []) + symbols(said, body)
        out.append(
            IndexEntry(
                ordinal,
                piece.start,
                piece.end,
                piece.headings,
                tuple(body),
                tuple(head),
                max(1, windows),
            )
        )
    return out


# A damaged row is repaired from candidates made of copies of its fields (indexes, revisions, other
# rows). A candidate that matches the checksum is the original row: with 64 bits, a match by chance
# is practically impossible.
Values = dict[str, Any]
# Whether values match the checksum that belongs to them.
Judge = Callable[[Values], bool]
# The number of fields that are replaced at the same time by every combination of their copies.
_FIELDS_AT_ONCE = 2


def restored(
    values: Values, likely: Values, copies: Mapping[str, Sequence[Any]], judge: Judge
) -> Values | None:
    """The original row where a stored one fails its checksum, or None if no candidate matches.
    `likely` are the most probable values of its fields, `copies` all possible ones."""
    for candidate in _candidates(values, likely, copies):
        if judge(candidate):
            return candidate
    return None


def _candidates(
    values: Values, likely: Values, copies: Mapping[str, Sequence[Any]]
) -> Iterator[Values]:
    yield values
    singles = [
        (name, copy)
        for name, found in copies.items()
        for copy in dict.fromkeys(found)
        if name not in values or copy != values[name]
    ]
    for base in (values, {**values, **likely}):
        for count in range(_FIELDS_AT_ONCE + 1):
            for some in combinations(singles, count):
                yield {**base, **dict(some)}
