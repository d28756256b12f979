"""What can go wrong between Holdfast and a PostgreSQL server: a clear sentence each time, nothing
lost, nothing written twice, and no password in any message."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import NO_HUB, Record
from holdfast.errors import (
    DeadlineExceeded,
    HoldfastError,
    InvalidInput,
    InvalidSetting,
    ServerUnreachable,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from holdfast.store.base import Store
from holdfast.wiring import open_store
from tests.faults.postgres_edges import url_of
from tests.postgres_server import (
    LOCKED,
    PASSWORD,
    ROLE,
    Server,
    databases,
    make_server,
    needs,
)
from tests.scratch import folder_for_sockets

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.store.postgres.connections import READERS_MAX  # noqa: E402
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)

pytestmark = pytest.mark.faults


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits that are bounded by seconds are bounded by less."""
    for name in ("RECONNECT_WAIT_S", "BUSY_WAIT_S"):
        monkeypatch.setattr(f"holdfast.store.postgres.connections.{name}", 0.3)


def count(store: Store) -> int:
    with store.read() as reader:
        return reader.statistics(HUB).memories


def numbers(store: Store) -> list[int]:
    with store.read() as reader:
        found = reader.memories(HUB, EVERYTHING, order="number", after=None, limit=10_000)
        return [memory.number for memory in found]


# Being let in


def test_a_wrong_password_is_reported_without_the_password(url: str) -> None:
    needs(passwords=True)
    wrong = url_of(url, user=LOCKED, password="hunter2")
    with pytest.raises(ServerUnreachable, match="refused the user or the password") as caught:
        open_store(wrong)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    right = url_of(url, user=LOCKED, password=PASSWORD)
    with pytest.raises(StoreReadOnly, match="may not"):  # let in, and granted nothing
        open_store(right)


def test_a_database_that_is_missing_is_named(url: str) -> None:
    with pytest.raises(ServerUnreachable, match="no database `elsewhere`") as caught:
        open_store(url_of(url, dbname="elsewhere"))
    assert "createdb elsewhere" in caught.value.hint


def test_a_server_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ServerUnreachable, match="cannot be reached") as caught:
        open_store(f"postgresql://me:hunter2@/x?host={tmp_path}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hun%ter2@host/db",
        "postgresql://me:hunter2@host:port/db",
        "postgresql://me:hunter2@host/db?no_such_option=1",
        "postgresql://[me:hunter2@host/db",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        open_store(url)
    assert isinstance(caught.value, InvalidSetting | ServerUnreachable)
    assert "ter2" not in str(caught.value)


def test_a_role_that_may_only_read_reads(store: PostgresStore, url: str) -> None:
    with store.write() as writer:
        put(writer, make_memory(1))
    role = "holdfast_reader"
    databases().make_role(role)
    name = url.partition("@/")[2].partition("?")[0]
    databases().execute(
        f"GRANT USAGE ON SCHEMA holdfast TO {role};"
        f" GRANT SELECT ON ALL TABLES IN SCHEMA holdfast TO {role}",
        name,
    )
    reading = PostgresStore(databases().url(name, role))
    assert count(reading) == 1
    with pytest.raises(StoreReadOnly, match="may not"), reading.write() as writer:
        put(writer, make_memory(2))
    reading.close()
    assert count(store) == 1


def test_a_server_that_only_reads_is_reported(store: PostgresStore, url: str) -> None:
    standby = url + "&options=" + quote("-c default_transaction_read_only=on")
    reading = PostgresStore(standby)
    with pytest.raises(StoreReadOnly, match="cannot be written"), reading.write() as writer:
        put(writer, make_memory(1))
    assert count(reading) == 0
    reading.close()


# What a server may say in the middle


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("40001", StoreBusy),  # serialization failure
        ("40P01", StoreBusy),  # deadlock
        ("55P03", StoreBusy),  # lock not available
        ("53100", StoreFull),  # disk full
        ("53200", StoreFull),  # out of memory
        ("53300", StoreBusy),  # too many connections
        ("57014", DeadlineExceeded),  # statement timeout
        ("57P01", ServerUnreachable),  # the administrator stops the server
        ("58030", StoreFull),  # an error of the disk
        ("25006", StoreReadOnly),
        ("42501", StoreReadOnly),
        ("42P01", StoreDamaged),  # a table is missing
        ("XX001", StoreDamaged),  # a page is damaged
        ("54000", InvalidInput),  # too large for an index
        ("23505", StoreError),
        ("P0001", StoreError),
    ],
)
def test_what_the_server_says_becomes_a_sentence_and_nothing_is_written(
    store: PostgresStore, code: str, error: type[HoldfastError]
) -> None:
    with pytest.raises(error) as caught, store.write() as writer:
        put(writer, make_memory(1))
        _raise(writer, code)
    assert type(caught.value) is error
    assert str(caught.value).endswith(".")
    assert count(store) == 0
    with store.write() as writer:
        put(writer, make_memory(2))
    assert numbers(store) == [2]


