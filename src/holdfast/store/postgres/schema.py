"""The tables, as ordered migrations: each runs once, in a transaction, and is recorded. What takes
long on tables that are in use is a step for later (see `steps`).

One schema for plain PostgreSQL, for managed ones and for Citus. `hub_id` leads every primary key,
unique key and foreign key, and never changes, so that a hub can live in any partition or on any
node. There are no triggers of our own, no sequences that an order between hubs would hang on, and
nothing that locks rows of two hubs. `hubs` and `models` are small tables that every node has whole.

Canonical tables come first; derived ones can be emptied and built again (see DERIVED). A released
migration is never edited: a change of mind is a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.store.postgres.steps import Index, Step

SCHEMA = "holdfast"
# How many tables each large table is made of. A hub lives in one of them, whole; sixteen keep the
# indexes of 10 million memories at a size that fits in memory, and a plan short.
PARTITIONS = 16
PARTITIONS_MAX = 256


def search_path(vector_schema: str = "") -> str:
    """Where names are looked up: our tables, and pgvector where it is. Not `public`, unless that is
    where: somebody who may make functions there could make one that fits better than the server's
    own. And temporary tables last, so that none stands before one of ours."""
    quoted = vector_schema.replace('"', '""')
    return ", ".join([f'"{SCHEMA}"', *([f'"{quoted}"'] if quoted else []), "pg_temp"])


class Table(NamedTuple):
    """A table that has a hub in every row. `large` ones are split by hub; `walled` ones show the
    rows of those hubs alone that the transaction has named (see ROW_SECURITY)."""

    name: str
    columns: str
    large: bool = False
    walled: bool = True


class Migration(NamedTuple):
    """One step. `plain` are the small tables that every node has whole; `after` is what follows
    the tables: indexes, sequences that are not named in a table. From the second on, these are
    short, because whoever uses the tables waits for them; what is not short is `later`."""

    version: int
    name: str
    oldest: int  # the oldest schema whose Holdfast can still work with this one
    plain: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # `{named}` is the condition of the wall
    later: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()  # what ones before left for later, and this one stands on
    can_wait: bool = False  # a Holdfast that knows it works without it too

    @property
    def needed(self) -> bool:
        """Whether a Holdfast that knows it cannot do without."""
        return not self.can_wait and bool(self.plain or self.tables or self.before or self.after)


# Sorts by code point, as every other store does, and faster than a language would.
_TEXT = 'text COLLATE "C"'

_MEMORIES = f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    number bigint NOT NULL,
    id {_TEXT} NOT NULL,
    content {_TEXT} NOT NULL,
    content_hash {_TEXT} NOT NULL,
    title {_TEXT} NOT NULL,
    owner {_TEXT} NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    summary {_TEXT} NOT NULL,
    content_type {_TEXT} NOT NULL,
    key {_TEXT},
    category {_TEXT} NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    kind {_TEXT} NOT NULL,
    stability {_TEXT} NOT NULL,
    boundary {_TEXT} NOT NULL,
    state {_TEXT} NOT NULL,
    state_reason {_TEXT} NOT NULL,
    layer {_TEXT} NOT NULL,
    pinned boolean NOT NULL,
    trust {_TEXT} NOT NULL,
    quarantine {_TEXT} NOT NULL,
    source {_TEXT} NOT NULL,
    source_agent {_TEXT},
    assisted_by_agent {_TEXT},
    source_path {_TEXT},
    session {_TEXT},
    speaker {_TEXT},
    occurred_at bigint,
    occurred_until bigint,
    valid_from bigint,
    valid_until bigint,
    expires_at bigint,
    forgotten_at bigint,
    supersedes {_TEXT},
    superseded_by {_TEXT},
    parent {_TEXT},
    origin {_TEXT},
    metadata {_TEXT} NOT NULL,
    version bigint NOT NULL,
    access_count bigint NOT NULL,
    shown_count bigint NOT NULL,
    mention_count bigint NOT NULL,
    accessed_at bigint,
    key_hash bigint GENERATED ALWAYS AS (hashtextextended(key, 0)) STORED,
    path_hash bigint GENERATED ALWAYS AS (hashtextextended(source_path, 0)) STORED,
    session_hash bigint GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED,
    speaker_front {_TEXT} GENERATED ALWAYS AS (left(speaker, 200)) STORED,
    PRIMARY KEY (hub_id, number)"""

# A key and a path belong to one memory of an audience that is not forgotten. Two hashes of 64 bits
# stand for the name: it may be longer than an index entry can be.
_AUDIENCE = "hashtextextended(CASE boundary WHEN 'private' THEN owner ELSE '' END, 0)"

