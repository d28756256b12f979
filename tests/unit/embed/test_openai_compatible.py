"""An embedding server that works, lies, hangs, breaks or leads astray: a real one on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from holdfast.embed import openai_compatible
from holdfast.embed.openai_compatible import OpenAICompatibleEmbedder
from holdfast.errors import EmbedderError, InvalidSetting
from tests.serve_thread import answer as send

KEY = "sk-test-123456"
Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Server:
    """Answers each request with the next of `answers`, the last of them for ever."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [vectors()]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.paths.append(self.path)
                send(self, 200, b"{}")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.headers.append(dict(self.headers))
                outer.paths.append(self.path)
                number = min(len(outer.requests), len(outer.answers)) - 1
                try:
                    outer.answers[number](self, body)
                except ConnectionError:
                    self.close_connection = True  # the client had enough

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 2.0]


def vectors(of: Callable[[str], list[float]] = vector_of, order: int = 1) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        rows = [{"index": n, "embedding": of(text)} for n, text in enumerate(body["input"])]
        send(handler, 200, json.dumps({"data": rows[::order]}).encode())

    return answer


def status(code: int, body: bytes = b"{}", **headers: str) -> Answer:
    return lambda handler, _: send(handler, code, body, **headers)


def embedder(server: Server, **options: Any) -> OpenAICompatibleEmbedder:
    options.setdefault("wait", lambda _: None)
    return OpenAICompatibleEmbedder("some-model", server.url, **options)


def unit(rows: list[list[float]]) -> np.ndarray:
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_passages_come_back_as_unit_rows_in_order(server: Server) -> None:
    asked = embedder(server)
    assert asked.dimensions == 0
    matrix = asked.embed_passages(["a", "bbb"])
    assert np.allclose(matrix, unit([[1, 1, 2], [3, 1, 2]]))
    assert matrix.dtype == np.float32
    assert asked.dimensions == 3
    assert server.paths == ["/v1/embeddings"]
    assert server.requests[0]["model"] == "some-model"
    assert "dimensions" not in server.requests[0]


def test_an_answer_out_of_order_is_put_in_order(server: Server) -> None:
    server.answers = [vectors(order=-1)]
    matrix = embedder(server).embed_passages(["a", "bbb", "cc"])
    assert np.allclose(matrix, unit([[1, 1, 2], [3, 1, 2], [2, 1, 2]]))


def test_many_texts_go_in_batches_of_64(server: Server) -> None:
    texts = ["x" * n for n in range(1, 131)]
    matrix = embedder(server).embed_passages(texts)
    assert [len(request["input"]) for request in server.requests] == [64, 64, 2]
    assert np.allclose(matrix, unit([vector_of(text) for text in texts]))


def test_no_texts_ask_nothing(server: Server) -> None:
    assert embedder(server, dimensions=3).embed_passages([]).shape == (0, 3)
    assert server.requests == []


def test_prefixes_go_before_queries_and_passages(server: Server) -> None:
    asked = embedder(server, query_prefix="Q: ", passage_prefix="P: ")
    asked.embed_query("when?")
    asked.embed_passages(["then"])
    assert [request["input"] for request in server.requests] == [["Q: when?"], ["P: then"]]


def test_asked_dimensions_are_sent_and_a_wrong_length_is_refused(server: Server) -> None:
    with pytest.raises(EmbedderError, match="vectors of length 3; 256 was expected"):
        embedder(server, dimensions=256).embed_query("x")
    assert server.requests[0]["dimensions"] == 256


