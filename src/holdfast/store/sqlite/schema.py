"""The SQLite schema, as ordered migrations; and detection of foreign objects in a database file."""

from __future__ import annotations

import re

import apsw

from holdfast.errors import StoreDamaged, StoreError
from holdfast.system.named_tuple import NamedTuple

# "HLDF": distinguishes a Holdfast store from any other SQLite file.
APPLICATION_ID = 0x484C4446


class Migration(NamedTuple):
    """One step of the schema: `sql` may hold several statements."""

    version: int
    name: str
    sql: str


CANONICAL = """
CREATE TABLE hubs (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    numbers INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'active',
    checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE memories (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    title TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    summary TEXT NOT NULL,
    content_type TEXT NOT NULL,
    key TEXT,
    category TEXT NOT NULL,
    tags TEXT NOT NULL,
    kind TEXT NOT NULL,
    stability TEXT NOT NULL,
    boundary TEXT NOT NULL,
    state TEXT NOT NULL,
    state_reason TEXT NOT NULL,
    layer TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    trust TEXT NOT NULL,
    quarantine TEXT NOT NULL,
    source TEXT NOT NULL,
    source_agent TEXT,
    assisted_by_agent TEXT,
    source_path TEXT,
    session TEXT,
    speaker TEXT,
    occurred_at INTEGER,
    occurred_until INTEGER,
    valid_from INTEGER,
    valid_until INTEGER,
    expires_at INTEGER,
    forgotten_at INTEGER,
    supersedes TEXT,
    superseded_by TEXT,
    parent TEXT,
    origin TEXT,
    metadata TEXT NOT NULL,
    version INTEGER NOT NULL,
    access_count INTEGER NOT NULL,
    shown_count INTEGER NOT NULL,
    mention_count INTEGER NOT NULL,
    accessed_at INTEGER,
    checksum INTEGER NOT NULL,
    counters_check INTEGER NOT NULL,
    UNIQUE (hub, id),
    UNIQUE (hub, number)
) STRICT;
CREATE UNIQUE INDEX memories_key ON memories (hub, key, iif(boundary = 'private', owner, ''))
    WHERE key IS NOT NULL AND forgotten_at IS NULL;
CREATE UNIQUE INDEX memories_path
    ON memories (hub, source_path, iif(boundary = 'private', owner, ''))
    WHERE source_path IS NOT NULL AND forgotten_at IS NULL;
CREATE INDEX memories_hash ON memories (hub, content_hash);
CREATE INDEX memories_session ON memories (hub, session, number) WHERE session IS NOT NULL;
CREATE INDEX memories_speaker ON memories (hub, speaker) WHERE speaker IS NOT NULL;
CREATE INDEX memories_held ON memories (hub, quarantine) WHERE quarantine > '';
CREATE TABLE changes (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    undoes TEXT,
    undone_by TEXT,
    checksum INTEGER NOT NULL,
    UNIQUE (hub, id)
) STRICT;
CREATE TABLE revisions (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories (pk) ON DELETE CASCADE,
    change INTEGER NOT NULL REFERENCES changes (pk) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fields TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX revisions_memory ON revisions (memory, version);
CREATE INDEX revisions_change ON revisions (change);
CREATE INDEX revisions_at ON revisions (hub, at);
CREATE TABLE receipts (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    memory_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    revisions INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX receipts_hub ON receipts (hub, pk);
CREATE TABLE turns (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content TEXT NOT NULL,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    session TEXT,
    speaker TEXT,
    trust TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (hub, id)
) STRICT;
CREATE INDEX turns_hub ON turns (hub, pk);
CREATE INDEX turns_session ON turns (hub, session, pk) WHERE session IS NOT NULL;
CREATE INDEX turns_speaker ON turns (hub, speaker) WHERE speaker IS NOT NULL;
CREATE INDEX turns_at ON turns (hub, at);
CREATE TABLE agreed (
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (hub, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE clashes (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    path TEXT NOT NULL,
    in_store TEXT NOT NULL,
    in_file TEXT NOT NULL,
    at INTEGER NOT NULL,
    settled_at INTEGER,
    checksum INTEGER NOT NULL,
    UNIQUE (hub, id)
) STRICT;
CREATE INDEX clashes_memory ON clashes (hub, memory_id);
CREATE TABLE records (
    hub INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    lookup TEXT,
    due INTEGER,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (hub, kind, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX records_lookup ON records (hub, kind, lookup) WHERE lookup IS NOT NULL;
CREATE INDEX records_due ON records (kind, due) WHERE due IS NOT NULL;
"""

DERIVED = """
CREATE TABLE passages (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL,
    memory INTEGER REFERENCES memories (pk) ON DELETE CASCADE,
    turn INTEGER REFERENCES turns (pk) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    headings TEXT NOT NULL,
    body TEXT NOT NULL,
    head TEXT NOT NULL,
    length INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    CHECK ((memory IS NULL) <> (turn IS NULL))
) STRICT;
CREATE INDEX passages_memory ON passages (memory, ordinal) WHERE memory IS NOT NULL;
CREATE INDEX passages_turn ON passages (turn, ordinal) WHERE turn IS NOT NULL;
CREATE INDEX passages_hub ON passages (hub, pk);
CREATE TABLE vectors (
    passage INTEGER NOT NULL REFERENCES passages (pk) ON DELETE CASCADE,
    hub INTEGER NOT NULL,
    model TEXT NOT NULL,
    "window" INTEGER NOT NULL,
    vector BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (hub, model, passage, "window")
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_passage ON vectors (passage);
CREATE TABLE word_totals (
    hub INTEGER PRIMARY KEY REFERENCES hubs (pk) ON DELETE CASCADE,
    passages INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE vector_totals (
    hub INTEGER NOT NULL REFERENCES hubs (pk) ON DELETE CASCADE,
    model TEXT NOT NULL,
    size INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    removals INTEGER NOT NULL,
    PRIMARY KEY (hub, model)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    body, head, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE word_counts USING fts5vocab ('words', 'row');
CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii'
);
"""

