"""Compares the word indexes, entry by entry, with the text that they were made from.

FTS5 checks that an index is well-formed, but an index that keeps no copy of its text cannot tell
that a word in it was changed. The text is elsewhere in the store, so it can be compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from holdfast.store.sqlite import search
from holdfast.store.values import Problem


class _Index(NamedTuple):
    """A word index: what it is called in a sentence, its columns, and the tokens that each of its
    documents should have, by column."""

    table: str
    named: str
    columns: tuple[str, ...]
    documents: Callable[[apsw.Connection], Iterator[tuple[int, list[list[str]]]]]
    has_positions: bool = True


def _passages(connection: apsw.Connection) -> Iterator[tuple[int, list[list[str]]]]:
    for pk, hub, body, head in connection.execute("SELECT pk, hub, body, head FROM passages"):
        yield pk, [_tokens(hub, body), _tokens(hub, head)]


def _texts(connection: apsw.Connection) -> Iterator[tuple[int, list[list[str]]]]:
    from holdfast.store.sqlite import rows
    from holdfast.text.analysis.terms import searchable, trigram_text

    for pk, hub, hub_id, *row in connection.execute(
        f"SELECT p.pk, m.hub, h.id, {rows.MEMORY_COLUMNS} FROM memories m"
        " JOIN hubs h ON h.pk = m.hub JOIN passages p ON p.memory = m.pk AND p.ordinal = 0"
    ):
        yield pk, [_grams(hub, searchable(rows.memory_from_row(tuple(row), hub_id)))]
    for pk, hub, content in connection.execute(
        "SELECT p.pk, t.hub, t.content FROM turns t JOIN passages p"
        " ON p.turn = t.pk AND p.ordinal = 0"
    ):
        yield pk, [_grams(hub, trigram_text(content))]


def _grams(hub: int, text: str) -> list[str]:
    return [search.prefixed_term(hub, gram) for gram in search.indexed_trigrams(text)]


def _tokens(hub: int, text: str) -> list[str]:
    return [search.prefixed_term(hub, term) for term in text.split(" ")] if text else []


_INDEXES = (
    _Index("words", "the word index", ("body", "head"), _passages),
    _Index("trigrams", "the substring index", ("text",), _texts, has_positions=False),
)


def problems(connection: apsw.Connection) -> Iterator[Problem]:
    """Every word index that is not what its text says; at most a few sentences for each."""
    for index in _INDEXES:
        for sentence in _differences(connection, index):
            yield Problem(sentence, True)


def _differences(connection: apsw.Connection, index: _Index) -> Iterator[str]:
    # Python's own hashes are good for this process, and a sum of them does not depend on order.
    expected: dict[int, int] = {}
    sizes: dict[int, list[int]] = {}
    for doc, columns in index.documents(connection):
        if index.has_positions:
            expected[doc] = sum(
                hash((token, name, position))
                for name, tokens in zip(index.columns, columns, strict=True)
                for position, token in enumerate(tokens)
            )
        else:
            expected[doc] = sum(map(hash, columns[0]))
        sizes[doc] = [len(tokens) for tokens in columns]
    found, terms = (_scanned if index.has_positions else _scanned_sets)(connection, index)
    wrong = sum(found.get(doc, 0) != expected.get(doc, 0) for doc in found.keys() | expected.keys())
    if wrong:
        yield f"{index.named} differs from the text of {wrong} entries"
    if lost := _not_found(connection, index, terms):
        yield f"{index.named} does not find {lost} of its words"
    yield from _wrong_sizes(connection, index, sizes)


_Scan = tuple[dict[int, int], dict[str, int]]


def _scanned(connection: apsw.Connection, index: _Index) -> _Scan:
    """What the index holds of each document, and in how many documents each term is."""
    docs: dict[int, int] = {}
    terms: dict[str, int] = {}
    last = None
    for term, doc, column, offset in _instances(connection, index, "term, doc, col, offset"):
        docs[doc] = docs.get(doc, 0) + hash((term, column, offset))
        # Instances come by term, then by document.
        if (term, doc) != last:
            last = term, doc
            terms[term] = terms.get(term, 0) + 1
    return docs, terms


def _scanned_sets(connection: apsw.Connection, index: _Index) -> _Scan:
    """The same of an index without positions, in which a term is once in a document."""
    docs: dict[int, int] = {}
    terms: dict[str, int] = {}
    last, hashed, count = None, 0, 0
    for term, doc in _instances(connection, index, "term, doc"):
        if term != last:
            if last is not None:
                terms[last] = count
            last, hashed, count = term, hash(term), 0
        count += 1
        docs[doc] = docs.get(doc, 0) + hashed
    if last is not None:
        terms[last] = count
    return docs, terms


def _instances(connection: apsw.Connection, index: _Index, columns: str) -> Iterator[Any]:
    name = f"temp.{index.table}_instances"
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(
        f"CREATE VIRTUAL TABLE {name} USING fts5vocab (main, {index.table}, instance)"
    )
    yield from connection.execute(f"SELECT {columns} FROM {name}")
    connection.execute(f"DROP TABLE {name}")


def _not_found(connection: apsw.Connection, index: _Index, terms: dict[str, int]) -> int:
    """How many terms a search would not find in all documents that a scan finds them in."""
    name = f"temp.{index.table}_terms"
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5vocab (main, {index.table}, row)")
    lost = 0
    for term, count in terms.items():
        row = connection.execute(f"SELECT doc FROM {name} WHERE term = ?", (term,)).fetchone()
        lost += row is None or row[0] != count
    connection.execute(f"DROP TABLE {name}")
    return lost


def _wrong_sizes(
    connection: apsw.Connection, index: _Index, sizes: dict[int, list[int]]
) -> Iterator[str]:
    """Ranking divides by the length of a document; lengths are stored beside the index."""
    wrong = 0
    found: Any = connection.execute(f"SELECT id, sz FROM {index.table}_docsize").fetchall()
    stored: dict[Any, Any] = dict(found)
    for doc, size in sizes.items():
        wrong += doc not in stored or _varints(stored[doc]) != size
    if wrong:
        yield f"{index.named} has wrong lengths for {wrong} entries"
    totals = connection.execute(f"SELECT block FROM {index.table}_data WHERE id = 1").fetchone()
    counted = [len(sizes), *(sum(column) for column in zip(*sizes.values(), strict=True))]
    if sizes and (totals is None or _varints(totals[0]) != counted):
        yield f"{index.named} has wrong totals"


def _varints(data: Any) -> list[int]:
    """SQLite's integers of variable length, as FTS5 writes them."""
    out: list[int] = []
    value = length = 0
    for byte in data if isinstance(data, bytes) else b"":
        length += 1
        if length == 9:
            out.append(value << 8 | byte)
            value = length = 0
        else:
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                out.append(value)
                value = length = 0
    return out
