"""The proxy when something is wrong: the memory, the endpoint, the client, or all who ask."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast.edges.hooks import state_files
from holdfast.edges.proxy.memory import ProxyMemory
from holdfast.errors import StoreBusy
from tests.edges.proxy.proxies import Running, endpoint, proxy, raw
from tests.serve_thread import answer

CHAT = "/v1/chat/completions"
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello there"}]}
SAID = {
    "id": "c1",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}
    ],
}


class Upstream:
    """An endpoint that records bodies and headers, and answers what `reply` says."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.status = 200
        self.body = json.dumps(SAID).encode()
        self.sent = {"Content_Type": "application/json"}

    def __call__(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        self.bodies.append(data)
        self.paths.append(handler.path)
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        answer(handler, self.status, self.body, **self.sent)


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def running(tmp_path: Path, upstream: Upstream) -> Iterator[Running]:
    with endpoint(upstream) as url, proxy(tmp_path / "home", url) as one:
        yield one


def post(running: Running, body: Any = ASKED, path: str = CHAT, **more: Any) -> httpx2.Response:
    given = {"content": body} if isinstance(body, bytes) else {"json": body}
    headers = {"content-type": "application/json", **more.pop("headers", {})}
    with httpx2.Client(trust_env=False, timeout=20) as client:
        return client.post(f"{running.url}{path}", headers=headers, **given, **more)


def noted(running: Running) -> list[str]:
    faults = state_files.recent_errors(running.memory.home)
    return [one.reason for one in faults if one.event == "proxy"]


# The answer


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_comes_back_byte_for_byte(
    running: Running, upstream: Upstream, packed: bool
) -> None:
    # Spaces and escapes that no encoder would write.
    plain = json.dumps(SAID).replace(": ", ":  ").replace("Hi", "\\u0048i").encode()
    upstream.body = gzip.compress(plain) if packed else plain
    if packed:
        upstream.sent["Content_Encoding"] = "gzip"
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream("POST", f"{running.url}{CHAT}", json=ASKED) as response,
    ):
        assert b"".join(response.iter_raw()) == upstream.body
    assert [text for _, _, text in running.logged] == ["Hello there", "Hi."]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_errors_of_the_endpoint_pass_through_and_nothing_is_logged(
    running: Running, upstream: Upstream, status: int
) -> None:
    upstream.status, upstream.body = status, b'{"error": {"message": "no"}}'
    upstream.sent["Retry_After"] = "7"
    response = post(running)
    assert (response.status_code, response.content) == (status, upstream.body)
    assert response.headers["retry-after"] == "7"
    assert running.logged == []