# A table that comes later is for the roles that use the others; a view is only read.
SAME_RIGHTS = f"""
DO $$
DECLARE one name;
BEGIN
    FOR one IN SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a, pg_roles r
        WHERE c.oid = '{SCHEMA}.records'::regclass AND a.privilege_type = 'INSERT'
        AND r.oid = a.grantee AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON {SCHEMA}.{{table}} TO %I', one);
    END LOOP;
END $$"""
_TO_BE_READ = SAME_RIGHTS.replace("SELECT, INSERT, UPDATE, DELETE", "SELECT")

# What is due is asked of all hubs; that one read says so.
_DUE = "current_setting('holdfast.due', true) = 'all'"


class View(NamedTuple):
    """A table that is only searched, as it is read: the rows of the hubs that are named. A policy
    would keep its index from being used (docs/decisions/postgres-search.md); the conditions of a
    plain view are joined with those of who reads it. `keys` are the columns by which rows are found
    that are to be taken away: who may not read the table may read these. What is written has
    policies (the fifth migration), since a condition that always holds keeps no index from being
    used."""

    name: str
    table: str
    columns: str
    keys: str

    @property
    def statement(self) -> str:
        return f"CREATE VIEW {self.name} AS SELECT {self.columns} FROM {self.table} WHERE {{named}}"

    @property
    def write_policies(self) -> tuple[str, ...]:
        on, named = f"ON {self.table} FOR", "({named})"
        return (
            f"CREATE POLICY read_through_view {on} SELECT USING (true)",
            f"CREATE POLICY named_hubs_added {on} INSERT WITH CHECK {named}",
            f"CREATE POLICY named_hubs_changed {on} UPDATE USING {named} WITH CHECK {named}",
            f"CREATE POLICY named_hubs_removed {on} DELETE USING {named}",
        )


VIEWS = (
    View(
        "named_words",
        "words",
        "hub_id, passage, memory, length, words",
        keys="hub_id, passage, memory",
    ),
    View("named_substrings", "substrings", "hub_id, memory, grams", keys="hub_id, memory"),
    View("named_turn_words", "turn_words", "hub_id, place, words", keys="hub_id, place"),
)


def raise_wall(table: str) -> tuple[str, ...]:
    """The statements from which on the policies of a table hold, for its owner too."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
    )


# Before the fifth schema, many rows went by COPY straight into tables that are only searched, and
# no table whose policies hold takes that. So they hold from the start where nobody has written yet,
# and elsewhere from `store init --role` on (see roles.py).
_RAISED_WHERE_NEW = f"""
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM hubs) THEN
        {"; ".join(part for view in VIEWS for part in raise_wall(view.table))};
    END IF;
