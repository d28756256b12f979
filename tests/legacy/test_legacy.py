"""Stores of every schema that was ever in use still open, with all that was in them."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from holdfast.engine.repair import examine
from holdfast.library import Holdfast
from holdfast.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, NEWEST
from holdfast.testing import START, FixedClock, HashEmbedder, open_for_tests

HERE = Path(__file__).parent

# A migration that has run on somebody's store is never edited: a change of mind is a new one. Both
# lists grow by one line for each schema.
FROZEN = {
    1: "0ecf799c0efe63a256d7e1a359760166b11b0df1a0abfd16197cf104abac774f",
    2: "0e324f440f5f3277dc8977394084b465c89d9f639c98dd2d978121c4098dc3ad",
    3: "a60178ac45e1a3ba8f294233a6dceb98eb846174be6abed1332593ecbeb18b68",
    4: "0de0a3f47e84154205b2d1c955cc89350f5a7cebf419dc7154278c036356b9e1",
}
KEPT = sorted(int(path.name[7:-6]) for path in HERE.glob("schema-*.db.gz"))


def _unpacked(version: int, folder: Path) -> Path:
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress((HERE / f"schema-{version}.db.gz").read_bytes()))
    return path


def _open(folder: Path) -> Holdfast:
    clock = FixedClock(START + timedelta(hours=1))
    return open_for_tests(folder, clock=clock, embedder=HashEmbedder())


def test_no_migration_that_was_in_use_is_edited() -> None:
    found = {one.version: hashlib.sha256(one.sql.encode()).hexdigest() for one in MIGRATIONS}
    assert found == FROZEN, (
        "Migrations that have run are never edited; write a new one. A new one is added here, and"
        " to the stores beside this file with make_legacy.py."
    )


def test_migrations_count_up_without_a_gap() -> None:
    assert [one.version for one in MIGRATIONS] == list(range(1, NEWEST + 1))


def test_a_store_of_every_schema_is_kept() -> None:
    assert [one.version for one in MIGRATIONS] == KEPT
    assert all((HERE / f"schema-{version}.db.gz").stat().st_size < 200_000 for version in KEPT)


@pytest.mark.parametrize("version", KEPT)
def test_the_kept_store_has_the_schema_that_it_says(tmp_path: Path, version: int) -> None:
    kept = apsw.Connection(str(_unpacked(version, tmp_path)))
    assert kept.pragma("user_version") == version
    assert kept.pragma("application_id") == APPLICATION_ID
    kept.close()


@pytest.mark.parametrize("version", KEPT)
def test_an_old_store_opens_with_everything_in_it(tmp_path: Path, version: int) -> None:
    _unpacked(version, tmp_path)
    expected = (HERE / f"schema-{version}.jsonl").read_text(encoding="utf-8").splitlines()
    with _open(tmp_path) as memory:
        assert [hub.name for hub in memory.hubs()] == ["empty", "other", "work"]
        hub = memory.hub("work")
        told = [json.loads(line) for line in hub.export()]
        # What later versions know beside may be there; what was there is there to the letter.
        for line, now in zip(map(json.loads, expected), told, strict=True):
            assert line == {name: now.get(name, "missing") for name in line}
        assert examine(memory.core).found == []
        connection = apsw.Connection(str(tmp_path / "memory.db"))
        assert connection.pragma("user_version") == NEWEST
        connection.close()


@pytest.mark.parametrize("version", KEPT)
def test_history_and_search_of_an_old_store_work(tmp_path: Path, version: int) -> None:
    _unpacked(version, tmp_path)
    with _open(tmp_path) as memory:
        hub = memory.hub("work")
        actions = [entry.change.action for entry in hub.history(1)]
        assert actions == ["remember", "update"]
        assert hub.get(1, as_of=START + timedelta(seconds=2)).content == "Prefers tabs over spaces"
        assert hub.recall("tabs or spaces?")[0].memory.number == 1
        for query, number in (("友人", 4), ("efers spac", 1), ("where does she live?", 9)):
            assert hub.recall(query, meaning=False)[0].memory.number == number
        # By meaning too, without anything being made anew.
        assert "vector" in hub.recall("Lives in Lisbon")[0].parts
        assert hub.recall("Lisbon").degraded == ()
        assert [receipt.number for receipt in hub.receipts()] == [8]
        assert [one.number for one in hub.list(quarantined=True)] == [6]
        assert [one.number for one in hub.list(forgotten=True)] == [7]


@pytest.mark.parametrize("version", KEPT)
def test_an_old_store_can_be_written(tmp_path: Path, version: int) -> None:
    _unpacked(version, tmp_path)
    with open_for_tests(tmp_path, clock=FixedClock(START + timedelta(days=1))) as memory:
        hub = memory.hub("work")
        before = len(hub.list(state="all"))
        following = hub.info.numbers + 1
        last = max(change.id for change in hub.changes())
        # Counted ids begin anew with each opening; these are past those that are in the store.
        for _ in range(int(last.removeprefix("chg_")) + 20):
            memory.core.ids.next("chg")
            memory.core.ids.next("mem")
        stored = hub.remember("A thought of today")
        assert stored.memory.number == following
        assert hub.recall("thought of today")[0].memory.number == following
        assert hub.undo().undone.action == "remember"
        assert len(hub.list(state="all")) == before
        assert examine(memory.core).found == []
