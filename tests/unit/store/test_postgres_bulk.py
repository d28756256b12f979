"""Rows on PostgreSQL wait until somebody could see them, and many go by COPY: whichever way they
go, the same rows are there afterwards, the same things are refused, and nothing is half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import holdfast
from holdfast.domain.change import Change
from holdfast.domain.records import Turn
from holdfast.errors import HoldfastError, InvalidInput, NotFound, StoreError
from tests.postgres_server import ROLE, database, databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, vector_index, write_buffer  # noqa: E402
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.store.postgres.schema import OF_A_HUB  # noqa: E402
from holdfast.store.postgres.session import LISTENERS  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    MODEL,
    at,
    index,
    make_entries,
    make_hub,
    make_memory,
    put,
    revise,
)

WORDS = ("the", "kettle", "stands", "in", "Ankara'da", "çay;", "東京", "100%", "<b>bold</b>")


@contextmanager
def sent() -> Iterator[list[str]]:
    """The statements that are sent meanwhile."""
    out: list[str] = []
    LISTENERS.append(out.append)
    try:
        yield out
    finally:
        LISTENERS.remove(out.append)


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    """As the role that programs use: behind the wall."""
    with database(ROLE) as url:
        opened = PostgresStore(url)
        with opened.write() as writer:
            writer.add_hub(make_hub())
        yield opened
        opened.close()


def _write_varied(writer: Any, count: int) -> None:
    """Memories of all kinds with what belongs to them; changes, moves and goes again of some."""
    writer.add_change(Change("chg_0", HUB, at(0), "tester", "remember", "a reason"))
    writer.take_numbers(HUB, count)
    for number in range(1, count + 1):
        lines = [" ".join(WORDS[: 1 + (number + line) % 9]) for line in range(1 + number % 3)]
        memory = make_memory(
            number,
            "\n".join(lines),
            tags=tuple(f"täg {n}" for n in range(number % 3)),
            key=f"key {number}" if number % 4 == 0 else None,
            source_path=f"notes/{number}.md" if number % 5 == 0 else None,
            session="s" if number % 2 else None,
            speaker="Ayşe" if number % 2 else None,
            pinned=number % 7 == 0,
            occurred_at=at(number) if number % 3 else None,
            metadata={"n": number} if number % 6 == 0 else {},
        )
        writer.add_memory(memory)
        writer.add_revision(HUB, "chg_0", memory.id, 1, at(number), {"title": ("", memory.title)})
        vectors = [[bytes([number % 251] * 8)] for _ in lines] if number % 2 else []
        entries = make_entries(memory, vectors)
        heads = [one._replace(headings=("A", f"B {number}")[: number % 3]) for one in entries]
        writer.index(HUB, memory.id, memory.content, heads, "model-one")
    # A flush numbers the passages of memories first, and then those of turns.
    for number in range(1, count + 1):
        said = " ".join(WORDS[: 1 + number % 9])
        writer.add_turn(Turn(f"turn_{number}", HUB, "user", said, at(number), "cli", None))
    first = writer.memory(HUB, "mem_1")
    revise(writer, first, "chg_1", at(90), content="rewritten", key="another")
    writer.index(HUB, "mem_2", "then that", make_entries(make_memory(2, "then that")), "")
    writer.unindex(HUB, "mem_3")
    revise(writer, writer.memory(HUB, "mem_3"), "chg_3", at(91), forgotten_at=at(91))
    writer.purge(HUB, "mem_4")


def _owners(url: str) -> str:
    """The URL of the same database for who may see everything."""
    return databases().url(_database(url))


def _database(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])


# Numbers from sequences: only their order within a table is the same.
_PLACES = {
    "changes": "place",
    "revisions": "sequence",
    "turns": "place",
    "passages": "turn",
    "words": "turn",
}


def _all_rows(url: str) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = holdfast")
        for table in set(OF_A_HUB) - {"commits"}:
            shown = "to_jsonb(t)"
            if (place := _PLACES.get(table)) is not None:
                shown += (
                    f" - '{place}' || jsonb_build_object('rank', rank() OVER (ORDER BY {place}))"
                )
            found = connection.execute(f"SELECT ({shown})::text FROM {table} t ORDER BY 1")
            out[table] = [row[0] for row in found]
    return out


def _written(monkeypatch: pytest.MonkeyPatch, count: int, *, copy_from: int, rows: int) -> Any:
    monkeypatch.setattr(write_buffer, "COPY_FROM", copy_from)
    monkeypatch.setattr(write_buffer, "ROWS_MAX", rows)
    with database(ROLE) as url:
        store = PostgresStore(url)
        with sent() as statements, store.write() as writer:
            writer.add_hub(make_hub())
            _write_varied(writer, count)
        assert store.check() == []
        store.close()
        return _all_rows(_owners(url)), statements


def test_rows_are_the_same_whether_they_go_one_by_one_or_by_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    never = 10**9
    one_by_one, alone = _written(monkeypatch, 40, copy_from=never, rows=1)
    inserted, _ = _written(monkeypatch, 40, copy_from=never, rows=10_000)
    copied, statements = _written(monkeypatch, 40, copy_from=1, rows=10_000)
    parts, _ = _written(monkeypatch, 40, copy_from=2, rows=17)
    assert {name for name, some in one_by_one.items() if some} >= {
        *("memories", "changes", "revisions", "turns"),
        *("passages", "words", "substrings", "vectors", "vector_totals", "terms"),
    }
    assert inserted == one_by_one
    assert copied == one_by_one
    # With flushes in between, passages are numbered as one by one.
    assert parts == one_by_one
    assert not any("COPY" in one for one in alone)
    copies = {one.split()[1] for one in statements if one.startswith("COPY")}
    found = {"memories", "changes", "revisions", "turns", "passages", "vectors"}
    derived = {"words", "substrings"}
    assert copies == {f"incoming_{name}" for name in found | derived}


def _twice(writer: Any, **same: Any) -> None:
    for number in (1, 2):
        writer.add_memory(make_memory(number)._replace(**same))


REFUSED: dict[str, tuple[Callable[[Any], None], type[HoldfastError]]] = {
    "an id": (lambda w: _twice(w, id="mem_1"), StoreError),
    "a number": (lambda w: _twice(w, number=1), StoreError),
    "a key": (lambda w: _twice(w, key="same"), StoreError),
    "a path": (lambda w: _twice(w, source_path="same"), StoreError),
    "a revision of nothing": (
        lambda w: w.add_revision(HUB, "chg_none", "mem_none", 1, at(1), {}),
        NotFound,
    ),
    "an index of nothing": (lambda w: w.index(HUB, "mem_none", "x", [], ""), NotFound),
    "half a character": (lambda w: w.add_memory(make_memory(1, title="\ud800")), InvalidInput),
    "a NUL": (lambda w: w.add_memory(make_memory(1, title="a\0b")), InvalidInput),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    act, expected = REFUSED[what]
    said = []
    for copy_from in (10**9, 1):
        monkeypatch.setattr(write_buffer, "COPY_FROM", copy_from)
        with pytest.raises(expected) as caught, store.write() as writer:
            writer.add_change(Change("chg_1", HUB, at(0), "tester", "remember"))
            act(writer)
        said.append(str(caught.value))
        with store.read() as reader:
            assert reader.statistics(HUB).memories == reader.statistics(HUB).changes == 0
    assert said[0] == said[1]


def test_a_writer_whose_rows_were_refused_cannot_be_committed(store: PostgresStore) -> None:
    """Even where whoever wrote passes over the error."""
    with pytest.raises(StoreError, match="passed over"), store.write() as writer:
        writer.add_memory(make_memory(1))
        writer.add_revision(HUB, "chg_none", "mem_none", 1, at(1), {})
        with pytest.raises(NotFound):
            writer.memory(HUB, "mem_1")
        writer.add_memory(make_memory(2))
    with store.read() as reader:
        assert reader.statistics(HUB).memories == 0


def test_a_hub_that_is_dropped_while_its_rows_wait_leaves_nothing() -> None:
    with database(ROLE) as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
            put(writer, make_memory(1, "some words"), [[b"one"]])
            writer.drop_hub(HUB)
        store.close()
        assert {name: some for name, some in _all_rows(_owners(url)).items() if some} == {}


def test_of_two_indexes_that_wait_the_later_counts(store: PostgresStore) -> None:
    with store.write() as writer:
        put(writer, make_memory(1, "first this"), [[b"one"]])
        index(writer, make_memory(1, "then that"), [[b"two"]])
        writer.add_memory(make_memory(2))
        index(writer, make_memory(2))
        writer.unindex(HUB, "mem_2")
    with store.read() as reader:
        assert [one.vector for one in reader.vectors(HUB, MODEL, after=0)] == [b"two"]
        assert reader.lexicon(HUB, ["this", "that"]).frequency == {"this": 0, "that": 1}
        assert reader.statistics(HUB).passages == 1


@pytest.mark.parametrize("bound", ["ROWS_MAX", "BYTES_MAX"])
def test_no_more_waits_than_the_bounds_allow(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(write_buffer, bound, 30 if bound == "ROWS_MAX" else 40_000)
    most = 0
    with store.write() as writer:
        writer.take_numbers(HUB, 100)
        writer.add_change(Change("chg_1", HUB, at(0), "tester", "remember"))
        for number in range(1, 101):
            memory = make_memory(number, "many words " * 50)
            writer.add_memory(memory)
            writer.add_revision(HUB, "chg_1", memory.id, 1, at(0), {})
            index(writer, memory)
            held = writer._pending
            most = max(most, len(held.memories) + len(held.revisions) + len(held.indexes))
    assert 0 < most <= 30
    with store.read() as reader:
        assert reader.statistics(HUB).passages == 100
    assert store.check() == []


def test_a_role_that_may_make_no_temporary_tables_writes_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_buffer, "COPY_FROM", 1)
    with database(ROLE) as url:
        name = _database(url)
        databases().execute(f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
        try:
            store = PostgresStore(url)
            with sent() as statements, store.write() as writer:
                writer.add_hub(make_hub())
                _write_varied(writer, 5)
            assert store.check() == []
            store.close()
        finally:
            databases().execute(f"GRANT TEMPORARY ON DATABASE {name} TO PUBLIC")
    assert any(one.startswith("INSERT INTO words") for one in statements)
    assert not any(one.startswith("COPY") for one in statements)


_KILLED = """
import os, signal, sys
from holdfast.store.postgres import PostgresStore, write_buffer
from holdfast.testing.conformance.base import HUB, at, index, make_memory
from holdfast.domain.change import Change

