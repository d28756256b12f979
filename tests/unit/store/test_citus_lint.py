"""The rules for what is sent to Citus: each can be broken, and the store breaks none of them. The
conformance kit runs behind them too (tests/conformance/test_stores.py)."""

from __future__ import annotations

import pytest

from tests.citus_lint import SEEN, CitusLint, statements_of
from tests.postgres_server import database, databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.api.memory import open as open_memory  # noqa: E402
from holdfast.errors import StoreError  # noqa: E402
from holdfast.store.postgres import PostgresStore  # noqa: E402
from holdfast.store.postgres.schema import MIGRATIONS  # noqa: E402
from tests.citus_standin import citus_standin, lint  # noqa: E402
from tests.postgres_server import ROLE  # noqa: E402
from tests.postgres_wire import wire  # noqa: E402

# What the store sent, or would have to send, before it was seen on a cluster.
BROKEN = {
    "ddl alone": ["BEGIN", "CREATE SCHEMA holdfast", "CREATE TABLE hubs (hub_id bigint)"],
    "fan-out": [
        "SELECT h.id, c.numbers FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
        " WHERE h.name = $1"
    ],
    "fan-out before write": [
        "BEGIN",
        "SELECT h.id, h.name FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id ORDER BY h.name",
        "INSERT INTO hubs (hub_id, id) VALUES (nextval('hub_ids'), $1)",
    ],
    "view rights": ["GRANT INSERT, UPDATE, DELETE, SELECT (hub_id, memory) ON holdfast.words TO a"],
    "insert select": ["INSERT INTO memories (hub_id, id) SELECT hub_id, id FROM incoming_memories"],
    "catalog": ["SELECT (SELECT c.reltuples FROM pg_class c) FROM passages p WHERE p.hub_id = $1"],
    "unqualified": [
        "CREATE INDEX CONCURRENTLY e ON holdfast.embeddings USING hnsw"
        ' ((embedding::"public".halfvec(384)) halfvec_cosine_ops)'
    ],
    "one statement": [
        "BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL holdfast.hubs = '0'"
    ],
    "set_config": ["SELECT set_config('holdfast.hubs', '1', true)"],
    "lock": ["SELECT pg_advisory_xact_lock(1, 2) FROM hubs h WHERE h.id = $1"],
}
ALSO_BROKEN = [
    ("catalog", "ANALYZE memories_102057"),
    ("catalog", "SELECT p.tableoid::regclass FROM passages p WHERE p.hub_id = $1"),
    ("unqualified", "SELECT e.embedding <=> $1 FROM embeddings e WHERE e.hub_id = $2"),
    ("unqualified", "SELECT e.embedding::halfvec FROM embeddings e WHERE e.hub_id = $2"),
    ("fan-out", "UPDATE memories SET state = 'archived'"),
    ("fan-out", "SELECT count(*) FROM named_words w"),
    ("one statement", "CREATE TABLE a (b int); CREATE TABLE c (d int)"),
]
ALLOWED = [
    ["BEGIN", "CREATE SCHEMA holdfast", "COMMIT", "BEGIN", "CREATE TABLE hubs (hub_id bigint)"],
    [
        "BEGIN",
        "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
        "SELECT h.id, h.name FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id ORDER BY h.name",
        "INSERT INTO hubs (hub_id, id) VALUES (nextval('hub_ids'), $1)",
    ],
    ["INSERT INTO terms (hub_id) SELECT $1 FROM unnest($2::text[]) ON CONFLICT DO NOTHING"],
    ["INSERT INTO memories (hub_id) SELECT hub_id FROM incoming_memories RETURNING hub_id"],
    ['SELECT e.embedding::"a".halfvec(3) OPERATOR("a".<=>) $1 FROM embeddings e'
     " WHERE e.hub_id = $2"],
    ["SELECT h.hub_id FROM hubs h WHERE h.id = $1"],
    ["COMMIT; SELECT pg_current_wal_flush_lsn()"],
]  # fmt: skip


@pytest.mark.parametrize("rule", sorted(SEEN))
def test_every_rule_can_be_broken(rule: str) -> None:
    check = CitusLint().check
    *before, last = BROKEN[rule]
    assert [check(one) for one in before] == [""] * len(before)
    assert check(last) == f"{rule}: {SEEN[rule]}"


@pytest.mark.parametrize(("rule", "statement"), ALSO_BROKEN)
def test_a_rule_is_about_a_class_of_statements(rule: str, statement: str) -> None:
    assert CitusLint().check(statement).startswith(f"{rule}: ")


@pytest.mark.parametrize("sent", ALLOWED)
def test_what_citus_takes_is_allowed(sent: list[str]) -> None:
    check = CitusLint().check
    assert [check(one) for one in sent] == [""] * len(sent)


def test_statements_are_told_apart_by_semicolons_that_are_not_in_quotes() -> None:
    assert statements_of("SELECT ';', \"a;b\"; COMMIT;") == ["SELECT ';', \"a;b\"", "COMMIT"]


def test_the_schema_for_citus_breaks_no_rule() -> None:
    check = CitusLint().check
    made = [one for step in MIGRATIONS for one in step.statements(citus=True)]
    assert [why for one in made if (why := check(one))] == []


def test_the_proxy_refuses_what_the_rules_refuse() -> None:
    """A store that takes the server for a single one sends what Citus does not take."""
    with database(ROLE) as url, wire(url, lint) as proxy:
        store = PostgresStore(proxy.url)
        with pytest.raises(StoreError, match="fan-out"), store.read() as reader:
            reader.hub("anything")
        store.close()
        assert len(proxy.refused) == 1


def test_a_life_of_a_hub_breaks_no_rule(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Above 100 rows they are copied, and above 1,000 passages a table would be analysed."""
    needs(version=150000)
    with citus_standin() as proxy:
        settings = {"embed.model": "none", "store.url": proxy.url}
        with open_memory(tmp_path, settings=settings) as memory:
            hub = memory.create_hub("life")
            hub.remember_many([f"Box {number} is in the attic" for number in range(1_100)])
            hub.remember("The office is in Bonn", key="office")
            hub.update("office", content="The office is in Ulm", reason="moved")
            assert hub.recall("office")
            hub.undo()
            hub.purge("office")
            hub.log_turn("user", "Where is box 7?")
            assert memory.core.store.check() == []
            memory.rename_hub("life", "after")
            memory.delete_hub("after")
        assert proxy.refused == []


def test_an_owner_who_is_no_superuser_sets_up_a_store_and_lets_a_role_in() -> None:
    """The stand-in refuses tables in a schema that is not committed, as Citus does."""
    needs(version=150000)
    with citus_standin() as proxy:
        name = proxy.url.rpartition("/")[2].partition("?")[0]
        with psycopg.connect(databases().url(name)) as connection:
            row = connection.execute(
                "SELECT tableowner FROM pg_tables WHERE tablename = 'memories'"
            ).fetchone()
    assert row == ("holdfast_owner",)
