"""The second wall and who could get round it: the role that programs use has the rights it needs
and no more, and what somebody else puts into the database is not run by us."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.memory import open as open_memory
from holdfast.domain.records import Record, Turn
from holdfast.errors import ServerUnreachable
from tests.postgres_server import ROLE, databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.store.postgres.schema import newest  # noqa: E402
from holdfast.store.postgres.session import LISTENERS  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    at,
    make_hub,
    make_memory,
    put,
)
from tests.faults.postgres_edges import Line, url_of  # noqa: E402
from tests.postgres_migrations import KNOWN, SCHEMA_PATH  # noqa: E402

pytestmark = pytest.mark.faults

# Tables without a wall of their own, and why; see docs/decisions/postgres-search.md. What is not
# named here must have one.
_WITHOUT = {
    "hubs": "every hub is listed in it, and nothing of what is in one",
    "models": "names of embedding models",
    "migrations": "steps of the schema",
    "migration_steps": "steps of the schema",
    "hub_counts": "the list of hubs is made of it",
}
# Tables that programs read through views, and what they may read of the tables themselves. Their
# policies are about writing.
_KEYS = {
    "words": ["hub_id", "passage", "memory", "turn"],
    "substrings": ["hub_id", "passage", "memory", "turn"],
}


def _rows(url: str, query: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return list(connection.execute(query).fetchall())


_TABLES = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c
WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""


def test_every_table_has_a_wall_or_a_reason(url: str) -> None:
    found = dict(_rows(url, _TABLES))
    assert {name for name, walled in found.items() if not walled} <= set(_WITHOUT)
    assert len(found) > len(_WITHOUT)


def test_nothing_in_the_schema_runs_with_the_rights_of_its_maker(url: str) -> None:
    # pgvector may be there, whose functions run with the rights of who calls them.
    of_extension = (
        "SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid"
        " AND deptype = 'e'"
    )
    made = (
        "SELECT proname FROM pg_proc p WHERE pronamespace = 'holdfast'::regnamespace"
        f" AND (prosecdef OR NOT EXISTS ({of_extension}))"
    )
    assert _rows(url, made) == []
    views = "SELECT relname FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace"
    found = _rows(url, f"{views} AND relkind IN ('v', 'm', 'f')")
    assert {name for (name,) in found} == {f"named_{table}" for table in _KEYS}


def test_the_role_of_programs_has_the_rights_it_needs_and_no_more(url: str) -> None:
    granted = _rows(
        url,
        "SELECT c.relname, c.relkind, c.relispartition, a.privilege_type, a.is_grantable,"
        " a.grantee = 0 FROM pg_class c, aclexplode(c.relacl) a"
        " WHERE c.relnamespace = 'holdfast'::regnamespace"
        f" AND a.grantee IN (0, '{ROLE}'::regrole)",
    )
    assert granted
    rows = {"SELECT", "INSERT", "UPDATE", "DELETE", "MAINTAIN"}
    for name, kind, part, right, passed_on, everybody in granted:
        assert not passed_on, name
        assert not everybody, name
        allowed = {"MAINTAIN"} if part else {"USAGE"} if kind == "S" else rows
        if name in ("migrations", "migration_steps") or kind == "v":
            allowed = {"SELECT", "MAINTAIN"}
        if name in _KEYS:
            allowed = rows - {"SELECT"}
        assert right in allowed, (name, right)
    rights = "has_schema_privilege(%s, 'holdfast', %s)"
    with psycopg.connect(url) as connection:
        for right, has in (("USAGE", True), ("CREATE", False)):
            found = connection.execute(f"SELECT {rights}", (ROLE, right)).fetchone()
            assert found == (has,)
        everybody = connection.execute(f"SELECT {rights}", ("public", "USAGE")).fetchone()
        assert everybody == (False,)


def _filled(url: str) -> None:
    """Two hubs with memories, turns and work that is due."""
    store = PostgresStore(url)
    for hub_id in (HUB, "hub_b"):
        with store.write() as writer:
            writer.add_hub(make_hub(hub_id))
            put(writer, make_memory(1, hub_id=hub_id))
            writer.add_turn(Turn("turn_1", hub_id, "user", "a turn of words", at(1)))
            writer.put_record(Record(hub_id, "job", "job_1", at(1), {}, due=at(1)))
    store.close()


@pytest.fixture
def programs(url: str) -> str:
    """The URL of programs, for a store with two hubs."""
    _filled(url)
    return databases().url(str(psycopg.conninfo.conninfo_to_dict(url)["dbname"]), ROLE)


@pytest.mark.parametrize("table", list(_KEYS))
def test_words_of_hubs_that_are_not_named_are_not_read(programs: str, table: str) -> None:
    refused = psycopg.errors.InsufficientPrivilege
    what = "grams" if table == "substrings" else "words"
    with psycopg.connect(programs, autocommit=True) as connection:
        for statement in (
            f"SELECT * FROM holdfast.{table}",
            f"SELECT {what} FROM holdfast.{table} WHERE hub_id = 1",
            f"DELETE FROM holdfast.{table} WHERE hub_id = 1 RETURNING {what}",
            f"UPDATE holdfast.{table} SET {what} = {what} WHERE hub_id = 1",
            f"COPY holdfast.{table} TO STDOUT",
            f"DELETE FROM holdfast.named_{table}",
        ):
            with pytest.raises(refused):
                connection.execute(statement)
        every = f"SELECT DISTINCT hub_id FROM holdfast.named_{table}"
        assert connection.execute(every).fetchall() == []
        numbers = connection.execute("SELECT hub_id FROM holdfast.hubs").fetchall()
        assert len(numbers) == 2
        for (number,) in numbers:
            connection.execute(f"SET holdfast.hubs = '0,{number}'")
            assert connection.execute(every).fetchall() == [(number,)]


# Rows of a table that is only searched, and what is looked for among them.
_MANY = {
    "words": ("1, n, n, NULL, 1, array_to_tsvector(ARRAY['w' || n])", "words @@ 'w7'"),
    "substrings": ("1, n, n, NULL, ARRAY[n]", "grams @> '{7}'"),
}


@pytest.fixture
def owned() -> Iterator[tuple[str, str]]:
    """A database, and the role that owns the tables in it: no superuser, so the wall holds for what
    its views read."""
    made = databases()
    name = made.make_empty()
    owner = f"{name}_owner"
    made.make_role(owner)
    made.execute(f"GRANT CREATE ON DATABASE {name} TO {owner}")
    yield name, owner
    made.drop(name)
    made.execute(f"DROP ROLE {owner}")


def test_a_view_is_searched_by_the_index_of_its_table_in_one_part(owned: tuple[str, str]) -> None:
    name, owner = owned
    made = databases()
    made.make_role()
    initialise(made.url(name, owner), partitions=2, role=ROLE)
    for table, (values, _) in _MANY.items():
        made.execute(
            f"INSERT INTO holdfast.{table} SELECT {values} FROM generate_series(1001, 6000) AS n;"
            f" ANALYZE holdfast.{table}",
            name,
        )

    def searched(user: str, statement: str) -> str:
        said = "\n".join(row[0] for row in _rows(made.url(name, user), f"EXPLAIN {statement}"))
        (index,) = re.findall(r"Index Scan (?:on|using) (\w+)", said)
        return str(index)

    for user in (ROLE, owner):
        for table, (_, asked) in _MANY.items():
            rows = f"SELECT 1 FROM holdfast.named_{table} WHERE hub_id = 1 AND {asked}"
            assert re.fullmatch(rf"{table}_\d_(words|grams)_idx", searched(user, rows))
            # Rows that are to be taken away are found by an index too, behind the policy.
            key = "passage" if table == "substrings" else "turn"
            one = f"hub_id = 1 AND {key} = ANY('{{1007}}')"
            gone = searched(user, f"DELETE FROM holdfast.{table} WHERE {one}")
            assert re.fullmatch(rf"{table}_\d_(pkey|hub_id_(memory|turn)_idx)", gone)


@pytest.mark.parametrize("table", list(_KEYS))
def test_words_of_hubs_that_are_not_named_are_not_written(programs: str, table: str) -> None:
    refused = psycopg.errors.InsufficientPrivilege
    values, _ = _MANY[table]
    what = "grams = '{1}'" if table == "substrings" else "words = ''"
    with psycopg.connect(programs, autocommit=True) as connection:

        def add(hub: int) -> None:
            made = values.replace("1, n", f"{hub}, n", 1)
            connection.execute(
                f"INSERT INTO holdfast.{table} SELECT {made} FROM generate_series(501, 502) AS n"
            )

        def touched(where: str = "") -> list[int]:
            return [
                connection.execute(f"UPDATE holdfast.{table} SET {what}{where}").rowcount,
                connection.execute(f"DELETE FROM holdfast.{table}{where}").rowcount,
            ]

        rows = connection.execute("SELECT hub_id FROM holdfast.hubs ORDER BY 1").fetchall()
        mine, other = (number for (number,) in rows)
        for number in (mine, other):
            with pytest.raises(refused):
                add(number)
        assert touched() == [0, 0]
        connection.execute(f"SET holdfast.hubs = '0,{mine}'")
        with pytest.raises(refused):
            add(other)
        add(mine)
        with pytest.raises(refused):
            connection.execute(f"UPDATE holdfast.{table} SET hub_id = {other}")
        assert touched(f" WHERE hub_id = {other}") == [0, 0]
        # Two of these, and those of a memory and of a turn.
        assert touched() == [4, 4]
        connection.execute(f"SET holdfast.hubs = '0,{other}'")
        left = connection.execute(f"SELECT count(*) FROM holdfast.named_{table}").fetchone()
        assert left == (2,)


def test_the_read_of_what_is_due_in_all_hubs_lets_nobody_write_there(programs: str) -> None:
    with psycopg.connect(programs, autocommit=True) as connection:
        connection.execute("SET holdfast.due = 'all'")
        seen = "SELECT hub_id FROM holdfast.records WHERE kind = 'job' ORDER BY hub_id"
        both = connection.execute(seen).fetchall()
        assert len(both) == 2
        assert connection.execute("UPDATE holdfast.records SET body = '{}'").rowcount == 0
        assert connection.execute("DELETE FROM holdfast.records").rowcount == 0
        connection.execute(f"SET holdfast.hubs = '0,{both[0][0]}'")
        deleted = connection.execute("DELETE FROM holdfast.records WHERE kind = 'job'")
        assert deleted.rowcount == 1
        assert connection.execute(seen).fetchall() == both[1:]


def test_the_role_that_owns_the_tables_can_be_let_in_like_any_other(owned: tuple[str, str]) -> None:
    url = databases().url(*owned)
    initialise(url, partitions=1, role=owned[1])
    _filled(url)
    with closing(PostgresStore(url)) as store:
        assert store.check() == []


def test_the_owner_of_the_tables_is_behind_the_wall_too(owned: tuple[str, str]) -> None:
    store = PostgresStore(databases().url(*owned), partitions=1)
    with store.write() as writer:
        for hub_id in (HUB, "hub_b"):
            writer.add_hub(make_hub(hub_id))
            put(writer, make_memory(1, hub_id=hub_id))
    with store.read() as reader:
        bare = reader._session.connection
        assert bare.execute("SELECT hub_id FROM memories").fetchall() == []
        reader.memory(HUB, "mem_1")
        assert len(bare.execute("SELECT hub_id FROM memories").fetchall()) == 1
    store.close()


def test_the_wall_is_not_switched_off_from_inside(url: str) -> None:
    name = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
    programs = databases().url(name, ROLE)
    store = PostgresStore(programs)
    with store.write() as writer:
        writer.add_hub(make_hub())
        put(writer, make_memory(1))
    store.close()
    refused = psycopg.errors.InsufficientPrivilege
    with psycopg.connect(programs, autocommit=True) as connection:
        assert connection.execute("SELECT * FROM holdfast.memories").fetchall() == []
        connection.execute("SET row_security = off")
        with pytest.raises(refused):
            connection.execute("SELECT * FROM holdfast.memories")
        for attempt in (
            "ALTER TABLE holdfast.memories DISABLE ROW LEVEL SECURITY",
            "DROP POLICY named_hubs ON holdfast.memories",
            "TRUNCATE holdfast.memories",
            "CREATE TABLE holdfast.mine (a int)",
            "SET ROLE postgres",
            "COPY (SELECT 1) TO PROGRAM 'true'",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(attempt)


# Each fits a call of ours better than the function of the server does.
_TRAPS = """
CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint IMMUTABLE
    LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION public.left(text, smallint) RETURNS text IMMUTABLE
    LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION public.length(name) RETURNS integer IMMUTABLE
    LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE TABLE public.memories (trapped int);
