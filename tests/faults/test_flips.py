"""Bytes flipped at random in every table and index: `doctor` finds all of it, never fails, and
repairs without losing what could be read. `make test-damage` runs many more (bench/damage.py)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import apsw
import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.records import Record
from holdfast.edges.cli import main
from holdfast.engine.upkeep.doctor import examine, mend
from holdfast.errors import StoreDamaged
from holdfast.store.rows import row_checksum
from holdfast.store.sqlite import rescue
from holdfast.testing import START
from tests.faults.flips import Bench, flip, open_home

pytestmark = pytest.mark.faults

GOLDEN = 7047938122126210077
PARTS = 6
ROUNDS = 2
# One check of SQLite finds damage to any index of a table; tables and text indexes have their own.
ROUNDS_OF_INDEX = 1


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    # Tried for every row that cannot be repaired otherwise; it has a test of its own.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rescue, "TRIES_MAX", 1_000)
        yield Bench(tmp_path_factory.mktemp("flips"), count=12)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_flipped_byte_is_found_or_changes_no_read(bench: Bench, part: int) -> None:
    """Over every tree, the free pages and the log; each trial's seed is in what it says."""
    names = [*bench.trees, "log"][part::PARTS]
    trials = [
        bench.trial(name, seed)
        for name in names
        for seed in range(ROUNDS_OF_INDEX if name in bench.indexes else ROUNDS)
    ]
    assert [wrong for trial in trials for wrong in trial.wrong] == []
    # The trials are of use only if many of them hit something.
    assert sum(trial.found for trial in trials) >= len(trials) // 3


TREES = ("hubs", "memories", "revisions", "records", "words_data", "vectors", "sqlite_schema")


