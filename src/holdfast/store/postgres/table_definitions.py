"""The tables of schema 1.

Canonical tables hold hubs, memories and their history, the conversation log, mirrored files,
records and marks of commits; they cannot be rebuilt from anything else. Derived tables hold
passages, the search tables and vectors; they can be emptied and rebuilt from the canonical ones.
One more table is created only where pgvector is installed.
"""

from __future__ import annotations

from holdfast.store.postgres.tables import TEXT, Halfvec, Table

_MEMORIES = f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    number bigint NOT NULL,
    id {TEXT} NOT NULL,
    content {TEXT} NOT NULL,
    content_hash {TEXT} NOT NULL,
    title {TEXT} NOT NULL,
    owner {TEXT} NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    summary {TEXT} NOT NULL,
    content_type {TEXT} NOT NULL,
    key {TEXT},
    category {TEXT} NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    kind {TEXT} NOT NULL,
    stability {TEXT} NOT NULL,
    boundary {TEXT} NOT NULL,
    state {TEXT} NOT NULL,
    state_reason {TEXT} NOT NULL,
    layer {TEXT} NOT NULL,
    pinned boolean NOT NULL,
    trust {TEXT} NOT NULL,
    quarantine {TEXT} NOT NULL,
    source {TEXT} NOT NULL,
    source_agent {TEXT},
    assisted_by_agent {TEXT},
    source_path {TEXT},
    session {TEXT},
    speaker {TEXT},
    occurred_at bigint,
    occurred_until bigint,
    valid_from bigint,
    valid_until bigint,
    expires_at bigint,
    forgotten_at bigint,
    supersedes {TEXT},
    superseded_by {TEXT},
    parent {TEXT},
    origin {TEXT},
    metadata {TEXT} NOT NULL,
    version bigint NOT NULL,
    access_count bigint NOT NULL,
    shown_count bigint NOT NULL,
    mention_count bigint NOT NULL,
    accessed_at bigint,
    checksum bigint NOT NULL,
    counters_check bigint NOT NULL,
    key_hash bigint GENERATED ALWAYS AS (hashtextextended(key, 0)) STORED,
    path_hash bigint GENERATED ALWAYS AS (hashtextextended(source_path, 0)) STORED,
    session_hash bigint GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED,
    speaker_front {TEXT} GENERATED ALWAYS AS (left(speaker, 200)) STORED,
    PRIMARY KEY (hub_id, number)"""

# Small tables that every node has in full (on Citus: reference tables).
REFERENCE_TABLES = (
    (
        "hubs",
        f"""
    hub_id bigint NOT NULL PRIMARY KEY,
    id {TEXT} NOT NULL UNIQUE,
    name {TEXT} NOT NULL UNIQUE,
    owner {TEXT} NOT NULL,
    created_at bigint NOT NULL,
    state {TEXT} NOT NULL,
    checksum bigint NOT NULL""",
    ),
    (
        "models",
        f"""
    model integer NOT NULL PRIMARY KEY,
    name {TEXT} NOT NULL UNIQUE""",
    ),
)

CANONICAL_TABLES = (
    # Counters that writes change; not in `hubs`, which is replicated to every node.
    Table(
        "hub_counts",
        """
    hub_id bigint NOT NULL PRIMARY KEY REFERENCES hubs (hub_id),
    numbers bigint NOT NULL,
    passages bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0""",
        secured=False,  # the list of hubs is read from it
    ),
    Table("memories", _MEMORIES, large=True),
    Table(
        "changes",
        f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    id {TEXT} NOT NULL,
    place bigint NOT NULL DEFAULT nextval('places'),
    at bigint NOT NULL,
    actor {TEXT} NOT NULL,
    action {TEXT} NOT NULL,
    reason {TEXT} NOT NULL,
    undoes {TEXT},
    undone_by {TEXT},
    checksum bigint NOT NULL,
    PRIMARY KEY (hub_id, id)""",
        large=True,
    ),
    Table(
        "revisions",
        f"""
    hub_id bigint NOT NULL,
    memory bigint NOT NULL,
    version bigint NOT NULL,
    change_id {TEXT} NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('places'),
    at bigint NOT NULL,
    fields {TEXT} NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (hub_id, memory, version),
    FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE,
    FOREIGN KEY (hub_id, change_id) REFERENCES changes (hub_id, id) ON DELETE CASCADE""",
        large=True,
    ),
    Table(
        "receipts",
        f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    place bigint NOT NULL DEFAULT nextval('places'),
    memory_id {TEXT} NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    actor {TEXT} NOT NULL,
    reason {TEXT} NOT NULL,
    revisions bigint NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (hub_id, place)""",
    ),
    Table(
        "turns",
        f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    place bigint NOT NULL DEFAULT nextval('places'),
    id {TEXT} NOT NULL,
    role {TEXT} NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content {TEXT} NOT NULL,
    at bigint NOT NULL,
    source {TEXT} NOT NULL,
    session {TEXT},
    speaker {TEXT},
    trust {TEXT} NOT NULL,
    checksum bigint NOT NULL,
    session_hash bigint GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED,
    PRIMARY KEY (hub_id, place),
    UNIQUE (hub_id, id)""",
        large=True,
    ),
    Table(
        "agreed",
        f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    path {TEXT} NOT NULL,
    text {TEXT} NOT NULL,
    at bigint NOT NULL,
    checksum bigint NOT NULL,
    path_hash bigint GENERATED ALWAYS AS (hashtextextended(path, 0)) STORED,
    path_hash_two bigint GENERATED ALWAYS AS (hashtextextended(path, 1)) STORED,
    PRIMARY KEY (hub_id, path_hash, path_hash_two)""",
    ),
    Table(
        "clashes",
        f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    id {TEXT} NOT NULL,
    place bigint NOT NULL DEFAULT nextval('places'),
    memory_id {TEXT} NOT NULL,
    path {TEXT} NOT NULL,
    in_store {TEXT} NOT NULL,
    in_file {TEXT} NOT NULL,
    at bigint NOT NULL,
    settled_at bigint,
    checksum bigint NOT NULL,
    PRIMARY KEY (hub_id, id)""",
    ),
    # Records that belong to no hub have hub 0, which is not in `hubs`.
    Table(
        "records",
        f"""
    hub_id bigint NOT NULL,
    kind {TEXT} NOT NULL,
    id {TEXT} NOT NULL,
    at bigint NOT NULL,
    body {TEXT} NOT NULL,
    lookup {TEXT},
    due bigint,
    checksum bigint NOT NULL,
    PRIMARY KEY (hub_id, kind, id)""",
    ),
    # One row for each thread that has written, with which a writer that lost its connection during
    # a commit finds out whether it was committed (see session.py). Writes of no hub have hub
    # 0.
    Table(
        "commits",
        f"""
    hub_id bigint NOT NULL,
    place {TEXT} NOT NULL,
    mark bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (hub_id, place)""",
    ),
)