CREATE TABLE public.hubs (trapped int)
"""


def test_functions_that_somebody_else_made_are_not_called() -> None:
    made = databases()
    made.make_role()
    name = made.make_empty()
    try:
        made.execute(_TRAPS, name)
        made.execute("GRANT CREATE ON SCHEMA public TO public", name)
        initialise(made.url(name), partitions=1, role=ROLE)
        for url in (made.url(name), made.url(name, ROLE)):
            store = PostgresStore(url)
            with store.write() as writer:
                if writer.hub_by_id(HUB) is None:
                    writer.add_hub(make_hub())
                number = writer.statistics(HUB).memories + 1
                put(writer, make_memory(number)._replace(key=f"key {number}", session="one"))
            assert store.check() == []
            store.close()
        used = _rows(made.url(name), "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef")
        assert not any("public." in expression for (expression,) in used)
    finally:
        made.drop(name)


# What a path that names pg_catalog last would find first.
_LOOK_ALIKES = """
CREATE SCHEMA mine;
CREATE TABLE mine.migrations (version int, oldest int, partitions int, citus boolean);
CREATE TABLE mine.migration_steps (version int, step text, finished_at timestamptz);
CREATE TABLE mine.pg_class (LIKE pg_catalog.pg_class);
CREATE TABLE mine.pg_policy (LIKE pg_catalog.pg_policy);
CREATE TABLE mine.pg_roles (rolname name, oid oid);
CREATE TABLE mine.pg_namespace (oid oid, nspname name);
CREATE TABLE mine.pg_extension (extname name, extnamespace oid, extversion text);
INSERT INTO mine.pg_namespace VALUES (1, 'mine');
INSERT INTO mine.pg_extension VALUES ('vector', 1, '9.9');
CREATE FUNCTION mine.to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT NULL::regclass';
CREATE FUNCTION mine.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$SELECT '2001-01-01T00:00:00Z'::timestamptz$$;
CREATE FUNCTION mine.pg_has_role(oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION mine.pg_try_advisory_xact_lock(int, int) RETURNS boolean LANGUAGE sql
    AS 'SELECT false';
GRANT USAGE ON SCHEMA mine TO public;
GRANT SELECT ON ALL TABLES IN SCHEMA mine TO public;
"""


def test_what_a_role_has_in_its_own_path_is_not_taken_for_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SCHEMA_PATH, KNOWN)
    made = databases()
    made.make_role()
    name = made.make_empty()
    try:
        if made.has_extension("vector"):
            made.execute("CREATE EXTENSION vector SCHEMA public", name)
        made.execute(_LOOK_ALIKES, name)
        made.execute(f"ALTER DATABASE {name} SET search_path = mine, pg_catalog")
        # Everything: making it, letting a role in, steps for later, opening, locks.
        prepared = initialise(made.url(name), partitions=1, role=ROLE)
        assert (prepared.offered.version, prepared.offered.later) == (newest(), ())
        assert prepared.offered.vector_schema in ("public", "")
        for user in ("postgres", ROLE):
            with closing(PostgresStore(made.url(name, user))) as store:
                assert store.offered == prepared.offered
                assert store.skew() == timedelta()
                with store.alone("this", HUB) as mine:
                    assert mine
                assert not any("not up to date" in note for note in store.notes())
        _filled(made.url(name, ROLE))
        with closing(PostgresStore(made.url(name, ROLE))) as store:
            assert store.check() == []
    finally:
        made.drop(name)


@pytest.mark.parametrize("given", ["the URL", "the environment"])
def test_every_text_comes_through_whatever_encoding_is_asked_for(
    url: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given == "the environment":
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    asked = url if given == "the environment" else url_of(url, client_encoding="LATIN1")
    store = PostgresStore(asked)
    with store.write() as writer:
        writer.add_hub(make_hub())
        put(writer, make_memory(1)._replace(title="東京 – ½"))
    with store.read() as reader:
        found = reader.memory(HUB, "mem_1")
        assert found is not None
        assert found.title == "東京 – ½"
    store.close()


def test_options_of_a_url_do_not_weaken_what_is_kept(url: str) -> None:
    """What counts is said inside each transaction."""
    options = (
        "-c synchronous_commit=off -c search_path=public -c holdfast.hubs=1,2,3"
        " -c default_transaction_isolation=serializable -c standard_conforming_strings=off"
    )
    store = PostgresStore(url_of(url, options=options))
    with store.write() as writer:
        connection = writer._session.connection
        for setting, value in (
            ("synchronous_commit", "on"),
            ("transaction_isolation", "read committed"),
            ("holdfast.hubs", "0"),
        ):
            assert connection.execute(f"SHOW {setting}").fetchone() == (value,)
        writer.add_hub(make_hub())
        put(writer, make_memory(1)._replace(content="back\\slash ' quote", title="a\\'b"))
    with store.read() as reader:
        found = reader.memory(HUB, "mem_1")
        assert found is not None
        assert found.title == "a\\'b"
    store.close()


def test_no_word_of_a_user_stands_in_a_statement(url: str, tmp_path: Path) -> None:
    """Words go beside statements, never into them, wherever they come from."""
    word = "zqx'\";--%s{0}$1"
    sent: list[str] = []
    LISTENERS.append(sent.append)
    try:
        settings = {"embed.model": "none", "store.url": url, "actor": "zqx-actor"}
        with open_memory(tmp_path, settings=settings) as memory:
            hub = memory.create_hub("zqx-hub")
            fields = {"category": "zqx", "key": "zqx", "session": word, "tags": ["zqx"]}
            stored = hub.remember(f"A memory of {word}", title=word, summary=word, **fields)
            hub.remember_many([f"{number} of {word}" for number in range(300)])
            hub.recall(word, category="zqx", tags=["zqx"], session=word)
            hub.recall(f'"{word}" zq*', since="2020-01-01T00:00:00Z")
            hub.search_text(word)
            hub.search_text(word, words=True, category="zqx")
            hub.list(category="zqx", session=word, tags=["zqx"])
            hub.context(word)
            hub.related(stored.memory.id)
            hub.update(stored.memory.id, content=f"Another {word}", reason=word)
            hub.history(stored.memory.id)
            hub.log_turn("user", word, session=word)
            hub.search_turns(word)
            hub.turns(session=word)
            hub.changes()
            hub.forget(stored.memory.id, reason=word)
            hub.purge(stored.memory.id, reason=word)
            memory.core.store.check()
    finally:
        LISTENERS.remove(sent.append)
    assert len(set(sent)) > 50
    assert [statement for statement in sent if "zqx" in statement.lower()] == []


def test_every_node_is_told_which_hubs_are_meant(url: str) -> None:
    """On Citus the wall stands on each node. Here one server is taken for many: what is sent can be
    seen, and whether nodes heed it cannot (see test_postgres_citus.py)."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE holdfast.migrations SET citus = true")
    sent: list[str] = []
    try:
        store = PostgresStore(url)
        LISTENERS.append(sent.append)
        with store.write() as writer:
            writer.add_hub(make_hub())
            put(writer, make_memory(1))
        with store.read() as reader:
            assert reader.memory(HUB, "mem_1") is not None
            connection = reader._session.connection
            passed_on = connection.execute("SHOW citus.propagate_set_commands").fetchone()
            assert passed_on == ("local",)
            (named,) = connection.execute("SHOW holdfast.hubs").fetchone()
            assert f"SET LOCAL holdfast.hubs = '{named}'" in sent
        store.close()
    finally:
        LISTENERS.remove(sent.append)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE holdfast.migrations SET citus = false")


def test_who_sets_a_store_up_is_told_of_a_line_that_can_be_read(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(url)
    try:
        assert not any("encrypted" in note for note in initialise(line.url).notes)
        monkeypatch.setattr("holdfast.store.postgres.checks.LOCAL", ())
        assert any("is not encrypted" in note for note in initialise(line.url).notes)
        with pytest.raises(ServerUnreachable, match="offers no TLS") as caught:
            PostgresStore(url_of(line.url, sslmode="require"))
        assert "ssl = on" in caught.value.hint
    finally:
        line.close()


def test_no_name_is_looked_up_where_everybody_may_make_functions() -> None:
    """Also where pgvector is: its types and operators are named with their schema."""
    needs(extension="vector", least=(0, 8))
    made = databases()
    name = made.make_empty()
    try:
        made.execute("CREATE EXTENSION vector SCHEMA public", name)
        made.execute("GRANT CREATE ON SCHEMA public TO public", name)
        assert initialise(made.url(name), partitions=1).notes == ()
        with closing(PostgresStore(made.url(name))) as store, store.read() as reader:
            path = reader._session.value("SELECT array_to_string(current_schemas(true), ' ')")
        assert "public" not in path.split()
    finally:
        made.drop(name)
