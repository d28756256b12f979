"""`holdfast store init` and life on a database: a person names it and goes on as before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, database, databases, needs


@pytest.fixture
def empty() -> Iterator[str]:
    databases().make_role()
    name = databases().make_empty()
    yield name
    databases().drop(name)


def test_a_database_is_made_ready_and_used_by_a_role_that_owns_nothing(
    run: Run, empty: str
) -> None:
    owner, app = databases().url(empty), databases().url(empty, ROLE)
    run("config", "set", "store.url", app)
    refused = run("remember", "The office is in Bonn")
    assert refused.code == 6
    assert "holdfast store init" in refused.err
    made = run("store", "init", "--url", owner, "--partitions", "2", "--role", ROLE, "--json")
    assert made.code == 0, made.err
    told = made.data
    assert (told["partitions"], told["citus"]) == (2, False)
    assert told["schema"] >= 1
    again = run("store", "init", "--url", owner, "--partitions", "4")
    assert again.code == 0
    assert "made before, in 2 parts" in again.err
    assert run("remember", "The office is in Bonn").code == 0
    assert "Bonn" in run("recall", "office").out
    seen = run("doctor")
    assert seen.code == 0
    # Neither the mode nor the size of a file, where there is none.
    assert "()" not in seen.out
    assert all(len(row) == 2 and row[1] for row in seen.rows if row[0] in ("store", "size"))
    assert "Bonn" in run("export", "-").out


def test_citus_is_asked_for_only_where_it_is(run: Run, empty: str) -> None:
    told = run("store", "init", "--url", databases().url(empty), "--citus")
    assert told.code == 6
    assert "CREATE EXTENSION citus" in told.err


def test_a_role_that_is_missing_is_told(run: Run, empty: str) -> None:
    told = run(
        "store", "init", "--url", databases().url(empty), "--partitions", "1", "--role", "nobody_x"
    )
    assert told.code == 3
    assert "CREATE ROLE" in told.err
    told = run("store", "init", "--url", databases().url(empty), "--role", 'no"body')
    assert 'CREATE ROLE "no""body" LOGIN' in told.err


def test_who_does_not_own_the_tables_lets_nobody_in(run: Run, empty: str) -> None:
    run("store", "init", "--partitions", "1", "--url", databases().url(empty))
    run("config", "set", "store.url", databases().url(empty, ROLE))
    assert f"`holdfast store init --role {ROLE}`" in run("recall", "office").err
    let_in = ("store", "init", "--role", ROLE)
    assert run(*let_in, "--url", databases().url(empty)).code == 0
    refused = run(*let_in)
    assert refused.code == 6
    assert f"cannot let `{ROLE}` in" in refused.err
    assert "holdfast store init --url" in refused.err


def test_a_url_that_names_no_database_is_refused(run: Run) -> None:
    for command in ("init", "migrate"):
        refused = run("store", command, "--url", "postgresql://ada@127.0.0.1:9")
        assert refused.code == 2
        assert "names no database" in refused.err


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_file_needs_no_making_ready(run: Run) -> None:
    told = run("store", "init")
    assert told.code == 2
    assert "postgresql://" in told.err


@pytest.mark.parametrize("name", ["store.url", "store.read_url"])
def test_a_password_is_not_written_into_the_settings(run: Run, home: Path, name: str) -> None:
    for url in ("postgresql://ada:hunter2@db/none", "postgresql://db/none?password=hunter2"):
        told = run("config", "set", name, url)
        assert told.code == 2
        assert "PGPASSWORD" in told.err
        assert "hunter2" not in told.out + told.err
    assert not (home / "holdfast.toml").exists()
    assert run("config", "set", name, "postgresql://ada@db/none", "--force").code == 0


def test_a_password_is_not_shown(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody comes, however long one waits.
    monkeypatch.setattr("holdfast.store.postgres.connections.RECONNECT_WAIT_S", 0.2)
    home.mkdir(exist_ok=True)
    # As somebody may have written it by hand.
    url = "postgresql://ada:hunter2@127.0.0.1:1/none"
    (home / "holdfast.toml").write_text(f'[store]\nurl = "{url}"\n')
    for words in (("config", "get", "store.url"), ("config", "list"), ("recall", "x"), ("doctor",)):
        told = run(*words)
        assert "hunter2" not in told.out + told.err, words
    assert "postgresql://ada@127.0.0.1:1/none" in run("config", "get", "store.url").out


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_no_hub_is_large_enough_for_an_index_of_the_server(run: Run, empty: str) -> None:
    owner = databases().url(empty)
    run("store", "init", "--url", owner, "--partitions", "1")
    told = run("store", "index", "--url", owner)
    assert told.code == 0, told.err
    assert "No hub is large enough" in told.err
    refused = run("store", "index")
    assert refused.code == 2


def test_an_index_of_the_server_is_taken_away_and_missed_where_many_vectors_are_due(
    run: Run, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(extension="vector", least=(0, 8))
    from holdfast.store.postgres import PostgresStore, vector_index
    from holdfast.testing import HashEmbedder

    owner = databases().url(empty)
    run("store", "init", "--url", owner, "--partitions", "1")
    assert "no index to take away" in run("store", "index", "--url", owner, "--drop").err
    run("config", "set", "store.url", owner)
    model = HashEmbedder()
    monkeypatch.setattr("holdfast.wiring.embedder_of", lambda settings: model)
    run("remember", "The office is in Bonn")
    store = PostgresStore(owner)
    ((hub, name, vectors),) = vector_index.build(store, index_from=1)
    store.close()
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.wiring.embedder_of", lambda settings: None)
        run("remember", "The harbour is in Kiel")
        run("remember", "The garden is in Ulm")
    monkeypatch.setattr("holdfast.edges.cli.call._BACKLOG", 1)
    advice = f"holdfast store index {hub} --drop"
    assert advice in run("remember", "The bridge is in Mainz").err
    assert run("store", "index", "--drop", "--memory", "1GB").code == 2
    assert run("store", "index", "nowhere", "--drop").code == 3
    dropped = run("store", "index", hub, "--drop")
    assert (dropped.code, dropped.rows) == (0, [[hub, name, str(vectors + 1)]])
    assert "compares all vectors" in dropped.err
    left = run("remember", "The tower is in Ulm").err
    assert "have no vectors" in left
    assert advice not in left
    assert "Bonn" in run("recall", "office").out
    assert run("store", "index", "--drop", "--json").data == []


def test_everything_moves_to_a_database_and_back(run: Run, tmp_path: Path) -> None:
    run("remember", "The office is in Bonn", "--key", "office")
    run("update", "office", "The office is in Ulm")
    run("log", "add", "Where is the office?")
    with database(ROLE) as url:
        there = run("move", "--to", url, "--json").data
        back = run("move", "--from", url, "--to", f"sqlite:{tmp_path / 'back.db'}", "--json").data
    assert there["verified"] is True
    assert there["tables"] == back["tables"]
    rows = {row["table"]: row["rows"] for row in there["tables"]}
    assert (rows["memories"], rows["revisions"]) == ("1", "2")
    run("config", "set", "store.url", f"sqlite:{tmp_path / 'back.db'}")
    assert "Ulm" in run("recall", "office").out
