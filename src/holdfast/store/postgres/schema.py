"""The PostgreSQL schema, as ordered migrations: tables, indexes, rights and row level security.

Each migration runs once, in its own transaction, and is recorded in the table `migrations`. Work
that takes long on tables in use is left for later, as a step (see `migrate`). A released migration
is never edited: a later change is a new migration.

One schema serves plain PostgreSQL, managed servers and Citus. `hub_id` leads every primary key,
unique key and foreign key, and never changes, so that a hub can live in any partition or on any
node. There are no triggers, no sequence that orders rows of two hubs, and nothing that locks
rows of two hubs. `hubs` and `models` are small tables that every node has whole.

Row level security: a transaction sees and writes rows of the hubs that it has named, whatever its
statements say. It is a second line of defence behind the conditions of the statements themselves,
and does not hold for superusers and roles with BYPASSRLS.

Canonical tables hold hubs, memories and their history, the conversation log, mirrored files,
records and marks of commits; they cannot be rebuilt from anything else. Derived tables hold
passages, the search tables and vectors; they can be emptied and rebuilt from the canonical ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import psycopg

SCHEMA = "holdfast"


def search_path() -> str:
    """The schemas in which names are looked up: ours alone.

    `public` is left out: somebody who may create functions in it could create one that matches a
    call better than the server's own. What pgvector defines is named with its schema (`Halfvec`).
    Temporary tables come last, so that none hides a table of ours.
    """
    return f'"{SCHEMA}", pg_temp'


@contextmanager
def own_search_path(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """A transaction with our search_path, whatever the role's is. The setting is local to the
    transaction because a pooler may hand the session to somebody else."""
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path = {search_path()}")
        yield


class Halfvec(NamedTuple):
    """The half-precision vectors of pgvector, which is installed in `schema`. Their names are
    qualified: the nodes of Citus have another search_path."""

    schema: str

    @property
    def _quoted(self) -> str:
        return '"{}"'.format(self.schema.replace('"', '""'))

    @property
    def type(self) -> str:
        return f"{self._quoted}.halfvec"

    @property
    def distance(self) -> str:
        """The operator for the cosine distance."""
        return f"OPERATOR({self._quoted}.<=>)"

    @property
    def cosine_ops(self) -> str:
        """The operator class of an index for it."""
        return f"{self._quoted}.halfvec_cosine_ops"


# Row level security

# The array is built once a statement. Citus takes no subquery in a policy, so there it is built for
# every comparison.
_NAMED = "hub_id = ANY (ARRAY(SELECT unnest(string_to_array("
_NAMED += "current_setting('holdfast.hubs', true), ','))::bigint))"
_NAMED_CITUS = (
    "hub_id = ANY (string_to_array(current_setting('holdfast.hubs', true), ',')::bigint[])"
)
# Due records are read from all hubs; the transaction that does so sets this.
_DUE = "current_setting('holdfast.due', true) = 'all'"


def _enable_row_security(table: str) -> tuple[str, ...]:
    """The statements that make the policies of a table hold, for its owner too."""
    return (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
    )


class View(NamedTuple):
    """A search table of PostgreSQL, and the view through which it is read: the rows of the named
    hubs.

    A policy for reading would keep the search index from being used
    (docs/decisions/postgres-search.md); the planner joins the conditions of a plain view with those
    of the query. Writes have policies. `keys` are the columns that a role may read in the table
    itself, to find the rows that it deletes.

    Citus replaces a view by its query and reads the shard with the rights of the caller, so there a
    role may read the table, and a policy for reading restricts it.
    """

    name: str
    table: str
    columns: str
    keys: str = "hub_id, passage, memory, turn"

    @property
    def statements(self) -> tuple[str, ...]:
        """Creates the view and the policies. `{named}` is the condition for the named hubs,
        `{read}` that of the policy for reading."""
        on, mine = f"ON {self.table} FOR", "({named})"
        return (
            f"CREATE VIEW {self.name} AS SELECT {self.columns} FROM {self.table} WHERE {{named}}",
            f"CREATE POLICY read_through_view {on} SELECT USING ({{read}})",
            f"CREATE POLICY named_hubs_added {on} INSERT WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_changed {on} UPDATE USING {mine} WITH CHECK {mine}",
            f"CREATE POLICY named_hubs_removed {on} DELETE USING {mine}",
            *_enable_row_security(self.table),
        )


VIEWS = (
    View("named_words", "words", "hub_id, passage, memory, turn, length, words"),
    View("named_substrings", "substrings", "hub_id, passage, memory, turn, grams"),
)

# Tables

# How many partitions a large table has. A hub is in one of them; sixteen keep the indexes of 10
# million memories small enough for memory, and query plans short.
PARTITIONS = 16
PARTITIONS_MAX = 256
RIGHTS = "SELECT, INSERT, UPDATE, DELETE"


class Column(NamedTuple):
    """A column of a table of PostgreSQL, in the order in which rows are written; `rest` is its
    default, key or rule."""

    name: str
    type: str
    null: bool
    rest: str

    @property
    def definition(self) -> str:
        # Sorted by code point, as in every other store, and faster than by a language's rules.
        collation = ' COLLATE "C"' if self.type.startswith("text") else ""
        return f"{self.name} {self.type}{collation}{'' if self.null else ' NOT NULL'}{self.rest}"


def _columns(listed: str) -> tuple[Column, ...]:
    """Columns from `name type; name type? rest`; the question mark allows NULL."""
    found = []
    for column in listed.split(";"):
        name, kind, *rest = column.split(None, 2)
        extra = f" {' '.join(rest[0].split())}" if rest else ""
        found.append(Column(name, kind.removesuffix("?"), kind.endswith("?"), extra))
    return tuple(found)


class Table(NamedTuple):
    """A table of PostgreSQL, its columns and its keys. `large` ones are partitioned by hub;
    `secured` ones show only rows of the hubs that the transaction has named."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    large: bool = False
    secured: bool = True

    @property
    def written(self) -> tuple[Column, ...]:
        """The columns that are not generated from others."""
        return tuple(one for one in self.columns if "GENERATED" not in one.rest)

    @property
    def body(self) -> str:
        return ", ".join((*(one.definition for one in self.columns), *self.keys))

    def statements(self, *, partitions: int, citus: bool) -> Iterator[str]:
        """Creates the table, its partitions and its row level security."""
        split = self.large and partitions > 1 and not citus
        yield f"CREATE TABLE {self.name} ({self.body})" + (
            " PARTITION BY HASH (hub_id)" if split else ""
        )
        if citus:
            yield f"SELECT create_distributed_table('{self.name}', 'hub_id')"
        for part in range(partitions if split else 0):
            yield (
                f"CREATE TABLE {self.name}_{part} PARTITION OF {self.name}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part})"
            )
        if self.secured:
            mine = _NAMED_CITUS if citus else _NAMED
            yield from _enable_row_security(self.name)
            yield f"CREATE POLICY named_hubs ON {self.name} USING ({mine}) WITH CHECK ({mine})"


