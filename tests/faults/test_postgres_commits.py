"""A write whose end was not heard: what is said about it is the truth, whoever is asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.errors import ServerUnreachable
from tests.postgres_server import Server, make_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra
from holdfast.store.postgres.connections import (  # noqa: E402
    Mark,
    connect,
    gave_up_on_standbys,
    was_committed,
)
from holdfast.store.postgres.errors import connection_lost, to_store_error  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)

pytestmark = pytest.mark.faults


def _asked(store: PostgresStore, url: str, mark: Mark) -> bool:
    local = store._connections._local(60_000, 60_000)
    return was_committed(mark, lambda: connect(url), local, store.address, wait_s=2)


def test_another_transaction_of_the_same_number_is_not_taken_for_ours(
    store: PostgresStore, url: str
) -> None:
    """A standby that takes over gives out numbers that the dead primary had given out too."""
    with store.write() as writer:
        row = writer._session.connection.execute("SELECT pg_current_xact_id()::text").fetchone()
        put(writer, make_memory(1))
    assert row is not None
    (committed,) = row
    assert not _asked(store, url, Mark(0, "nobody", 1, committed))
    (place, number) = store._connections._next_mark()
    assert _asked(store, url, Mark(0, place, number - 1, committed))
    assert not _asked(store, url, Mark(0, place, number, committed))


def test_a_number_that_a_server_has_not_come_to_is_not_there(
    store: PostgresStore, url: str
) -> None:
    assert not _asked(store, url, Mark(0, "nobody", 1, str(2**40)))


def test_a_write_that_may_still_happen_is_waited_for(store: PostgresStore, url: str) -> None:
    with psycopg.connect(url) as slow:
        row = slow.execute("SELECT pg_current_xact_id()::text").fetchone()
        with pytest.raises(ServerUnreachable, match="not known whether") as caught:
            was_committed(
                Mark(0, "slow", 1, row[0]),
                lambda: connect(url),
                store._connections._local(60_000, 60_000),
                store.address,
                wait_s=0.1,
            )
    assert caught.value.in_doubt
    assert not caught.value.again


def test_marks_are_few_and_old_ones_go(store: PostgresStore, url: str) -> None:
    def marks(hub: str) -> int:
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "SELECT count(*) FROM holdfast.commits WHERE hub_id"
                " = coalesce((SELECT hub_id FROM holdfast.hubs WHERE id = %s), 0)",
                (hub,),
            ).fetchone()
        return int(row[0])

    for number in range(1, 4):
        with store.write(hub=HUB) as writer:
            put(writer, make_memory(number))
    assert marks(HUB) == 1
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE holdfast.commits SET at = at - interval '2 days'")
    other = PostgresStore(url)
    with other.write(hub=HUB) as writer:
        put(writer, make_memory(4))
    other.close()
    assert marks(HUB) == 1
    with store.write() as writer:
        writer.drop_hub(HUB)
    assert marks(HUB) == marks("none")


@pytest.fixture
def waiting_server() -> Iterator[Server]:
    """A server that waits for a standby which is not there."""
    if os.environ.get("HOLDFAST_TEST_POSTGRES"):
        pytest.skip("a server that others use is not set up anew")
    server = make_server()
    yield server
    server.stop()


def _waiting_backend(connection: psycopg.Connection, writing: threading.Thread) -> int | None:
    """The process that waits for a standby, or None if the write ended without waiting."""
    waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while writing.is_alive():
        if (row := connection.execute(waits).fetchone()) is not None:
            return int(row[0])
        writing.join(0.01)
    return None


def _await_standby_setting(server: Server, connection: psycopg.Connection) -> None:
    """Returns once commits wait for the standby: the setting takes effect when the checkpointer has
    read it, which on a busy machine can be later than the next commit."""

    def commit() -> None:
        with psycopg.connect(server.url("postgres"), autocommit=True) as other:
            other.execute("SET synchronous_commit = on")
            other.execute("SELECT pg_logical_emit_message(true, 'test', 'a commit')")

    for _ in range(1000):
        committing = threading.Thread(target=commit)
        committing.start()
        pid = _waiting_backend(connection, committing)
        if pid is not None:
            connection.execute("SELECT pg_cancel_backend(%s)", (pid,))
        committing.join(30)
        if pid is not None:
            return
    raise AssertionError("the server does not wait for a standby")


def _wait_for_standby(server: Server, connection: psycopg.Connection) -> None:
    connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    connection.execute("SELECT pg_reload_conf()")
    _await_standby_setting(server, connection)


def _wait_for_no_standby(connection: psycopg.Connection) -> None:
    connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
    connection.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_write_that_no_standby_has_is_not_called_done(waiting_server: Server, how: str) -> None:
    """Somebody ends the wait by hand: the server then says that it is done, with a warning. Where
    it ends the session as well, as at a switchover, the next server is asked, and knows."""
    store = PostgresStore(waiting_server.url("postgres"), partitions=1)
    with store.write() as writer:
        writer.add_hub(make_hub())
    ended: list[ServerUnreachable | None] = []

    def write() -> None:
        try:
            with store.write() as writer:
                put(writer, make_memory(1))
        except ServerUnreachable as error:
            ended.append(error)
        else:
            ended.append(None)

    with psycopg.connect(waiting_server.url("postgres"), autocommit=True) as connection:
        _wait_for_standby(waiting_server, connection)
        writing = threading.Thread(target=write)
        writing.start()
        pid = _waiting_backend(connection, writing)
        assert pid is not None, "the write did not wait for a standby"
        connection.execute(f"SELECT {how}(%s)", (pid,))
        if how == "pg_cancel_backend":
            writing.join(30)
        _wait_for_no_standby(connection)
        writing.join(30)
    (error,) = ended
    if how == "pg_cancel_backend":
        assert error is not None
        assert "standby" in error.message
        assert error.in_doubt
    else:
        assert error is None
    with store.read() as reader:
        assert reader.statistics(HUB).memories == 1
    store.close()


@pytest.mark.parametrize("first", [True, False])
def test_a_node_that_has_not_heard_of_the_commit_yet_is_waited_for(
    store: PostgresStore, url: str, first: bool
) -> None:
    """On Citus the coordinator has committed, and a node that was killed holds the write as
    prepared until it is told. Here another transaction holds the row of the mark."""
    with psycopg.connect(url) as ended:
        row = ended.execute("SELECT pg_current_xact_id()::text").fetchone()
    with psycopg.connect(url) as node:
        node.execute("SET search_path = holdfast; SET holdfast.hubs = '0'")
        if not first:
            node.execute(Mark(0, "node", 6, "").written(tidy=False)[0])
            node.commit()
        mark = Mark(0, "node", 7, row[0])
        node.execute(mark.written(tidy=False)[0])
        with pytest.raises(ServerUnreachable, match="not known whether"):
            _asked(store, url, mark)
        node.commit()
    assert _asked(store, url, mark)


def _notice(**fields: str) -> Any:
    return SimpleNamespace(
        **{"severity_nonlocalized": "WARNING", "source_function": "", "message_primary": ""}
        | fields
    )


def test_only_the_warning_about_standbys_is_taken_for_one() -> None:
    """Citus warns of a transaction that is in progress already, others of what they like."""
    told = _notice(source_function="SyncRepWaitForLSN", message_primary="Warten abgebrochen")
    assert gave_up_on_standbys(told)
    passed_on = "canceling wait for synchronous replication due to user request"
    assert gave_up_on_standbys(_notice(message_primary=passed_on))
    assert not gave_up_on_standbys(
        _notice(
            source_function="BeginTransactionBlock",
            message_primary="there is already a transaction in progress",
        )
    )
    assert not gave_up_on_standbys(_notice(severity_nonlocalized="NOTICE"))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("08006", "connection to the remote node app@w:5432 failed with the following error: gone"),
        ("XX000", "server closed the connection unexpectedly"),
    ],
)
def test_a_node_that_is_lost_is_said_and_the_write_is_looked_for(
    url: str, state: str, words: str
) -> None:
    """As a coordinator of Citus says it, while its own connection is fine."""
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(f"DO $$ BEGIN RAISE '{words}' USING ERRCODE = '{state}'; END $$")
    assert connection_lost(caught.value)
    told = to_store_error(caught.value, "postgresql://c/db")
    assert isinstance(told, ServerUnreachable)
    assert told.again
    assert told.message.startswith("A node of postgresql://c/db cannot be reached (")
