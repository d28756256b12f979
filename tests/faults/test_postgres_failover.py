"""A primary with two standbys is killed under load: what was acknowledged is there after another
has taken over, and nothing is there twice."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from holdfast.domain.query import EVERYTHING
from holdfast.errors import HoldfastError
from tests.postgres_server import Server, make_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)

pytestmark = pytest.mark.faults

_PATIENCE_S = 60.0


@pytest.fixture
def nodes() -> Iterator[list[Server]]:
    """A primary and two standbys; a write is acknowledged when one of them has it too."""
    if os.environ.get("HOLDFAST_TEST_POSTGRES"):
        pytest.skip("servers that others use are not killed")
    primary = make_server(synchronous_commit="on")
    standbys = [make_server(primary, synchronous_commit="on") for _ in range(2)]
    with psycopg.connect(primary.url("postgres"), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
        connection.execute("SELECT pg_reload_conf()")
        _until(lambda: len(connection.execute(_FOLLOWERS).fetchall()) == 2)
    yield [primary, *standbys]
    for node in (primary, *standbys):
        node.stop()


_FOLLOWERS = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'"


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while not true():
        assert time.monotonic() < ends, "it did not come true in time"
        threading.Event().wait(0.02)


def _replayed(node: Server) -> int:
    with psycopg.connect(node.url("postgres"), autocommit=True) as connection:
        row = connection.execute("SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn").fetchone()
    return int(row[0])


def test_reads_go_to_a_standby_that_has_what_was_written(nodes: list[Server]) -> None:
    primary, standby = nodes[:2]
    url, read_url = primary.url("postgres"), standby.url("postgres")
    store = PostgresStore(url, read_url=read_url, partitions=1)
    other = PostgresStore(url, read_url=read_url)

    def seen(by: PostgresStore) -> tuple[bool, int]:
        """Whether a standby answered, and how many there are."""
        with by.read() as reader:
            recovering = reader._session.value("SELECT pg_is_in_recovery()")
            return recovering, reader.statistics(HUB).memories

    with store.write() as writer:
        writer.add_hub(make_hub())
    _until(lambda: seen(store) == (True, 0))
    with psycopg.connect(read_url, autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        _until(lambda: connection.execute(_PAUSED).fetchone() == ("paused",))
        with store.write() as writer:
            put(writer, make_memory(1))
        # Who wrote it reads it, from the primary; who did not is behind with the standby.
        assert seen(store) == (False, 1)
        assert seen(other) == (True, 0)
        connection.execute("SELECT pg_wal_replay_resume()")
    _until(lambda: seen(store) == (True, 1))
    # A standby that is gone is done without.
    standby.stop()
    assert seen(store) == (False, 1)
    assert seen(store) == (False, 1)
    for one in (store, other):
        one.close()


_PAUSED = "SELECT pg_get_wal_replay_pause_state()"


def test_no_acknowledged_write_is_lost_when_the_primary_dies(nodes: list[Server]) -> None:
    primary, *standbys = nodes
    hosts = ",".join(str(node.folder) for node in nodes)
    url = f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"
    store = PostgresStore(url, partitions=1)
    with store.write() as writer:
        for name in ("hub_a", "hub_b"):
            writer.add_hub(make_hub(name))
    acknowledged: dict[str, list[int]] = {"hub_a": [], "hub_b": []}
    enough, stopped = threading.Event(), threading.Event()

    def write(hub_id: str) -> None:
        number = 1
        while not stopped.is_set():
            try:
                with store.write(hub=hub_id) as writer:
                    put(writer, make_memory(number, hub_id=hub_id))
            except HoldfastError:
                continue  # It was not written: the same again.
            acknowledged[hub_id].append(number)
            number += 1
            if number > 15:
                enough.set()

    writers = [threading.Thread(target=write, args=(hub_id,)) for hub_id in acknowledged]
    for thread in writers:
        thread.start()
    assert enough.wait(_PATIENCE_S)
    primary.stop("SIGKILL")
    before = {hub_id: len(numbers) for hub_id, numbers in acknowledged.items()}
    # Of two standbys the one that got further takes over; the other may lack what was acknowledged.
    successor = max(standbys, key=_replayed)
    with psycopg.connect(successor.url("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
    _until(lambda: all(len(acknowledged[h]) >= before[h] + 5 for h in before))
    stopped.set()
    for thread in writers:
        thread.join()
    with store.read() as reader:
        for hub_id, numbers in acknowledged.items():
            found = reader.memories(hub_id, EVERYTHING, order="number", after=None, limit=10_000)
            assert [memory.number for memory in found] == numbers
    assert HUB in acknowledged
    assert store.check() == []
    store.close()
