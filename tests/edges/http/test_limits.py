"""What a request passes before a route: pace, crowd, size and slowness of bodies;
and keys: where they stand, whose they are, until when."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.edges.http import limits
from holdfast.edges.http.limits import BUCKETS_MAX, Limits, TokenBuckets
from holdfast.engine.people import keys
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT, Asking, House
from tests.edges.http.serving import served

Opener = Callable[..., House]


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


# Rate and concurrency


def test_who_asks_too_often_is_told_when_to_come_back(open_house: Opener) -> None:
    house = open_house(Limits(per_minute=3))
    ask, other = house.ask(), house.ask()
    for _ in range(3):
        assert ask.get("/v1/hub").status_code == 200
    late = ask.get("/v1/hub")
    assert code(late) == (429, "too_many_requests")
    assert 1 <= int(late.headers["Retry-After"]) <= 21
    assert other.get("/v1/hub").status_code == 200


def test_made_up_keys_share_the_bucket_of_their_address(open_house: Opener) -> None:
    house = open_house(Limits(per_minute=5))
    ask = house.ask()
    assert ask.get("/v1/hub").status_code == 200
    told = [house.ask(f"hf_made-up-{number}").get("/v1/hub").status_code for number in range(6)]
    assert told == [401] * 5 + [429]
    # Whose key has opened something is not kept out by that.
    assert ask.get("/v1/hub").status_code == 200


def test_whether_the_server_is_well_may_be_asked_any_time(open_house: Opener) -> None:
    ask = open_house(Limits(per_minute=1)).ask()
    assert [ask.get("/healthz").status_code for _ in range(5)] == [200] * 5


def test_a_flood_of_health_checks_has_a_bucket_of_its_own(
    open_house: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_HEALTH_BURST", 5.0)
    monkeypatch.setattr(limits, "_HEALTH_PER_SECOND", 0.001)
    ask = open_house(Limits(per_minute=60)).ask()
    assert [ask.get("/healthz").status_code for _ in range(6)] == [200] * 5 + [429]
    assert ask.get("/v1/hub").status_code == 200


def test_keys_that_are_valid_do_not_use_up_what_strangers_have(open_house: Opener) -> None:
    house = open_house(Limits(per_minute=3))
    assert [house.ask().get("/v1/hub").status_code for _ in range(10)] == [200] * 10


def test_a_bucket_fills_again_with_time() -> None:
    buckets = TokenBuckets(burst=60, per_second=1)
    assert all(buckets.take("ada", 0.0) == 0 for _ in range(60))
    assert buckets.take("ada", 0.0) == pytest.approx(1.0)
    assert buckets.take("ada", 1.0) == 0
    assert buckets.take("ada", 1.0) > 0


def test_the_memory_of_who_asked_is_bounded() -> None:
    buckets = TokenBuckets(burst=60, per_second=1)
    for number in range(25_000):
        buckets.take(str(number), number / 1000)
    assert len(buckets) <= BUCKETS_MAX


# Bodies


def test_a_body_that_is_too_large_is_refused_by_what_it_announces(open_house: Opener) -> None:
    ask = open_house(PATIENT._replace(body_bytes_max=1_000)).ask()
    assert code(ask.post("/v1/memories", {"content": "x" * 2_000})) == (413, "body_too_large")


def test_a_body_that_announces_nothing_is_refused_when_it_is_too_large(open_house: Opener) -> None:
    ask = open_house(PATIENT._replace(body_bytes_max=1_000)).ask()
    pieces = iter([b'{"content": "', *[b"x" * 100] * 20, b'"}'])
    headers = {"Content-Type": "application/json"}
    answer = ask("POST", "/v1/memories", content=pieces, headers=headers)
    assert code(answer) == (413, "body_too_large")


def test_three_megabytes_are_the_limit_unless_it_is_set(ask: Asking) -> None:
    assert code(ask.post("/v1/memories", {"content": "x" * 3_000_000})) == (413, "body_too_large")


def test_a_body_that_comes_too_slowly_is_refused() -> None:
    from holdfast.edges.http.limits import Bodies

    async def scene() -> list[Any]:
        said: list[Any] = []

        async def send(message: Any) -> None:
            said.append(message)

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def never(*_: object) -> None:
            raise AssertionError("a route was asked before its body was there")

        bodies = Bodies(never, limits=Limits(body_seconds_max=0.01))
        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "path": "/v1/memories", "method": "POST", "headers": headers}
        await bodies(scope, receive, send)
        return said

    start, body = asyncio.run(scene())
    assert start["status"] == 408
    assert b'"too_slow"' in body["body"]


# Keys


@pytest.mark.parametrize("name", ["key", "api_key", "apikey", "token", "access_token", "Token"])
def test_a_key_in_the_address_is_refused(house: House, ask: Asking, name: str) -> None:
    answer = ask.get("/v1/hub", params={name: ask.key})
    assert code(answer) == (400, "key_in_query")
    assert ask.key not in answer.text


@pytest.mark.parametrize("name", ["auth", "Authorization", "x-api-key", "secret", "q", "order"])
def test_a_key_in_the_address_is_known_under_any_name(house: House, name: str) -> None:
    ask = house.ask(house.member("ben", "contributor"))
    for value in (ask.key, f"Bearer {ask.key}"):
        answer = ask.get("/v1/memories", params={name: value})
        assert code(answer) == (400, "key_in_query")
        assert ask.key not in answer.text


def test_an_address_with_a_slash_too_many_is_not_sent_on_elsewhere(ask: Asking) -> None:
    # Behind a proxy that speaks TLS, a redirect would lead to an address without it: a client that
    # follows it sends its key in the clear.
    for method, path in (("GET", "/v1/memories/"), ("POST", "/v1/hubs/"), ("GET", "/healthz/")):
        answer = ask(method, path)
        assert code(answer) == (404, "not_found")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic abc", "Bearer hf_wrong", "Bearer wrong", "Bearer hf_\u00e4"],
)
def test_a_key_that_opens_nothing_is_401(ask: Asking, header: str) -> None:
    answer = ask.get("/v1/hub", headers={"Authorization": header.encode("utf-8")})
    assert code(answer) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_key_opens_nothing_at_once(house: House, ask: Asking) -> None:
    made = ask.post("/v1/keys", {"name": "laptop"}).json()["data"]
    laptop = house.ask(made["secret"])
    assert laptop.get("/v1/hub").status_code == 200
    assert ask("DELETE", f"/v1/keys/{made['id']}").json()["data"]["revoked_at"]
    assert code(laptop.get("/v1/hub")) == (401, "unauthorized")


def test_an_expired_key_opens_nothing(house: House) -> None:
    core = house.memory.core
    past = core.now() - timedelta(seconds=1)
    expired = keys.create_key(core, "old", expires_at=past).secret
    assert code(house.ask(expired).get("/v1/hub")) == (401, "unauthorized")


def test_unknown_revoked_and_expired_keys_read_the_same(house: House, ask: Asking) -> None:
    core = house.memory.core
    expired = keys.create_key(core, "old", expires_at=core.now()).secret
    revoked = keys.create_key(core, "gone")
    keys.revoke_key(core, revoked.what.id)
    told = {
        house.ask(key).get("/v1/hub").text for key in (expired, revoked.secret, "hf_" + "A" * 43)
    }
    assert len(told) == 1


def test_without_a_key_this_machine_s_own_requests_are_its_owners(house: House) -> None:
    from starlette.testclient import TestClient

    app = make_app(house.memory, key_needed=False, limits=PATIENT)
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post("/v1/memories", json={"content": "Ada prefers tabs"})
        assert answer.status_code == 201
        assert answer.json()["data"]["owner"] == "olga"
        # Whoever brings a key that opens nothing is not let in as the owner.
        wrong = client.get("/v1/hub", headers={"Authorization": "Bearer hf_wrong"})
        assert wrong.status_code == 401


# The same on a real connection


def test_a_real_server_cuts_off_slow_and_endless_bodies_and_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path, PATIENT._replace(body_bytes_max=100_000, body_seconds_max=0.2))
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {house.key()}\r\n"
        "Content-Type: application/json\r\n"
    )

    def sent(url: str, *pieces: str) -> bytes:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as line:
            try:
                for piece in pieces:
                    line.sendall(piece.encode())
            except OSError:
                pass  # It hangs up while we talk, as it may.
            answer = b""
            try:
                while b"}}" not in answer and (piece_ := line.recv(65_536)):
                    answer += piece_
            except OSError:
                pass
            return answer

    with served(house.app) as url:
        slow = sent(url, head + "Content-Length: 1000\r\n\r\n", '{"content": "')
        assert slow.startswith(b"HTTP/1.1 408"), slow
        announced = sent(url, head + "Content-Length: 99999999\r\n\r\n", "{")
        assert announced.startswith(b"HTTP/1.1 413"), announced
        chunk = f"{50_000:x}\r\n{'x' * 50_000}\r\n"
        endless = sent(url, head + "Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 4)
        assert endless.startswith(b"HTTP/1.1 413"), endless
        for odd in ("GET\r\n\r\n", "\x00\x01\x02", "GET / HTTP/9.9\r\n\r\n", "A" * 200_000):
            assert not sent(url, odd, "\r\n\r\n").startswith(b"HTTP/1.1 5")
        good = '{"content": "Ada prefers tabs"}'
        assert b" 201 " in sent(url, head + f"Content-Length: {len(good)}\r\n\r\n" + good)[:20]
    house.memory.close()


# Deadlines


@pytest.mark.parametrize(
    "path", ["/v1/memories", "/v1/usage", "/v1/changes", "/v1/review", "/v1/decisions"]
)
def test_a_request_that_takes_too_long_is_ended(
    ask: Asking, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    assert ask.get(path).status_code == 200
    hours = itertools.count(0, 3600)
    monkeypatch.setattr("holdfast.engine.core.monotonic", lambda: float(next(hours)))
    assert code(ask.get(path)) == (504, "deadline_exceeded")


def test_the_store_gets_the_deadline(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float | None] = []
    store = house.memory.core.store
    read = store.read

    def watched(*, deadline_s: float | None = None, **options: Any) -> Any:
        given.append(deadline_s)
        return read(deadline_s=deadline_s, **options)

    monkeypatch.setattr(store, "read", watched)
    assert ask.get("/v1/memories").status_code == 200
    assert any(left is not None and 0 < left <= 30 for left in given)


def test_an_export_takes_as_long_as_it_takes(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count(0, 3600)
    monkeypatch.setattr("holdfast.engine.core.monotonic", lambda: float(next(hours)))
    assert ask.get("/v1/export").status_code == 200
