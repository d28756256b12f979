"""Callers that send slowly or in masses: what they hold is their own share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.edges.http.limits import Limits
from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.http_protocol import BodyBudget, BodyBudgetSpent
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT, House
from tests.edges.http.raw import Raw
from tests.edges.http.serving import served

BODY = '{"content": "Ada prefers tabs"}'


def post(path: str, key: str = "", length: int = 1_000) -> str:
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}"
        "Accept: application/json, text/event-stream\r\nX-Holdfast-Client: test\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )


def good(url: str, key: str = "") -> int:
    with Raw(url) as line:
        return line.status(post("/v1/memories", key, len(BODY)) + BODY)


class Server:
    """A house with tight limits on a real connection."""

    def __init__(self, folder: Path, limits: Limits, *, key_needed: bool = True) -> None:
        self.house = House(folder, limits)
        self.app = make_app(self.house.memory, key_needed=key_needed, limits=limits)

    @contextlib.contextmanager
    def __call__(self) -> Iterator[str]:
        with contextlib.closing(self.house.memory), served(self.app) as url:
            yield url


TIGHT = PATIENT._replace(requests_max=4, requests_per_key=3, body_seconds_max=20.0)


def test_slow_bodies_without_a_key_are_refused_before_they_are_read(tmp_path: Path) -> None:
    server = Server(tmp_path, TIGHT)
    with server() as url, contextlib.ExitStack() as held:
        lines = [held.enter_context(Raw(url)) for _ in range(20)]
        for line in lines:
            line.send(post("/v1/memories") + "{")
        assert good(url, server.house.key()) == 201
        # 401 while the body is still to come.
        assert [line.status() for line in lines] == [401] * 20


def test_slow_bodies_with_a_made_up_key_are_refused_before_they_are_read(tmp_path: Path) -> None:
    server = Server(tmp_path, TIGHT)
    with server() as url, contextlib.ExitStack() as held:
        lines = [held.enter_context(Raw(url)) for _ in range(20)]
        for number, line in enumerate(lines):
            line.send(post("/mcp", f"hf_made-up-{number}") + "{")
        assert good(url, server.house.key()) == 201
        assert [line.status() for line in lines] == [401] * 20


def test_slow_bodies_of_one_key_take_no_place_of_others_nor_of_their_own(tmp_path: Path) -> None:
    server = Server(tmp_path, TIGHT)
    viewer = server.house.member("eve", "viewer")
    with server() as url, contextlib.ExitStack() as held:
        for path in ("/v1/memories", "/mcp"):
            for _ in range(20):
                held.enter_context(Raw(url)).send(post(path, viewer) + "{")
        assert good(url, server.house.key()) == 201
        with Raw(url) as line:
            get = f"GET /v1/hub HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {viewer}"
            assert line.status(f"{get}\r\nX-Hub-ID: {server.house.hub.id}\r\n\r\n") == 200


def test_slow_bodies_take_no_place_where_no_key_is_needed(tmp_path: Path) -> None:
    server = Server(tmp_path, TIGHT, key_needed=False)
    with server() as url, contextlib.ExitStack() as held:
        for _ in range(20):
            held.enter_context(Raw(url)).send(post("/v1/memories") + "{")
        assert good(url) == 201


@pytest.mark.parametrize("path", ["/v1/memories", "/mcp", "/mcp/plans"])
def test_an_unfinished_body_has_a_time_limit(tmp_path: Path, path: str) -> None:
    server = Server(tmp_path, PATIENT._replace(body_seconds_max=0.1))
    with server() as url, Raw(url) as line:
        assert line.status(post(path, server.house.key()) + "{") == 408


def test_a_stranger_s_flood_is_slowed_down_and_the_owner_s_requests_are_not(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path, PATIENT._replace(per_minute=60))
    key = server.house.key()
    with server() as url:
        assert good(url, key) == 201
        with Raw(url) as line:
            get = "GET /v1/hub HTTP/1.1\r\nHost: localhost\r\n\r\n"
            told = [line.status(get) for _ in range(62)]
        assert set(told) == {401, 429}
        assert good(url, key) == 200


def test_an_upload_with_a_key_is_not_cut_off_for_strangers(tmp_path: Path) -> None:
    server = Server(tmp_path, PATIENT)
    mark = "x-boundary"
    form = (
        f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
        f"Ada prefers tabs\r\n--{mark}--\r\n"
    )
    head = (
        "POST /v1/memories/upload HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {server.house.key()}\r\nExpect: 100-continue\r\n"
        f"Content-Type: multipart/form-data; boundary={mark}\r\nContent-Length: {len(form)}\r\n"
    )
    limits = ConnectionLimits(total=10, per_address=10)
    with (
        contextlib.closing(server.house.memory),
        served(server.app, limits) as url,
        contextlib.ExitStack() as held,
        Raw(url) as line,
    ):
        line.send(head + "\r\n")
        # The server reads the body from here on.
        assert line.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
        line.send(form[:40])
        for _ in range(30):
            held.enter_context(Raw(url)).send("GET /v1/hub HTTP/1.1\r\n")
        with Raw(url) as last:
            # The others have been accepted when this one is answered.
            assert last.status("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") == 200
        assert line.status(form[40:]) == 201


def test_large_bodies_have_a_budget_of_memory() -> None:
    budget = BodyBudget(total=100, per_caller=60)
    budget.take("eve", 60)
    with pytest.raises(BodyBudgetSpent):
        budget.take("eve", 1)
    budget.take("ada", 40)
    with pytest.raises(BodyBudgetSpent):
        budget.take("ben", 1)
    budget.give_back("eve", 60)
    budget.take("ben", 60)
    budget.give_back("ben", 60)
    budget.give_back("ada", 40)
    assert not budget._held
