"""A server that stops answering without hanging up, as a frozen machine does: it is given up in a
time that is known, in a sentence, and what was being written is there once or not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.engine.people import keys
from holdfast.errors import DeadlineExceeded, ServerUnreachable
from tests.edges.http.conftest import client_of
from tests.postgres_server import Server, spare_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, connections, session  # noqa: E402 - the extra
from holdfast.store.postgres.connections import Mark  # noqa: E402
from holdfast.store.postgres.urls import complete  # noqa: E402
from tests.faults.postgres_edges import SETTINGS, library, run_command, url_of  # noqa: E402

pytestmark = pytest.mark.faults

# The least that the driver waits for a connection.
_KNOCK_S = 2.0
_DEADLINE_S = 0.5
_SETTINGS = {**SETTINGS, "recall.deadline_s": _DEADLINE_S}


@pytest.fixture(scope="module")
def server() -> Server:
    return spare_server()


class Ice:
    """Freezes a server, and thaws it."""

    def __init__(self, server: Server) -> None:
        self._server, self._held = server, ExitStack()

    def freeze(self) -> None:
        self._held.enter_context(self._server.frozen())

    def thaw(self) -> None:
        self._held.close()


@pytest.fixture
def ice(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ice]:
    """In a hurry: what takes tens of seconds takes as few as it can."""
    monkeypatch.setattr("holdfast.store.postgres.pool._PROBE_AFTER_S", 0.2)
    monkeypatch.setattr("holdfast.store.postgres.pool._PROBE_WAIT_S", _KNOCK_S)
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_S", 0.4)
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_LEAST_S", 0.4)
    made = Ice(server)
    yield made
    made.thaw()


@pytest.fixture
def memory(server: Server, tmp_path: Path) -> Iterator[Holdfast]:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS holdfast CASCADE")
    PostgresStore(server.url("postgres"), partitions=1).close()
    url = url_of(server.url("postgres"), connect_timeout="2")
    with open_memory(tmp_path, settings={**_SETTINGS, "store.url": url}) as opened:
        opened.create_hub("plans")
        opened.hub("plans").remember("The first one")
        yield opened


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], None]], None]:
    """Does something once, right before a statement that begins so is sent."""

    def listen(front: str, do: Callable[[], None]) -> None:
        left = [do]

        def heard(sql: str) -> None:
            if left and sql.lstrip().startswith(front):
                left.pop()()

        monkeypatch.setattr(session, "LISTENERS", [heard])

    return listen


def there(server: Server) -> list[str]:
    with psycopg.connect(server.url("postgres")) as connection:
        query = "SELECT content FROM holdfast.memories ORDER BY number"
        return [content for (content,) in connection.execute(query).fetchall()]


def test_a_write_is_given_up_in_its_middle_and_nothing_of_it_is_written(
    server: Server,
    ice: Ice,
    memory: Holdfast,
    at: Callable[[str, Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.api.perform._RETRY_WRITES_S", 0.1)
    at("INSERT INTO memories", ice.freeze)
    began = time.monotonic()
    answer = library(memory)("Another one")
    assert time.monotonic() - began < _KNOCK_S + 3
    assert answer.code == "ServerUnreachable"
    assert answer.said.endswith("has stopped answering.")
    assert "not written" in answer.hint
    ice.thaw()
    assert there(server) == ["The first one"]
    assert library(memory)("Another one").done
    assert there(server) == ["The first one", "Another one"]


def test_a_write_goes_on_unseen_when_the_server_comes_to(
    server: Server,
    ice: Ice,
    memory: Holdfast,
    at: Callable[[str, Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was given up, and is begun again: what the first attempt sent is not written too."""
    take = connections.Pool.take

    def taking(*given: Any) -> Any:
        ice.thaw()
        return take(*given)

    def freeze() -> None:
        ice.freeze()
        monkeypatch.setattr(connections.Pool, "take", taking)

    at("INSERT INTO memories", freeze)
    assert library(memory)("Once").done
    assert there(server) == ["The first one", "Once"]


