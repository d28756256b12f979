"""Files that are damaged, foreign, too new or cut short: a clear error, and nothing is lost that
can be derived again."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.edges.cli import main
from holdfast.engine.upkeep.doctor import examine, mend
from holdfast.errors import HoldfastError, StoreBusy, StoreDamaged, StoreTooNew
from holdfast.store.sqlite.schema import newest
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests

pytestmark = pytest.mark.faults


def _open(folder: Path) -> Holdfast:
    # Ids as in real life: counted ones would come again after each opening.
    ids = TimeIds(SystemClock())
    return open_for_tests(folder, clock=FixedClock(), ids=ids, embedder=HashEmbedder())


def _filled(folder: Path, count: int = 120) -> list[str]:
    """A store with history in it; returns its export, which is all that is canonical."""
    with _open(folder) as memory:
        hub = memory.create_hub("work")
        hub.remember_many(
            [f"Note {n} about apples, pears and word{n}. " + "More. " * 20 for n in range(count)]
        )
        hub.update(1, content="The first note says something else now: plums.")
        hub.forget(2)
        hub.pin(3)
        hub.purge(4)
        return list(hub.export())


def _database(folder: Path) -> Path:
    return folder / "memory.db"


def _whole_again(folder: Path, before: list[str]) -> None:
    """Nothing canonical is lost, and search works."""
    with _open(folder) as memory:
        assert examine(memory.core).found == []
        hub = memory.hub("work")
        assert list(hub.export()) == before
        assert [hit.memory.number for hit in hub.recall("plums", limit=1)] == [1]
        assert [hit.memory.number for hit in hub.recall("word77", limit=1)] == [78]
        assert [hit.memory.number for hit in hub.recall("ord77.", limit=1)] == [78]
        assert hub.recall("word77").degraded == ()


# What is wrong with a file as a whole


def _text(path: Path) -> None:
    path.write_text("Dear diary, this is no database.\n" * 100)


def _noise_in_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:100] = random.Random(1).randbytes(100)
    path.write_bytes(data)


def _header_alone(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def _foreign(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.execute("INSERT INTO bookmarks VALUES ('x')")
    other.commit()
    other.close()


def _foreign_with_our_tables(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE memories (content TEXT)")
    other.execute("PRAGMA user_version = 1")
    other.commit()
    other.close()


@pytest.mark.parametrize(
    "spoil", [_text, _noise_in_header, _header_alone, _foreign, _foreign_with_our_tables]
)
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    _filled(tmp_path, 5)
    path = _database(tmp_path)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged) as caught, _open(tmp_path):
        pass
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert path.read_bytes() == before


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    _database(tmp_path).mkdir()
    with pytest.raises(StoreDamaged, match="folder"), _open(tmp_path):
        pass


def test_a_store_from_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    _filled(tmp_path, 5)
    connection = apsw.Connection(str(_database(tmp_path)))
    connection.execute(f"PRAGMA user_version = {newest() + 1}")
    connection.close()
    before = _database(tmp_path).read_bytes()
    with pytest.raises(StoreTooNew, match=f"schema {newest() + 1}") as caught, _open(tmp_path):
        pass
    assert "Upgrade" in caught.value.hint
    assert _database(tmp_path).read_bytes() == before


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    _database(tmp_path).write_bytes(b"")
    with _open(tmp_path) as memory:
        memory.hub().remember("The first thing.")
        assert examine(memory.core).found == []


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_that_was_cut_short_is_noticed(tmp_path: Path, part: float) -> None:
    _filled(tmp_path)
    path = _database(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part) // 4096 * 4096])
    try:
        with _open(tmp_path) as memory:
            found = examine(memory.core).found
            assert any("damaged" in problem.what for problem in found)
    except StoreDamaged as error:
        assert str(path) in str(error)


def _cut(path: Path, part: float) -> bytes:
    """Takes the end away, and returns what is left. The file does not end with a page."""
    data = path.read_bytes()
    left = data[: int(len(data) * part) // 4096 * 4096 - 100]
    path.write_bytes(left)
    return left


@pytest.mark.parametrize("part", [0.9, 0.98])
def test_the_doctor_saves_the_memories_of_a_file_that_lost_its_end(
    tmp_path: Path, part: float, capsys: pytest.CaptureFixture[str]
) -> None:
    _filled(tmp_path)
    _cut(_database(tmp_path), part)
    assert main(["doctor", "--home", str(tmp_path)]) == StoreDamaged.exit_code
    assert "holdfast doctor --fix" in capsys.readouterr().err
    assert main(["doctor", "--fix", "--home", str(tmp_path)]) == 0
    assert f"the damaged one is {_database(tmp_path)}.damaged" in capsys.readouterr().out
    with _open(tmp_path) as memory:
        hub = memory.hub("work")
        assert len(hub.list(limit=200)) == 118
        assert [hit.memory.number for hit in hub.recall("word77", limit=1)] == [78]
        assert examine(memory.core).found == []


def test_memories_that_were_lost_come_back_from_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [f"The server s{n} is in hall {n % 13}, and team{n} looks after it" for n in range(150)]
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")
        hub.remember_many(said)
        hub.sync()
    _cut(_database(tmp_path), 0.8)
    assert main(["doctor", "--fix", "--home", str(tmp_path)]) == 0
    assert "damaged rows of memories" in capsys.readouterr().out
    with _open(tmp_path) as memory:
        memory.hub("work").sync(confirm=True)
        assert sorted(one.content for one in memory.hub("work").list(limit=200)) == sorted(said)


def _noise_in_the_schema(path: Path) -> None:
    """The file cannot be opened any more; who had read its schema goes on writing."""
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as store:
        pages = store.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").fetchall()
    data = bytearray(path.read_bytes())
    page = pages[-1][0]
    data[(page - 1) * 4096 : page * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)


def test_a_file_that_cannot_be_opened_is_not_rescued_while_others_write_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _filled(tmp_path)
    path = _database(tmp_path)
    other = apsw.Connection(str(path))
    other.execute("SELECT count(*) FROM memories").fetchall()
    _noise_in_the_schema(path)
    left = path.read_bytes()
    assert main(["doctor", "--fix", "--home", str(tmp_path)]) == StoreBusy.exit_code
    assert "Other programs have" in capsys.readouterr().err
    assert path.read_bytes() == left
    assert not list(tmp_path.glob("*.damaged*"))
    other.close()
    assert main(["doctor", "--fix", "--home", str(tmp_path)]) == 0


def test_a_link_to_a_store_that_cannot_be_opened_stays_one_and_its_log_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last memory is in the log alone, as after a process that was killed."""
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    near.mkdir()
    _filled(far)
    program = (
        "import os, sys; from holdfast.testing import open_for_tests, HashEmbedder\n"
        "memory = open_for_tests(sys.argv[1], embedder=HashEmbedder())\n"
        "memory.hub('work').remember('The boat Marlin lies in Kiel.')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(far)], check=True)
    assert (far / "memory.db-wal").stat().st_size
    _noise_in_the_schema(far / "memory.db")
    (near / "memory.db").symlink_to(far / "memory.db")
    assert main(["doctor", "--fix", "--home", str(near)]) == 0
    assert (near / "memory.db").is_symlink()
    with _open(near) as memory:
        assert "The boat Marlin lies in Kiel." in [
            one.content for one in memory.hub("work").list(limit=200)
        ]


@pytest.mark.parametrize("part", [0.1, 0.3, 0.6])
def test_a_file_of_which_no_memory_can_be_saved_is_left_as_it_is(
    tmp_path: Path, part: float, capsys: pytest.CaptureFixture[str]
) -> None:
    _filled(tmp_path)
    left = _cut(_database(tmp_path), part)
    assert main(["doctor", "--fix", "--home", str(tmp_path)]) == StoreDamaged.exit_code
    assert "restore-backup" in capsys.readouterr().err
    assert _database(tmp_path).read_bytes() == left
    assert [path.name for path in tmp_path.glob("memory.db*") if path.stat().st_size] == [
        "memory.db"
    ]


# What is wrong with the derived part of it


def _tables(folder: Path) -> dict[str, list[int]]:
    """The pages of every table, without those of the roots' parents."""
    connection = apsw.Connection(str(_database(folder)))
    pages: dict[str, list[int]] = {}
    for name, page in connection.execute("SELECT name, pageno FROM dbstat ORDER BY pageno"):
        pages.setdefault(name, []).append(page)
    connection.close()
    return pages


def _execute(folder: Path, sql: str) -> None:
    connection = apsw.Connection(str(_database(folder)))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute(sql)
    connection.close()


DROPPED = (
    "words", "trigrams", "word_counts", "passages", "vectors", "word_totals", "vector_totals",
)  # fmt: skip
EMPTIED = ("passages", "vectors", "word_totals", "vector_totals")
# What is kept behind a word index. SQLite does not look at all of it: sizes that are wrong, and an
# index of its pages that is empty, are found by no check.
SHADOWS = (
    *(("emptied", name) for name in ("words_data", "words_docsize", "trigrams_data")),
    *(("dropped", name) for name in ("words_data", "words_idx", "words_docsize", "trigrams_idx")),
    *(("garbled", name) for name in ("words_data", "trigrams_data")),
)


@pytest.mark.parametrize("table", DROPPED)
def test_a_missing_derived_table_is_found_and_built_again(tmp_path: Path, table: str) -> None:
    before = _filled(tmp_path)
    _execute(tmp_path, f"DROP TABLE {table}")
    _found_and_mended(tmp_path, before)


@pytest.mark.parametrize("table", EMPTIED)
def test_an_emptied_derived_table_is_found_and_filled_again(tmp_path: Path, table: str) -> None:
    before = _filled(tmp_path)
    _execute(tmp_path, f"PRAGMA foreign_keys = OFF; DELETE FROM {table}")
    _found_and_mended(tmp_path, before)


@pytest.mark.parametrize(("how", "table"), SHADOWS)
def test_a_broken_word_index_is_found_and_built_again(tmp_path: Path, how: str, table: str) -> None:
    before = _filled(tmp_path)
    _execute(
        tmp_path,
        {
            "emptied": f"DELETE FROM {table}",
            "dropped": f"DROP TABLE {table}",
            "garbled": f"UPDATE {table} SET block = x'00ff00ff00ff'",
        }[how],
    )
    _found_and_mended(tmp_path, before)


def _found_and_mended(folder: Path, before: list[str]) -> None:
    with _open(folder) as memory:
        found = examine(memory.core).found
        assert found != []
        assert all(problem.derived for problem in found), found
        told = mend(memory.core)
        assert told.left == []
        assert told.mended != []
    _whole_again(folder, before)


@pytest.mark.parametrize(
    "table",
    ["words_data", "trigrams_data", "passages", "vectors", "passages_memory", "words_docsize"],
)
def test_pages_of_noise_in_the_index_are_found_and_the_rest_is_saved(
    tmp_path: Path, table: str
) -> None:
    before = _filled(tmp_path)
    page = _tables(tmp_path)[table][-1]
    path = _database(tmp_path)
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)
    _found_and_mended(tmp_path, before)


