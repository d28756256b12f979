"""Reads that may go to a standby: nobody sees time go backwards, and one that is of no use is done
without, and told of."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.edges.cli import main
from holdfast.errors import ServerUnreachable, StoreError
from tests.faults.postgres_edges import url_of
from tests.postgres_server import LOCKED, ROLE, Server, database, make_server, needs

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.testing.conformance.base import (  # noqa: E402 - its assertions are rewritten
    HUB,
    make_hub,
    make_memory,
    put,
)

pytestmark = pytest.mark.faults

_PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Server, Server]]:
    """A primary and a standby."""
    if os.environ.get("HOLDFAST_TEST_POSTGRES"):
        pytest.skip("servers that others use have no standby of ours")
    primary = make_server()
    PostgresStore(primary.url("postgres"), partitions=1).close()
    standby = make_server(primary)
    yield primary, standby
    for node in (primary, standby):
        node.stop()


@pytest.fixture
def store(nodes: tuple[Server, Server]) -> Iterator[PostgresStore]:
    primary, standby = nodes
    opened = PostgresStore(primary.url("postgres"), read_url=standby.url("postgres"))
    with opened.write() as writer:
        if writer.hub_by_id(HUB) is not None:
            writer.drop_hub(HUB)
        writer.add_hub(make_hub())
    _until(lambda: seen(opened)[0])
    yield opened
    opened.close()


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + _PATIENCE_S
    while not true():
        assert time.monotonic() < ends, "it did not come true in time"
        threading.Event().wait(0.02)


def seen(store: PostgresStore) -> tuple[bool, int]:
    """Whether a standby answered, and how many memories there are."""
    with store.read() as reader:
        recovering: bool = reader._session.value("SELECT pg_is_in_recovery()")
        return recovering, reader.statistics(HUB).memories


def test_time_does_not_go_backwards(
    store: PostgresStore, nodes: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was seen on the primary is seen afterwards, whoever wrote it."""
    primary, standby = nodes
    other = PostgresStore(primary.url("postgres"))
    with psycopg.connect(standby.url("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        paused = "SELECT pg_get_wal_replay_pause_state()"
        _until(lambda: connection.execute(paused).fetchone() == ("paused",))
        with other.write() as writer:
            put(writer, make_memory(1))
        assert seen(store) == (True, 0)
        assert store._standby is not None
        with monkeypatch.context() as away:
            away.setattr(store._standby, "_asked_again_at", time.monotonic() + 60)
            assert seen(store) == (False, 1)
        assert seen(store) == (False, 1)
        connection.execute("SELECT pg_wal_replay_resume()")
    _until(lambda: seen(store) == (True, 1))
    other.close()


def test_a_read_that_a_standby_breaks_off_may_be_done_again_at_the_primary(
    store: PostgresStore, nodes: tuple[Server, Server]
) -> None:
    with pytest.raises(ServerUnreachable) as caught, store.read() as reader:
        assert reader._session.value("SELECT pg_is_in_recovery()")
        with psycopg.connect(nodes[1].url("postgres"), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        reader.statistics(HUB)
    assert caught.value.again
    assert seen(store) == (False, 0)


def test_a_read_that_a_standby_gives_up_to_go_on_may_be_done_again(
    store: PostgresStore, nodes: tuple[Server, Server]
) -> None:
    """The one way in which a transaction of ours fails to be serialized: what it can still see was
    cleared away on the primary, and the standby will not wait."""
    primary, standby = nodes
    with store.write() as writer:
        put(writer, make_memory(1))
    _until(lambda: seen(store) == (True, 1))
    with (
        psycopg.connect(standby.url("postgres"), autocommit=True) as follower,
        psycopg.connect(primary.url("postgres"), autocommit=True) as leader,
    ):
        follower.execute("ALTER SYSTEM SET max_standby_streaming_delay = 0")
        follower.execute("SELECT pg_reload_conf()")
        try:
            with pytest.raises(StoreError) as caught, store.read() as reader:
                assert reader._session.value("SELECT pg_is_in_recovery()")
                leader.execute("UPDATE holdfast.memories SET summary = summary || ' changed'")
                leader.execute("VACUUM holdfast.memories")
                ends = time.monotonic() + _PATIENCE_S
                while time.monotonic() < ends:
                    reader._session.value("SELECT count(*) FROM memories")
                    threading.Event().wait(0.02)
        finally:
            follower.execute("ALTER SYSTEM RESET max_standby_streaming_delay")
            follower.execute("SELECT pg_reload_conf()")
    # The server may close the connection before its reason is read.
    assert re.search("conflict with recovery|was cut", caught.value.message)
    assert caught.value.again
    assert seen(store) == (False, 1)


@pytest.mark.parametrize(
    ("user", "password", "elsewhere", "said"),
    [
        (LOCKED, "hunter2", {}, "it refused the user or the password"),
        (LOCKED, "", {}, "it asks for a password, and none was given"),
        ("nobody_of_this_name", "", {}, "it refused the user or the password"),
        (ROLE, "", {"dbname": "elsewhere"}, "There is no database `elsewhere` on it"),
        (ROLE, "", {"port": "1"}, "it cannot be reached"),
    ],
)
def test_why_reads_do_not_go_to_a_standby_is_reported(
    user: str, password: str, elsewhere: dict[str, str], said: str
) -> None:
    needs(passwords=True)
    with database() as url:
        read_url = url_of(url, user=user, **({"password": password} if password else {}))
        store = PostgresStore(url, read_url=url_of(read_url, **elsewhere))
        (problem,) = store.check()
        store.close()
    assert said in problem.what
    assert "hunter2" not in problem.what


def test_another_store_is_not_taken_for_a_standby(caplog: pytest.LogCaptureFixture) -> None:
    with database() as url, database() as elsewhere:
        wrong = PostgresStore(elsewhere)
        with wrong.write() as writer:
            writer.add_hub(make_hub())
            put(writer, make_memory(1))
        wrong.close()
        store = PostgresStore(url, read_url=elsewhere)
        with store.write() as writer:
            writer.add_hub(make_hub())
        with caplog.at_level(logging.WARNING, logger="holdfast.store"):
            assert seen(store) == (False, 0)
        assert "a copy of another store" in caplog.text
        (problem,) = store.check()
        assert "a copy of another store" in problem.what
        store.close()


def test_the_doctor_tells_of_a_standby_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    with database() as url:
        monkeypatch.setenv("HOLDFAST_STORE_URL", url)
        monkeypatch.setenv("HOLDFAST_STORE_READ_URL", f"postgresql://me:hunter2@/x?host={tmp_path}")
        assert main(["remember", "The office is in Bonn"]) == 0
        capsys.readouterr()
        assert main(["recall", "office"]) == 0
        said = capsys.readouterr()
        assert "Bonn" in said.out
        assert "connect" not in said.err
        assert main(["doctor", "--json"]) == 6
        told = capsys.readouterr().out
        (problem,) = json.loads(told)["data"]["left"]
        assert "cannot be reached (No such file or directory)" in problem["what"]
        assert problem["outside"]
        assert "hunter2" not in told
        assert main(["doctor"]) == 6
        assert "backup" not in capsys.readouterr().err
