"""A server that is told to stop: what it has accepted is finished, and what never ends is ended."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.edges.http.test_serving import WAIT_S, Server


def test_a_stream_of_events_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with urllib.request.urlopen(server.url + "/v1/events", timeout=WAIT_S) as stream:
        assert stream.readline() == b": listening\n"
        began = time.monotonic()
        assert server.end() == 0
        # Without a stream it takes a fraction of a second; with a time limit for it, ten.
        assert time.monotonic() - began < 5
        assert stream.read() == b"\n"


def test_an_agent_that_listens_does_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    server = Server(tmp_path)
    accept = {"Accept": "application/json, text/event-stream"}
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    sent = {"Content-Type": "application/json", **accept}
    request = urllib.request.Request(server.url + "/mcp", json.dumps(body).encode(), sent)
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        session = answer.headers["mcp-session-id"]
        answer.read()
    listening = urllib.request.Request(
        server.url + "/mcp", headers={**accept, "mcp-session-id": session}
    )
    with urllib.request.urlopen(listening, timeout=WAIT_S) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < 5
        # It ends as a stream ends, not as a connection that broke.
        stream.read()


def test_what_was_answered_while_it_stopped_is_kept(tmp_path: Path) -> None:
    server = Server(tmp_path)
    answered: list[str] = []
    refused: list[BaseException] = []

    def push(number: int) -> None:
        try:
            told = server.ask("/v1/memories", {"content": f"Memory {number}"})
        except (urllib.error.URLError, ConnectionError) as error:
            refused.append(error)
        else:
            answered.append(told["data"]["id"])

    threads = [threading.Thread(target=push, args=(number,)) for number in range(16)]
    push(99)
    for thread in threads:
        thread.start()
    while len(answered) < 4 and any(thread.is_alive() for thread in threads):
        time.sleep(0.001)
    assert len(answered) >= 4, refused
    assert server.end() == 0
    for thread in threads:
        thread.join(WAIT_S)
    assert len(answered) + len(refused) == 17
    again = Server(tmp_path)
    try:
        kept = {one["id"] for one in again.ask("/v1/memories?limit=100")["data"]}
    finally:
        again.end()
    assert set(answered) <= kept
