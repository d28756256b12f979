"""Checks a database file completely, without changing it.

The write-ahead log is searched for committed transactions that SQLite ignores. SQLite reads the log
up to the first frame that fails its checksum and treats that as the end: after a crash, the last
transaction may be half written. A damaged frame looks the same, but is followed by complete
transactions of the same log, or is itself the end of one.

The word indexes are compared, entry by entry, with the text that they were made from. FTS5 checks
that an index is well-formed, but an index that keeps no copy of its text cannot tell that a word in
it was changed. The text is elsewhere in the store.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import apsw

from holdfast.domain.records import WITHOUT_WORDS
from holdfast.store.rows import Row
from holdfast.store.sqlite import salvage as tables_of
from holdfast.store.sqlite import schema, search
from holdfast.store.sqlite.salvage import READ_ERRORS, Table, Unreadable, checked_rows
from holdfast.store.values import Problem


class _Index(NamedTuple):
    """A word index: its name in messages, its columns, and the expected tokens of each document, by
    column."""

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


def _index_problems(connection: apsw.Connection) -> Iterator[Problem]:
    """Reports every word index that does not match its text; at most a few problems for each."""
    for index in _INDEXES:
        for sentence in _differences(connection, index):
            yield Problem(sentence, True)


def _differences(connection: apsw.Connection, index: _Index) -> Iterator[str]:
    # Python's hashes are stable within a process, and a sum of them does not depend on order.
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
    """The index entries of each document, and the document frequency of each term."""
    docs: dict[int, int] = {}
    terms: dict[str, int] = {}
    last = None
    for term, doc, column, offset in _instances(connection, index, "term, doc, col, offset"):
        docs[doc] = docs.get(doc, 0) + hash((term, column, offset))
        # Instances are sorted by term, then by document.
        if (term, doc) != last:
            last = term, doc
            terms[term] = terms.get(term, 0) + 1
    return docs, terms


def _scanned_sets(connection: apsw.Connection, index: _Index) -> _Scan:
    """The same for an index without positions, where a term occurs once per document."""
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
    """The number of terms for which a search misses documents that a scan finds."""
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
    """Ranking divides by the length of a document; lengths are stored separately from the index."""
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


_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)
# Each restart of the log increments its first salt, so frames of older logs have lower ones.
_OLDER_LOGS_MAX = 1_000_000


def log_problems(connection: apsw.Connection, path: str) -> Iterator[Problem]:
    """Reports a write-ahead log of SQLite with frames that should have been read but were not; at
    most one problem."""
    log = f"{path}-wal"
    try:
        if os.path.getsize(log) < _HEADER.size + _FRAME.size:
            return
    except OSError:
        return
    # Nobody else may write to the log while it is read here. A connection that holds the lock
    # cannot query how far the log is read, so another one does; it changes nothing.
    connection.execute("BEGIN IMMEDIATE")
    try:
        asking = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            _, used, _ = asking.execute("PRAGMA wal_checkpoint(NOOP)").get
        finally:
            asking.close()
        with open(log, "rb") as file:
            data = file.read()
    finally:
        connection.execute("ROLLBACK")
    if _has_more(data, used):
        yield Problem(
            f"the write-ahead log is damaged after frame {used}: what was written last cannot be"
            " read",
            False,
        )


def _has_more(data: bytes, used: int) -> bool:
    magic, _, page_size, _, salt_one, salt_two, *sums = _HEADER.unpack_from(data)
    header_is_whole = magic in _MAGIC and _checksum(data[:24], magic) == tuple(sums)
    if not header_is_whole:
        # An empty header is that of a log that was truncated; any other was damaged.
        return any(data[: _HEADER.size])
    at = _HEADER.size + used * (_FRAME.size + page_size)
    while at + _FRAME.size + page_size <= len(data):
        _, pages, one, two, *_ = _FRAME.unpack_from(data, at)
        if pages and _is_of_this_log((one, two), (salt_one, salt_two)):
            return True
        at += _FRAME.size + page_size
    return False


def _is_of_this_log(frame: tuple[int, int], log: tuple[int, int]) -> bool:
    if frame[0] == log[0] or frame[1] == log[1]:
        return True
    older = (log[0] - frame[0]) % 2**32
    return older > _OLDER_LOGS_MAX and frame != (0, 0)


def _checksum(data: bytes, magic: int) -> tuple[int, int]:
    order = ">" if magic & 1 else "<"
    one = two = 0
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for left, right in zip(words[::2], words[1::2], strict=True):
        one = (one + left + two) % 2**32
        two = (two + right + one) % 2**32
    return one, two


_LISTED_MAX = 20
# The most lines of SQLite's own check.
_LINES_MAX = 100

# The invariants. Each row has the message (with {} for what was found), whether it is about derived
# state, and a query for the violations: (what, memory id, hub id). A hub that is being moved or
# imported has its memories before their revisions, which is not damage.
_PROMISES: tuple[tuple[str, bool, str], ...] = (
    (
        "memory #{} has a version that its revisions do not reach",
        False,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " WHERE h.state = 'active' AND m.version <>"
        " (SELECT coalesce(max(r.version), 0) FROM revisions r WHERE r.memory = m.pk)",
    ),
    (
        "memory #{} has gaps in its revisions",
        False,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " WHERE h.state = 'active' AND m.version <>"
        " (SELECT count(*) FROM revisions r WHERE r.memory = m.pk)",
    ),
    (
        "hub {} has given out fewer numbers than its memories have",
        False,
        "SELECT h.name, '', h.id FROM hubs h WHERE h.numbers <"
        " (SELECT coalesce(max(m.number), 0) FROM memories m WHERE m.hub = h.pk)",
    ),
    (
        "memory #{} is not in the search index",
        True,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " WHERE m.forgotten_at IS NULL AND h.state = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.pk)",
    ),
    (
        "memory #{} is forgotten but still in the search index",
        True,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " WHERE m.forgotten_at IS NOT NULL"
        " AND EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.pk)",
    ),
    (
        "memory #{} has a passage that reaches past its text",
        True,
        "SELECT DISTINCT m.number, m.id, h.id FROM passages p JOIN memories m ON m.pk = p.memory"
        ' JOIN hubs h ON h.pk = m.hub WHERE p."end" > length(m.content)',
    ),
    (
        "memory #{} has a passage without its words",
        True,
        "SELECT DISTINCT m.number, m.id, h.id FROM passages p JOIN memories m ON m.pk = p.memory"
        " JOIN hubs h ON h.pk = m.hub WHERE p.pk NOT IN (SELECT id FROM words_docsize)",
    ),
    (
        "the word index has {} entries without a passage",
        True,
        "SELECT count(*), '', '' FROM words_docsize WHERE id NOT IN (SELECT pk FROM passages)"
        " HAVING count(*) > 0",
    ),
    (
        "memory #{} is missing from the substring index",
        True,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " JOIN passages p ON p.memory = m.pk AND p.ordinal = 0"
        " WHERE p.pk NOT IN (SELECT id FROM trigrams_docsize)",
    ),
    (
        "the substring index has {} entries without a memory or a turn",
        True,
        "SELECT count(*), '', '' FROM trigrams_docsize"
        " WHERE id NOT IN (SELECT pk FROM passages WHERE ordinal = 0) HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong word totals",
        True,
        "SELECT h.name, '', h.id FROM hubs h LEFT JOIN word_totals t ON t.hub = h.pk"
        " WHERE t.passages IS NOT (SELECT count(*) FROM passages p WHERE p.hub = h.pk)"
        " OR t.terms IS NOT (SELECT coalesce(sum(p.length), 0) FROM passages p WHERE p.hub = h.pk)",
    ),
    (
        "{} turns of the conversation log are not in the search index",
        True,
        "SELECT count(*), '', '' FROM turns t"
        " WHERE NOT EXISTS (SELECT 1 FROM passages p WHERE p.turn = t.pk)"
        " AND NOT EXISTS (SELECT 1 FROM records r WHERE r.hub = t.hub"
        f" AND r.kind = '{WITHOUT_WORDS}' AND r.id = t.id) HAVING count(*) > 0",
    ),
    (
        "{} passages of the conversation log reach past their text, or lack their words",
        True,
        "SELECT count(*), '', '' FROM passages p JOIN turns t ON t.pk = p.turn"
        ' WHERE p."end" > length(t.content) OR p.pk NOT IN (SELECT id FROM words_docsize)'
        " OR (p.ordinal = 0 AND p.pk NOT IN (SELECT id FROM trigrams_docsize))"
        " HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong vector totals",
        True,
        "SELECT h.name, '', h.id FROM hubs h JOIN vector_totals t ON t.hub = h.pk WHERE"
        " (t.size, t.passages) <> (SELECT count(*), count(DISTINCT v.passage) FROM vectors v"
        " WHERE v.hub = t.hub AND v.model = t.model)",
    ),
    (
        "hub {} has vectors that are not counted",
        True,
        "SELECT DISTINCT h.name, '', h.id FROM vectors v JOIN hubs h ON h.pk = v.hub"
        " WHERE NOT EXISTS (SELECT 1 FROM vector_totals t WHERE t.hub = v.hub"
        " AND t.model = v.model)",
    ),
    (
        "memory #{} was last updated at another time than its newest revision says",
        False,
        "SELECT m.number, m.id, h.id FROM memories m JOIN hubs h ON h.pk = m.hub"
        " JOIN revisions r ON r.memory = m.pk AND r.version = m.version"
        " WHERE h.state = 'active' AND r.at <> m.updated_at",
    ),
    (
        "the count of rows ever made in {} is lower than its rows",
        True,
        "SELECT s.name, '', '' FROM sqlite_sequence s WHERE s.seq < CASE s.name"
        " WHEN 'hubs' THEN (SELECT max(pk) FROM hubs)"
        " WHEN 'memories' THEN (SELECT max(pk) FROM memories)"
        " WHEN 'changes' THEN (SELECT max(pk) FROM changes)"
        " WHEN 'revisions' THEN (SELECT max(pk) FROM revisions)"
        " WHEN 'receipts' THEN (SELECT max(pk) FROM receipts)"
        " WHEN 'turns' THEN (SELECT max(pk) FROM turns)"
        " WHEN 'clashes' THEN (SELECT max(pk) FROM clashes)"
        " WHEN 'passages' THEN (SELECT max(pk) FROM passages) END",
    ),
    (
        "hub {} has a newest vector that is not of its passages",
        True,
        "SELECT h.name, '', h.id FROM hubs h JOIN vector_totals t ON t.hub = h.pk"
        " WHERE t.removals < 0 OR t.newest < (SELECT coalesce(max(v.passage), 0) FROM vectors v"
        " WHERE v.hub = t.hub AND v.model = t.model) OR t.newest >"
        " (SELECT coalesce(max(s.seq), 0) FROM sqlite_sequence s WHERE s.name = 'passages')",
    ),
    # Finds nothing, but fails if the table is missing.
    ("the word counts are missing", True, "SELECT 1, '', '' FROM word_counts LIMIT 0"),
    (
        "there are {} vectors without a passage",
        True,
        "SELECT count(*), '', '' FROM vectors WHERE passage NOT IN (SELECT pk FROM passages)"
        " HAVING count(*) > 0",
    ),
)


def problems(
    connection: apsw.Connection, path: str = "", *, compare_indexes: bool = True
) -> list[Problem]:
    """Lists every problem of a SQLite file; those of derived state are marked, because it can be
    rebuilt. Unreadable parts are problems too: damage never raises an error here.

    With a path, the write-ahead log beside it is checked too. Word indexes are compared with their
    text by default, which takes the longest.
    """
    out: list[Problem] = []
    if path:
        _attempt(lambda: log_problems(connection, path), out, False, "the write-ahead log")
    _attempt(lambda: _schema(connection), out, False, "the schema")
    tables = dict(
        _rows(connection, "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage", out, False)
    )
    lines = _structure(connection, out)
    out += [
        Problem(f"the file is damaged: {line}", _damage_is_derived(str(line), tables))
        for (line,) in lines
        if line != "ok"
    ]
    if len(lines) == _LINES_MAX:
        out.append(Problem("the file has more damage than is listed", False))
    # One by one, so that an unreadable table does not hide the others.
    for name in sorted({str(name) for name in tables.values()}):
        check = f"PRAGMA foreign_key_check({name})"
        for table, row, parent, _ in _rows(connection, check, out, _derived(name)):
            # A table without row numbers, such as that of the vectors, gives None.
            which = f"a row of {table}" if row is None else f"row {row} of {table}"
            out.append(Problem(f"{which} points to a missing row of {parent}", _derived(table)))
    for each in (*tables_of.CANONICAL, *tables_of.DERIVED):
        can_rebuild = each in tables_of.DERIVED
        _attempt(partial(_checksums, connection, each, can_rebuild), out, can_rebuild, each.name)
    if not connection.readonly("main"):
        for table in ("words", "trigrams"):
            command = f"INSERT INTO {table} ({table}) VALUES ('integrity-check')"
            _rows(connection, command, out, True)
    for sentence, can_rebuild, query in _PROMISES:
        found = _rows(connection, query, out, can_rebuild)
        for what, memory_id, hub_id in found[:_LISTED_MAX]:
            out.append(Problem(sentence.format(what), can_rebuild, str(memory_id), str(hub_id)))
        if len(found) > _LISTED_MAX:
            out.append(Problem(f"and {len(found) - _LISTED_MAX} more of that kind", can_rebuild))
    if compare_indexes and not out:
        # An index is compared with its text, which must be intact for that.
        _attempt(lambda: _compared(connection), out, True, "the word indexes")
    return out


def _compared(connection: apsw.Connection) -> list[Problem]:
    """Compares the word indexes with their text in one snapshot, because it takes several
    statements, and others may write in between."""
    if connection.in_transaction:
        return list(_index_problems(connection))
    connection.execute("BEGIN")
    try:
        return list(_index_problems(connection))
    finally:
        connection.execute("ROLLBACK")


def _structure(connection: apsw.Connection, out: list[Problem]) -> list[tuple[Any, ...]]:
    """Runs SQLite's own check. If it cannot run on the whole file, usually because of a word index,
    it runs on each canonical table."""
    try:
        return connection.execute(f"PRAGMA integrity_check({_LINES_MAX})").fetchall()
    except READ_ERRORS as error:
        out.append(Problem(f"a check could not run: {_said(error)}", True))
    return [
        line
        for table in tables_of.CANONICAL
        for line in _rows(connection, f"PRAGMA integrity_check({table.name})", out, False)
    ]


def _attempt(
    look: Callable[[], Iterable[Problem]], out: list[Problem], derived: bool, what: str
) -> None:
    try:
        out.extend(look())
    except READ_ERRORS as error:
        out.append(Problem(f"{what} cannot be checked: {_said(error)}", derived))


def _rows(
    connection: apsw.Connection, query: str, out: list[Problem], derived: bool
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(query).fetchall()
    except READ_ERRORS as error:
        said = _said(error)
        out.append(Problem(f"a check could not run: {said}", derived or _derived(said)))
        return []


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _schema(connection: apsw.Connection) -> Iterator[Problem]:
    """Compares every table and index of Holdfast with the schema of a new store. Objects of other
    programs are ignored."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    found = set(connection.execute(query).fetchall())
    fresh = apsw.Connection(":memory:")
    try:
        for migration in schema.MIGRATIONS:
            fresh.execute(migration.sql)
        wanted = set(fresh.execute(query).fetchall())
    finally:
        fresh.close()
    for kind, name, table, _ in sorted(wanted - found):
        said = f"the {kind} {name} is missing, or is not what this Holdfast made"
        yield Problem(said, _derived(str(table)))


