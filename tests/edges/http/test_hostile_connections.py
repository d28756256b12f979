"""Clients that hold a connection without a request, frame a request in two ways, or come in masses:
they are cut off in time, and a good client is answered all the while."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.edges.server.connections import ConnectionLimits, Connections
from holdfast.edges.server.http_protocol import handle_loop_errors
from tests.edges.http.conftest import House
from tests.edges.http.raw import Raw
from tests.edges.http.serving import served

GET = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
HASTY = ConnectionLimits(header_s=0.2, idle_s=0.2, drain_s=0.2, total=40, per_address=20)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    house = House(tmp_path_factory.mktemp("house"))
    with contextlib.closing(house.memory), served(house.app, HASTY) as address:
        yield address


def good(url: str) -> int:
    with Raw(url) as line:
        return line.status(GET + "\r\n")


def test_responses_that_no_app_makes_have_the_security_headers(url: str) -> None:
    for sent, status in (("no request\r\n\r\n", b"400"), (GET, b"408")):
        with Raw(url) as line:
            line.send(sent)
            response = line.rest()
        assert response.startswith(b"HTTP/1.1 " + status), response
        assert response.lower().count(b"\r\nx-content-type-options: nosniff\r\n") == 1
        assert response.lower().count(b"\r\ncross-origin-resource-policy: same-origin\r\n") == 1


# Deadlines


def test_a_head_that_does_not_arrive_is_refused(url: str) -> None:
    with Raw(url) as line:
        line.send(GET)
        assert line.rest().startswith(b"HTTP/1.1 408")


def test_a_head_that_comes_line_by_line_is_refused(url: str) -> None:
    with Raw(url) as line:
        line.send(GET)
        assert line.hangs_up_while_sending("X-A: b\r\n", times=100, every_s=0.02)


@pytest.mark.parametrize("before", ["", GET + "\r\n"], ids=["at first", "between requests"])
def test_a_connection_that_says_nothing_is_closed(url: str, before: str) -> None:
    with Raw(url) as line:
        if before:
            assert line.status(before) == 200
        assert line.rest() == b""


def test_the_head_of_a_second_request_has_a_deadline_too(url: str) -> None:
    with Raw(url) as line:
        assert line.status(GET + "\r\n") == 200
        line.send(GET)
        assert b"HTTP/1.1 408" in line.rest()


def test_the_rest_of_a_refused_body_is_not_waited_for(url: str) -> None:
    with Raw(url) as line:
        line.send(GET + "Content-Length: 1000000\r\n\r\n")
        assert line.hangs_up_while_sending("x", times=100, every_s=0.02)


def test_a_refused_body_that_arrives_leaves_the_connection_usable(url: str) -> None:
    with Raw(url) as line:
        body = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"
        assert line.status(body) == 200
        line.send("hello")
        assert line.status(GET + "\r\n") == 200


# Framing


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        b"content-length: 0\r\n\r\n0\r\n\r\n",
        b"POST /v1/memories HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Content-Length: 6\r\n\r\nhello",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        b"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\nX-A: b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n",
        b"\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\rc\r\n\r\n",
        # A head that is not finished, but wrong already.
        b"GET /healthz HTTP/1.1\n",
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused(url: str, request_bytes: bytes) -> None:
    with Raw(url) as line:
        line.send(request_bytes)
        answer = line.rest()
        assert answer.startswith(b"HTTP/1.1 400"), answer
        # One answer, and the connection is closed: what came behind it is not read.
        assert answer.count(b"HTTP/1.1") == 1
        assert b"connection: close" in answer.lower()


def test_a_bare_lf_is_found_where_the_head_comes_in_pieces(url: str) -> None:
    for cut in range(1, 40):
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\nX-A: b\r\n\r\n"
        with Raw(url) as line:
            line.send(head[:cut])
            line.send(head[cut:])
            assert line.rest().startswith(b"HTTP/1.1 400")


def test_a_bare_lf_in_a_trailer_is_refused(tmp_path: Path) -> None:
    house = House(tmp_path)
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {house.key()}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    body = '{"content": "Ada\nprefers tabs"}'.replace("\n", "\\n")
    chunk = f"{len(body):x}\r\n{body}\r\n0\r\n"
    with contextlib.closing(house.memory), served(house.app) as address:
        with Raw(address) as line:
            assert line.status(head + chunk + "X-A: b\n\n") == 400
        with Raw(address) as line:
            assert line.status(head + chunk + "X-A: b\r\n\r\n") == 201


def test_a_line_feed_in_a_body_is_content(tmp_path: Path) -> None:
    house = House(tmp_path)
    body = '{\n\n"content":\n"Ada prefers tabs"\n}\n\n'
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {house.key()}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with contextlib.closing(house.memory), served(house.app) as address:
        for cut in (len(head), len(head) - 2, len(head) + 3):
            with Raw(address) as line:
                whole = head + body
                line.send(whole[:cut])
                assert line.status(whole[cut:]) in (200, 201)


# Masses


def test_half_sent_heads_in_masses_do_not_keep_others_out(tmp_path: Path) -> None:
    house = House(tmp_path)
    limits = ConnectionLimits(total=30, per_address=20)
    with (
        contextlib.closing(house.memory),
        served(house.app, limits) as address,
        contextlib.ExitStack() as held,
    ):
        for number in range(100):
            line = held.enter_context(Raw(address, f"127.0.0.{2 + number % 3}"))
            line.send(GET)
        assert good(address) == 200


def test_slow_bodies_without_a_key_in_masses_do_not_keep_others_out(tmp_path: Path) -> None:
    house = House(tmp_path)
    limits = ConnectionLimits(total=30, per_address=20)
    post = (
        "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000\r\n\r\n{"
    )
    with (
        contextlib.closing(house.memory),
        served(house.app, limits) as address,
        contextlib.ExitStack() as held,
    ):
        for _ in range(100):
            held.enter_context(Raw(address)).send(post)
        assert good(address) == 200


_SERVER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
from holdfast.edges.cli import run
sys.argv = ["holdfast", "serve", "--port", "0"]
run()
"""


