"""What a client does when a server is away, busy, slow or wrong: it tries again where that is safe,
not for ever, and then says what is the matter in the library's own errors."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.client import RemoteHub
from holdfast.client.connection import TRIES, Connection
from holdfast.edges.http.limits import Limits
from tests.edges.client.servers import Served, lose_an_answer, served
from tests.serve_thread import in_thread

HUB = {
    "id": "hub_1",
    "name": "default",
    "owner": "ada",
    "created_at": "2026-05-27T12:00:00+00:00",
}


class Script:
    """What a server of the test answers, one thing per request, and what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, str]]] = []


@contextmanager
def scripted(script: Script) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            self.rfile.read(length)
            script.asked.append((self.command, self.path, dict(self.headers.items())))
            answer = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            if answer == "drop":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            status, body, headers = answer
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self._answer
            raise AttributeError(name)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    with in_thread(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


def connected(url: str) -> tuple[Connection, list[float]]:
    """A connection whose pauses are noted and take no time."""
    connection = Connection(url, None, timeout_s=5)
    pauses: list[float] = []
    connection._sleep = pauses.append
    return connection, pauses


def error(code: str, message: str = "No.") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": None, "hint": ""}}


OK: tuple[int, Any, dict[str, str]] = (200, {"data": {"fine": True}}, {})
BUSY = (503, error("busy"), {"Retry-After": "2"})


def test_a_read_is_tried_again_after_a_lost_connection() -> None:
    script = Script("drop", "drop", OK)
    with scripted(script) as url:
        connection, pauses = connected(url)
        assert connection.get("/hubs")["data"] == {"fine": True}
    assert len(script.asked) == 3
    assert 0 < pauses[0] < pauses[1] * 2 < 4


def test_a_write_is_tried_again_under_the_same_idempotency_key_and_the_next_has_another() -> None:
    script = Script("drop", OK, OK)
    with scripted(script) as url:
        connection, _ = connected(url)
        connection.send("POST", "/memories", {"content": "x"})
        connection.send("POST", "/memories", {"content": "x"})
    first, again, second = (headers["Idempotency-Key"] for _, _, headers in script.asked)
    assert first == again != second


def test_a_write_that_the_server_cannot_know_again_is_not_repeated() -> None:
    script = Script("drop", OK)
    with scripted(script) as url:
        connection, _ = connected(url)
        with pytest.raises(holdfast.ServerUnreachable, match="broke") as caught:
            connection.send("POST", "/keys", {"name": "x"}, once=False)
    assert len(script.asked) == 1
    assert "may have done" in caught.value.hint


def test_but_it_is_repeated_where_the_server_says_that_it_did_nothing() -> None:
    script = Script(BUSY, (429, error("too_many_requests"), {"Retry-After": "1"}), OK)
    with scripted(script) as url:
        connection, pauses = connected(url)
        connection.send("POST", "/keys", {"name": "x"}, once=False)
    assert len(script.asked) == 3
    assert 2 <= pauses[0] < 3 and 1 <= pauses[1] < 2, "Retry-After is the least it waits"


def test_it_gives_up_after_some_tries_with_what_the_server_said() -> None:
    script = Script(BUSY)
    with scripted(script) as url:
        connection, pauses = connected(url)
        with pytest.raises(holdfast.StoreBusy, match=r"No\."):
            connection.get("/hubs")
    assert len(script.asked) == TRIES == len(pauses) + 1


def test_a_server_that_asks_for_a_long_rest_is_not_waited_for() -> None:
    script = Script((429, error("too_many_requests"), {"Retry-After": "3600"}))
    with scripted(script) as url:
        connection, pauses = connected(url)
        with pytest.raises(holdfast.StoreBusy):
            connection.get("/hubs")
    assert not pauses


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "invalid_input", holdfast.InvalidInput),
        (400, "missing_content", holdfast.InvalidInput),
        (401, "unauthorized", holdfast.Forbidden),
        (403, "forbidden", holdfast.Forbidden),
        (403, "no_write_access", holdfast.Forbidden),
        (404, "not_found", holdfast.NotFound),
        (409, "already_exists", holdfast.AlreadyExists),
        (409, "conflict", holdfast.Conflict),
        (412, "version_mismatch", holdfast.Conflict),
        (413, "body_too_large", holdfast.TooLarge),
        (507, "hub_full", holdfast.HubFull),
        (499, "cancelled", holdfast.CallCancelled),
        (500, "internal", holdfast.HoldfastError),
        (500, "store_error", holdfast.StoreError),
        (500, "in_doubt", holdfast.ServerUnreachable),
        (503, "read_only", holdfast.StoreReadOnly),
        (504, "deadline_exceeded", holdfast.DeadlineExceeded),
        (507, "store_full", holdfast.StoreFull),
        (418, "of_a_newer_server", holdfast.InvalidInput),
    ],
)
def test_an_error_of_the_server_is_the_librarys_own(status: int, code: str, kind: type) -> None:
    told = {"code": code, "message": "What is wrong. What to do.", "hint": "What to do."}
    with scripted(Script((status, {"error": told}, {}))) as url:
        connection, pauses = connected(url)
        with pytest.raises(holdfast.HoldfastError) as caught:
            connection.get("/x")
    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.hint) == ("What is wrong.", "What to do.")
    assert not pauses


