"""What goes wrong behind a pooler: PgBouncer answers in the server's place, in words of its own,
and what may be tried again is, unseen, as without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from holdfast.api.memory import open as open_memory
from holdfast.errors import DeadlineExceeded, StoreError
from tests.postgres_server import Server, spare_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from holdfast.store.postgres.errors import to_store_error  # noqa: E402
from tests.faults.pgbouncer import Pooler  # noqa: E402
from tests.faults.postgres_edges import (  # noqa: E402
    SETTINGS,
    Stranger,
    answering,
    library,
    run_command,
)

pytestmark = pytest.mark.faults

# A pooler tries a server that was away again after a quarter of a minute; here after a second.
_SOON = {"server_login_retry": "1"}


@pytest.fixture(scope="module")
def server() -> Server:
    return spare_server()


@pytest.fixture
def owner(server: Server) -> Iterator[str]:
    url = server.url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS holdfast CASCADE")
    PostgresStore(url, partitions=1).close()
    with open_memory(settings={**SETTINGS, "store.url": url}) as memory:
        memory.create_hub("plans").remember("The first one")
    yield url


@pytest.fixture
def pooler(owner: str) -> Iterator[Callable[..., Pooler]]:
    with ExitStack() as made:

        def make(**settings: str) -> Pooler:
            pooler = Pooler(owner, **{**_SOON, **settings})
            made.callback(pooler.close)
            return pooler

        yield make


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.store.postgres.connections.RECONNECT_WAIT_S", 2.2)
    # Longer than the pooler waits, below.
    monkeypatch.setattr("holdfast.store.postgres.connections._BEGIN_WAIT_S", 4.0)
    for name in ("_RETRY_READS_S", "_RETRY_WRITES_S"):
        monkeypatch.setattr(f"holdfast.api.perform.{name}", 0.1)


def there(owner: str) -> list[str]:
    with psycopg.connect(owner) as connection:
        query = "SELECT content FROM holdfast.memories ORDER BY number"
        return [content for (content,) in connection.execute(query).fetchall()]


# Tried again, unseen


def _session_ended(server: Server, pooler: Pooler, stranger: Stranger) -> None:
    stranger.end(stranger.victim())


def _pooler_restarted(server: Server, pooler: Pooler, stranger: Stranger) -> None:
    stranger.victim()
    pooler.stop()
    pooler.start()


def _server_restarted(server: Server, pooler: Pooler, stranger: Stranger) -> None:
    stranger.victim()
    server.stop()
    server.start()


@pytest.mark.parametrize("trouble", [_session_ended, _pooler_restarted, _server_restarted])
def test_a_write_that_is_cut_off_is_begun_again(
    server: Server,
    owner: str,
    pooler: Callable[..., Pooler],
    tmp_path: Path,
    trouble: Callable[[Server, Pooler, Stranger], None],
) -> None:
    made = pooler()
    settings = {**SETTINGS, "store.url": made.url}
    with open_memory(tmp_path, settings=settings) as memory:
        stranger = Stranger(owner)
        stranger.hold()
        with answering(library(memory), "Once") as answer:
            trouble(server, made, stranger)
            if trouble is not _server_restarted:
                stranger.let_go()
            assert answer().done
        stranger.close()
    assert there(owner) == ["The first one", "Once"]


# Told


@contextmanager
def _all_taken(server: Server, pooler: Pooler) -> Iterator[None]:
    """Somebody has the one connection to the server that the pooler keeps."""
    with psycopg.connect(pooler.url) as other:
        other.execute("SELECT 1")
        yield


@contextmanager
def _no_room(server: Server, pooler: Pooler) -> Iterator[None]:
    """Two connections are all that the pooler takes, and somebody has them."""
    with psycopg.connect(pooler.url), psycopg.connect(pooler.url):
        yield


@contextmanager
def _stopped_by_the_server(server: Server, pooler: Pooler) -> Iterator[None]:
    with _held(server.url("postgres")):
        # Said to new connections, so the pooler makes a new one.
        pooler.stop()
        pooler.start()
        yield


@contextmanager
def _stopped_by_the_pooler(server: Server, pooler: Pooler) -> Iterator[None]:
    with _held(server.url("postgres"), limit="0"):
        yield


@contextmanager
def _held(owner: str, limit: str = "1s") -> Iterator[None]:
    stranger = Stranger(owner)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE postgres SET statement_timeout = '{limit}'")
        stranger.hold()
        try:
            yield
        finally:
            stranger.let_go()
            stranger.close()
            connection.execute("ALTER DATABASE postgres RESET ALL")


TOLD = {
    "all taken": (
        _all_taken,
        {"default_pool_size": "1", "query_wait_timeout": "1"},
        "StoreBusy",
        "no connection to the server free",
        "default_pool_size",
    ),
    "no room": (
        _no_room,
        {"max_client_conn": "2"},
        "StoreBusy",
        "takes no more connections",
        "max_client_conn",
    ),
    "statement timeout": (
        _stopped_by_the_server,
        {},
        "DeadlineExceeded",
        "stopped the write",
        "statement_timeout",
    ),
    "the pooler's own timeout": (
        _stopped_by_the_pooler,
        {"query_timeout": "1"},
        # In the middle of several statements, the driver does not hear the pooler's last words.
        "ServerUnreachable",
        "was cut",
        "query_timeout",
    ),
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("trouble", TOLD)
def test_what_a_pooler_says_becomes_a_sentence_and_nothing_is_written(
    server: Server, owner: str, pooler: Callable[..., Pooler], tmp_path: Path, trouble: str
) -> None:
    make, settings, error, words, advice = TOLD[trouble]
    made = pooler(**settings)
    with ExitStack() as stack:
        # The limit of a role is read when the store is opened.
        if make is _stopped_by_the_server:
            stack.enter_context(make(server, made))
        memory = stack.enter_context(
            open_memory(tmp_path, settings={**SETTINGS, "store.url": made.url})
        )
        ask = library(memory)
        if trouble == "no room":
            # It has let in who came before; who comes now is a command.
            memory.close()
        if make is not _stopped_by_the_server:
            stack.enter_context(make(server, made))
        if trouble == "no room":
            ran = run_command(["remember", "Another", "--json"], made.url, tmp_path)
            told = json.loads(ran.stderr)["error"]
            assert (ran.returncode, told["code"]) == (6, "busy")
            said, hint = told["message"], told["hint"]
        else:
            answer = ask("Another")
            assert answer.code == error, answer.said
            said, hint = answer.said, answer.hint
    assert words in said
    assert advice in hint
    assert there(owner) == ["The first one"]
    with open_memory(tmp_path, settings={**SETTINGS, "store.url": owner}) as memory:
        assert library(memory)("Another").done
    assert there(owner) == ["The first one", "Another"]


@pytest.mark.parametrize(
    ("words", "said", "advice", "again"),
    [
        (
            "server login has been failing, try again later (server_login_retry)",
            "cannot reach its server",
            "server_login_retry",
            True,
        ),
        ("idle transaction timeout", "nothing was asked", "idle_transaction_timeout", False),
        ("server conn crashed?", "was cut", "try again", True),
        (
            "transaction blocks not allowed in statement pooling mode",
            "works by statement",
            "pool_mode = transaction",
            False,
        ),
    ],
)
def test_what_a_pooler_says_at_times_becomes_a_sentence(
    words: str, said: str, advice: str, *, again: bool
) -> None:
    """In which words it says so depends on the moment; all have the same code."""
    told = to_store_error(psycopg.errors.ProtocolViolation(words), "here")
    assert said in told.message
    assert advice in told.hint
    assert isinstance(told, StoreError)
    assert told.again is again


def test_a_statement_that_the_pooler_stops_is_reported(
    owner: str, pooler: Callable[..., Pooler]
) -> None:
    store = PostgresStore(pooler(query_timeout="1").url)
    with (
        pytest.raises(DeadlineExceeded, match="longer than its query_timeout") as caught,
        store.read() as reader,
    ):
        reader._session.connection.execute("SELECT pg_sleep(20)")
    assert "Raise query_timeout" in caught.value.hint
    store.close()