encode, left = write_buffer.ENCODERS["int4[]"], [150]

def die_in_the_middle(values):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return encode(values)

write_buffer.ENCODERS["int4[]"] = die_in_the_middle
store = PostgresStore(sys.argv[1])
with store.write(hub=HUB) as writer:
    writer.add_change(Change("chg_1", HUB, at(0), "tester", "remember"))
    for number in range(1, 301):
        writer.add_memory(make_memory(number))
        writer.add_revision(HUB, "chg_1", f"mem_{number}", 1, at(0), {})
        index(writer, make_memory(number))
"""


def test_a_process_that_is_killed_in_the_middle_of_a_copy_leaves_nothing() -> None:
    with database(ROLE) as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
        ended = subprocess.run([sys.executable, "-c", _KILLED, url], env={**os.environ})
        assert ended.returncode == -signal.SIGKILL
        # The turn is free as soon as the server has seen that the line is cut.
        with store.write(hub=HUB) as writer:
            assert writer.statistics(HUB).memories == writer.statistics(HUB).changes == 0
            put(writer, make_memory(1))
        assert store.check() == []
        store.close()


def test_vectors_that_come_by_copy_are_in_the_index_of_a_large_hub(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_buffer, "COPY_FROM", 1)
    databases().make_role()
    name = databases().make_empty()
    try:
        if not initialise(databases().url(name), partitions=2, role=ROLE).offered.vector_schema:
            pytest.skip("no pgvector here")
        owner = PostgresStore(databases().url(name))
        with owner.write() as writer:
            writer.add_hub(make_hub())
            for number in range(1, 21):
                put(writer, make_memory(number), [[bytes([0, 0, 0, 64, number, 1])]])
        assert [one.vectors for one in vector_index.build(owner, index_from=20)] == [20]
        owner.close()
        initialise(databases().url(name), role=ROLE)
        store = PostgresStore(databases().url(name, ROLE))
        with store.write(hub=HUB) as writer:
            for number in range(21, 51):
                put(writer, make_memory(number), [[bytes([0, 0, 0, 64, number, 1])]])
        with psycopg.connect(databases().url(name)) as connection:
            count = connection.execute("SELECT count(*) FROM holdfast.embeddings").fetchone()
        assert count == (50,)
        assert store.check() == []
        store.close()
    finally:
        databases().drop(name)


# The engine on it


@contextmanager
def _opened() -> Iterator[tuple[Any, list[str]]]:
    settings = {"embed.model": "none", "recall.count_shown": False}
    with (
        database(ROLE) as url,
        holdfast.open(url, settings=settings) as memory,
        sent() as statements,
    ):
        yield memory, statements


def test_many_memories_are_remembered_in_few_statements() -> None:
    with _opened() as (memory, statements):
        hub = memory.create_hub("notes")
        hub.remember_many([f"The {word} is in the attic." for word in ("lamp", "rug", "bed")])
        del statements[:]
        texts = [f"Box {number} is in the attic." for number in range(150)]
        results = hub.remember_many([*texts, texts[0]])
        # Not one more for each memory; the duplicate is looked up.
        assert len(statements) < 40
        assert [one.memory.number for one in results[:150]] == list(range(4, 154))
        assert isinstance(results[150], holdfast.Duplicate)
        assert hub.search_text("box 77")[0].content == texts[77]
        assert memory.core.store.check() == []


def test_a_line_that_is_cut_in_the_middle_of_a_copy_leaves_all_of_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was begun is gone; the operation is begun again, and everything is there once."""
    encode, cuts = write_buffer.ENCODERS["int4[]"], []
    with database(ROLE) as url:

        def cut_in_the_middle(values: Any) -> bytes:
            if len(cuts) < 150:
                cuts.append(1)
                if len(cuts) == 150:
                    databases().execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
                        _database(url),
                    )
            return encode(values)

        monkeypatch.setitem(write_buffer.ENCODERS, "int4[]", cut_in_the_middle)
        with holdfast.open(url, settings={"embed.model": "none"}) as memory:
            hub = memory.create_hub("notes")
            results = hub.remember_many([f"Box {number} is full." for number in range(200)])
            assert len(cuts) == 150
            assert [one.memory.number for one in results] == list(range(1, 201))
            assert hub.statistics().memories == hub.statistics().revisions == 200
            assert hub.statistics().changes == 1
            assert memory.core.store.check() == []