@pytest.mark.parametrize(
    "body", [b"<html>hello</html>", b'{"fine": true}', b"[]", b"", b"[" * 100_000]
)
def test_what_is_no_holdfast_server_is_said_to_be_none(body: bytes) -> None:
    with scripted(Script((200, body, {}))) as url:
        connection, _ = connected(url)
        with pytest.raises(holdfast.HoldfastError, match="not as a Holdfast server does"):
            connection.get("/hubs")


def test_a_redirect_is_not_followed_because_the_key_is_not_for_others() -> None:
    script = Script((302, b"", {"Location": "http://127.0.0.1:9/stolen"}))
    with scripted(script) as url:
        connection, _ = connected(url)
        with pytest.raises(holdfast.HoldfastError):
            connection.get("/hubs")
    assert len(script.asked) == 1


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    connection, pauses = connected(f"http://127.0.0.1:{port}")
    with pytest.raises(holdfast.ServerUnreachable) as caught:
        connection.get("/hubs")
    assert caught.value.message == (
        f"The server at http://127.0.0.1:{port} cannot be reached: nothing listens there."
    )
    assert "holdfast serve" in caught.value.hint
    assert len(pauses) == TRIES - 1


def test_a_server_that_does_not_answer_in_time_is_one_sentence() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        connection = Connection(f"http://127.0.0.1:{silent.getsockname()[1]}", None, timeout_s=0.05)
        connection._sleep = lambda _: None
        with pytest.raises(holdfast.ServerUnreachable, match=r"did not answer within 0\.05 s"):
            connection.get("/hubs")


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org", "http://", "http://a:b@example.org", "http://x?y=1",
     "http://x:99999999"],
)  # fmt: skip
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(holdfast.InvalidInput):
        holdfast.Client(url)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_what_is_no_key_is_refused_and_not_repeated_in_the_message(key: str) -> None:
    with pytest.raises(holdfast.InvalidInput) as caught:
        holdfast.Client("http://127.0.0.1:1", key)
    assert key not in str(caught.value)


def test_without_the_package_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(holdfast.InvalidInput, match="httpx2") as caught:
        holdfast.Client("http://127.0.0.1:1")
    assert "pip install holdfast-memory" in caught.value.hint


def test_a_write_whose_answer_was_lost_is_done_once(
    server: Served, client: holdfast.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = client.hub()
    lost = lose_an_answer(client, monkeypatch)
    hub.log_turn("user", "Once, please")
    assert not lost
    assert [turn.content for turn in server.memory.hub().turns()] == ["Once, please"]


def test_the_pace_of_a_server_is_kept(tmp_path: Path) -> None:
    pauses: list[float] = []
    running = served(tmp_path / "served", limits=Limits(per_minute=3))
    with running as server, holdfast.Client(server.url) as client:
        client.server._sleep = pauses.append
        hub = client.hub()
        with pytest.raises(holdfast.StoreBusy, match="asks too often"):
            for _ in range(5):
                hub.statistics()
    assert pauses and min(pauses) >= 1


def test_a_server_of_another_version_is_a_sentence_and_not_a_key_error() -> None:
    known: tuple[int, Any, dict[str, str]] = (
        200,
        {"data": HUB, "now": "2026-05-27T12:00:00+00:00"},
        {},
    )
    script = Script(known, (200, {"data": [{"id": "chg_1"}]}, {}))
    with scripted(script) as url, holdfast.Client(url) as client:
        hub = client.hub()
        with pytest.raises(holdfast.HoldfastError, match="answers without 'hub_id'") as caught:
            hub.changes()
        assert "same version" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        ({"data": {"id": "late"}, "redacted": 5}, lambda hub: hub.undo()),
        ({"data": {}, "redacted": {"key": None}}, lambda hub: hub.undo()),
        ({"data": 5}, lambda hub: hub.get(1)),
        ({"data": {**HUB, "created_at": "0001-01-01T00:00:00+14:00"}}, lambda hub: hub.get(1)),
    ],
)
def test_an_answer_of_other_types_is_a_sentence(
    answer: Any, call: Callable[[RemoteHub], object]
) -> None:
    known = (200, {"data": HUB, "now": "2026-05-27T12:00:00+00:00"}, {})
    with scripted(Script(known, (200, answer, {}))) as url, holdfast.Client(url) as client:
        hub = client.hub()
        with pytest.raises(holdfast.HoldfastError, match="which this version cannot read"):
            call(hub)
    for data in (None, 5, [None]):
        with (
            scripted(Script((200, {"data": data}, {}))) as url,
            holdfast.Client(url) as client,
            pytest.raises(holdfast.HoldfastError, match="which this version cannot read"),
        ):
            client.hubs()


