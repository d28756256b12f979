"""A server without pgvector, or with an old one: everything works, and whoever starts a server, or
asks the doctor, is told which command installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import StoreError
from holdfast.testing import HashEmbedder, open_for_tests
from tests.postgres_server import databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, vector_index  # noqa: E402 - needs the extra `postgres`
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.store.values import Capability  # noqa: E402


@pytest.fixture
def bare() -> Iterator[str]:
    """A database of its own, with what is in it chosen by the test; on any server."""
    made = databases().make_empty()
    yield made
    databases().drop(made)


@pytest.fixture
def name(bare: str) -> str:
    """The same, on a server that has pgvector."""
    needs(extension="vector", least=(0, 8))
    return bare


def _notes(name: str) -> list[str]:
    store = PostgresStore(databases().url(name), partitions=1)
    try:
        return store.notes()
    finally:
        store.close()


def test_one_that_could_be_installed_is_named_with_its_command(name: str) -> None:
    (note,) = _notes(name)
    assert note.startswith("pgvector is not installed in postgresql://")
    assert note.endswith("To have it, a superuser runs: CREATE EXTENSION vector SCHEMA holdfast")


def test_making_a_store_ready_installs_it_and_then_nothing_is_said(name: str) -> None:
    assert initialise(databases().url(name), partitions=1).notes == ()
    assert _notes(name) == []


def test_a_server_that_does_not_allow_it_is_made_ready_without(name: str) -> None:
    # As managed servers answer whose owner has not put it on the list of what may be installed.
    databases().execute(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'not on the list' USING ERRCODE = '0A000'; END $$;"
        " CREATE EVENT TRIGGER refuse ON ddl_command_start"
        " WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()",
        name,
    )
    (note,) = initialise(databases().url(name), partitions=1).notes
    assert note.startswith("pgvector is not installed in postgresql://")


def _schema_of_vector(name: str) -> str:
    with psycopg.connect(databases().url(name)) as connection:
        row = connection.execute(
            "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
            " WHERE extname = 'vector'"
        ).fetchone()
    return str(row[0])


def test_it_is_installed_beside_our_tables_where_only_their_owner_makes_functions(
    name: str,
) -> None:
    databases().execute(f"ALTER DATABASE {name} SET search_path = public")
    initialise(databases().url(name), partitions=1)
    assert _schema_of_vector(name) == "holdfast"


def test_one_that_is_there_stays_where_it_is_and_is_used(name: str) -> None:
    databases().execute('CREATE SCHEMA "of ""others"""', name)
    databases().execute('CREATE EXTENSION vector SCHEMA "of ""others"""', name)
    initialise(databases().url(name), partitions=1)
    assert _schema_of_vector(name) == 'of "others"'
    store = PostgresStore(databases().url(name))
    assert list(vector_index.build(store, index_from=1)) == []
    store.close()


def test_one_that_is_not_on_the_server_is_named_with_its_package(bare: str) -> None:
    with psycopg.connect(databases().url(bare), autocommit=True) as connection:
        version = connection.info.server_version
        if databases().has_extension("vector"):
            if version < 180000:
                pytest.skip("before 18, which extensions a server has is not a setting")
            # A server that has none.
            connection.execute(f"ALTER DATABASE {bare} SET extension_control_path = '/nowhere'")
    (note,) = initialise(databases().url(bare), partitions=1).notes
    assert "not installed on the server of" in note
    package = f"postgresql-{version // 10_000}-pgvector"
    how_to_install = f"{package} on the server; then a superuser runs: CREATE EXTENSION"
    assert how_to_install in note
    assert _notes(bare) == [note]
    with (
        closing(PostgresStore(databases().url(bare))) as store,
        pytest.raises(StoreError) as caught,
    ):
        list(vector_index.build(store))
    assert how_to_install in caught.value.hint


def _grow_old(name: str) -> None:
    """The extension as a server has it that nobody has brought up to date."""
    with psycopg.connect(databases().url(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("SET allow_system_table_mods = on")
        connection.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")


def test_one_that_is_too_old_is_named_with_its_command(name: str) -> None:
    _grow_old(name)
    (note,) = _notes(name)
    assert note.startswith("pgvector 0.7.4 in postgresql://")
    assert note.endswith("a superuser runs: ALTER EXTENSION vector UPDATE")


@pytest.mark.parametrize("old", [False, True])
def test_recall_by_words_and_by_meaning_works_without_it(
    bare: str, tmp_path: Path, old: bool
) -> None:
    if old:
        needs(extension="vector", least=(0, 8))
        _grow_old(bare)
    given: dict[str, Any] = {"settings": {"store.url": databases().url(bare)}}
    with open_for_tests(tmp_path / "home", embedder=HashEmbedder(), **given) as memory:
        assert Capability.NEAREST not in memory.core.store.capabilities
        hub = memory.hub("h", create=True)
        hub.remember("The office is in Bonn")
        hub.remember("Tea is at four")
        found = hub.recall("where is the office")
        assert found[0].memory.content == "The office is in Bonn"
        assert found.degraded == ()


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("azure_pg_admin", "azure.extensions; then a member of azure_pg_admin runs: CREATE"),
        ("rds_superuser", "a member of rds_superuser, where rds.allowed_extensions has"),
        ("cloudsqlsuperuser", "a member of cloudsqlsuperuser runs: CREATE EXTENSION"),
        ("alloydbsuperuser", "a member of alloydbsuperuser runs: CREATE EXTENSION"),
    ],
)
def test_on_a_managed_service_its_administrator_is_named(bare: str, role: str, words: str) -> None:
    databases().execute(f"CREATE ROLE {role}")
    try:
        (note,) = _notes(bare)
    finally:
        databases().execute(f"DROP ROLE {role}")
    assert words in note
