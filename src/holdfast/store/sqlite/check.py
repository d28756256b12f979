"""Does the file keep its promises? Looks at everything, changes nothing."""

from __future__ import annotations

import re
from typing import Any

import apsw

from holdfast.store.values import Problem

_LISTED_MAX = 20

# Each row: the sentence (with {} for what was found), whether it is derived state, and a query
# that finds (what, memory id, hub id) of each place where the promise is broken. A hub that is
# being moved or imported has its memories before their revisions: that is no damage.
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
        " WHERE EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.pk)"
        " AND m.pk NOT IN (SELECT id FROM trigrams_docsize)",
    ),
    (
        "the substring index has {} entries without a memory",
        True,
        "SELECT count(*), '', '' FROM trigrams_docsize"
        " WHERE id NOT IN (SELECT memory FROM passages) HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong word totals",
        True,
        "SELECT h.name, '', h.id FROM hubs h LEFT JOIN word_totals t ON t.hub = h.pk"
        " WHERE t.passages IS NOT (SELECT count(*) FROM passages p WHERE p.hub = h.pk)"
        " OR t.terms IS NOT (SELECT coalesce(sum(p.length), 0) FROM passages p WHERE p.hub = h.pk)",
    ),
    (
        "the index of the conversation log has {} entries too many or too few",
        True,
        "SELECT abs((SELECT count(*) FROM turn_words_docsize) - (SELECT count(*) FROM turns))"
        " AS off, '', '' WHERE off",
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
    # Finds nothing, but fails where the table is missing.
    ("the word counts are missing", True, "SELECT 1, '', '' FROM word_counts LIMIT 0"),
    (
        "there are {} vectors without a passage",
        True,
        "SELECT count(*), '', '' FROM vectors WHERE passage NOT IN (SELECT pk FROM passages)"
        " HAVING count(*) > 0",
    ),
)


def problems(connection: apsw.Connection) -> list[Problem]:
    """Everything that is wrong; derived state is told apart because it can be rebuilt."""
    out: list[Problem] = []
    tables = dict(
        _rows(connection, "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage", out, False)
    )
    lines = _rows(connection, "PRAGMA integrity_check(20)", out, derived=True)
    out += [
        Problem(f"the file is damaged: {line}", _damage_is_derived(line, tables))
        for (line,) in lines
        if line != "ok"
    ]
    # One by one, so that a table that cannot be read does not speak for the others.
    for name in sorted(set(tables.values())):
        check = f"PRAGMA foreign_key_check({name})"
        for table, row, parent, _ in _rows(connection, check, out, _derived(name)):
            # A table without row numbers, such as that of the vectors, gives None.
            which = f"a row of {table}" if row is None else f"row {row} of {table}"
            out.append(Problem(f"{which} points to a missing row of {parent}", _derived(table)))
    for table in ("words", "trigrams", "turn_words"):
        _rows(connection, f"INSERT INTO {table} ({table}) VALUES ('integrity-check')", out, True)
    for sentence, derived, query in _PROMISES:
        found = _rows(connection, query, out, derived)
        for what, memory_id, hub_id in found[:_LISTED_MAX]:
            out.append(Problem(sentence.format(what), derived, memory_id, hub_id))
        if len(found) > _LISTED_MAX:
            out.append(Problem(f"and {len(found) - _LISTED_MAX} more of that kind", derived))
    return out


def _rows(
    connection: apsw.Connection, query: str, out: list[Problem], derived: bool
) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(query).fetchall()
    except apsw.Error as error:
        out.append(Problem(f"a check could not run: {error}", derived or _derived(str(error))))
        return []


def _damage_is_derived(line: str, tables: dict[int, str]) -> bool:
    """Whether a line of SQLite's own check is about something that can be rebuilt."""
    # A tree is named by its first page. Pages that nothing uses are what a broken tree has lost;
    # where that was a canonical one, a line about the tree itself says so.
    tree = re.match(r"(?:\*\*\* in database main \*\*\*\s*)?Tree (\d+)", line)
    if tree:
        return _derived(tables.get(int(tree[1]), ""))
    return _derived(line) or "never used" in line


def _derived(message: str) -> bool:
    derived = ("words", "word_", "turn_words", "trigrams", "passages", "vectors", "vector_")
    return any(name in message for name in derived)