def test_more_than_a_server_gives_is_refused_and_not_cut(client: holdfast.Client) -> None:
    hub = client.hub()
    hub.remember("One")
    with pytest.raises(holdfast.InvalidInput, match="gives 100 at most"):
        hub.search_text("One", limit=101)
    with pytest.raises(holdfast.InvalidInput, match="gives 50 at most"):
        hub.related(1, limit=51)
    with pytest.raises(holdfast.InvalidInput, match="takes 500 at once"):
        hub.remember_many([f"Note {number}" for number in range(501)])
    with pytest.raises(holdfast.InvalidInput, match="takes 100 at once"):
        hub.forget_many(range(1, 102))


def test_a_client_that_was_closed_says_so(client: holdfast.Client) -> None:
    hub = client.hub()
    client.close()
    for used in (client.hubs, hub.list, lambda: list(hub.export())):
        with pytest.raises(holdfast.StoreClosed, match="This client is closed"):
            used()


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), "5", None, True])
def test_a_timeout_in_which_nothing_can_answer_is_refused(timeout_s: Any) -> None:
    with pytest.raises(holdfast.InvalidInput, match="a number of seconds above 0"):
        holdfast.Client("http://127.0.0.1:9", timeout_s=timeout_s)


def test_memories_are_moved_to_a_hub_and_not_to_its_name(client: holdfast.Client) -> None:
    hub = client.hub()
    hub.remember("Prefers tabs")
    with pytest.raises(holdfast.InvalidInput, match=r"not to 'work'.*Hand in the hub itself"):
        hub.move_many([1], "work")  # type: ignore[arg-type]


def test_a_client_is_shared_by_threads(server: Served, client: holdfast.Client) -> None:
    hub = client.hub()
    failed: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(5):
                hub.remember(f"Note {number} of thread {name}")
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(server.memory.hub().list()) == 40


@pytest.mark.parametrize("metadata", [{"a": object()}, {"a": float("nan")}, {"a": {1, 2}}])
def test_what_has_no_form_in_json_is_refused(client: holdfast.Client, metadata: Any) -> None:
    with pytest.raises(holdfast.InvalidInput):
        client.hub().remember("x", metadata=metadata)


def test_secrets_that_a_server_replaced_are_counted_here(client: holdfast.Client) -> None:
    hub = client.hub()
    hub.remember("The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    hub.remember("Nothing to hide")
    counts = hub.take_redacted()
    assert sum(counts.values()) == 1
    assert hub.take_redacted() == {}


@pytest.mark.parametrize(
    "lines",
    [
        *(b"", b'{"data": "one"}\n', b'{"data": "one"}\n{"da', b'{"data": "one"}\n[]\n'),
        *(b"[" * 100_000, b'{"error": 5}\n'),
    ],
)
def test_an_answer_that_ends_too_soon_is_an_error(lines: bytes) -> None:
    with scripted(Script((200, lines, {}))) as url:
        connection, _ = connected(url)
        with pytest.raises(holdfast.ServerUnreachable, match="not complete"):
            list(connection.stream("/operations/export", {"arguments": {}}))
    with scripted(Script((200, b'{"data": "one"}\n{"end": true}\n', {}))) as url:
        connection, _ = connected(url)
        assert list(connection.stream("/operations/export", {"arguments": {}})) == ["one"]