def test_a_model_that_changes_its_length_is_refused(server: Server) -> None:
    server.answers = [vectors(), vectors(lambda _: [1.0, 2.0])]
    asked = embedder(server)
    asked.embed_query("x")
    with pytest.raises(EmbedderError, match="vectors of length 2; 3 was expected"):
        asked.embed_query("x")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>hello</html>", "not a list of embeddings in JSON"),
        (b"", "not a list of embeddings in JSON"),
        (b"\xff\xfe\x00", "not a list of embeddings in JSON"),
        (b"[" * 100_000, "not a list of embeddings in JSON"),
        (b"[]", "not a list of embeddings in JSON"),
        (b'{"error": "no"}', "not a list of embeddings in JSON"),
        (b'{"data": [{"index": 0}]}', "not a list of embeddings in JSON"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "not a list of embeddings in JSON"),
        (b'{"data": [{"index": 0, "embedding": [[1], [2, 3]]}]}', "not a list of embeddings"),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', "NaN in the vector of text 1"),
        (b'{"data": [{"index": 0, "embedding": [null, 1]}]}', "NaN in the vector of text 1"),
        (b'{"data": [{"index": 0, "embedding": [1e300, 1]}]}', "infinity in the vector of text 1"),
        (b'{"data": [{"index": 0, "embedding": [0, 0]}]}', "only zeros for text 1"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "empty vectors"),
        (b'{"data": [{"index": 0, "embedding": [[1], [2]]}]}', "an array of 3 axes"),
        (b'{"data": []}', "0 vectors for 1 texts"),
        (b'{"data": [{"index": 7, "embedding": [1]}]}', "numbered its vectors wrongly"),
        (
            b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}',
            "vectors of different lengths",
        ),
    ],
)
def test_an_answer_that_is_no_vector_is_an_error_that_says_so(
    server: Server, body: bytes, words: str
) -> None:
    server.answers = [status(200, body)]
    with pytest.raises(EmbedderError, match=words):
        embedder(server).embed_query("x")
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_server_that_fails_once_is_asked_again(server: Server, code: int) -> None:
    waits: list[float] = []
    server.answers = [status(code), vectors()]
    assert embedder(server, wait=waits.append).embed_query("x").shape == (3,)
    assert len(server.requests) == 2
    assert waits == [0.5]


def test_a_server_that_keeps_failing_is_given_up_after_three_tries(server: Server) -> None:
    waits: list[float] = []
    server.answers = [status(500, b'{"error": "out of memory"}')]
    with pytest.raises(EmbedderError, match=r"status 500: .*out of memory"):
        embedder(server, wait=waits.append).embed_query("x")
    assert len(server.requests) == 3
    assert waits == [0.5, 1.0]


def test_a_refused_request_is_not_repeated(server: Server) -> None:
    server.answers = [status(404, b'{"error": "model not found"}')]
    with pytest.raises(EmbedderError, match=r"status 404: .*model not found"):
        embedder(server).embed_query("x")
    assert len(server.requests) == 1


def test_a_server_that_hangs_ends_in_an_error_within_the_time_limit(server: Server) -> None:
    server.answers = [lambda *_: server.released.wait(30) and None]
    with pytest.raises(EmbedderError, match=r"did not answer within 0.2 s"):
        embedder(server, timeout_s=0.2).embed_query("x")
    assert len(server.requests) == 1