DROP_DERIVED = """
DROP TABLE IF EXISTS word_counts;
DROP TABLE IF EXISTS words;
DROP TABLE IF EXISTS trigrams;
DROP TABLE IF EXISTS vectors;
DROP TABLE IF EXISTS passages;
DROP TABLE IF EXISTS word_totals;
DROP TABLE IF EXISTS vector_totals;
"""

MIGRATIONS: tuple[Migration, ...] = (Migration(1, "the first schema", CANONICAL + DERIVED),)


def newest() -> int:
    """The version of SQLite's tables that this Holdfast writes."""
    return MIGRATIONS[-1].version


# SQLite makes these itself, for AUTOINCREMENT and for ANALYZE.
_INTERNAL_TABLES = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
# Triggers and views first, because they use tables. Most indexes are dropped with their tables.
_DROP_ORDER = ("trigger", "view", "table", "index")
_NAMED = 5


class SchemaObject(NamedTuple):
    """A table, index or trigger of a SQLite file: a row of `sqlite_schema`."""

    kind: str
    name: str
    table: str
    sql: str | None

    @property
    def is_virtual(self) -> bool:
        return self.kind == "table" and (self.sql or "").upper().startswith("CREATE VIRTUAL")


def harden(connection: apsw.Connection) -> None:
    """Prevents a connection from running code in a database file. Holdfast's schema has neither
    triggers nor views; foreign keys are not affected."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)


def refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """Raises StoreDamaged if the SQLite file has objects that are not Holdfast's, or changed
    ones."""
    ours = _our_objects(connection)
    found = objects(connection)
    foreign = [one for one in found if not _is_ours(one, ours)]
    if foreign:
        names = ", ".join(f"{one.kind} {one.name[:80]!r}" for one in foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise StoreDamaged(
            f"{path} holds something that Holdfast does not make: {names}{more}.",
            hint="Use a file that `holdfast backup` has written.",
        )
    altered = [one.name for one in found if not _is_as_made(one, ours, connection)]
    if altered:
        raise StoreDamaged(
            f"{path} has a table or an index that is not as Holdfast makes it: {altered[0]!r}.",
            hint="Use a file that `holdfast backup` has written.",
        )


def drop_foreign(connection: apsw.Connection, path: str) -> None:
    """Drops foreign objects from a copy of a SQLite file, so that the copy can be restored."""
    ours = _our_objects(connection)
    for kind in _DROP_ORDER:
        # Dropping a virtual table drops the tables that it consists of.
        for one in sorted(objects(connection), key=lambda one: not one.is_virtual):
            if one.kind == kind and not _is_ours(one, ours):
                quoted = one.name.replace('"', '""')
                try:
                    connection.execute(f'DROP {kind.upper()} IF EXISTS "{quoted}"')
                except apsw.Error as error:
                    raise StoreError(
                        f"{path} holds the {kind} {one.name!r}, which is not Holdfast's and cannot"
                        f" be left out of a copy ({error}).",
                        hint="Drop it with the program that made it.",
                    ) from None


def objects(connection: apsw.Connection) -> list[SchemaObject]:
    """The objects in the schema of a file."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return [
        SchemaObject(_text(kind), _text(name), _text(table), None if sql is None else _text(sql))
        for kind, name, table, sql in rows
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _our_objects(connection: apsw.Connection) -> dict[str, SchemaObject]:
    """The objects that the migrations create, up to the version of the file."""
    version = connection.pragma("user_version")
    made = apsw.Connection(":memory:")
    try:
        for migration in MIGRATIONS:
            if migration.version <= version:
                made.execute(migration.sql)
        return {one.name: one for one in objects(made)}
    finally:
        made.close()


def _is_ours(found: SchemaObject, ours: dict[str, SchemaObject]) -> bool:
    if found.kind == "table" and found.name in _INTERNAL_TABLES:
        return True
    known = ours.get(found.name)
    return known is not None and (known.kind, known.table) == (found.kind, found.table)


def _is_as_made(
    found: SchemaObject, ours: dict[str, SchemaObject], connection: apsw.Connection
) -> bool:
    if found.name in _INTERNAL_TABLES or _plain(found.sql) == _plain(ours[found.name].sql):
        return True
    # SQLite creates the tables of a full-text index, and its versions may differ in how: these must
    # only be free of expressions.
    if not any(one.is_virtual and found.name.startswith(f"{one.name}_") for one in ours.values()):
        return False
    columns = connection.execute(
        "SELECT dflt_value, hidden FROM pragma_table_xinfo(?)", (found.name,)
    )
    computes = any(default is not None or hidden for default, hidden in columns)
    return not computes and "CHECK" not in (found.sql or "").upper()


def _plain(sql: str | None) -> str | None:
    return None if sql is None else re.sub(r"\s+", " ", sql).strip()