def test_an_import_is_written_in_few_statements() -> None:
    with _opened() as (memory, statements):
        hub = memory.create_hub("notes")
        hub.remember_many([f"Box {number} is in the attic." for number in range(300)])
        lines = list(hub.export())
        del statements[:]
        copied = memory.import_hub(lines, name="copy")
        assert len(statements) < 80
        assert copied.statistics().memories == 300
        assert list(copied.export())[1:-1] == lines[1:-1]
        assert memory.core.store.check() == []


def test_an_import_goes_on_beside_the_writers_of_other_hubs() -> None:
    with _opened() as (memory, _):
        other = memory.create_hub("other")
        hub = memory.create_hub("notes")
        hub.remember_many([f"Box {number} is in the attic." for number in range(5)])
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with memory.core.store.write(hub=other.id):
                held.set()
                done.wait(20)

        thread = threading.Thread(target=hold)
        beside = []

        def lines() -> Iterator[str]:
            for at_line, line in enumerate(list(hub.export())):
                if at_line == 1:
                    # The hub has been made by now; only its rows are still to come.
                    thread.start()
                    assert held.wait(20)
                yield line

        def told(count: int) -> None:
            beside.append(thread.is_alive())
            done.set()

        memory.import_hub(lines(), name="copy", progress=told)
        thread.join()
        assert beside == [True]


def test_after_an_import_the_server_has_looked_at_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs(version=170000)  # before, only its owner may have a table looked at
    monkeypatch.setattr("holdfast.store.postgres.write_buffer._ANALYSED_FROM", 10)
    monkeypatch.setattr("holdfast.engine.transfer.export._IMPORTED_LINES", 12)
    with database(ROLE) as url:
        with holdfast.open(url, settings={"embed.model": "none"}) as memory:
            hub = memory.create_hub("notes")
            hub.remember_many([f"Box {number} is in the attic." for number in range(25)])
            lines = list(hub.export())
            memory.delete_hub("notes")
            memory.import_hub(lines)
        with psycopg.connect(_owners(url)) as connection:
            known = connection.execute(
                "SELECT sum(c.reltuples) FROM pg_class c"
                " WHERE c.oid::regclass::text ~ '^holdfast.memories_[0-9]+$' AND reltuples > 0"
            ).fetchone()
    assert known == (25,)
