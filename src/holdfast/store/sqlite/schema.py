"""The SQLite schema, as ordered migrations.

Each migration runs once, in its own transaction, and `user_version` records its number. A released
migration is never edited: a later change is a new migration.

Canonical tables cannot be rebuilt. Derived tables (`DERIVED`) can be dropped and rebuilt from them.

Every canonical row, and every passage and vector, carries a checksum (see `store/checksums.py`).

Posting lists belong to one hub: every index term is prefixed with the hub's number (see
`search.py`), so a search reads only the postings and the statistics of its own hub.
"""

from __future__ import annotations

from typing import NamedTuple

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
    """The version that this Holdfast writes."""
    return MIGRATIONS[-1].version
