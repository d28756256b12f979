"""The stores that come with Holdfast, held against every promise of the kit."""

from __future__ import annotations

from pathlib import Path

from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import StoreConformance


class TestInMemoryStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return InMemoryStore()


class TestSqliteStore(StoreConformance):
    def open_store(self, tmp_path: Path) -> Store:
        return SqliteStore(str(tmp_path / "memory.db"))
