"""The stores that come with Holdfast, held against every promise of the kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import StoreConformance
from tests.postgres_server import Databases, databases


class TestInMemoryStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return InMemoryStore()


class TestSqliteStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return SqliteStore(str(tmp_path / "memory.db"))


class TestPostgresStore(StoreConformance):
    """The database is as good as a folder of one's own: the store finds it by the test's."""

    @pytest.fixture(autouse=True)
    def _database(self) -> Iterator[None]:
        self._databases: Databases = databases()
        self._name = self._databases.make()
        yield
        self._databases.give_back(self._name)

    def open_store(self, tmp_path: Path) -> Store:
        from holdfast.store.postgres import PostgresStore

        return PostgresStore(self._databases.url(self._name))