def grant_to_users(table: str) -> str:
    """The statement that gives a table that is created later to the roles that use the others."""
    return f"""
DO $$
DECLARE one name;
BEGIN
    FOR one IN SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a, pg_roles r
        WHERE c.oid = '{SCHEMA}.records'::regclass AND a.privilege_type = 'INSERT'
        AND r.oid = a.grantee AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT {RIGHTS} ON {SCHEMA}.{table} TO %I', one);
    END LOOP;
END $$"""


# Small tables that every node has whole (on Citus: reference tables).
_REFERENCE_TABLES = (
    Table(
        "hubs",
        _columns(
            "hub_id int8 PRIMARY KEY; id text UNIQUE; name text UNIQUE; owner text;"
            " created_at int8; state text; checksum int8"
        ),
    ),
    Table("models", _columns("model int4 PRIMARY KEY; name text UNIQUE")),
)

_HUB = "hub_id int8 REFERENCES hubs (hub_id);"
_PLACE = "place int8 DEFAULT nextval('places')"
_SESSION_HASH = "session_hash int8? GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED"

MEMORIES = Table(
    "memories",
    _columns(
        f"{_HUB} id text; number int8; content text; content_hash text; title text; owner text;"
        " created_at int8; updated_at int8; summary text; content_type text; key text?;"
        " category text; tags text[]; kind text; stability text; boundary text; state text;"
        " state_reason text; layer text; pinned bool; trust text; quarantine text; source text;"
        " source_agent text?; assisted_by_agent text?; source_path text?; session text?;"
        " speaker text?; occurred_at int8?; occurred_until int8?; valid_from int8?;"
        " valid_until int8?; expires_at int8?; forgotten_at int8?; supersedes text?;"
        " superseded_by text?; parent text?; origin text?; metadata text; version int8;"
        " access_count int8; shown_count int8; mention_count int8; accessed_at int8?;"
        " checksum int8; counters_check int8;"
        " key_hash int8? GENERATED ALWAYS AS (hashtextextended(key, 0)) STORED;"
        " path_hash int8? GENERATED ALWAYS AS (hashtextextended(source_path, 0)) STORED;"
        f" {_SESSION_HASH};"
        " speaker_front text? GENERATED ALWAYS AS (left(speaker, 200)) STORED"
    ),
    ("PRIMARY KEY (hub_id, number)",),
    large=True,
)
CHANGES = Table(
    "changes",
    _columns(
        f"{_HUB} id text; at int8; actor text; action text; reason text; undoes text?;"
        f" undone_by text?; checksum int8; {_PLACE}"
    ),
    ("PRIMARY KEY (hub_id, id)",),
    large=True,
)
REVISIONS = Table(
    "revisions",
    _columns(
        "hub_id int8; memory int8; version int8; change_id text; at int8; fields text;"
        " checksum int8; sequence int8 DEFAULT nextval('places')"
    ),
    (
        "PRIMARY KEY (hub_id, memory, version)",
        "FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE",
        "FOREIGN KEY (hub_id, change_id) REFERENCES changes (hub_id, id) ON DELETE CASCADE",
    ),
    large=True,
)
TURNS = Table(
    "turns",
    _columns(
        f"{_HUB} id text; role text CHECK (role IN ('user', 'assistant', 'system')); content text;"
        " at int8; source text; session text?; speaker text?; trust text; checksum int8;"
        f" {_PLACE}; {_SESSION_HASH}"
    ),
    ("PRIMARY KEY (hub_id, place)", "UNIQUE (hub_id, id)"),
    large=True,
)
_CANONICAL_TABLES = (
    # Counters that writes change; not in `hubs`, which is replicated to every node.
    Table(
        "hub_counts",
        _columns(
            "hub_id int8 PRIMARY KEY REFERENCES hubs (hub_id); numbers int8;"
            " passages int8 DEFAULT 0; terms int8 DEFAULT 0"
        ),
        secured=False,  # the list of hubs is read from it
    ),
    MEMORIES,
    CHANGES,
    REVISIONS,
    Table(
        "receipts",
        _columns(
            f"{_HUB} {_PLACE}; memory_id text; number int8; at int8; actor text; reason text;"
            " revisions int8; checksum int8"
        ),
        ("PRIMARY KEY (hub_id, place)",),
    ),
    TURNS,
    Table(
        "agreed",
        _columns(
            f"{_HUB} path text; text text; at int8; checksum int8;"
            " path_hash int8? GENERATED ALWAYS AS (hashtextextended(path, 0)) STORED;"
            " path_hash_two int8? GENERATED ALWAYS AS (hashtextextended(path, 1)) STORED"
        ),
        ("PRIMARY KEY (hub_id, path_hash, path_hash_two)",),
    ),
    Table(
        "clashes",
        _columns(
            f"{_HUB} id text; {_PLACE}; memory_id text; path text; in_store text; in_file text;"
            " at int8; settled_at int8?; checksum int8"
        ),
        ("PRIMARY KEY (hub_id, id)",),
    ),
    # Records that belong to no hub have hub 0, which is not in `hubs`.
    Table(
        "records",
        _columns(
            "hub_id int8; kind text; id text; at int8; body text; lookup text?; due int8?;"
            " checksum int8"
        ),
        ("PRIMARY KEY (hub_id, kind, id)",),
    ),
    # One row for each thread that has written, with which a writer that lost its connection during
    # a commit finds out whether it was committed (see session.py). Writes of no hub have hub 0.
    Table(
        "commits",
        _columns("hub_id int8; place text; mark int8; at timestamptz"),
        ("PRIMARY KEY (hub_id, place)",),
    ),
)