# A key or path belongs to one memory of an audience that is not forgotten. Two 64-bit hashes
# represent the name, which may be longer than an index entry can be.
_AUDIENCE = "hashtextextended(CASE boundary WHEN 'private' THEN owner ELSE '' END, 0)"

CANONICAL_INDEXES = (
    "CREATE UNIQUE INDEX memories_id ON memories (hub_id, id)",
    "CREATE UNIQUE INDEX memories_key ON memories"
    f" (hub_id, key_hash, hashtextextended(key, 1), {_AUDIENCE})"
    " WHERE key IS NOT NULL AND forgotten_at IS NULL",
    "CREATE UNIQUE INDEX memories_path ON memories"
    f" (hub_id, path_hash, hashtextextended(source_path, 1), {_AUDIENCE})"
    " WHERE source_path IS NOT NULL AND forgotten_at IS NULL",
    "CREATE INDEX memories_hash ON memories (hub_id, content_hash)",
    "CREATE INDEX memories_session ON memories (hub_id, session_hash, number)"
    " WHERE session IS NOT NULL",
    "CREATE INDEX memories_speaker ON memories (hub_id, speaker_front) WHERE speaker IS NOT NULL",
    "CREATE INDEX memories_held ON memories (hub_id, number) WHERE quarantine <> ''",
    # A span of time in a large hub, and lists by when things happened, changed or were last used.
    "CREATE INDEX memories_happened ON memories"
    " (hub_id, coalesce(occurred_at, created_at), number) WHERE forgotten_at IS NULL",
    "CREATE INDEX memories_updated ON memories (hub_id, updated_at, number)"
    " WHERE forgotten_at IS NULL",
    "CREATE INDEX memories_accessed ON memories (hub_id, coalesce(accessed_at, 0), number)"
    " WHERE forgotten_at IS NULL",
    # What an agent is shown when it begins: what was used last.
    "CREATE INDEX memories_used ON memories"
    " (hub_id, pinned, greatest(updated_at, accessed_at), number) WHERE forgotten_at IS NULL",
    "CREATE INDEX changes_place ON changes (hub_id, place)",
    "CREATE INDEX revisions_change ON revisions (hub_id, change_id)",
    "CREATE INDEX revisions_sequence ON revisions (hub_id, sequence)",
    "CREATE INDEX revisions_at ON revisions (hub_id, at)",
    "CREATE INDEX turns_session ON turns (hub_id, session_hash, place) WHERE session IS NOT NULL",
    # Speakers of turns are bounded in length (engine/log/turns.py).
    "CREATE INDEX turns_speaker ON turns (hub_id, speaker) WHERE speaker IS NOT NULL",
    "CREATE INDEX turns_at ON turns (hub_id, at)",
    "CREATE INDEX clashes_memory ON clashes (hub_id, memory_id)",
    "CREATE UNIQUE INDEX records_lookup ON records (hub_id, kind, lookup) WHERE lookup IS NOT NULL",
    # The two indexes that do not begin with the hub. The first answers what is due in all hubs; the
    # second which hubs have work that is due, and what is due in one of them.
    "CREATE INDEX records_due ON records (kind, due, hub_id, id) WHERE due IS NOT NULL",
    "CREATE INDEX records_due_in_hub ON records (kind, hub_id, due, id) WHERE due IS NOT NULL",
)