def _checksums(connection: apsw.Connection, table: Table, derived: bool) -> Iterator[Problem]:
    """Reports the rows of a table that cannot be read, or do not match their checksum."""
    wrong = 0
    for row in checked_rows(connection, table):
        if isinstance(row, Unreadable):
            said = f"cannot be read ({row.error})"
            key = row.key
        elif table.is_intact(row):
            continue
        else:
            said = "does not match its checksum"
            key = row[: len(table.key)]
        wrong += 1
        if wrong <= _LISTED_MAX:
            yield Problem(f"{_named(table, key, row)} {said}", derived)
    if wrong > _LISTED_MAX:
        yield Problem(f"and {wrong - _LISTED_MAX} more of that kind", derived)


def _named(table: Table, key: Row, row: Row | Unreadable) -> str:
    if table.name == "memories" and not isinstance(row, Unreadable):
        return f"memory #{row[3]}"
    if not key:
        return f"the table {table.name}"
    return f"row {' '.join(str(part)[:60] for part in key)} of {table.name}"


def _damage_is_derived(line: str, tables: dict[int, str]) -> bool:
    """Whether a line of SQLite's own check is about derived state."""
    # A tree is named by its first page. Unused pages were lost by a broken tree; if that was a
    # canonical one, a line about the tree itself says so.
    tree = re.match(r"(?:\*\*\* in database main \*\*\*\s*)?Tree (\d+)", line)
    if tree:
        return _derived(tables.get(int(tree[1]), ""))
    return _derived(line) or "never used" in line


def _derived(message: str) -> bool:
    derived = ("words", "word_", "trigrams", "passages", "vectors", "vector_")
    return any(name in message for name in derived)