def test_noise_in_the_root_of_an_index_is_rescued_into_a_new_file(tmp_path: Path) -> None:
    before = _filled(tmp_path)
    path = _database(tmp_path)
    data = bytearray(path.read_bytes())
    for table in ("passages", "passages_hub", "vectors"):
        page = _tables(tmp_path)[table][0]
        data[(page - 1) * 4096 : page * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)
    with _open(tmp_path) as memory:
        told = mend(memory.core)
        assert told.left == []
    _whole_again(tmp_path, before)


def test_a_rescue_keeps_the_damaged_file_and_loses_nothing(tmp_path: Path) -> None:
    before = _filled(tmp_path)
    with _open(tmp_path) as memory:
        kept = memory.core.store.rescue()
        assert os.path.exists(kept.kept)
        assert (kept.aside, kept.notes) == ("", ())
        # What is derived is empty afterwards, and said to be missing.
        assert len([p for p in examine(memory.core).found if p.memory_id]) > 0
        # Numbers and passages that were given out are not given out again.
        assert mend(memory.core).left == []
        assert memory.hub("work").remember("After the rescue.").memory.number == 121
        memory.hub("work").purge(121)
    with _open(tmp_path) as memory:
        lines = [line for line in memory.hub("work").export() if '"number":121' not in line]
        numbers = (f'"numbers":{n}' for n in (120, 121))
        old, new = numbers
        assert [line.replace(new, old) for line in lines][:-1] == before[:-1]