def test_an_answer_that_stalls_half_way_ends_within_the_time_limit(server: Server) -> None:
    def stall(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data": ')
        handler.wfile.flush()
        server.released.wait(30)

    server.answers = [stall]
    with pytest.raises(EmbedderError, match=r"did not answer within 0.2 s"):
        embedder(server, timeout_s=0.2).embed_query("x")


def test_an_answer_that_breaks_off_is_asked_for_again(server: Server) -> None:
    def break_off(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data": ')
        handler.close_connection = True

    server.answers = [break_off, vectors()]
    assert embedder(server).embed_query("x").shape == (3,)
    assert len(server.requests) == 2


def test_a_server_that_is_not_there_is_named_with_advice(server: Server) -> None:
    waits: list[float] = []
    server.close()
    with pytest.raises(EmbedderError, match="cannot be reached") as caught:
        embedder(server, wait=waits.append).embed_query("x")
    assert server.url in str(caught.value)
    assert len(waits) == 2


def test_a_huge_answer_is_cut_short(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "RESPONSE_BYTES_MAX", 1 << 20)
    sent = 0

    def pour(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        nonlocal sent
        handler.send_response(200)
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(b" " * 100_000)
            sent += 100_000

    server.answers = [pour]
    with pytest.raises(EmbedderError, match="more than 1 MB"):
        embedder(server).embed_query("x")
    assert sent < 50_000_000


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: Server, code: int) -> None:
    other = Server()
    try:
        server.answers = [status(code, Location=f"{other.url}/embeddings")]
        with pytest.raises(EmbedderError, match="redirects elsewhere"):
            embedder(server).embed_query("x")
        assert other.paths == []
    finally:
        other.close()


def test_the_key_is_sent_as_a_bearer_token(server: Server) -> None:
    embedder(server, key_variable="K", environment={"K": f"{KEY}\n"}).embed_query("x")
    embedder(server).embed_query("x")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in server.headers[1]


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_names_its_variable(server: Server, code: int) -> None:
    server.answers = [status(code)]
    with pytest.raises(EmbedderError, match=r"refused the key .* variable MY_KEY"):
        embedder(server, key_variable="MY_KEY", environment={"MY_KEY": KEY}).embed_query("x")
    with pytest.raises(EmbedderError, match="Set the name of the environment variable"):
        embedder(server).embed_query("x")


def test_this_machine_is_asked_without_the_proxy(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert embedder(server).embed_query("x").shape == (3,)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 500])
def test_the_key_is_in_no_error_even_if_the_server_repeats_it(server: Server, code: int) -> None:
    server.answers = [status(code, f"bad key {KEY}".encode())]
    asked = embedder(server, key_variable="K", environment={"K": KEY})
    with pytest.raises(EmbedderError) as caught:
        asked.embed_query("x")
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in f"{error!s} {error!r}"
        error = error.__cause__ or error.__context__
    assert KEY not in repr(vars(asked) | {"_environment": None})
    assert KEY not in asked.identity


def test_a_key_that_cannot_be_sent_is_not_shown(server: Server) -> None:
    asked = embedder(server, key_variable="K", environment={"K": f"{KEY}\nX-Evil: 1"})
    with pytest.raises(EmbedderError, match="variable K has characters") as caught:
        asked.embed_query("x")
    assert KEY not in str(caught.value)
    assert server.requests == []


def test_a_missing_key_names_its_variable(server: Server) -> None:
    with pytest.raises(EmbedderError, match="environment variable NO_SUCH_KEY"):
        embedder(server, key_variable="NO_SUCH_KEY", environment={}).embed_query("x")


def test_half_a_surrogate_pair_is_replaced_before_it_is_sent(server: Server) -> None:
    embedder(server).embed_query("a\ud800b")
    assert server.requests[0]["input"] == ["a?b"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "http://h:x/v1",
        "http://ho st/",
        "http://[::1/v1",
        "http://u:secret@host/v1",
        "http://host/v1?key=secret",
    ],
)
def test_an_url_that_cannot_be_used_is_a_bad_setting_and_shows_no_secret(url: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        OpenAICompatibleEmbedder("m", url)
    assert "secret" not in str(caught.value)


def test_identity_tells_apart_all_that_shapes_a_vector() -> None:
    def identity(model: str = "m", url: str = "http://a/v1", **options: Any) -> str:
        return OpenAICompatibleEmbedder(model, url, **options).identity

    others = [
        identity(),
        identity("n"),
        identity(url="http://b/v1"),
        identity(dimensions=8),
        identity(passage_prefix="p"),
    ]
    assert len(set(others)) == len(others)
    assert identity(query_prefix="q", timeout_s=1, key_variable="K") == identity()
    assert identity(url="http://a/v1/") == identity(url="http://a/v1/embeddings") == identity()