def _raise(writer: Any, code: str) -> None:
    writer._session.connection.execute(
        f"DO $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '{code}'; END $$"
    )


def test_an_error_that_is_passed_over_does_not_become_a_write(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="passed over"), store.write() as writer:
        put(writer, make_memory(1))
        with pytest.raises(psycopg.Error):
            _raise(writer, "23505")
    assert count(store) == 0


def test_a_long_statement_is_stopped_at_the_deadline(store: PostgresStore) -> None:
    with pytest.raises(DeadlineExceeded), store.read(deadline_s=0.05) as reader:
        reader._session.connection.execute("SELECT pg_sleep(30)")
    assert count(store) == 0


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 a character"])
def test_text_that_no_server_keeps_is_refused(store: PostgresStore, text: str) -> None:
    with pytest.raises(InvalidInput), store.write() as writer:
        put(writer, make_memory(1)._replace(summary=text))
    assert count(store) == 0


# Waiting


@pytest.mark.usefixtures("impatient")
def test_connections_that_are_all_in_use_are_reported(store: PostgresStore) -> None:
    from holdfast.store.postgres.connections import READERS_MAX

    with ExitStack() as held:
        for _ in range(READERS_MAX):
            held.enter_context(store.read())
        with pytest.raises(StoreBusy, match=f"All {READERS_MAX} connections"), store.read():
            pass
        # Writers have connections of their own.
        with store.write() as writer:
            put(writer, make_memory(1))
    assert count(store) == 1


@pytest.mark.usefixtures("impatient")
def test_a_turn_that_does_not_come_is_reported(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url)
    with store.write() as writer:
        put(writer, make_memory(1))
        with pytest.raises(StoreBusy, match="kept writing"), other.write():
            pass
        # Counters do not wait at all.
        with pytest.raises(StoreBusy), other.write(durable=False):
            pass
    assert count(other) == 1
    with other.write(durable=False) as writer:
        writer.count_shown(HUB, ["mem_1"])
    other.close()


