"""What a client reads from a server is bounded, compressed and decompressed, whatever it asked."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

import holdfast
from holdfast.client.connection import Connection
from tests.edges.client.servers import served
from tests.edges.client.test_client_when_things_go_wrong import Script, scripted

BYTES_MAX = 1_000_000
GZIP = {"Content-Encoding": "gzip"}
# 200 MB in 200 kB: members of a gzip file may follow each other.
BOMB = gzip.compress(b" " * 10_000_000) * 20
ENDLESS_LINE = gzip.compress(b"x" * 10_000_000)
CALLS: dict[str, Callable[[Connection], Any]] = {
    "get": lambda server: server.get("/memories"),
    "send": lambda server: server.send("POST", "/memories", {}),
    "ask": lambda server: server.ask("/recall", {}),
    "upload": lambda server: server.upload(
        "/memories/upload", io.BytesIO(b"x"), "x.txt", {}, hub=None
    ),
    "lines": lambda server: list(server.lines("/export")),
}


def answered(call: Callable[[Connection], Any], status: int, body: bytes, **headers: str) -> Any:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with scripted(Script((status, body, sent))) as url:
        connection = Connection(url, None, timeout_s=10, response_bytes_max=BYTES_MAX)
        connection._sleep = lambda _: None
        try:
            return call(connection)
        finally:
            connection.close()


@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("body", [BOMB, ENDLESS_LINE], ids=["members", "line"])
def test_a_small_response_that_decompresses_to_a_large_one_is_refused(
    name: str, status: int, body: bytes
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(holdfast.HoldfastError, match="answers with more than"):
            answered(CALLS[name], status, body, Content_Encoding="gzip")
        assert tracemalloc.get_traced_memory()[1] < 8 * BYTES_MAX
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("name", CALLS)
def test_a_large_response_is_refused(name: str, status: int) -> None:
    with pytest.raises(holdfast.HoldfastError, match="answers with more than 1,000,000 bytes"):
        answered(CALLS[name], status, b"x" * (BYTES_MAX + 1))


def test_many_members_that_hold_nothing_are_refused() -> None:
    with pytest.raises(holdfast.HoldfastError, match="answers with more than"):
        answered(CALLS["get"], 200, gzip.compress(b"") * 60_000, Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (zlib.compress(b'{"data": 1}'), "gzip", "gzip that cannot be read"),
        (gzip.compress(b'{"data": 1}')[:-9], "gzip", "gzip that cannot be read"),
        (b'{"data": 1}', "br", "was not asked for"),
        (b'{"data": 1}', "gzip, gzip", "was not asked for"),
    ],
    ids=["deflate", "cut short", "brotli", "twice"],
)
@pytest.mark.parametrize("name", ["get", "lines"])
def test_what_cannot_be_decompressed_is_an_error(
    name: str, body: bytes, encoding: str, said: str
) -> None:
    with pytest.raises(holdfast.HoldfastError, match=said):
        answered(CALLS[name], 200, body, Content_Encoding=encoding)


@pytest.mark.parametrize("packed", [True, False])
def test_what_fits_is_read_to_its_end(packed: bool) -> None:
    value = {"data": "ü" * (BYTES_MAX // 4)}
    body = json.dumps(value, ensure_ascii=False).encode()
    lines = b"\n".join([body, b"second\r", b"", body])
    headers = {"Content_Encoding": "gzip"} if packed else {}
    # Two members: what a server that compresses as it goes may send.
    sent, sent_lines = (
        (gzip.compress(one[:1000]) + gzip.compress(one[1000:]) if packed else one)
        for one in (body, lines)
    )
    assert answered(CALLS["get"], 200, sent, **headers) == value
    found = answered(CALLS["lines"], 200, sent_lines, **headers)
    assert found == [body.decode(), "second", "", body.decode()]


def test_an_export_keeps_characters_that_end_lines_elsewhere(tmp_path: Path) -> None:
    """New text has none of them; rows written before may."""
    from holdfast.client.connection import read_lines

    text = "One\u2028line\u0085of\x0btext"
    sent = json.dumps({"content": text}, ensure_ascii=False) + "\n"
    answer = httpx2.Response(200, content=iter([sent.encode()]))
    lines = [json.loads(line) for line in read_lines("http://localhost", answer, 10_000)]
    assert lines == [{"content": text}]


def test_the_bound_can_be_set(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        with holdfast.Client(server.url) as client:
            client.hub().remember("x " * 10_000)
        with (
            holdfast.Client(server.url, response_bytes_max=5_000) as client,
            pytest.raises(holdfast.HoldfastError, match="more than 5,000 bytes"),
        ):
            client.hub().list()
