"""What a server tells of itself: request ids, lines in a log, counts, health and readiness."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from threading import Event

import pytest

from holdfast import Holdfast
from holdfast.edges.http import health
from tests.edges.http.conftest import Asking, House

SECRET = "zanzibar"


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [json.loads(one.message) for one in caplog.records if one.name == "holdfast.http"]


def test_each_answer_has_a_request_id_of_its_own(ask: Asking) -> None:
    ids = {ask.get(path).headers["X-Request-ID"] for path in ("/v1/hub", "/healthz", "/nowhere")}
    assert len(ids) == 3


def test_a_request_id_of_the_client_is_taken_over_where_it_is_harmless(ask: Asking) -> None:
    given = {"X-Request-ID": "trace-7.A_b"}
    assert ask.get("/v1/hub", headers=given).headers["X-Request-ID"] == "trace-7.A_b"
    for harmful in ('x" onload', "a b", "x" * 65, "ä".encode()):
        answer = ask.get("/v1/hub", headers={"X-Request-ID": harmful})
        assert answer.headers["X-Request-ID"].isalnum()
        assert len(answer.headers["X-Request-ID"]) == 32


def test_each_request_is_a_line_without_keys_texts_or_queries(
    ask: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "holdfast.http"):
        made = ask.push(f"The {SECRET} opens at six", key=f"key-{SECRET}")
        ask.get(f"/v1/memories/key-{SECRET}", headers={"X-Request-ID": "mine"})
        ask.get(f"/v1/memories/search?q={SECRET}")
        ask.get(f"/{SECRET}")
    told = lines(caplog)
    assert [line["status"] for line in told] == [201, 200, 200, 404]
    assert told[1]["request"] == "mine"
    assert set(told[0]) == {"request", "method", "route", "status", "ms"}
    text = caplog.text
    assert SECRET not in text
    assert ask.key not in text
    assert made["id"] not in text


def test_metrics_count_by_route_and_hold_no_keys_texts_or_ids(
    open_house: Callable[..., House],
) -> None:
    ask = open_house().ask()
    made = ask.push(f"The {SECRET} opens at six")
    ask.get(f"/v1/memories/{made['id']}")
    ask.get(f"/v1/memories/search?q={SECRET}")
    ask("BREW", f"/v1/{SECRET}")
    answer = ask.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    told = answer.text
    assert 'holdfast_requests_total{method="POST",route="/memories",status="201"} 1.0' in told
    assert 'route="/memories/{memory_id}"' in told
    assert "holdfast_request_seconds_bucket" in told
    for secret in (SECRET, ask.key, made["id"], "BREW"):
        assert secret not in told


def test_metrics_are_for_who_may_use_the_server(ask: Asking) -> None:
    assert ask.get("/metrics", headers={"Authorization": ""}).status_code == 401


def test_a_server_is_up_and_ready_while_its_store_answers(house: House, ask: Asking) -> None:
    assert ask.get("/healthz").json() == {"data": {"status": "up"}}
    assert ask.get("/readyz").json() == {"data": {"status": "ready"}}
    house.memory.close()
    assert ask.get("/healthz").status_code == 200
    answer = ask.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"data": {"status": "not ready"}})


def test_a_server_whose_store_does_not_answer_says_soon_that_it_is_not_ready(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = Event()

    def waits(_: Holdfast) -> list[object]:
        # As long as a database that is down is waited for.
        silent.wait(16)
        return []

    monkeypatch.setattr(health, "_READY_WAIT_S", 0.3)
    with monkeypatch.context() as down:
        down.setattr(Holdfast, "hubs", waits)
        began = time.monotonic()
        # More than look at once: the last ones do not even begin.
        assert [ask.get("/readyz").status_code for _ in range(3)] == [503] * 3
        assert time.monotonic() - began < 12
        silent.set()
    assert ask.get("/readyz").status_code == 200


def test_a_closed_store_is_503_with_a_time_to_come_back(house: House, ask: Asking) -> None:
    house.memory.close()
    answer = ask.get("/v1/memories")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "stopping")
    assert answer.headers["Retry-After"]


def test_what_breaks_inside_is_reported_by_its_request_id_alone(
    ask: Asking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from holdfast.api.hub import HubMemory

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"the {SECRET} is broken")

    monkeypatch.setattr(HubMemory, "statistics", broken)
    answer = ask.get("/v1/usage")
    assert answer.status_code == 500
    error = answer.json()["error"]
    assert error["code"] == "internal"
    assert error["details"] == {"request_id": answer.headers["X-Request-ID"]}
    assert SECRET not in answer.text
    # The server's own log has it, for who mends it.
    assert SECRET in caplog.text
    assert ask.get("/v1/hub").status_code == 200