def test_a_server_with_few_descriptors_stays_awake_and_its_log_small(tmp_path: Path) -> None:
    told = tmp_path / "log"
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")}
    with told.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stderr=log,
            env={**environment, "HOLDFAST_EMBED_MODEL": "none"},
        )
    try:
        while "Ctrl-C ends it." not in told.read_text():
            assert process.poll() is None, told.read_text()
        line = next(one for one in told.read_text().splitlines() if "listening on" in one)
        address = line.split()[-1]
        with contextlib.ExitStack() as held:
            for _ in range(400):
                held.enter_context(Raw(address)).send(GET)
            assert good(address) == 200
    finally:
        process.terminate()
        assert process.wait(20) == 0
    assert len(told.read_text()) < 20_000


def test_no_descriptor_left_is_logged_once_and_old_connections_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scene() -> int:
        every = Connections(ConnectionLimits())
        closed = 0

        def close() -> None:
            nonlocal closed
            closed += 1

        for _ in range(100):
            every.open("a", close)
        loop = asyncio.get_running_loop()
        handle_loop_errors(loop, every)
        error = OSError(errno.EMFILE, "Too many open files")
        for _ in range(2_000):
            loop.call_exception_handler({"message": "socket.accept()", "exception": error})
        loop.call_exception_handler({"message": "something else"})
        return closed

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(scene()) == 16
    told = [one.getMessage() for one in caplog.records]
    assert len(told) == 2
    assert "No descriptor is left" in told[0]


def test_an_answer_that_nobody_takes_is_given_up(tmp_path: Path) -> None:
    cancelled: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(10_000):
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            if (await _peek(receive)) == "http.disconnect":
                cancelled.append(True)
                return

    async def _peek(receive: Any) -> str:
        try:
            async with asyncio.timeout(0.001):
                return str((await receive())["type"])
        except TimeoutError:
            return ""

    with served(app, ConnectionLimits(write_s=0.2)) as address, Raw(address) as line:
        line.send(GET + "\r\n")
        # Not read: the server's buffers fill, and it gives up.
        ends = time.monotonic() + 10
        while not cancelled and time.monotonic() < ends:
            time.sleep(0.01)
    assert cancelled
