"""A server that ends sessions which say nothing for a while, as some are set to: what lies idle is
passed over, and a transaction that waits for whoever reads from it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.memory import open as open_memory
from holdfast.domain.clock import SystemClock
from holdfast.engine.transfer.copy import move
from holdfast.errors import ServerUnreachable
from holdfast.store.inmemory import InMemoryStore
from tests.faults.postgres_edges import SETTINGS, url_of
from tests.postgres_server import databases, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, vector_index  # noqa: E402 - the extra
from holdfast.store.postgres.connections import connect  # noqa: E402
from holdfast.store.postgres.initialise import initialise  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)
from tests.postgres_migrations import KNOWN, SCHEMA_PATH  # noqa: E402

pytestmark = pytest.mark.faults

_WAIT_S = 30.0
_LIMIT_MS = 80
# Longer than the limit.
_PAUSE_S = 0.2


@pytest.fixture
def opened(url: str) -> Iterator[Callable[..., PostgresStore]]:
    """A store with a hub, whose sessions have the limits that are named, in milliseconds."""
    with ExitStack() as closing:

        def open_with(**limits: int) -> PostgresStore:
            store = PostgresStore(limited(url, **limits))
            closing.callback(store.close)
            with store.write() as writer:
                writer.add_hub(make_hub())
            return store

        yield open_with


def limited(url: str, **limits: int) -> str:
    return url_of(url, options=" ".join(f"-c {name}={value}" for name, value in limits.items()))


def pause() -> None:
    threading.Event().wait(_PAUSE_S)


def count(store: PostgresStore) -> int:
    with store.read() as reader:
        return reader.statistics(HUB).memories


# Sessions that lie idle


def _until_cut(url: str) -> None:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'holdfast'"
    )
    ends = time.monotonic() + _WAIT_S
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(query).fetchone() != (0,):
            assert time.monotonic() < ends, "nobody cut them"
            threading.Event().wait(0.01)


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "found out"])
def test_connections_that_were_cut_because_they_lay_idle_are_passed_over(
    url: str,
    opened: Callable[..., PostgresStore],
    monkeypatch: pytest.MonkeyPatch,
    seen: bool,
) -> None:
    """Where it is seen that a connection is cut, and where that happens right afterwards."""
    store = opened(idle_session_timeout=_LIMIT_MS)
    naps: list[float] = []
    monkeypatch.setattr("holdfast.store.postgres.connections.time.sleep", naps.append)
    if not seen:
        monkeypatch.setattr("holdfast.store.postgres.pool._is_closed", lambda connection: False)
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(store.read())
    _until_cut(url)
    assert count(store) == 0
    _until_cut(url)
    with store.write() as writer:
        put(writer, make_memory(1))
    assert count(store) == 1
    assert not naps, "a server that is well is not waited for"


def test_what_takes_long_keeps_the_connection_that_waits_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One holds the lock while the other works, and one works while the other waits."""
    monkeypatch.setattr(SCHEMA_PATH, KNOWN)
    name = databases().make_empty()
    told: list[str] = []

    def tell(what: str) -> None:
        if not told:
            pause()
        told.append(what)

    try:
        limits = limited(databases().url(name), idle_session_timeout=_LIMIT_MS)
        initialise(limits, partitions=1, role="postgres", report=tell)
    finally:
        databases().drop(name)
    assert told


def test_an_index_is_built_for_who_takes_its_time_between_hubs() -> None:
    needs(extension="vector", least=(0, 8))
    name = databases().make_empty()
    try:
        initialise(databases().url(name), partitions=1)
        store = PostgresStore(limited(databases().url(name), idle_session_timeout=_LIMIT_MS))
        with store.write() as writer:
            for hub in ("hub_a", "hub_b"):
                writer.add_hub(make_hub(hub))
                put(writer, make_memory(1, hub_id=hub), [[b"\0\0\x80\x3f\1\2\3\4"]])
        built = []
        for one in vector_index.build(store, index_from=1):
            built.append(one.vectors)
            pause()
        store.close()
    finally:
        databases().drop(name)
    assert built == [1, 1]


# Transactions in which nothing is asked for a while


def test_an_export_goes_on_for_who_reads_it_slowly(url: str, tmp_path: Path) -> None:
    settings = {
        **SETTINGS,
        "store.url": limited(url, idle_in_transaction_session_timeout=_LIMIT_MS),
    }
    with open_memory(tmp_path, settings=settings) as memory:
        memory.create_hub("plans")
        hub = memory.hub("plans")
        hub.remember("The ferry leaves at nine")
        lines = []
        for line in hub.export():
            lines.append(line)
            if len(lines) <= 2:
                pause()
        assert "ferry" in lines[1]
        assert '"end"' in lines[-1]


def test_a_move_goes_on_where_the_target_is_slow(opened: Callable[..., PostgresStore]) -> None:
    store = opened(idle_in_transaction_session_timeout=_LIMIT_MS)
    with store.write() as writer:
        put(writer, make_memory(1))
    target = InMemoryStore()
    paused: list[str] = []

    def told(what: str, done: int, total: int) -> None:
        if not paused:
            pause()
        paused.append(what)

    moved = move(store, target, clock=SystemClock(), run="one", report=told)
    assert paused
    assert [hub.name for hub in moved.hubs] == [make_hub().name]


def test_a_read_with_a_deadline_has_all_of_it(opened: Callable[..., PostgresStore]) -> None:
    store = opened(idle_in_transaction_session_timeout=_LIMIT_MS)
    with store.read(deadline_s=10.0) as reader:
        pause()
        assert reader.statistics(HUB).memories == 0


def test_a_write_may_think_for_longer_than_the_server_waits(
    opened: Callable[..., PostgresStore],
) -> None:
    store = opened(idle_in_transaction_session_timeout=_LIMIT_MS)
    with store.write() as writer:
        pause()
        put(writer, make_memory(1))
    assert count(store) == 1


def test_a_write_that_falls_silent_loses_its_turn_and_nothing_of_it_is_written(
    opened: Callable[..., PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others wait for it, so it is not waited for without end, whatever the server is set to."""
    store = opened(idle_in_transaction_session_timeout=0)
    with monkeypatch.context() as short:
        short.setattr("holdfast.store.postgres.connections._SILENCE_MS", _LIMIT_MS)
        with pytest.raises(ServerUnreachable, match="idle-in-transaction"), store.write() as writer:
            put(writer, make_memory(1))
            pause()
    assert count(store) == 0


# Statements that take longer than the role may


def test_a_purge_is_done_where_the_server_stops_its_vacuum(
    opened: Callable[..., PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, limited_to = opened(), list[str]()

    def connect_with_limit(url: str) -> psycopg.Connection[Any]:
        connection = connect(url)
        # No VACUUM of all tables takes less.
        connection.execute("SET statement_timeout = 1")
        limited_to.append(url)
        return connection

    monkeypatch.setattr("holdfast.store.postgres.connect", connect_with_limit)
    store.settle()
    assert len(limited_to) == 1
