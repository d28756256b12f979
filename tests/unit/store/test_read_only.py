"""A store that is opened for reading only: nothing of it is made, migrated or changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast, StoreError, StoreReadOnly
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import open_for_tests


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path) as opened:
        opened.hub().remember("Prefers tabs")
        yield opened


def test_it_is_read_while_others_write(tmp_path: Path, memory: Holdfast) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"), read_only=True)
    for expected in (1, 2):
        with store.read() as reader:
            (hub,) = reader.hubs()
            assert reader.statistics(hub.id).memories == expected
        memory.hub().remember("Prefers tea")
    store.close()


def test_it_is_not_written(tmp_path: Path, memory: Holdfast) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"), read_only=True)
    for durable in (True, False):
        refused = pytest.raises(StoreReadOnly, match="can only be read")
        with refused, store.write(durable=durable):
            pass
    store.close()


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no store at"):
        SqliteStore(str(tmp_path / "memory.db"), read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError):
        SqliteStore(str(path), read_only=True)