def test_an_endpoint_that_is_not_there_is_an_error_in_the_shape_of_both_apis(
    tmp_path: Path,
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with proxy(tmp_path / "home", url) as running:
            response = post(running, headers={"authorization": "Bearer sk-secret"})
    assert response.status_code == 502
    said = response.json()
    assert said["type"] == "error" and "cannot be reached" in said["error"]["message"]
    assert "sk-secret" not in response.text


def test_a_silent_endpoint_is_given_up(tmp_path: Path) -> None:
    over = threading.Event()

    def wait(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        over.wait(20)

    with endpoint(wait) as url, proxy(tmp_path / "home", url, answer_s=0.2) as running:
        response = post(running)
        over.set()
    assert response.status_code == 504 and "did not answer" in response.text


def test_an_answer_that_breaks_off_breaks_off_for_the_client_too(tmp_path: Path) -> None:
    def half(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        event = b'data: {"choices": [{"index": 0, "delta": {"content": "Half"}}]}\n\n'
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    with endpoint(half) as url, proxy(tmp_path / "home", url) as running:
        with pytest.raises(httpx2.RemoteProtocolError):
            post(running, {**ASKED, "stream": True})
        # What the person said is known; half an answer is none.
        assert [text for _, _, text in running.logged] == ["Hello there"]


def test_a_client_that_goes_away_ends_the_request_behind_the_proxy(tmp_path: Path) -> None:
    gone = threading.Event()

    def drip(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.connection.settimeout(20)
        handler.wfile.write(b"data: {}\n\n")
        handler.wfile.flush()
        # Nothing more is sent; the other end closes.
        assert handler.connection.recv(1) == b""
        gone.set()

    with endpoint(drip) as url, proxy(tmp_path / "home", url) as running:
        with (
            httpx2.Client(trust_env=False) as client,
            client.stream("POST", f"{running.url}{CHAT}", json=ASKED) as response,
        ):
            assert next(response.iter_raw()).startswith(b"data:")
        assert gone.wait(20)
        assert [text for _, _, text in running.logged] == ["Hello there"]


# Memory


def test_an_error_of_memory_lets_the_request_through_and_the_doctor_knows(
    running: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise StoreBusy("The store is busy.")

    monkeypatch.setattr(ProxyMemory, "prepare", fail)
    body = b'{"model":  "m", "messages": [{"role":"user","content":"Hello there"}]}'
    assert post(running, body).json() == SAID
    assert upstream.bodies == [body]
    assert noted(running) == ["The store is busy."]


def test_an_error_while_logging_reaches_no_client(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("No space left on device")

    monkeypatch.setattr(ProxyMemory, "log", fail)
    assert post(running).json() == SAID
    running.settle()
    assert noted(running) == ["OSError: No space left on device"]


def test_a_slow_memory_keeps_no_request_waiting(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr(ProxyMemory, "prepare", lambda *_, **__: over.wait(20) and None)
    with endpoint(upstream) as url, proxy(tmp_path / "home", url, memory_s=0.1) as running:
        assert post(running).json() == SAID
        over.set()
        assert "in time" in noted(running)[0]


def test_what_is_said_while_memory_is_slow_is_logged_all_the_same(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    prepare = ProxyMemory.prepare

    def slow(self: ProxyMemory, *given: Any, **named: Any) -> Any:
        over.wait(20)
        return prepare(self, *given, **named)

    monkeypatch.setattr(ProxyMemory, "prepare", slow)
    with endpoint(upstream) as url, proxy(tmp_path / "home", url, memory_s=0.1) as running:
        assert post(running).json() == SAID
        over.set()
        said = [(role, text) for role, _, text in running.logged]
        assert said == [("user", "Hello there"), ("assistant", "Hi.")]
        assert json.loads(upstream.bodies[0]) == ASKED


def test_a_hub_that_cannot_be(running: Running, upstream: Upstream) -> None:
    assert post(running, headers={"X-Hub-ID": "../../etc"}).json() == SAID
    assert json.loads(upstream.bodies[0]) == ASKED
    assert len(noted(running)) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b'"text"',
        b"[" * 100_000,
        b'{"messages": 1}',
        b'{"messages": [1, null, "x", {"role": 2, "content": {"a": 1}}]}',
        b'{"messages": [{"role": "user", "content": [1, {"type": "text"}, {"text": 5}]}]}',
        b'{"input": {"a": 1}, "instructions": 3, "metadata": "x", "conversation": []}',
    ],
)
def test_what_is_not_understood_reaches_the_endpoint(
    running: Running, upstream: Upstream, body: bytes
) -> None:
    running.memory.hub("default", create=True)
    for path in (CHAT, "/v1/responses", "/v1/messages"):
        assert post(running, body, path).status_code == 200
    assert upstream.bodies == [body] * 3
    running.settle()
    assert noted(running) == []


def test_half_a_character_is_sent_on_as_it_came(running: Running, upstream: Upstream) -> None:
    running.memory.hub("default", create=True).remember("The half moon cafe opens at nine")
    body = b'{"messages": [{"role": "user", "content": "When does the half moon open? \\ud800"}]}'
    assert post(running, body).status_code == 200
    assert b"opens at nine" in upstream.bodies[0] and b"\\ud800" in upstream.bodies[0]
    assert running.logged[0][2].startswith("When does the half moon open?")
    assert noted(running) == []


# Size


def test_a_huge_body_is_sent_on_as_it_comes(tmp_path: Path, upstream: Upstream) -> None:
    body = json.dumps({**ASKED, "picture": "x" * 3_000_000}).encode()
    with (
        endpoint(upstream) as url,
        proxy(tmp_path / "home", url, body_bytes_max=100_000) as running,
    ):
        running.memory.hub("default", create=True).remember("Hello there is a greeting")
        assert post(running, body).json() == SAID
        assert upstream.bodies == [body]
        assert upstream.headers[0]["content-length"] == str(len(body))
        assert "without memory" in noted(running)[0]
        assert running.logged == []
        # Its room is given back.
        assert post(running).json() == SAID
        assert len(running.logged) == 2
        running.settle()
        assert running.proxy.budget._sum == 0


def test_bodies_that_find_no_room_are_sent_on(
    running: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running.proxy.budget, "_total", 1_000)
    body = json.dumps({**ASKED, "picture": "x" * 200_000}).encode()
    assert post(running, body).json() == SAID
    assert upstream.bodies == [body]
    running.settle()
    assert running.proxy.budget._sum == 0


def test_a_packed_answer_of_a_thousand_times_its_size_is_not_unpacked_whole(
    running: Running, upstream: Upstream
) -> None:
    upstream.body = gzip.compress(b'{"choices": ["' + b"x" * 50_000_000 + b'"]}')
    upstream.sent["Content_Encoding"] = "gzip"
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream("POST", f"{running.url}{CHAT}", json=ASKED) as response,
    ):
        assert b"".join(response.iter_raw()) == upstream.body
    assert [text for _, _, text in running.logged] == ["Hello there"]


# Who asks


def test_other_hosts_and_other_pages_are_refused(running: Running, upstream: Upstream) -> None:
    assert post(running, headers={"host": "evil.example"}).status_code == 421
    assert post(running, headers={"origin": "https://evil.example"}).status_code == 403
    assert post(running, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert post(running, headers={"content-type": "text/plain"}).status_code == 403
    assert upstream.bodies == []


def test_only_paths_of_the_apis_reach_the_endpoint(running: Running, upstream: Upstream) -> None:
    host = running.url.removeprefix("http://")
    for target in (
        *(
            "/v1/files",
            "/v1/%2e%2e/admin",
            "/v1/models/..%2f..%2fadmin",
            "//evil.example/v1/models",
        ),
        *("http://evil.example/v1/models", "/v1/models/%00", "/v1/models/a%0d%0aX:%201"),
    ):
        request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        assert raw(running.url, request.encode()).startswith(b"HTTP/1.1 404"), target
    assert upstream.bodies == []


def test_a_request_that_can_be_framed_in_two_ways_is_refused(
    running: Running, upstream: Upstream
) -> None:
    host = running.url.removeprefix("http://")
    head = f"POST {CHAT} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    smuggled = b"0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
    for framing in (
        f"Content-Length: {len(smuggled)}\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 40\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding:\x0bchunked\r\n",
    ):
        back = raw(running.url, f"{head}{framing}Connection: close\r\n\r\n".encode() + smuggled)
        assert back.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501")), framing
    assert upstream.bodies == []


def test_an_answer_cannot_be_read_by_pages_nor_set_cookies(
    running: Running, upstream: Upstream
) -> None:
    upstream.sent |= {"Access_Control_Allow_Origin": "*", "Set_Cookie": "a=1"}
    headers = post(running).headers
    assert "access-control-allow-origin" not in headers and "set-cookie" not in headers
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_redirect_is_not_followed(running: Running, upstream: Upstream) -> None:
    upstream.status, upstream.sent["Location"] = 307, "http://127.0.0.1:1/v1/models"
    assert post(running, headers={"authorization": "Bearer sk"}).status_code == 307
    assert len(upstream.bodies) == 1


def test_with_a_key_of_its_own_the_proxy_asks_for_it_and_sends_the_endpoints(
    tmp_path: Path, upstream: Upstream
) -> None:
    keys = {"upstream_key": "sk-upstream", "local_key": "local-key-of-the-proxy"}
    with endpoint(upstream) as url, proxy(tmp_path / "home", url, **keys) as running:
        for wrong in ({}, {"authorization": "Bearer sk-upstream"}, {"x-api-key": "x"}):
            refused = post(running, headers=wrong)
            assert refused.status_code == 401 and "sk-upstream" not in refused.text
        for right in ({"authorization": "Bearer local-key-of-the-proxy"},):
            assert post(running, headers=right).json() == SAID
        assert post(running, headers={"x-api-key": "local-key-of-the-proxy"}).json() == SAID
        assert upstream.headers[0]["authorization"] == "Bearer sk-upstream"
        assert upstream.headers[1]["x-api-key"] == "sk-upstream"
        assert "local-key" not in str(upstream.headers)


def test_without_the_endpoints_key_its_own_key_comes_in_a_header_of_its_own(
    tmp_path: Path, upstream: Upstream
) -> None:
    with endpoint(upstream) as url, proxy(tmp_path / "home", url, local_key="k" * 20) as running:
        # In the other headers it would be sent to the endpoint.
        assert post(running, headers={"authorization": f"Bearer {'k' * 20}"}).status_code == 401
        headers = {"authorization": "Bearer theirs", "x-holdfast-key": "k" * 20}
        assert post(running, headers=headers).json() == SAID
        assert upstream.headers[0]["authorization"] == "Bearer theirs"
        assert "k" * 20 not in str(upstream.headers)


def test_many_at_once_are_answered(running: Running, upstream: Upstream) -> None:
    running.memory.hub("default", create=True).remember("Hello there is a greeting")
    statuses: list[int] = []

    def ask(number: int) -> None:
        said = {"role": "user", "content": f"Hello there, number {number}"}
        statuses.append(post(running, {"model": "m", "messages": [said]}).status_code)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 20
    assert len(running.logged) == 40 and noted(running) == []
    assert os.path.isdir(running.memory.home)