@pytest.mark.usefixtures("impatient")
def test_a_transaction_that_is_interrupted_gives_its_connection_back(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, whose process goes on after Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for _ in range(READERS_MAX):
        with monkeypatch.context() as patched:
            patched.setattr("holdfast.store.postgres.connections.send_together", interrupt)
            with pytest.raises(KeyboardInterrupt), store.read():
                pass
    assert count(store) == 0
    for _ in range(READERS_MAX):
        with (
            monkeypatch.context() as patched,
            pytest.raises(KeyboardInterrupt),
            store.read() as reader,
        ):
            patched.setattr(reader._session.connection, "execute", interrupt)
    assert count(store) == 0


def test_a_scan_that_is_left_does_not_disturb_the_next_transaction(store: PostgresStore) -> None:
    """A traceback may keep a scan alive for longer than its transaction."""
    with store.read() as reader:
        left = reader._session.scan("SELECT n FROM generate_series(1, 9) AS n")
        assert next(left) == (1,)
    with store.read() as reader:
        assert len(reader.hubs()) == 1
        left.close()
        assert len(reader.hubs()) == 1


# Lines that are cut


def _end_backends(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_cut_in_the_middle_writes_nothing_and_the_next_works(
    store: PostgresStore, url: str
) -> None:
    with pytest.raises(ServerUnreachable, match=r"cut|cannot be reached"), store.write() as writer:
        put(writer, make_memory(1))
        _end_backends(url)
        put(writer, make_memory(2))
    assert count(store) == 0
    with store.write() as writer:
        put(writer, make_memory(1))
    assert count(store) == 1


def test_idle_connections_that_were_cut_are_replaced_unseen(store: PostgresStore, url: str) -> None:
    assert count(store) == 0
    _end_backends(url)
    assert count(store) == 0
    _end_backends(url)
    with store.write() as writer:
        put(writer, make_memory(1))
    assert count(store) == 1


def test_a_read_does_not_try_every_connection_that_was_cut(store: PostgresStore, url: str) -> None:
    """As many as there may be, after busy hours; with a nap for each it took seven seconds."""
    with ExitStack() as stack:
        for _ in range(READERS_MAX):
            stack.enter_context(store.read())
    with psycopg.connect(url, autocommit=True) as connection:
        gone = connection.execute(
            "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert gone is not None
    assert gone[0] >= READERS_MAX
    began = time.monotonic()
    assert count(store) == 0
    assert time.monotonic() < began + 3.0


@contextmanager
def _proxy(server_socket: str, cut: Callable[[bytes], str]) -> Iterator[str]:
    """The folder of a socket that passes everything on, until `cut` says of what a client sends
    `before` or `after`: then the line is cut before it arrives, or before the answer does."""
    folder = str(folder_for_sockets("hfpx"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, ".s.PGSQL.5432"))
    listener.listen()

    def pump(client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(server_socket)
        muted = threading.Event()
        answered = threading.Event()

        def back() -> None:
            with suppress(OSError):
                while answer := server.recv(65536):
                    if muted.is_set():
                        answered.set()
                        return
                    client.sendall(answer)

        threading.Thread(target=back, daemon=True).start()
        while sent := client.recv(65536):
            when = cut(sent)
            if when == "after":
                muted.set()
            if when != "before":
                server.sendall(sent)
            if when == "after":
                answered.wait(30)
            if when:
                break
        # Not only closed: another thread may be reading from it still.
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=pump, args=(client,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield folder
    finally:
        listener.close()
        shutil.rmtree(folder)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_line_cut_at_the_commit_tells_the_truth(
    store: PostgresStore, url: str, when: str
) -> None:
    """The server is asked what became of it."""
    armed = threading.Event()

    def cut(sent: bytes) -> str:
        if armed.is_set() and b"COMMIT" in sent:
            armed.clear()
            return when
        return ""

    given = psycopg.conninfo.conninfo_to_dict(url)
    if not str(given["host"]).startswith("/"):
        pytest.skip("the line that is cut here is a socket of this machine")
    with _proxy(f"{given['host']}/.s.PGSQL.{given.get('port', 5432)}", cut) as other:
        through = PostgresStore(url_of(url, host=other, port="5432"))

        def write() -> None:
            with through.write() as writer:
                put(writer, make_memory(1))
                armed.set()

        if when == "after":
            write()
        else:
            with pytest.raises(ServerUnreachable):
                write()
        assert count(store) == (1 if when == "after" else 0)
        with through.write() as writer:
            put(writer, make_memory(2))
        through.close()
    assert numbers(store) == ([1, 2] if when == "after" else [2])


# A server that goes and comes back


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server of its own, to be stopped and killed."""
    if os.environ.get("HOLDFAST_TEST_POSTGRES"):
        pytest.skip("a server that others use is not stopped")
    yield make_server()


@pytest.fixture
def own_store(own_server: Server) -> Iterator[PostgresStore]:
    with psycopg.connect(own_server.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS holdfast CASCADE")
    opened = PostgresStore(own_server.url("postgres"), partitions=2)
    with opened.write() as writer:
        writer.add_hub(make_hub())
    yield opened
    opened.close()


def test_a_server_that_is_restarted_is_waited_for(
    own_server: Server, own_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count(own_store) == 0
    own_server.stop()
    with monkeypatch.context() as hurried:
        hurried.setattr("holdfast.store.postgres.connections.RECONNECT_WAIT_S", 0.2)
        with pytest.raises(ServerUnreachable):
            count(own_store)
    # It comes back while a reader waits for it.
    returning = threading.Timer(0.3, own_server.start)
    returning.start()
    assert count(own_store) == 0
    returning.join()
    with own_store.write() as writer:
        put(writer, make_memory(1))
    assert count(own_store) == 1


def test_what_was_acknowledged_survives_the_death_of_the_server(
    own_server: Server, own_store: PostgresStore
) -> None:
    acknowledged: list[int] = []
    enough = threading.Event()
    stopped = threading.Event()

    def write(start: int) -> None:
        number = start
        while not stopped.is_set():
            try:
                with own_store.write() as writer:
                    put(writer, make_memory(number))
            except HoldfastError:
                # Not written: the same again, once the server is back.
                continue
            acknowledged.append(number)
            number += 2
            if len(acknowledged) >= 30:
                enough.set()

    writers = [threading.Thread(target=write, args=(start,)) for start in (1, 2)]
    for thread in writers:
        thread.start()
    assert enough.wait(60)
    own_server.stop("SIGKILL")
    before = len(acknowledged)
    own_server.start()
    while len(acknowledged) < before + 10:
        threading.Event().wait(0.05)
    stopped.set()
    for thread in writers:
        thread.join()
    assert numbers(own_store) == sorted(acknowledged)
    assert own_store.check() == []


# The second wall


def test_a_transaction_sees_the_hubs_it_has_named_and_no_others(url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    store = PostgresStore(databases().url(name, ROLE))
    with store.write() as writer:
        for hub_id in (HUB, "hub_b"):
            writer.add_hub(make_hub(hub_id))
            put(writer, make_memory(1, hub_id=hub_id), [[b"v"]])
    every = ["memories", "revisions", "changes", "passages", "vectors", "terms"]
    with store.read() as reader:
        bare = reader._session.connection  # as a statement with a bug would ask

        def seen(table: str) -> int:
            return len(bare.execute(f"SELECT DISTINCT hub_id FROM {table}").fetchall())

        assert [seen(table) for table in every] == [0] * len(every)
        reader.memory(HUB, "mem_1")
        assert [seen(table) for table in every] == [1] * len(every)
        reader.due_records("any", make_memory(1).created_at, limit=1)
        assert [seen(table) for table in every] == [1] * len(every)
    with store.read() as reader:  # the next on the same connection begins anew
        assert reader._session.connection.execute("SELECT * FROM memories").fetchall() == []
    with pytest.raises(StoreReadOnly, match="row-level security"), store.write() as writer:
        writer.memory(HUB, "mem_1")
        writer._session.connection.execute(
            "INSERT INTO records (hub_id, kind, id, at, body) VALUES (2, 'a', 'b', 1, '{}')"
        )
    with store.write() as writer:
        writer.memory(HUB, "mem_1")
        bare = writer._session.connection
        assert bare.execute("UPDATE memories SET state = 'archived'").rowcount == 1
    with store.read() as reader:
        other = reader.memory("hub_b", "mem_1")
        assert other is not None
        assert other.state == "active"
    # A part of a table has no wall, so it is not granted.
    with pytest.raises(StoreReadOnly, match="permission denied"), store.read() as reader:
        reader._session.connection.execute("SELECT * FROM memories_0")
    store.close()


# In an interpreter of its own: a fork of one with the threads of a whole suite may stand still, at
# a lock that a thread had which is not in the child.
_FORKED = """
import os, sys
from holdfast.store.postgres import PostgresStore
from holdfast.testing.conformance.base import HUB, make_memory, put

def count():
    with store.read() as reader:
        return reader.statistics(HUB).memories

store = PostgresStore(sys.argv[1])
with store.read() as reader:
    assert reader.statistics(HUB).memories == 0
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with store.write() as writer:
                put(writer, make_memory(1))
            status = 0 if count() == 1 else 2
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == 0
    assert reader.statistics(HUB).memories == 0
assert count() == 1
store.close()
"""


def test_a_forked_child_leaves_its_parents_connections_alone(
    store: PostgresStore, url: str
) -> None:
    words = [sys.executable, "-c", _FORKED, url]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert count(store) == 1


# Turns


def test_writers_of_two_hubs_do_not_wait_for_each_other(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url)
    with store.write() as writer:
        writer.add_hub(make_hub("hub_b"))
    with store.write(hub=HUB) as writer:
        put(writer, make_memory(1))
        with other.write(hub="hub_b") as beside:
            put(beside, make_memory(1, hub_id="hub_b"))
        assert count(other) == 0
    with other.read() as reader:
        assert reader.statistics(HUB).memories == reader.statistics("hub_b").memories == 1
    other.close()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("first", "second"), [(HUB, HUB), (HUB, None), (None, HUB), (None, None), (HUB, "no hub")]
)
def test_writers_that_could_meet_wait_for_each_other(
    store: PostgresStore, url: str, first: str | None, second: str | None
) -> None:
    other = PostgresStore(url)
    with store.write(hub=first) as writer:
        put(writer, make_memory(1))
        writer.put_record(Record(NO_HUB, "kind", "id", make_memory(1).created_at, {}))
        for durable in (True, False):
            with (
                pytest.raises(StoreBusy),
                other.write(hub="" if second == "no hub" else second, durable=durable) as late,
            ):
                late.record(NO_HUB, "kind", "id")
    other.close()


@pytest.mark.parametrize(
    "act",
    [
        lambda writer: writer.memory("hub_b", "mem_1"),
        lambda writer: writer.put_record(
            Record("hub_b", "kind", "id", make_memory(1).created_at, {})
        ),
        lambda writer: writer.add_hub(make_hub("hub_c")),
        lambda writer: writer.rename_hub(HUB, "other"),
        lambda writer: writer.drop_hub(HUB),
        lambda writer: writer.drop_derived(),
    ],
)
def test_a_write_for_one_hub_touches_no_other(
    store: PostgresStore, act: Callable[[Any], object]
) -> None:
    with store.write() as writer:
        writer.add_hub(make_hub("hub_b"))
    with pytest.raises(StoreError, match="for one hub"), store.write(hub=HUB) as writer:
        put(writer, make_memory(1))
        act(writer)
    assert count(store) == 0