def test_a_long_statement_of_a_server_that_is_there_is_waited_for(
    ice: Ice, memory: Holdfast
) -> None:
    with memory.core.store.write() as writer:
        connection = writer._session.connection
        assert connection.execute("SELECT 'done', pg_sleep(0.7)").fetchone()[0] == "done"


def test_a_server_that_lets_in_and_answers_nothing_is_given_up_after_the_time_that_is_set(
    server: Server, tmp_path: Path
) -> None:
    """As behind a pooler that lives longer than its server."""
    settings = {**SETTINGS, "store.url": server.url("postgres"), "store.answer_s": 1.0}
    with (
        open_memory(tmp_path, settings=settings) as memory,
        pytest.raises(ServerUnreachable, match="stopped answering"),
        memory.core.store.write() as writer,
    ):
        writer._session.connection.execute("SET LOCAL statement_timeout = 0")
        writer._session.connection.execute("SELECT pg_sleep(10)")


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_statement_without_a_deadline_is_stopped_by_the_server_all_the_same(
    server: Server, tmp_path: Path, kind: str
) -> None:
    """A node of a cluster that is gone keeps the others from answering."""
    settings = {**SETTINGS, "store.url": server.url("postgres"), "store.answer_s": 1.0}
    with open_memory(tmp_path, settings=settings) as memory:
        store = memory.core.store
        with (
            pytest.raises(DeadlineExceeded, match="stopped"),
            store.read() if kind == "read" else store.write() as user,
        ):
            user._session.connection.execute("SELECT pg_sleep(10)")


