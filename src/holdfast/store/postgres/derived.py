"""The derived tables of schema 1: passages, the search tables and vectors, which can be emptied and
rebuilt from the canonical tables; and one table that is created only where pgvector is installed.
"""

from __future__ import annotations

from holdfast.store.postgres.tables import TEXT, Table

TABLES = (
    Table(
        "passages",
        f"""
    hub_id bigint NOT NULL,
    passage bigint NOT NULL,
    memory bigint NOT NULL,
    ordinal integer NOT NULL,
    starts integer NOT NULL,
    ends integer NOT NULL,
    headings text[] COLLATE "C" NOT NULL,
    body {TEXT} NOT NULL,
    head {TEXT} NOT NULL,
    windows integer NOT NULL,
    PRIMARY KEY (hub_id, passage),
    FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE""",
        large=True,
    ),
    # What is searched, apart from what is shown: ranking reads these narrow rows alone.
    # Every term and every trigram carries its hub, so posting lists belong to one hub, and
    # a wall for reading would only keep the index from being used (see `wall`).
    Table(
        "words",
        """
    hub_id bigint NOT NULL,
    passage bigint NOT NULL,
    memory bigint NOT NULL,
    length integer NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (hub_id, passage)""",
        large=True,
        walled=False,
    ),
    Table(
        "substrings",
        """
    hub_id bigint NOT NULL,
    memory bigint NOT NULL,
    grams integer[] NOT NULL,
    PRIMARY KEY (hub_id, memory)""",
        large=True,
        walled=False,
    ),
    Table(
        "turn_words",
        """
    hub_id bigint NOT NULL,
    place bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (hub_id, place)""",
        large=True,
        walled=False,
    ),
    # In how many passages a term stands.
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

INDEXES = (
    "CREATE INDEX passages_memory ON passages (hub_id, memory, ordinal)",
    "CREATE INDEX words_memory ON words (hub_id, memory)",
    "CREATE INDEX words_words ON words USING gin (words)",
    "CREATE INDEX substrings_grams ON substrings USING gin (grams)",
    "CREATE INDEX turn_words_words ON turn_words USING gin (words)",
)

# Made only where pgvector is, and filled only for hubs that are large (see nearest.py). Its rows
# are those of `vectors` in another form: the whole numbers without the scale, which a cosine does
# not see, and which a half-precision number holds exactly.
EMBEDDINGS = Table(
    "embeddings",
    """
    hub_id bigint NOT NULL,
    model integer NOT NULL,
    passage bigint NOT NULL,
    window_no integer NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (hub_id, model, passage, window_no)""",
    large=True,
)
