"""Streams and sessions of agents: they end with the key or the role behind them, and a key has its
share of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast.edges.http import mcp_routes
from holdfast.edges.http.client_identity import Client, Session, Sessions
from holdfast.edges.http.limits import starts_session
from holdfast.engine.people import keys, members
from holdfast.errors import ServerUnreachable
from tests.edges.http.conftest import PATIENT, House
from tests.edges.http.serving import served
from tests.edges.http.test_agents_room import ACCEPT, HELLO

PATIENCE_S = 20.0


class Server:
    def __init__(self, house: House, client: httpx2.Client) -> None:
        self.house = house
        self.client = client

    def headers(self, key: str, session: str = "") -> dict[str, str]:
        sent = {**ACCEPT, "Authorization": f"Bearer {key}", "X-Hub-ID": self.house.hub.id}
        return {**sent, "mcp-session-id": session} if session else sent

    def begin(self, key: str) -> str:
        answer = self.client.post("/mcp", json=HELLO, headers=self.headers(key))
        assert answer.status_code == 200, answer.text
        return str(answer.headers["mcp-session-id"])

    def call(self, key: str, session: str) -> int:
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
        answer = self.client.post("/mcp", json=listing, headers=self.headers(key, session))
        return answer.status_code

    @contextlib.contextmanager
    def listening(self, key: str, session: str = "") -> Iterator[httpx2.Response]:
        headers = self.headers(key, session or self.begin(key))
        with self.client.stream("GET", "/mcp", headers=headers) as answer:
            yield answer

    def get(self, key: str) -> int:
        return self.client.get("/v1/hub", headers=self.headers(key)).status_code


@contextlib.contextmanager
def serve(folder: Path, **limits: Any) -> Iterator[Server]:
    house = House(folder, PATIENT._replace(**limits))
    pool = httpx2.Limits(max_connections=200)
    with (
        contextlib.closing(house.memory),
        served(house.app) as url,
        httpx2.Client(base_url=url, timeout=PATIENCE_S, limits=pool) as client,
    ):
        yield Server(house, client)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(mcp_routes, "_LOOK_S", 0.02)
    with serve(tmp_path) as one:
        yield one


# Whose stream it is


def test_the_stream_of_a_revoked_key_ends(server: Server) -> None:
    handed = keys.create_key(server.house.memory.core, "laptop")
    with server.listening(handed.secret) as stream:
        assert stream.status_code == 200
        keys.revoke_key(server.house.memory.core, handed.what.id)
        # It ends as a stream ends; a read that times out would raise.
        assert stream.read() is not None


def test_the_stream_and_the_sessions_of_a_removed_member_end(server: Server) -> None:
    house = server.house
    ben = house.member("ben", "viewer")
    with server.listening(ben) as stream:
        members.remove_member(house.memory.core, "hub", house.hub.id, "ben")
        assert stream.read() is not None
    assert not house.app.state.agents._sessions._owners
    assert not house.app.state.agents._servers


def test_a_stream_ends_when_the_role_behind_it_changes(server: Server) -> None:
    house = server.house
    ben = house.member("ben", "contributor")
    with server.listening(ben) as stream:
        members.set_member(house.memory.core, "hub", house.hub.id, "ben", "viewer")
        assert stream.read() is not None


def test_the_streams_of_others_go_on(server: Server) -> None:
    house = server.house
    handed = keys.create_key(house.memory.core, "laptop")
    with server.listening(house.key()) as hers, server.listening(handed.secret) as stream:
        keys.revoke_key(house.memory.core, handed.what.id)
        stream.read()
        assert house.app.state.agents._streams.count == 1
        assert not hers.is_closed


def test_a_store_that_is_away_for_a_moment_ends_no_stream(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed = keys.create_key(server.house.memory.core, "laptop")
    stands = mcp_routes._standing
    asked: list[str] = []

    def standing(*given: Any) -> Any:
        asked.append("")
        if len(asked) < 5:
            raise ServerUnreachable("Another server takes over.")
        return stands(*given)

    with server.listening(handed.secret) as stream:
        monkeypatch.setattr(mcp_routes, "_standing", standing)
        until(lambda: len(asked) > 5)
        assert server.house.app.state.agents._streams.count == 1
        keys.revoke_key(server.house.memory.core, handed.what.id)
        stream.read()


# Shares


def test_streams_take_no_places_and_a_key_has_its_share_of_them(tmp_path: Path) -> None:
    with (
        serve(tmp_path, requests_max=4, requests_per_key=4, streams_per_key=10) as server,
        contextlib.ExitStack() as opened,
    ):
        viewer = server.house.member("eve", "viewer")
        owner = server.house.key()
        told = [opened.enter_context(server.listening(viewer)).status_code for _ in range(12)]
        assert told == [200] * 10 + [503] * 2
        assert [server.get(owner) for _ in range(5)] == [200] * 5
        assert server.get(viewer) == 200
        with server.listening(owner) as stream:
            assert stream.status_code == 200


def test_more_honest_agents_than_places_are_served(tmp_path: Path) -> None:
    with (
        serve(tmp_path, requests_max=8, requests_per_key=8) as server,
        contextlib.ExitStack() as opened,
    ):
        key = server.house.key()
        sessions = [server.begin(key) for _ in range(16)]
        for session in sessions:
            stream = opened.enter_context(server.listening(key, session))
            assert stream.status_code == 200
        assert {server.call(key, session) for session in sessions} == {200}
        assert server.get(key) == 200


def test_a_client_that_begins_many_sessions_ends_its_own(tmp_path: Path) -> None:
    with serve(tmp_path, sessions_per_key=5) as server:
        owner, eve = server.house.key(), server.house.member("eve", "viewer")
        hers = server.begin(owner)
        flood = [server.begin(eve) for _ in range(15)]
        assert [server.call(eve, one) for one in flood] == [404] * 10 + [200] * 5
        assert server.call(owner, hers) == 200
        assert len(server.house.app.state.agents._sessions) == 6


def test_a_key_that_starts_too_many_sessions_is_told_when_to_come_back(tmp_path: Path) -> None:
    with serve(tmp_path, session_burst=3, session_starts_per_minute=1) as server:
        owner, eve = server.house.key(), server.house.member("eve", "viewer")
        kept, *_ = [server.begin(eve) for _ in range(3)]
        late = server.client.post("/mcp", json=HELLO, headers=server.headers(eve))
        assert (late.status_code, late.json()["error"]["code"]) == (429, "too_many_sessions")
        assert 1 <= int(late.headers["Retry-After"]) <= 61
        assert "mcp-session-id" not in late.headers
        # What goes on is not slowed down, nor what other people start.
        assert [server.call(eve, kept) for _ in range(5)] == [200] * 5
        assert server.get(eve) == 200
        assert server.begin(owner)
        # Two shares for all keys of a person, however many there are.
        more = [server.house.key("eve") for _ in range(4)]
        told = [
            server.client.post("/mcp", json=HELLO, headers=server.headers(key)).status_code
            for key in more
        ]
        assert told == [200] * 3 + [429]


def test_a_request_of_a_protocol_without_sessions_starts_none() -> None:
    def starts(method: str = "POST", path: str = "/mcp", **headers: str) -> bool:
        sent = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        return starts_session({"type": "http", "method": method, "path": path, "headers": sent})

    assert starts() and starts(path="/mcp/plans") and starts(mcp_protocol_version="2025-06-18")
    assert not starts(mcp_protocol_version="2099-01-01")
    assert not starts(mcp_session_id="one")
    assert not starts("GET") and not starts(path="/v1/memories")


def test_a_session_without_requests_ends(tmp_path: Path) -> None:
    with serve(tmp_path, session_seconds=0.1) as server:
        key = server.house.key()
        session = server.begin(key)
        until(lambda: server.call(key, session) == 404, every_s=0.2)


def test_the_session_used_least_recently_ends() -> None:
    sessions = Sessions(each=2)
    a, b = Client("key:a", "person:eve"), Client("key:b", "person:eve")
    one, two, three = (Session("s", name) for name in ("1", "2", "3"))
    assert sessions.begin(one, a) == sessions.begin(two, a) == []
    sessions.use(one)
    assert sessions.begin(three, a) == [two]
    others = [Session("t", str(number)) for number in range(4)]
    assert [sessions.begin(other, b) for other in others] == [[], [], [others[0]], [others[1]]]
    sessions.begin(Session("u", "1"), Client("key:c", "person:eve"))
    assert len(sessions) == 4
    sessions.end_all_of("t")
    sessions.end(one)
    sessions.end_all_of("s")
    sessions.end_all_of("u")
    assert (len(sessions), dict(sessions._counts)) == (0, {})


def until(true: Any, every_s: float = 0.01) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < ends, "it did not come true in time"
        time.sleep(every_s)