def test_noise_in_the_memories_themselves_is_said_to_need_a_backup(tmp_path: Path) -> None:
    _filled(tmp_path)
    page = _tables(tmp_path)["memories"][-1]
    path = _database(tmp_path)
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(data)
    with _open(tmp_path) as memory:
        found = examine(memory.core).found
        assert any(not problem.derived for problem in found)
        with pytest.raises(StoreDamaged) as caught:
            list(memory.hub("work").export())
        assert "restore-backup" in caught.value.hint


@pytest.mark.parametrize(
    "damage",
    [
        "content = CAST(x'4e6fff' AS TEXT)",
        "title = CAST(x'80' AS TEXT)",
        "tags = '[\"a'",
        "metadata = '{'",
        "created_at = 9223372036854775807",
    ],
)
def test_a_value_that_cannot_be_read_is_damage_and_spares_the_others(
    tmp_path: Path, damage: str
) -> None:
    _filled(tmp_path, 10)
    _execute(tmp_path, f"UPDATE memories SET {damage} WHERE number = 5")
    with _open(tmp_path) as memory:
        hub = memory.hub("work")
        with pytest.raises(StoreDamaged) as caught:
            hub.get(5)
        assert "restore-backup" in caught.value.hint
        assert hub.get(6).number == 6
        hub.remember("Life goes on.")


@pytest.mark.parametrize("seed", range(25))
def test_random_damage_never_raises_anything_but_our_own_errors(tmp_path: Path, seed: int) -> None:
    _filled(tmp_path, 40)
    chance = random.Random(seed)
    path = _database(tmp_path)
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 30))):
        start = chance.randrange(100, len(data))
        data[start : start + chance.choice((1, 16, 300))] = chance.randbytes(16)
    path.write_bytes(data)
    try:
        with _open(tmp_path) as memory:
            examine(memory.core)
            hub = memory.hub("work")
            hub.recall("apples word7")
            list(hub.export())
            hub.remember("Something new.")
            mend(memory.core)
    except HoldfastError as error:
        assert str(error)
