"""Converts rows to values and back, for the SQL stores: hubs, change sets, revisions, turns. Each
store lists its columns, in the order of the fields and without the hub.

Times are microseconds since 1970, so that a cursor of one store is valid on another. Classes that a
recall does not need are imported where they are used, because imports cost start-up time.

Also checks the candidates of a substring index (the index says which texts may contain the needle,
and each text is searched here), and makes the index entries of a turn of the conversation log. A
turn is indexed in the transaction that writes it, so that it is found by its words at once; its
vectors are made later, off the path of the reply (engine/writing/indexing.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory
from holdfast.domain.records import fields_from_plain, fields_to_plain
from holdfast.store.values import IndexEntry, TextQuery
from holdfast.text.analysis.terms import searchable, symbols, terms, trigram_text

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.records import Clash, Turn


Row = tuple[Any, ...]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def hub_from_row(row: Row) -> Hub:
    return Hub(row[0], row[1], row[2], from_micros(row[3]), row[4], row[5])


def hub_to_row(hub: Hub) -> Row:
    return (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.numbers, hub.state)


def change_from_row(row: Row, hub_id: str) -> Change:
    from holdfast.domain.change import Change

    return Change(row[0], hub_id, from_micros(row[1]), *row[2:])


def change_to_row(change: Change) -> Row:
    return (change.id, to_micros(change.at), *change[3:])


def revision_from_row(row: Row) -> Revision:
    from holdfast.domain.change import Revision

    fields = {} if row[5] == "{}" else fields_from_plain(json.loads(row[5]))
    return Revision(row[0], row[1], row[2], row[3], from_micros(row[4]), fields)


def fields_to_row(fields: Mapping[str, tuple[Any, Any]]) -> str:
    return dumps(fields_to_plain(fields)) if fields else "{}"


def receipt_from_row(row: Row) -> Receipt:
    from holdfast.domain.change import Receipt

    return Receipt(row[0], row[1], from_micros(row[2]), *row[3:])


def receipt_to_row(receipt: Receipt) -> Row:
    return (*receipt[:2], to_micros(receipt.at), *receipt[3:])


def turn_from_row(row: Row, hub_id: str) -> Turn:
    from holdfast.domain.records import Turn

    return Turn(row[0], hub_id, row[1], row[2], from_micros(row[3]), *row[4:])


def turn_to_row(turn: Turn) -> Row:
    return (turn.id, turn.role, turn.content, to_micros(turn.at), *turn[5:])


def clash_from_row(row: Row) -> Clash:
    from holdfast.domain.records import Clash

    settled = None if row[6] is None else from_micros(row[6])
    clash_id, memory_id, path, in_store, in_file = row[:5]
    return Clash(clash_id, memory_id, path, in_store, in_file, from_micros(row[5]), settled)


def clash_to_row(clash: Clash) -> Row:
    settled = None if clash.settled_at is None else to_micros(clash.settled_at)
    return (*clash[:5], to_micros(clash.at), settled)


# Rows read at a time; mostly the first page is enough.
_BATCH = 32


def ids_holding(memories: Iterable[Memory], needle: str, limit: int) -> list[str]:
    """The ids of the first memories that contain the needle; reads no more than it needs."""
    return list(islice((one.id for one in memories if needle in searchable(one)), limit))


def turn_ids_holding(turns: Iterable[tuple[str, str]], needle: str, limit: int) -> list[str]:
    """The same for turns: their ids and contents."""
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
    """The index entries of a turn: one a passage, and always at least one."""
    # A command that only reads opens the same store and must not pay for these.
    from holdfast.text.chunking.chunk import Chunk, chunk, windows_of

    pieces = chunk(content) or [Chunk(0, len(content))]
    windows = sum(len(windows_of(content, piece.start, piece.end)) for piece in pieces)
    out = []
    for ordinal, piece in enumerate(pieces):
        said = content[piece.start : piece.end]
        body = terms(said)
        head = terms(" ".join((*piece.headings, piece.speaker))) + symbols(said, body)
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
