"""The stores that come with Holdfast, held against every promise of the kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import StoreConformance
from tests.citus_standin import citus_standin
from tests.postgres_server import CITUS, ROLE, Databases, databases, needs


class TestInMemoryStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return InMemoryStore()


class TestSqliteStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return SqliteStore(str(tmp_path / "memory.db"))


class TestPostgresStore(StoreConformance):
    """As the role that programs use: it owns nothing and is behind the wall. Every statement that
    the kit makes the store send is looked at."""

    @pytest.fixture(autouse=True)
    def _database(self) -> Iterator[None]:
        self._databases: Databases = databases()
        self._name = self._databases.make()
        from holdfast.store.postgres.session import LISTENERS

        sent: set[str] = set()
        LISTENERS.append(sent.add)
        yield
        LISTENERS.remove(sent.add)
        self._databases.give_back(self._name)
        from tests.postgres_lint import faults

        assert {sql: wrong for sql in sent if (wrong := faults(sql))} == {}

    def open_store(self, tmp_path: Path) -> Store:
        from holdfast.store.postgres import PostgresStore

        return PostgresStore(self._databases.url(self._name, ROLE))


class TestCitusStandin(StoreConformance):
    """The kit on one server in the shape that Citus would give it, where a proxy refuses what Citus
    is known to refuse (see tests/citus_standin.py)."""

    @pytest.fixture(autouse=True)
    def _database(self) -> Iterator[None]:
        needs(version=150000)  # views with the rights of the caller
        with citus_standin() as proxy:
            self._url = proxy.url
            yield
            assert proxy.refused == []

    def open_store(self, tmp_path: Path) -> Store:
        from holdfast.store.postgres import PostgresStore

        return PostgresStore(self._url)


class TestCitusStore(StoreConformance):
    """The kit on a Citus cluster, where HOLDFAST_TEST_CITUS names a store that `holdfast store init
    --citus --role` has prepared, by the URL of that role. Everything in it is deleted."""

    @pytest.fixture(autouse=True)
    def _empty(self) -> None:
        if not CITUS:
            pytest.skip("HOLDFAST_TEST_CITUS names no cluster")
        from contextlib import closing

        from holdfast.engine.transfer.copy import empty
        from holdfast.store.postgres import PostgresStore

        with closing(PostgresStore(CITUS)) as store:
            assert store.offered.citus
            empty(store)

    def open_store(self, tmp_path: Path) -> Store:
        from holdfast.store.postgres import PostgresStore

        return PostgresStore(CITUS)
