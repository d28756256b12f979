"""Whatever stands in the search path that a role was given, nothing of it is called: what the store
sends means the server's own functions, operators, types and catalogs, and pgvector's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast.store
from holdfast.domain.records import NO_HUB
from tests.faults.postgres_edges import url_of
from tests.postgres_server import ROLE, databases

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, vector_index  # noqa: E402 - the extra
from holdfast.store.postgres.connections import (  # noqa: E402
    Mark,
    connect,
    was_committed,
)
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.store.postgres.schema import search_path  # noqa: E402
from holdfast.store.postgres.urls import complete  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)

pytestmark = pytest.mark.faults

# One of each name that the store's statements hold, before the server's own in the path. Whoever
# calls it is told so, by an error.
_STAND_IN = """
CREATE SCHEMA evil;
CREATE FUNCTION evil.stand_in(what text) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'evil % was called', what; END $$;
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT p.proname AS name, pg_get_function_identity_arguments(p.oid) AS given,
        pg_get_function_result(p.oid) AS result FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
        AND p.proname = ANY(string_to_array('{names}', ','))
        AND pg_get_function_identity_arguments(p.oid) !~ 'any|internal|VARIADIC'
    LOOP
        EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
            one.name, one.given, one.result,
            format('BEGIN PERFORM evil.stand_in(%L); END', one.name));
    END LOOP;
    FOR one IN SELECT o.oprname AS name, o.oprleft::regtype AS l, o.oprright::regtype AS r,
        o.oprresult::regtype AS result, o.oid FROM pg_operator o
        WHERE o.oprname IN ('=', '>=', '*', '||', '<>', '>') AND o.oprkind = 'b'
        AND o.oprleft IN (SELECT oid FROM pg_type WHERE typcategory IN ('S', 'N', 'U', 'D'))
        AND o.oprright IN (SELECT oid FROM pg_type WHERE typcategory IN ('S', 'N', 'U', 'D'))
        AND o.oprleft = o.oprright
    LOOP
        EXECUTE format('CREATE FUNCTION evil.operator_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS %L',
            one.oid, one.l, one.r, one.result,
            format('BEGIN PERFORM evil.stand_in(%L); END', one.name));
        EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s,'
            ' FUNCTION = evil.operator_%s)', one.name, one.l, one.r, one.oid);
    END LOOP;
    FOR one IN SELECT t.typname AS name FROM pg_type t
        WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname IN
        ('text', 'name', 'pg_lsn', 'xid8', 'regclass', 'regnamespace', 'oid', 'bytea', 'tsvector')
    LOOP
        EXECUTE format('CREATE DOMAIN evil.%I AS pg_catalog.%I CHECK (evil.stand_in(%L))',
            one.name, one.name, one.name);
    END LOOP;
    FOR one IN SELECT c.relname AS name FROM pg_class c
        WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
        AND c.relname = ANY(string_to_array('{names}', ','))
    LOOP
        EXECUTE format('CREATE VIEW evil.%I AS SELECT * FROM pg_catalog.%I WHERE evil.stand_in(%L)',
            one.name, one.name, one.name);
    END LOOP;
END $$
"""


def _names() -> str:
    """Every word that stands in the store's source."""
    folder = Path(holdfast.store.__file__).parent / "postgres"
    words = {
        word
        for file in folder.glob("*.py")
        for word in re.findall(r"\b[a-z_]\w+", file.read_text())
    }
    return ",".join(sorted(words))


@pytest.fixture
def hostile() -> Iterator[str]:
    """A database where everything stands in for the server's own, and first."""
    databases().make_role()
    name = databases().make_empty()
    with psycopg.connect(databases().url(name), autocommit=True) as connection:
        connection.execute(_STAND_IN.replace("{names}", _names()))
    yield url_of(databases().url(name), options="-c search_path=evil,pg_catalog")
    databases().drop(name)


def test_nothing_that_stands_in_the_path_of_a_role_is_called(hostile: str) -> None:
    with (
        psycopg.connect(hostile) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="evil pg_is_in_recovery"),
    ):
        connection.execute("SELECT pg_is_in_recovery()")
    prepared = initialise(hostile, partitions=1, role=ROLE)
    store = PostgresStore(hostile, read_url=hostile)
    with store.write() as writer:
        writer.add_hub(make_hub())
        put(writer, make_memory(1), [[b"\0\0\x80\x3f\1\2\3\4"]])
    with store.write(durable=False) as writer:
        writer.count_shown(HUB, ["mem_1"])
    with store.read() as reader:
        assert reader.statistics(HUB).memories == 1
    store.skew()
    assert store.check() == []
    store.notes()
    store.about()
    store.settle()
    with store.alone("something", NO_HUB) as mine:
        assert mine
    if prepared.offered.vector_schema:
        assert [one.vectors for one in vector_index.build(store, index_from=1)] == [1]
        assert len(list(vector_index.drop(store))) == 1
    store.close()
    # What became of a write is asked on a connection of its own.
    mark = Mark(0, "nobody", 1, "3")
    path = [f"SET LOCAL search_path = {search_path()}"]
    assert was_committed(mark, lambda: connect(complete(hostile)), path, "it", 10.0) == ""
