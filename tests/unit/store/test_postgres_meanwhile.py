"""While the server takes in one part of a write, the next is made ready; nobody can tell from what
is written, read or refused. The server is held up by a lock here, so that no clock is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from holdfast.errors import StoreError
from tests.postgres_server import ROLE, database, databases

psycopg = pytest.importorskip("psycopg")
pytest.register_assert_rewrite("holdfast.testing.conformance")

from holdfast.store.postgres import PostgresStore, connections, copying, waiting  # noqa: E402
from holdfast.testing.conformance.base import HUB, index, make_hub, make_memory  # noqa: E402

# Rows of one part, two for each memory.
PART = 20
# How long a test waits for what must happen; reached only where something is broken.
PATIENCE_S = 20.0


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(waiting, "ROWS_MAX", PART)
    monkeypatch.setattr(copying, "COPY_FROM", 2)
    with database(ROLE) as url:
        yield url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(url)
    with opened.write() as writer:
        writer.add_hub(make_hub())
    yield opened
    opened.close()


class Held:
    """A server at which no memory can be written until the lock is let go."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.connection = psycopg.connect(databases().url(name))
        self.connection.execute("LOCK TABLE holdfast.memories IN SHARE MODE")

    def wait_for_writer(self) -> None:
        """Until somebody stands at the lock; each look takes as long as a statement does."""
        asked = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
            " AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO memories%%'"
        )
        with psycopg.connect(databases().url(self._name), autocommit=True) as looking:
            looking.execute(f"SET statement_timeout = '{PATIENCE_S:.0f}s'")
            ended = threading.Event()
            timer = threading.Timer(PATIENCE_S, ended.set)
            timer.start()
            try:
                while looking.execute(asked, (self._name,)).fetchone() == (0,):
                    assert not ended.is_set(), "nobody came"
            finally:
                timer.cancel()

    def let_go(self) -> None:
        self.connection.rollback()


@pytest.fixture
def held(url: str, store: PostgresStore) -> Iterator[Held]:
    holder = Held(str(psycopg.conninfo.conninfo_to_dict(url)["dbname"]))
    yield holder
    holder.connection.close()


def _put(writer: Any, numbers: range) -> None:
    for number in numbers:
        writer.add_memory(make_memory(number, f"the kettle {number}"))
        index(writer, make_memory(number, f"the kettle {number}"))


def _counts(store: PostgresStore) -> tuple[int, int]:
    with store.read() as reader:
        found = reader.statistics(HUB)
        return found.memories, found.passages


@contextmanager
def _beside(act: Callable[[], None]) -> Iterator[threading.Thread]:
    """Something that goes on in a thread of its own; waited for at the end."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    yield thread
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_the_next_rows_are_taken_while_the_server_is_at_those_before(
    store: PostgresStore, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A writer that waited at the lock would be sent away, and the test be red.
    monkeypatch.setattr(connections, "BUSY_WAIT_S", PATIENCE_S)
    with store.write(hub=HUB) as writer:
        _put(writer, range(1, PART))
        held.wait_for_writer()
        assert writer._waiting.memories
        held.let_go()
        # What was sent meanwhile is seen by who asks.
        assert writer.statistics(HUB).memories == PART - 1
        _put(writer, range(PART, 3 * PART))
    assert _counts(store) == (3 * PART - 1, 3 * PART - 1)
    assert not [one for one in store.check() if one.derived]


def test_no_more_than_one_part_is_on_its_way(store: PostgresStore, held: Held) -> None:
    gathered = threading.Event()

    def write() -> None:
        with store.write(hub=HUB) as writer:
            _put(writer, range(1, PART))
            gathered.set()
            _put(writer, range(PART, 2 * PART))

    with _beside(write) as thread:
        held.wait_for_writer()
        assert gathered.wait(PATIENCE_S)
        # The end of the second part, and the commit, wait for the server.
        assert thread.is_alive()
        assert _counts(store) == (0, 0)
        held.let_go()
    assert _counts(store) == (2 * PART - 1, 2 * PART - 1)


def test_a_fault_is_told_to_the_next_statement_in_the_same_words(store: PostgresStore) -> None:
    said = []
    for read in (False, True):
        with pytest.raises(StoreError, match="refused") as caught, store.write(hub=HUB) as writer:
            writer.add_memory(make_memory(1)._replace(key="same"))
            writer.add_memory(make_memory(2)._replace(key="same"))
            _put(writer, range(3, PART))
            if read:
                writer.memory(HUB, "mem_3")
        said.append(str(caught.value))
        assert _counts(store) == (0, 0)
    assert said[0] == said[1]
    with store.write(hub=HUB) as writer:
        _put(writer, range(1, PART))
    assert _counts(store) == (PART - 1, PART - 1)


def test_a_fault_that_is_passed_over_leaves_nothing(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="passed over"), store.write(hub=HUB) as writer:
        writer.add_memory(make_memory(1)._replace(key="same"))
        writer.add_memory(make_memory(2)._replace(key="same"))
        _put(writer, range(3, 3 + PART // 2))
        with pytest.raises(psycopg.errors.UniqueViolation):
            writer.memory(HUB, "mem_3")
        _put(writer, range(50, 50 + PART))
    assert _counts(store) == (0, 0)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_write_that_is_given_up_does_not_wait_for_what_the_server_is_at(
    store: PostgresStore, held: Held, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    # Without end, for a statement that nobody stops.
    monkeypatch.setattr(connections, "BUSY_WAIT_S", 0)
    caught = []

    def write() -> None:
        try:
            with store.write(hub=HUB) as writer:
                _put(writer, range(1, PART))
                held.wait_for_writer()
                raise error
        except error as one:
            caught.append(one)

    try:
        with _beside(write):
            pass
    finally:
        held.let_go()
    assert len(caught) == 1
    assert _counts(store) == (0, 0)
    monkeypatch.undo()
    with store.write(hub=HUB) as writer:
        _put(writer, range(1, PART))
    assert _counts(store) == (PART - 1, PART - 1)
    assert not [one for one in threading.enumerate() if one.name.startswith("holdfast-sending")]