@pytest.mark.parametrize("name", TREES)
def test_the_doctor_command_ends_with_a_finding_and_never_with_an_error(
    bench: Bench,
    tmp_path: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No process of its own for upkeep after a command.
    monkeypatch.setenv("HOLDFAST_LIFECYCLE_AUTOMATIC", "false")
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")
    for seed in range(2):
        data = bytearray(bench.data)
        chance = random.Random(f"command {name} {seed}")
        flip(data, chance.choice(bench.trees[name]), chance)
        home = tmp_path / str(seed)
        home.mkdir(mode=0o700)
        (home / "memory.db").write_bytes(data)
        (home / "memory.db").chmod(0o600)
        where = ["--home", str(home)]
        found = main([*where, "doctor"])
        assert found in (0, StoreDamaged.exit_code), capsys.readouterr()
        assert main([*where, "doctor", "--fix"]) in (0, StoreDamaged.exit_code)
        # Healthy after all means that everything can be read.
        if main([*where, "doctor"]) == 0:
            for hub in ("work", "home"):
                assert main([*where, "--hub", hub, "list"]) == 0
                assert main([*where, "--hub", hub, "export", str(home / f"{hub}.jsonl")]) == 0


def _execute(home: Path, sql: str) -> None:
    connection = apsw.Connection(str(home / "memory.db"))
    connection.execute(sql)
    connection.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_home(tmp_path) as memory:
        hub = memory.create_hub("work")
        memory.create_hub("other").remember("Apples of another hub.")
        for n in range(5):
            hub.remember(f"Note {n} about apples.", key=f"key-{n}")
        hub.update(1, content="The first note is about plums.", tags=["plum"])
        hub.log_turn("user", "Where are the apples?")
    return tmp_path


CHANGES = {
    "a text": "UPDATE memories SET title = 'Another title' WHERE number = 2 AND hub = 1",
    "a number": "UPDATE memories SET created_at = created_at + 1 WHERE number = 2 AND hub = 1",
    "the hub of a memory": "UPDATE memories SET hub = 2, number = 99 WHERE number = 2 AND hub = 1",
    "a counter": "UPDATE memories SET shown_count = shown_count + 1 WHERE number = 2 AND hub = 1",
    "a hub": "UPDATE hubs SET owner = 'mallory' WHERE name = 'work'",
    "a change set": "UPDATE changes SET actor = 'mallory' WHERE pk = 1",
    "a revision": "UPDATE revisions SET at = at + 1 WHERE pk = 2",
    "the memory of a revision": "UPDATE revisions SET memory = 3, version = 7 WHERE pk = 2",
    "a turn": "UPDATE turns SET content = 'Something else' WHERE pk = 1",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_row_that_was_changed_outside_cannot_be_read_and_is_found(home: Path, what: str) -> None:
    _execute(home, CHANGES[what])
    with open_home(home) as memory:
        assert any("checksum" in one.what for one in examine(memory.core).found)
        with pytest.raises(StoreDamaged, match="holdfast doctor"):
            for hub in memory.hubs():
                list(memory.hub(hub.name).export())
                memory.hub(hub.name).turns()
        assert mend(memory.core).left == []
        for hub in memory.hubs():
            list(memory.hub(hub.name).export())


@pytest.mark.parametrize("what", ["a text", "a number", "a counter"])
def test_a_row_that_was_read_before_is_compared_again_when_it_has_changed(
    home: Path, what: str
) -> None:
    with open_home(home) as memory:
        hub = memory.hub("work")
        before = hub.get(2)
        assert hub.get(2) == before
        _execute(home, CHANGES[what])
        with pytest.raises(StoreDamaged, match="holdfast doctor"):
            hub.get(2)


def test_what_a_caller_does_with_the_metadata_of_a_memory_stays_with_them(home: Path) -> None:
    with open_home(home) as memory:
        hub = memory.hub("work")
        hub.remember("A note with metadata.", key="meta", metadata={"a": 1})
        cast(dict[str, object], hub.get("meta").metadata)["b"] = 2
        assert hub.get("meta").metadata == {"a": 1}


def test_counting_hides_no_damage(home: Path) -> None:
    """A counter is changed by adding to it, so what is wrong with it stays visible."""
    with open_home(home) as memory:
        damaged = memory.hub("work").get(2)
    _execute(home, "UPDATE memories SET access_count = 7 WHERE number = 2 AND hub = 1")
    with open_home(home) as memory:
        with memory.core.store.write() as writer:
            writer.count_shown(damaged.hub_id, [damaged.id])
            writer.count_access(damaged.hub_id, [damaged.id], memory.core.now())
        assert "memory #2 does not match its checksum" in _found(memory)
        assert "set the counters of memory #2 to what they start with" in mend(memory.core).mended
        assert memory.hub("work").get(2).content == damaged.content


def _found(memory: Holdfast) -> list[str]:
    return [problem.what for problem in examine(memory.core).found]


def test_a_row_is_rebuilt_from_its_revisions(home: Path) -> None:
    with open_home(home) as memory:
        before = list(memory.hub("work").export())
    _execute(
        home,
        "UPDATE memories SET content = 'x', content_hash = 'y', tags = 'z'"
        " WHERE number = 1 AND hub = 1",
    )
    with open_home(home) as memory:
        assert "memory #1 does not match its checksum" in _found(memory)
        told = mend(memory.core)
        assert told.left == []
        assert "restored memory #1" in told.mended
        assert list(memory.hub("work").export()) == before
    assert list(home.glob("*.rows.jsonl")) == []


def test_a_memory_that_cannot_be_proven_is_held_for_review(home: Path) -> None:
    """Its content is what was written; who may see it is no longer certain."""
    _execute(
        home,
        "UPDATE memories SET boundary = 'somebody', owner = 'mallory' WHERE number = 2 AND hub = 1",
    )
    with open_home(home) as memory:
        told = mend(memory.core)
        assert told.left == []
        hub = memory.hub("work")
        assert hub.recall("Note 1 apples").degraded == ()
        assert 2 not in [one.number for one in hub.list()]
        with memory.core.store.read() as reader:
            kept = reader.memory_by_number(hub.id, 2)
        assert kept is not None
        assert (kept.boundary, kept.content) == ("private", "Note 1 about apples.")
        assert kept.quarantine.startswith("damaged")
    (aside,) = home.glob("*.rows.jsonl")
    (row,) = [json.loads(line) for line in aside.read_text().splitlines()]
    assert (row["table"], row["row"]["owner"]) == ("memories", "mallory")
    assert aside.stat().st_mode & 0o777 == 0o600


def test_bytes_that_are_no_text_are_kept_as_they_are(home: Path) -> None:
    _execute(home, "UPDATE turns SET content = CAST(x'ff00fe' AS TEXT)")
    with open_home(home) as memory:
        told = mend(memory.core)
        assert told.left == []
        assert "set aside 1 damaged rows of turns" in told.mended
        assert memory.hub("work").turns() == []
    (aside,) = home.glob("*.rows.jsonl")
    (row,) = [json.loads(line) for line in aside.read_text().splitlines()]
    assert row["row"]["content"] == {"hex": "ff00fe"}


def test_a_row_whose_key_is_no_text_is_found_and_set_aside(home: Path) -> None:
    with open_home(home) as memory, memory.core.store.write() as writer:
        writer.put_record(Record(memory.hub("work").id, "thing", "one", START, {"n": 1}))
    _execute(home, "UPDATE records SET kind = CAST(x'aa' AS TEXT) WHERE kind = 'thing'")
    with open_home(home) as memory:
        assert any("of records" in one or "table records" in one for one in _found(memory))
        told = mend(memory.core)
        assert told.left == []
        assert "set aside 1 damaged rows of records" in told.mended
    (aside,) = home.glob("*.rows.jsonl")
    (row,) = [json.loads(line) for line in aside.read_text().splitlines()]
    assert row["row"]["kind"] == {"hex": "aa"}


def test_totals_that_cannot_be_are_damage(home: Path) -> None:
    _execute(home, "UPDATE word_totals SET passages = -9")
    with open_home(home) as memory:
        with pytest.raises(StoreDamaged, match="word_totals"):
            memory.hub("work").recall("apples")
        assert mend(memory.core).left == []
        assert len(memory.hub("work").recall("apples")) > 0


def _damage_row(home: Path) -> None:
    _execute(home, "UPDATE memories SET title = 'Another' WHERE number = 2 AND hub = 1")


def _damage_vector(home: Path) -> None:
    _execute(home, "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE passage = 4")


def _damage_passage(home: Path) -> None:
    _execute(home, "UPDATE passages SET windows = 9 WHERE pk = 4")


@pytest.mark.parametrize("damage", [_damage_row, _damage_vector, _damage_passage])
def test_no_backup_is_made_of_a_damaged_store(home: Path, damage: Callable[[Path], None]) -> None:
    damage(home)
    with open_home(home) as memory:
        with pytest.raises(StoreDamaged, match="no backup was made"):
            memory.backup(home / "backup.db")
        assert [path.name for path in home.iterdir() if "backup" in path.name] == []
        assert mend(memory.core).left == []
        memory.backup(home / "backup.db")
    assert (home / "backup.db").exists()


def test_a_checksum_is_the_same_on_every_machine() -> None:
    """It is written to files that outlive a version of Python."""
    fields = ("mem_1", 7, "naïve 東京 😀\n", None, 2**62)
    assert row_checksum("memories", "hub_1", fields) == GOLDEN
    assert row_checksum("turns", "hub_1", fields) != GOLDEN
    assert row_checksum("memories", "hub_2", fields) != GOLDEN
    swapped = (fields[1], fields[0], *fields[2:])
    assert row_checksum("memories", "hub_1", swapped) != GOLDEN