END $$"""

MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "hubs, memories, history, the log, mirrored files, records; passages, words, vectors",
        oldest=1,
        before=(
            "CREATE SEQUENCE hub_ids",
            "CREATE SEQUENCE model_ids",
            # What is written later has a higher place; within a hub, where writers take turns, the
            # order of places is the order of writing.
            "CREATE SEQUENCE places",
            "CREATE SEQUENCE passage_ids",
        ),
        plain=(
            (
                "hubs",
                f"""
    hub_id bigint NOT NULL PRIMARY KEY,
    id {_TEXT} NOT NULL UNIQUE,
    name {_TEXT} NOT NULL UNIQUE,
    owner {_TEXT} NOT NULL,
    created_at bigint NOT NULL,
    state {_TEXT} NOT NULL""",
            ),
            (
                "models",
                f"""
    model integer NOT NULL PRIMARY KEY,
    name {_TEXT} NOT NULL UNIQUE""",
            ),
        ),
        tables=(
            # What a write counts up; apart from `hubs`, which every node has whole.
            Table(
                "hub_counts",
                """
    hub_id bigint NOT NULL PRIMARY KEY REFERENCES hubs (hub_id),
    numbers bigint NOT NULL,
    passages bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0""",
                walled=False,  # the list of hubs is made of it
            ),
            Table("memories", _MEMORIES, large=True),
            Table(
                "changes",
                f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    id {_TEXT} NOT NULL,
    place bigint NOT NULL DEFAULT nextval('places'),
    at bigint NOT NULL,
    actor {_TEXT} NOT NULL,
    action {_TEXT} NOT NULL,
    reason {_TEXT} NOT NULL,
    undoes {_TEXT},
    undone_by {_TEXT},
    PRIMARY KEY (hub_id, id)""",
                large=True,
            ),
            Table(
                "revisions",
                f"""
    hub_id bigint NOT NULL,
    memory bigint NOT NULL,
    version bigint NOT NULL,
    change_id {_TEXT} NOT NULL,
    sequence bigint NOT NULL DEFAULT nextval('places'),
    at bigint NOT NULL,
    fields {_TEXT} NOT NULL,
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
    memory_id {_TEXT} NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    actor {_TEXT} NOT NULL,
    reason {_TEXT} NOT NULL,
    revisions bigint NOT NULL,
    PRIMARY KEY (hub_id, place)""",
            ),
            Table(
                "turns",
                f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    place bigint NOT NULL DEFAULT nextval('places'),
    id {_TEXT} NOT NULL,
    role {_TEXT} NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content {_TEXT} NOT NULL,
    at bigint NOT NULL,
    source {_TEXT} NOT NULL,
    session {_TEXT},
    session_hash bigint GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED,
    PRIMARY KEY (hub_id, place),
    UNIQUE (hub_id, id)""",
                large=True,
            ),
            Table(
                "agreed",
                f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    path {_TEXT} NOT NULL,
    text {_TEXT} NOT NULL,
    at bigint NOT NULL,
    path_hash bigint GENERATED ALWAYS AS (hashtextextended(path, 0)) STORED,
    path_hash_two bigint GENERATED ALWAYS AS (hashtextextended(path, 1)) STORED,
    PRIMARY KEY (hub_id, path_hash, path_hash_two)""",
            ),
            Table(
                "clashes",
                f"""
    hub_id bigint NOT NULL REFERENCES hubs (hub_id),
    id {_TEXT} NOT NULL,
    place bigint NOT NULL DEFAULT nextval('places'),
    memory_id {_TEXT} NOT NULL,
    path {_TEXT} NOT NULL,
    in_store {_TEXT} NOT NULL,
    in_file {_TEXT} NOT NULL,
    at bigint NOT NULL,
    settled_at bigint,
    PRIMARY KEY (hub_id, id)""",
            ),
            # Those of no hub have hub 0, which is not in `hubs`.
            Table(
                "records",
                f"""
    hub_id bigint NOT NULL,
    kind {_TEXT} NOT NULL,
    id {_TEXT} NOT NULL,
    at bigint NOT NULL,
    body {_TEXT} NOT NULL,
    lookup {_TEXT},
    due bigint,
    PRIMARY KEY (hub_id, kind, id)""",
            ),
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
    body {_TEXT} NOT NULL,
    head {_TEXT} NOT NULL,
    windows integer NOT NULL,
    PRIMARY KEY (hub_id, passage),
    FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE""",
                large=True,
            ),
            # What is searched, apart from what is shown: ranking reads these narrow rows alone.
            # Every term and every trigram carries its hub, so posting lists belong to one hub, and
            # a wall would only keep the index from being used.
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
    term {_TEXT} NOT NULL,
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
        ),
        after=(
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
            "CREATE INDEX memories_speaker ON memories (hub_id, speaker_front)"
            " WHERE speaker IS NOT NULL",
            "CREATE INDEX memories_held ON memories (hub_id, number) WHERE quarantine <> ''",
            "CREATE INDEX changes_place ON changes (hub_id, place)",
            "CREATE INDEX revisions_change ON revisions (hub_id, change_id)",
            "CREATE INDEX revisions_sequence ON revisions (hub_id, sequence)",
            "CREATE INDEX revisions_at ON revisions (hub_id, at)",
            "CREATE INDEX turns_session ON turns (hub_id, session_hash, place)"
            " WHERE session IS NOT NULL",
            "CREATE INDEX clashes_memory ON clashes (hub_id, memory_id)",
            "CREATE UNIQUE INDEX records_lookup ON records (hub_id, kind, lookup)"
            " WHERE lookup IS NOT NULL",
            # The one index that does not begin with the hub: what is due is asked of all of them.
            "CREATE INDEX records_due ON records (kind, due, hub_id, id) WHERE due IS NOT NULL",
            "CREATE INDEX passages_memory ON passages (hub_id, memory, ordinal)",
            "CREATE INDEX words_memory ON words (hub_id, memory)",
            "CREATE INDEX words_words ON words USING gin (words)",
            "CREATE INDEX substrings_grams ON substrings USING gin (grams)",
            "CREATE INDEX turn_words_words ON turn_words USING gin (words)",
        ),
    ),
    Migration(
        2,
        "marks of writes, for who has lost the line while one was being committed",
        oldest=1,
        tables=(
            # A row for each thread that has written; those of no hub have hub 0 (see failover.py).
            Table(
                "commits",
                f"""
    hub_id bigint NOT NULL,
    place {_TEXT} NOT NULL,
    mark bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (hub_id, place)""",
            ),
        ),
        after=(SAME_RIGHTS.format(table="commits"),),
    ),
    Migration(
        3,
        "indexes for the jobs of a hub, and for memories by time and by use",
        oldest=1,
        later=(
            # Which hubs have work that is due, and what is due in one of them, however much waits
            # in the others. It does not begin with the hub, since hubs are what is asked for.
            Index(
                "records_due_in_hub",
                "records",
                "(kind, hub_id, due, id) WHERE due IS NOT NULL",
            ),
            # A span of time in a large hub, and lists by when things happened.
            Index(
                "memories_happened",
                "memories",
                "(hub_id, coalesce(occurred_at, created_at), number) WHERE forgotten_at IS NULL",
            ),
            Index(
                "memories_updated",
                "memories",
                "(hub_id, updated_at, number) WHERE forgotten_at IS NULL",
            ),
            # What an agent is shown when it begins: what was used last, of however many.
            Index(
                "memories_used",
                "memories",
                "(hub_id, pinned, greatest(updated_at, accessed_at), number)"
                " WHERE forgotten_at IS NULL",
            ),
        ),
    ),
    Migration(
        4,
        "a wall for what is only searched; what is due in all hubs can be read and not written",
        oldest=1,
        after=(
            "ALTER POLICY named_hubs ON records USING ({named}) WITH CHECK ({named})",
            f"CREATE POLICY due_in_all ON records FOR SELECT USING ({_DUE})",
            *(view.statement for view in VIEWS),
            # Who may read the tables goes on reading them until `store init --role`: an older
            # Holdfast does.
            *(_TO_BE_READ.format(table=view.name) for view in VIEWS),
        ),
    ),
    Migration(
        5,
        "a wall for writing what is only searched; an index for memories by their last use",
        oldest=1,
        after=(*(one for view in VIEWS for one in view.write_policies), _RAISED_WHERE_NEW),
        later=(
            # Lists by when something was last used.
            Index(
                "memories_accessed",
                "memories",
                "(hub_id, coalesce(accessed_at, 0), number) WHERE forgotten_at IS NULL",
            ),
        ),
        can_wait=True,
    ),
)

NEWEST = MIGRATIONS[-1].version

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

# Emptied by drop_derived; `turn_words` is filled again from the turns at once.
DERIVED = (
    "passages",
    "words",
    "substrings",
    "turn_words",
    "terms",
    "vectors",
    "vector_totals",
)
# Everything of a hub, in an order in which it can be taken away.
OF_A_HUB = (
    *DERIVED,
    "revisions",
    "changes",
    "memories",
    "receipts",
    "turns",
    "agreed",
    "clashes",
    "records",
    "commits",
    "hub_counts",
)

# The second wall: a transaction sees rows of the hubs it has named, whatever its statements say.
# Superusers, and roles that may pass it by, do not meet it. The array is made once a statement; on
# Citus, which takes no subquery in a policy, wherever it is compared.
_NAMED = "hub_id = ANY (ARRAY(SELECT unnest(string_to_array("
_NAMED += "current_setting('holdfast.hubs', true), ','))::bigint))"
_NAMED_CITUS = (
    "hub_id = ANY (string_to_array(current_setting('holdfast.hubs', true), ',')::bigint[])"
)


def statements(
    migration: Migration, *, partitions: int = PARTITIONS, citus: bool = False
) -> Iterator[str]:
    """The statements of one migration, in order."""
    yield from migration.before
    for name, columns in migration.plain:
        yield f"CREATE TABLE {name} ({columns}\n)"
        if citus:
            yield f"SELECT create_reference_table('{name}')"
    for table in migration.tables:
        yield from table_statements(table, partitions=partitions, citus=citus)
    named = _NAMED_CITUS if citus else _NAMED
    yield from (statement.replace("{named}", named) for statement in migration.after)


def table_statements(table: Table, *, partitions: int, citus: bool) -> Iterator[str]:
    """The statements that make one table with its parts and its wall."""
    split = table.large and partitions > 1 and not citus
    yield f"CREATE TABLE {table.name} ({table.columns}\n)" + (
        " PARTITION BY HASH (hub_id)" if split else ""
    )
    if citus:
        yield f"SELECT create_distributed_table('{table.name}', 'hub_id')"
    elif split:
        for part in range(partitions):
            yield (
                f"CREATE TABLE {table.name}_{part} PARTITION OF {table.name}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
            )
    if table.walled:
        yield from _walled(table.name, _NAMED_CITUS if citus else _NAMED)


def _walled(name: str, named: str) -> Iterator[str]:
    # Of `records`, the fourth migration makes two policies.
    seen = f"({named} OR {_DUE})" if name == "records" else named
    yield from raise_wall(name)
    yield f"CREATE POLICY named_hubs ON {name} USING ({seen}) WITH CHECK ({named})"