def _freeze_at_commit(ice: Ice, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Mark.written

    def freezing(mark: Mark, *, tidy: bool) -> str:
        ice.freeze()
        return written(mark, tidy=tidy)

    monkeypatch.setattr(Mark, "written", freezing)


def test_a_commit_that_is_not_answered_is_found_out_when_the_server_comes_to(
    server: Server, ice: Ice, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = connections.was_committed

    def asking(*given: Any) -> str:
        ice.thaw()
        return ask(*given)

    with monkeypatch.context() as frozen:
        _freeze_at_commit(ice, frozen)
        frozen.setattr(connections, "was_committed", asking)
        assert library(memory)("Once").done
    assert there(server) == ["The first one", "Once"]


def test_a_commit_that_is_not_answered_and_not_found_out_is_in_doubt_and_not_done_twice(
    server: Server, ice: Ice, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as frozen:
        _freeze_at_commit(ice, frozen)
        frozen.setattr(connections, "_ANSWER_WAIT_S", 0.1)
        with pytest.raises(ServerUnreachable, match="not known whether") as caught:
            memory.hub("plans").remember("Once")
    assert caught.value.in_doubt
    assert not caught.value.again
    assert "Look before" in caught.value.hint
    ice.thaw()
    # The server finds what was sent; who looks sees it, and who says it again changes nothing.
    ends = time.monotonic() + 20
    while len(there(server)) == 1 and time.monotonic() < ends:
        threading.Event().wait(0.01)
    assert library(memory)("Once").done
    assert there(server) == ["The first one", "Once"]


def test_a_recall_is_given_up_soon_after_its_deadline(
    ice: Ice,
    memory: Holdfast,
    at: Callable[[str, Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the transaction begins, and in it."""
    monkeypatch.setattr("holdfast.store.postgres.connections._STOP_WAIT_S", 0.5)
    hub = memory.hub("plans")
    assert len(hub.recall("first")) == 1
    for freeze_when in ("begun", "running"):
        if freeze_when == "begun":
            ice.freeze()
        else:
            at("SELECT", ice.freeze)
        began = time.monotonic()
        with pytest.raises(ServerUnreachable, match="stopped answering"):
            hub.recall("first")
        assert time.monotonic() - began < _DEADLINE_S + 2
        ice.thaw()
        assert len(hub.recall("first")) == 1


def test_a_server_that_restarts_does_not_take_the_time_of_a_read(
    server: Server, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens, so it is known that somebody may again: that is waited for beside."""
    monkeypatch.setattr("holdfast.store.postgres.connections._STOP_WAIT_S", 0.0)
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_LEAST_S", 15.0)
    server.stop()
    starting = threading.Timer(1.2, server.start)
    starting.start()
    try:
        with memory.core.store.read(deadline_s=1.0) as reader:
            reader._session.connection.execute("SELECT pg_sleep(0.3)")
    finally:
        starting.join()


def test_a_recall_does_not_wait_for_a_server_that_is_gone_as_a_write_does(
    server: Server, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody waits for the answer to a recall; what is to be written is kept for who comes."""
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_LEAST_S", 0.4)
    starting = threading.Timer(_DEADLINE_S + 0.2, server.start)
    hub = memory.hub("plans")
    server.stop()
    try:
        began = time.monotonic()
        with pytest.raises(ServerUnreachable, match="cannot be reached") as caught:
            hub.recall("first")
        assert time.monotonic() - began < _DEADLINE_S + 4
        assert caught.value.again
    finally:
        starting.start()
    assert library(memory)("Another one").done
    starting.join()
    assert there(server) == ["The first one", "Another one"]


def test_a_write_waits_as_long_where_its_request_has_an_end(
    server: Server, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks before it writes, and the request has time left when the look was in vain."""
    monkeypatch.setattr("holdfast.store.postgres.connections.RECONNECT_WAIT_S", 0.3)
    hub = memory.hub("plans")
    of_request = HubMemory(hub.core.acting(deadline_s=30.0), hub.info, hub.home)
    starting = threading.Timer(1.0, server.start)
    server.stop()
    starting.start()
    try:
        of_request.update(1, content="Another one")
    finally:
        starting.join()
    assert there(server) == ["Another one"]


def test_a_server_answers_a_recall_as_soon(
    server: Server, memory: Holdfast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks the key and the hub up first, which before a write may take longer."""
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_LEAST_S", 0.4)
    secret = keys.create_key(memory.core, "of olga", actor="olga").secret
    headers = {"Authorization": f"Bearer {secret}", "X-Hub-ID": memory.hub("plans").id}
    with client_of(memory) as client:
        assert client.post("/v1/recall", json={"query": "first"}, headers=headers).is_success
        server.stop()
        try:
            began = time.monotonic()
            answer = client.post("/v1/recall", json={"query": "first"}, headers=headers)
            took_s = time.monotonic() - began
        finally:
            server.start()
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "store_unreachable"
    assert "retry-after" in answer.headers
    assert took_s < _DEADLINE_S + 4


def test_a_line_on_which_nothing_comes_through_is_noticed_by_the_network_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the URL, or the environment, does not say otherwise."""

    def said(url: str) -> dict[str, Any]:
        return dict(psycopg.conninfo.conninfo_to_dict(complete(url)))

    plain = said("postgresql://db/holdfast")
    assert (plain["connect_timeout"], plain["tcp_user_timeout"]) == ("10", "30000")
    assert plain["keepalives_idle"] == "30"
    assert said("postgresql://db/holdfast?keepalives_idle=5")["keepalives_idle"] == "5"
    assert said("postgresql://db,other/holdfast")["connect_timeout"] == "3"
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "4")
    assert "connect_timeout" not in said("postgresql://db/holdfast")


def test_a_command_ends_too(server: Server, ice: Ice, memory: Holdfast, tmp_path: Path) -> None:
    ice.freeze()
    url = url_of(server.url("postgres"), connect_timeout="2")
    ran = run_command(["recall", "first", "--hub", "plans"], url, tmp_path)
    assert ran.returncode == 6
    assert "has stopped answering." in ran.stderr