# A key or path belongs to one memory of an audience that is not forgotten. Two 64-bit hashes
# represent the name, which may be longer than an index entry can be.
_AUDIENCE = "hashtextextended(CASE boundary WHEN 'private' THEN owner ELSE '' END, 0)"

_CANONICAL_INDEXES = (
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

PASSAGES = Table(
    "passages",
    _columns(
        "hub_id int8; passage int8; memory int8?; turn int8?; ordinal int4; starts int4; ends int4;"
        " headings text[]; body text; head text; windows int4"
    ),
    (
        "PRIMARY KEY (hub_id, passage)",
        "CHECK ((memory IS NULL) <> (turn IS NULL))",
        "FOREIGN KEY (hub_id, memory) REFERENCES memories (hub_id, number) ON DELETE CASCADE",
        "FOREIGN KEY (hub_id, turn) REFERENCES turns (hub_id, place) ON DELETE CASCADE",
    ),
    large=True,
)
# The search tables, apart from what is shown: ranking reads only these narrow rows. Every term and
# trigram carries its hub, so posting lists belong to one hub. They are read through views.
WORDS = Table(
    "words",
    _columns("hub_id int8; passage int8; memory int8?; turn int8?; length int4; words tsvector"),
    ("PRIMARY KEY (hub_id, passage)",),
    large=True,
    secured=False,
)
# One row for a memory or a turn, named by its first passage.
SUBSTRINGS = Table(
    "substrings",
    _columns("hub_id int8; passage int8; memory int8?; turn int8?; grams int4[]"),
    ("PRIMARY KEY (hub_id, passage)",),
    large=True,
    secured=False,
)
# The number of passages that contain a term.
TERMS = Table(
    "terms",
    _columns("hub_id int8; term text; passages int8"),
    ("PRIMARY KEY (hub_id, term)",),
    large=True,
)
VECTORS = Table(
    "vectors",
    _columns("hub_id int8; model int4; passage int8; window_no int4; vector bytea"),
    ("PRIMARY KEY (hub_id, model, passage, window_no)",),
    large=True,
)
_DERIVED_TABLES = (
    PASSAGES,
    WORDS,
    SUBSTRINGS,
    TERMS,
    VECTORS,
    Table(
        "vector_totals",
        _columns(
            "hub_id int8; model int4; size int8; passages int8; newest int8; removals int8;"
            " indexed int4 DEFAULT 0"
        ),
        ("PRIMARY KEY (hub_id, model)",),
    ),
)
_DERIVED_INDEXES = (
    "CREATE INDEX passages_memory ON passages (hub_id, memory, ordinal) WHERE memory IS NOT NULL",
    "CREATE INDEX passages_turn ON passages (hub_id, turn, ordinal) WHERE turn IS NOT NULL",
    "CREATE INDEX words_memory ON words (hub_id, memory) WHERE memory IS NOT NULL",
    "CREATE INDEX words_turn ON words (hub_id, turn) WHERE turn IS NOT NULL",
    "CREATE INDEX words_words ON words USING gin (words)",
    "CREATE INDEX substrings_grams ON substrings USING gin (grams)",
)

# Emptied by drop_derived; turns are indexed again at once.
DERIVED = tuple(table.name for table in _DERIVED_TABLES)
# All tables with rows of a hub, in the order in which they can be deleted.
OF_A_HUB = (*DERIVED, *(table.name for table in reversed(_CANONICAL_TABLES)))

# Created only where pgvector is installed, and filled only for large hubs (see vector_index.py).
# Its rows are those of `vectors` in another form: the integers without the scale, which does not
# affect a cosine. A half-precision number holds them exactly.
EMBEDDINGS = "embeddings"


def embeddings_table(halfvec: Halfvec) -> Table:
    keys, vector = VECTORS.columns[:-1], Column("embedding", halfvec.type, False, "")
    return VECTORS._replace(name=EMBEDDINGS, columns=(*keys, vector))


# Migrations


class Index(NamedTuple):
    """An index of PostgreSQL. `what` is what follows the name of the table: columns, kind,
    condition."""

    name: str
    table: str
    what: str

    def statement(self, name: str, table: str, *, how: str = "") -> str:
        """Creates the index under a name on a table or one of its partitions; `how` is
        CONCURRENTLY, or ONLY for a partitioned table without its partitions."""
        concurrently, only = ("" if how != one else f"{one} " for one in ("CONCURRENTLY", "ONLY"))
        return f"CREATE INDEX {concurrently}{name} ON {only}{SCHEMA}.{table} {self.what}"


class Backfill(NamedTuple):
    """Fills a column in PostgreSQL, hub by hub. The statement changes at most `%(most)s` rows of
    the hub `%(hub)s` that are not filled yet, and is repeated until it changes fewer."""

    name: str
    table: str
    statement: str


class Check(NamedTuple):
    """A check constraint of PostgreSQL. It holds for new rows at once and is validated for the
    others later."""

    name: str
    table: str
    rule: str


Step: TypeAlias = Index | Backfill | Check


class Migration(NamedTuple):
    """One version of the schema.

    `plain` are the small tables that every node has whole; `after` is what follows the tables:
    indexes, views, policies. From the second migration on these statements must be short, because
    readers and writers wait for them, and must not rely on a step; what takes long, or relies on
    it, is a step.
    """

    version: int
    name: str
    oldest: int  # the oldest schema of a Holdfast that can still work with this one
    plain: tuple[Table, ...] = ()
    tables: tuple[Table, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # with `{named}` and `{read}` as conditions (see View)
    later: tuple[Step, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether a Holdfast that knows this migration cannot work without it. It can work without
        the steps that are left for later."""
        return bool(self.plain or self.tables or self.before or self.after)

    def statements(self, *, partitions: int = PARTITIONS, citus: bool = False) -> Iterator[str]:
        """All statements but the steps, in order."""
        yield from self.before
        for table in self.plain:
            yield f"CREATE TABLE {table.name} ({table.body})"
            if citus:
                yield f"SELECT create_reference_table('{table.name}')"
        for table in self.tables:
            yield from table.statements(partitions=partitions, citus=citus)
            if self.version > 1:
                yield grant_to_users(table.name)
        mine = _NAMED_CITUS if citus else _NAMED
        read = mine if citus else "true"
        for statement in self.after:
            yield statement.replace("{named}", mine).replace("{read}", read)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "the first schema",
        oldest=1,
        before=(
            "CREATE SEQUENCE hub_ids",
            "CREATE SEQUENCE model_ids",
            # Rows that are written later have a higher place. Writers of one hub take turns, so
            # within a hub the order of places is the order of writing.
            "CREATE SEQUENCE places",
            "CREATE SEQUENCE passage_ids",
        ),
        plain=_REFERENCE_TABLES,
        tables=(*_CANONICAL_TABLES, *_DERIVED_TABLES),
        after=(
            *_CANONICAL_INDEXES,
            *_DERIVED_INDEXES,
            f"CREATE POLICY due_in_all ON records FOR SELECT USING ({_DUE})",
            *(statement for view in VIEWS for statement in view.statements),
        ),
    ),
)


def newest() -> int:
    """The version of PostgreSQL's tables that this Holdfast writes."""
    return MIGRATIONS[-1].version