DERIVED_TABLES = (
    Table(
        "passages",
        f"""
    hub_id bigint NOT NULL,
    passage bigint NOT NULL,
    memory bigint,
    turn bigint,
    ordinal integer NOT NULL,
    starts integer NOT NULL,
    ends integer NOT NULL,
    headings text[] COLLATE "C" NOT NULL,
    body {TEXT} NOT NULL,
    head {TEXT} NOT NULL,
    windows integer NOT NULL,
    PRIMARY KEY (hub_id, passage),
    CHECK ((memory IS NULL) <> (turn IS NULL)),
    FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE,
    FOREIGN KEY (hub_id, turn) REFERENCES turns (hub_id, place) ON DELETE CASCADE""",
        large=True,
    ),
    # The search tables, apart from what is shown: ranking reads only these narrow rows. Every term
    # and trigram carries its hub, so posting lists belong to one hub. A policy for reading would
    # keep the index from being used, so they are read through views (see `row_security`).
    Table(
        "words",
        """
    hub_id bigint NOT NULL,
    passage bigint NOT NULL,
    memory bigint,
    turn bigint,
    length integer NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (hub_id, passage)""",
        large=True,
        secured=False,
    ),
    # One row for a memory or a turn, named by its first passage.
    Table(
        "substrings",
        """
    hub_id bigint NOT NULL,
    passage bigint NOT NULL,
    memory bigint,
    turn bigint,
    grams integer[] NOT NULL,
    PRIMARY KEY (hub_id, passage)""",
        large=True,
        secured=False,
    ),
    # The number of passages that contain a term.
    Table(
        "terms",
        f"""
    hub_id bigint NOT NULL,
    term {TEXT} NOT NULL,
    passages bigint NOT NULL,
    PRIMARY KEY (hub_id, term)""",
        large=True,
    ),
    Table(
        "vectors",
        """
    hub_id bigint NOT NULL,
    model integer NOT NULL,
    passage bigint NOT NULL,
    window_no integer NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (hub_id, model, passage, window_no)""",
        large=True,
    ),
    Table(
        "vector_totals",
        """
    hub_id bigint NOT NULL,
    model integer NOT NULL,
    size bigint NOT NULL,
    passages bigint NOT NULL,
    newest bigint NOT NULL,
    removals bigint NOT NULL,
    indexed integer NOT NULL DEFAULT 0,
    PRIMARY KEY (hub_id, model)""",
    ),
)

DERIVED_INDEXES = (
    "CREATE INDEX passages_memory ON passages (hub_id, memory, ordinal) WHERE memory IS NOT NULL",
    "CREATE INDEX passages_turn ON passages (hub_id, turn, ordinal) WHERE turn IS NOT NULL",
    "CREATE INDEX words_memory ON words (hub_id, memory) WHERE memory IS NOT NULL",
    "CREATE INDEX words_turn ON words (hub_id, turn) WHERE turn IS NOT NULL",
    "CREATE INDEX words_words ON words USING gin (words)",
    "CREATE INDEX substrings_grams ON substrings USING gin (grams)",
)

# Created only where pgvector is installed, and filled only for large hubs (see vector_index.py).
# Its rows are those of `vectors` in another form: the integers without the scale, which does not
# affect a cosine. A half-precision number holds them exactly.
EMBEDDINGS = "embeddings"


def embeddings_table(halfvec: Halfvec) -> Table:
    return Table(
        EMBEDDINGS,
        f"""
    hub_id bigint NOT NULL,
    model integer NOT NULL,
    passage bigint NOT NULL,
    window_no integer NOT NULL,
    embedding {halfvec.type} NOT NULL,
    PRIMARY KEY (hub_id, model, passage, window_no)""",
        large=True,
    )
