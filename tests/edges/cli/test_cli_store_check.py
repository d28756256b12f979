"""`holdfast store check`: what a database lacks, in sentences; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import extensions  # noqa: E402


@pytest.fixture
def empty() -> Iterator[str]:
    databases().make_role()
    name = databases().make_empty()
    yield name
    databases().drop(name)


def test_an_empty_database_lacks_its_tables_and_nothing_is_made(run: Run, empty: str) -> None:
    told = run("store", "check", "--url", databases().url(empty, ROLE))
    assert told.code == 6
    lacks = [row[1] for row in told.rows if row[0] == "lacks"]
    assert any("holdfast store init" in one for one in lacks)
    assert any("GRANT CREATE ON DATABASE" in one for one in lacks)
    with psycopg.connect(databases().url(empty)) as connection:
        made = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'holdfast'")
        assert made.fetchone() is None


def test_a_store_that_is_ready_lacks_nothing(run: Run) -> None:
    with database(ROLE) as url:
        told = run("store", "check", "--url", url, "--json")
        assert told.code == 0, told.err
        found = told.data
        assert (found["ready"], found["lacks"]) == (True, [])
        assert found["server"].startswith("PostgreSQL ")


def test_a_role_without_rights_and_one_that_is_not_there_are_told(run: Run, empty: str) -> None:
    owner = databases().url(empty)
    assert run("store", "init", "--url", owner, "--partitions", "1").code == 0
    told = run("store", "check", "--url", owner, "--role", ROLE)
    assert told.code == 6
    assert f"holdfast store init --role {ROLE}" in told.out
    assert (
        "There is no role `nobody_x`"
        in run("store", "check", "--url", owner, "--role", "nobody_x").out
    )
    assert run("store", "init", "--url", owner, "--role", ROLE).code == 0
    assert run("store", "check", "--url", owner, "--role", ROLE).code == 0


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("default_transaction_read_only = on", "RESET default_transaction_read_only"),
        ("row_security = off", "RESET row_security"),
        ("statement_timeout = '500ms'", "large writes are stopped"),
    ],
)
def test_settings_of_a_service_that_are_in_the_way_are_reported(
    run: Run, empty: str, setting: str, words: str
) -> None:
    owner = databases().url(empty)
    assert run("store", "init", "--url", owner, "--partitions", "1", "--role", ROLE).code == 0
    databases().execute(f"ALTER DATABASE {empty} SET {setting}")
    assert words in run("store", "check", "--url", databases().url(empty, ROLE)).out


def test_a_superuser_is_told_that_nothing_keeps_hubs_apart_for_it(run: Run) -> None:
    with database() as url:
        told = run("store", "check", "--url", url)
        assert told.code == 0
        assert "Row level security does not hold" in told.out


def test_a_file_is_not_checked_this_way(run: Run, tmp_path: Path) -> None:
    assert "holdfast doctor" in run("store", "check", "--url", f"sqlite:{tmp_path}/memory.db").err


_FINE = {"role": True, "vector": "", "version": 150018, "prepared_max": 100, "stuck": 0}


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (extensions.Node("w:1", "failed to connect to w:1"), "The node w:1 cannot be used"),
        (extensions.Node("w:1", "", **{**_FINE, "role": False}), "`app` is not on the node w:1"),
        (
            extensions.Node("w:1", "", **{**_FINE, "prepared_max": 0}),
            "max_prepared_transactions is 0",
        ),
        (extensions.Node("w:1", "", **{**_FINE, "stuck": 3}), "recover_prepared_transactions"),
        (extensions.Node("w:1", "", **{**_FINE, "version": 140000}), "is PostgreSQL 14"),
        (extensions.Node("w:1", "", **{**_FINE, "vector": "0.7.0"}), "has pgvector 0.7.0"),
        (extensions.Node("w:1", "", **_FINE, async_commit=True), "synchronous_commit is off"),
    ],
)
def test_what_a_node_lacks_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, node: extensions.Node, words: str
) -> None:
    class Answers:
        """A coordinator that answers what is asked about itself."""

        info = SimpleNamespace(server_version=150018)

        def execute(self, query: str, *_: Any) -> Any:
            row = ("0.8.6",) if "'vector'" in query and node.vector else None
            row = ("13.2-1",) if "'citus'" in query else row
            row = (0,) if "pg_dist_local_group" in query else row
            rows = [("c:1", 0, True, False), ("w:1", 1, True, True)]
            return SimpleNamespace(
                fetchone=lambda: row, fetchall=lambda: rows if "pg_dist_node" in query else [(1,)]
            )

    monkeypatch.setattr(extensions, "_nodes", lambda *_: [node])
    (told,) = extensions.cluster_problems(Answers(), "c", "app")  # type: ignore[arg-type]
    assert words in told
