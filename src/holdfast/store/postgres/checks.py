"""Checks of a database. They change nothing.

- `problems`: whether the rows match their checksums and are consistent, hub by hub.
- `security_warnings`, `notes`: warnings for the administrator, with the command that helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import psycopg

from holdfast.domain.clock import to_micros
from holdfast.domain.memory import COUNTERS
from holdfast.domain.records import NO_HUB
from holdfast.errors import StoreDamaged
from holdfast.store.postgres import rows, schema
from holdfast.store.postgres.extensions import missing_note
from holdfast.store.postgres.migrate import pending_steps
from holdfast.store.postgres.schema import SCHEMA
from holdfast.store.rows import Values, counters_check, is_intact, restored
from holdfast.store.sql import TABLES
from holdfast.store.values import Problem

if TYPE_CHECKING:
    from holdfast.domain.change import Revision
    from holdfast.store.postgres.reader import PostgresReader
    from holdfast.store.postgres.session import Session
    from holdfast.store.postgres.writer import PostgresWriter


_LISTED_MAX = 20

# Each row: the sentence (with {} for what was found), whether it is derived state, and a query that
# returns (what, memory id) for each violation in a hub. A hub that is being moved or imported has
# its memories before their revisions: that is no damage.
_INVARIANTS: tuple[tuple[str, bool, str], ...] = (
    (
        "memory #{} has a version that its revisions do not reach",
        False,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND h.state = 'active' AND m.version <>"
        " (SELECT coalesce(max(r.version), 0) FROM revisions r WHERE r.hub_id = %(hub)s"
        " AND r.memory = m.number)",
    ),
    (
        "memory #{} has gaps in its revisions",
        False,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND h.state = 'active' AND m.version <>"
        " (SELECT count(*) FROM revisions r WHERE r.hub_id = %(hub)s AND r.memory = m.number)",
    ),
    (
        "hub {} has given out fewer numbers than its memories have",
        False,
        "SELECT h.name, '' FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND c.numbers <"
        " (SELECT coalesce(max(m.number), 0) FROM memories m WHERE m.hub_id = %(hub)s)",
    ),
    (
        "memory #{} is not in the search index",
        True,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND m.forgotten_at IS NULL AND h.state = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s"
        " AND p.memory = m.number)",
    ),
    (
        "memory #{} is forgotten but still in the search index",
        True,
        "SELECT m.number, m.id FROM memories m WHERE m.hub_id = %(hub)s"
        " AND m.forgotten_at IS NOT NULL AND EXISTS (SELECT 1 FROM passages p"
        " WHERE p.hub_id = %(hub)s AND p.memory = m.number)",
    ),
    (
        "memory #{} has a passage that reaches past its text",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory"
        " WHERE p.hub_id = %(hub)s AND p.ends > length(m.content)",
    ),
    (
        "memory #{} has a passage without its words",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory WHERE p.hub_id = %(hub)s"
        " AND NOT EXISTS (SELECT 1 FROM named_words w WHERE w.hub_id = %(hub)s"
        " AND w.passage = p.passage AND w.memory = p.memory)",
    ),
    (
        "the word index has {} entries without a passage",
        True,
        "SELECT count(*), '' FROM named_words w WHERE w.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.passage = w.passage)"
        " HAVING count(*) > 0",
    ),
    (
        "memory #{} is missing from the substring index",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory WHERE p.hub_id = %(hub)s"
        " AND p.ordinal = 0 AND NOT EXISTS (SELECT 1 FROM named_substrings s"
        " WHERE s.hub_id = %(hub)s AND s.passage = p.passage)",
    ),
    (
        "the substring index has {} entries without a memory or a turn",
        True,
        "SELECT count(*), '' FROM named_substrings s WHERE s.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.passage = s.passage)"
        " HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong word totals",
        True,
        "SELECT h.name, '' FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND (c.passages, c.terms) <>"
        " (SELECT count(*), coalesce(sum(w.length), 0)::bigint FROM named_words w"
        " WHERE w.hub_id = %(hub)s)",
    ),
    (
        "hub {} has wrong counts of {} words",
        True,
        "SELECT h.name, count(*)::text FROM hubs h,"
        " (SELECT split_part(l, '·', 2) AS term, count(*) AS passages FROM named_words w,"
        "  unnest(tsvector_to_array(w.words)) AS l WHERE w.hub_id = %(hub)s GROUP BY 1) AS found"
        " FULL JOIN (SELECT * FROM terms t WHERE t.hub_id = %(hub)s) AS t"
        ' ON t.term = found.term COLLATE "C"'
        " WHERE h.hub_id = %(hub)s AND t.passages IS DISTINCT FROM found.passages"
        " GROUP BY h.name",
    ),
    (
        "{} turns of the conversation log are not in the search index",
        True,
        "SELECT count(*), '' FROM turns t WHERE t.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.turn = t.place)"
        " HAVING count(*) > 0",
    ),
    (
        "{} passages of the conversation log reach past their text, or lack their words",
        True,
        "SELECT count(*), '' FROM passages p JOIN turns t"
        " ON t.hub_id = p.hub_id AND t.place = p.turn WHERE p.hub_id = %(hub)s"
        " AND (p.ends > length(t.content) OR NOT EXISTS (SELECT 1 FROM named_words w"
        " WHERE w.hub_id = %(hub)s AND w.passage = p.passage AND w.turn = p.turn)"
        " OR (p.ordinal = 0 AND NOT EXISTS (SELECT 1 FROM named_substrings s"
        " WHERE s.hub_id = %(hub)s AND s.passage = p.passage)))"
        " HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong vector totals",
        True,
        "SELECT DISTINCT h.name, '' FROM hubs h JOIN vector_totals t ON t.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND (t.size, t.passages) <>"
        " (SELECT count(*), count(DISTINCT v.passage) FROM vectors v WHERE v.hub_id = %(hub)s"
        " AND v.model = t.model)",
    ),
    (
        "hub {} has vectors that are not counted",
        True,
        "SELECT DISTINCT h.name, '' FROM vectors v JOIN hubs h ON h.hub_id = v.hub_id"
        " WHERE v.hub_id = %(hub)s AND NOT EXISTS (SELECT 1 FROM vector_totals t"
        " WHERE t.hub_id = %(hub)s AND t.model = v.model)",
    ),
    (
        "there are {} vectors without a passage",
        True,
        "SELECT count(*), '' FROM vectors v WHERE v.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.passage = v.passage)"
        " HAVING count(*) > 0",
    ),
)


# The rows of a hub, each with what its checksum covers and the checksum at its end.
_CHECKED_ROWS = {
    **{
        name: f"SELECT {table.columns} FROM {name} WHERE hub_id = %(hub)s"
        for name, table in TABLES.items()
    },
    "revisions": (
        "SELECT r.change_id, m.id, r.version, r.at, r.fields, r.checksum FROM revisions r"
        " LEFT JOIN memories m ON m.hub_id = r.hub_id AND m.number = r.memory"
        " WHERE r.hub_id = %(hub)s"
    ),
}


def problems(reader: PostgresReader) -> list[Problem]:
    """All inconsistencies of a PostgreSQL store. Those of derived state are marked, because it can
    be rebuilt."""
    session = reader._session
    out: list[Problem] = []
    hubs = []
    for (hub_id,) in session.all("SELECT id FROM hubs ORDER BY name"):
        try:
            hub = reader.hub_by_id(hub_id)
        except StoreDamaged:
            out.append(Problem(f"hub {hub_id} does not match its checksum", False, "", hub_id))
        else:
            hubs += [] if hub is None else [hub]
    out += _damaged_rows(session, NO_HUB, session.no_hub(), ["records"])
    for hub in hubs:
        number = session.hub(hub.id)
        out += _damaged_memories(session, hub.id, number)
        out += _damaged_rows(session, hub.id, number, _CHECKED_ROWS)
        for sentence, derived, query in _INVARIANTS:
            found = session.all(query, hub=number)
            for row in found[:_LISTED_MAX]:
                message = sentence.format(*row)
                counted = sentence.count("{}") > 1
                out.append(Problem(message, derived, "" if counted else row[1], hub.id))
            if len(found) > _LISTED_MAX:
                out.append(Problem(f"and {len(found) - _LISTED_MAX} more of that kind", derived))
    return out


def _damaged_memories(session: Session, hub_id: str, hub: int) -> Iterator[Problem]:
    query = f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub_id = %(hub)s"
    wrong = [row for row in session.scan(query, hub=hub) if not rows.is_memory_intact(row, hub_id)]
    for row in wrong[:_LISTED_MAX]:
        yield Problem(f"memory #{row[1]} does not match its checksum", False, row[0], hub_id)
    if len(wrong) > _LISTED_MAX:
        yield Problem(f"and {len(wrong) - _LISTED_MAX} more of that kind", False, "", hub_id)


def _damaged_rows(
    session: Session, hub_id: str, hub: int, tables: Iterable[str]
) -> Iterator[Problem]:
    """The rows of a hub, apart from its memories, that do not match their checksum."""
    for table in tables:
        wrong = [
            row
            for row in session.scan(_CHECKED_ROWS[table], hub=hub)
            if not is_intact(table, hub_id, row[:-1], row[-1])
        ]
        for row in wrong[:_LISTED_MAX]:
            name = " ".join(str(part)[:60] for part in row[:2])
            yield Problem(f"{name} of {table} does not match its checksum", False, "", hub_id)
        if len(wrong) > _LISTED_MAX:
            yield Problem(f"and {len(wrong) - _LISTED_MAX} more of that kind", False, "", hub_id)


# A connection within this machine needs no encryption.
LOCAL = ("/", "localhost", "127.", "::1")
_SAFER = "Add sslmode=verify-full and sslrootcert=FILE to the URL."


def security_warnings(connection: psycopg.Connection[Any], address: str) -> tuple[str, ...]:
    """A warning if the traffic to PostgreSQL could be read by others, with what to do about it."""
    found = _unencrypted(connection, address)
    return (found,) if found else ()


def _unencrypted(connection: psycopg.Connection[Any], address: str) -> str:
    info = connection.info
    if not info.host or info.host.startswith(LOCAL):
        return ""
    if not connection.pgconn.ssl_in_use:
        return f"The line to {address} is not encrypted: what goes over it can be read. {_SAFER}"
    if info.get_parameters().get("sslmode") != "verify-full":
        return (
            f"The line to {address} is encrypted, but nobody looks whether the server at its other"
            f" end is the right one. {_SAFER}"
        )
    return ""


def notes(connection: psycopg.Connection[Any], address: str) -> list[str]:
    """Missing extensions of PostgreSQL and pending migrations, one or two sentences for each."""
    found = (missing_note(connection, address), _pending_migrations(connection, address))
    return [one for one in found if one]


def _pending_migrations(connection: psycopg.Connection[Any], address: str) -> str:
    row = connection.execute(f"SELECT max(version) FROM {SCHEMA}.migrations").fetchone()
    behind = row is not None and row[0] < schema.newest()
    later = [one.step.name for one in pending_steps(connection)]
    if not later and not behind:
        return ""
    to_come = ", ".join([*([f"schema {schema.newest()}"] if behind else []), *later])
    return (
        f"The schema of {address} is not up to date ({to_come} to come). Everything works, slower"
        " in places. The owner of the schema runs: holdfast store migrate"
    )


# What the counters of a memory begin with, in the order of its columns.
_COUNTERS_NEW = (0, 0, 1, None)
_COVERED = rows.MEMORY_STORED[: -len(COUNTERS) - 2]


def repair_memories(writer: PostgresWriter, hub_id: str) -> list[str]:
    """Repairs what it can of one hub in PostgreSQL; a sentence for each memory that was."""
    session = writer._session
    hub = session.hub(hub_id)
    query = f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub_id = %(hub)s"
    damaged = [row for row in session.all(query, hub=hub) if not rows.is_memory_intact(row, hub_id)]
    notes = []
    for row in damaged:
        values = dict(zip(rows.MEMORY_STORED, row, strict=True))
        found = _with_counters(values) if _is_proven(values, hub_id) else None
        if found is not None:
            notes.append(f"set the counters of memory #{row[1]} to what they start with")
        elif (found := _restored(writer, values, hub_id)) is not None:
            notes.append(f"restored memory #{row[1]} from its revisions")
        if found is not None:
            session.put(
                rows.UPDATE_MEMORY, (*(found[one] for one in rows.MEMORY_STORED), hub, row[0])
            )
    return notes


def _is_proven(values: Values, hub_id: str) -> bool:
    fields = tuple(_column(values[name]) for name in _COVERED)
    return is_intact("memories", hub_id, fields, values["checksum"])


def _column(value: Any) -> Any:
    """A value as it is stored; candidates have tuples in the place of lists."""
    return list(value) if isinstance(value, tuple) else value


def _with_counters(values: Values) -> Values:
    counters = dict(zip(rows.MEMORY_STORED[len(_COVERED) : -2], _COUNTERS_NEW, strict=True))
    return {**values, **counters, "counters_check": counters_check(*_COUNTERS_NEW)}


def _restored(writer: PostgresWriter, values: Values, hub_id: str) -> Values | None:
    try:
        revisions = writer.revisions(hub_id, str(values["id"]))
    except StoreDamaged:
        # What is damaged itself proves nothing.
        return None
    if not revisions:
        return None
    copies: dict[str, list[Any]] = {
        "version": [revisions[-1].version],
        "updated_at": [to_micros(revisions[-1].at)],
        "created_at": [to_micros(revisions[0].at)],
    }
    likely = {name: found[0] for name, found in copies.items()}
    for name, old, new in _changes(revisions):
        copies.setdefault(name, []).extend([new, old])
        likely[name] = new
    plain = {name: tuple(one) if isinstance(one, list) else one for name, one in values.items()}
    found = restored(plain, likely, copies, lambda one: _is_proven(one, hub_id))
    if found is None:
        return None
    found = {name: _column(one) for name, one in found.items()}
    intact = rows.is_memory_intact(tuple(found[name] for name in rows.MEMORY_STORED), hub_id)
    return found if intact else _with_counters(found)


def _changes(revisions: Sequence[Revision]) -> Iterator[tuple[str, Any, Any]]:
    """Every change of a field that the checksum covers, oldest first, as columns hold it."""
    for revision in revisions:
        for name, (old, new) in revision.fields.items():
            if name in _COVERED:
                yield name, rows.to_column(name, old), rows.to_column(name, new)
