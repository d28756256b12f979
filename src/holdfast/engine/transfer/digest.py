"""What a hub holds, as counts and hashes: two stores hold the same exactly if these are equal.

Rows are hashed in their order, one table at a time, and nothing is kept in memory. Vectors are
hashed by the memory, passage and window they belong to, so that the numbers a store gives to its
passages do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import to_text
from holdfast.domain.codec import fields_to_plain, memory_to_plain
from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING

if TYPE_CHECKING:
    from holdfast.domain.records import Record
    from holdfast.store.base import Reader
    from holdfast.store.values import Candidate, VectorRow

_BATCH = 500
# The records in which a move notes how far it is: they are the target's own.
MOVE = "move"
_WIDE = 1 << 256


class Digest(NamedTuple):
    """How many rows a table has, and the hash of all of them."""

    rows: int
    hash: str


def digest(reader: Reader, hub_id: str) -> dict[str, Digest]:
    """Every table of a hub, by name."""
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
    """The records that travel."""
    return (one for one in reader.scan_records(hub_id) if one.kind != MOVE)


def memories_of(reader: Reader, hub_id: str, after: int = 0) -> Iterator[Memory]:
    """Every memory with a number above `after`, by number."""
    while batch := reader.memories(
        hub_id, EVERYTHING, order="number", after=(after, after), limit=_BATCH
    ):
        yield from batch
        after = batch[-1].number


class Placed(NamedTuple):
    """A vector, and what it is of: the memory, and the ordinal of the passage in it."""

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
            # A sum does not depend on the order, which is the store's own.
            total += int.from_bytes(hashlib.sha256(said).digest())
            count += 1
    return Digest(count, f"{total % _WIDE:064x}")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_text(value)
    return dict(value) if isinstance(value, Mapping) else str(value)
