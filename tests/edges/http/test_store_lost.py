"""A store that is lost under a server: the answer says whether to send the request again."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.api.hub import HubMemory
from holdfast.engine import idempotency
from holdfast.errors import ServerUnreachable
from tests.edges.http.conftest import Asking


@pytest.mark.parametrize(
    ("error", "status", "code", "later"),
    [
        (ServerUnreachable("Gone.", again=True), 503, "store_unreachable", True),
        (ServerUnreachable("A part was written."), 500, "store_error", False),
        (ServerUnreachable("Nobody knows.", in_doubt=True), 500, "in_doubt", False),
    ],
)
def test_only_what_was_not_written_is_to_be_sent_again(
    ask: Asking,
    monkeypatch: pytest.MonkeyPatch,
    error: ServerUnreachable,
    status: int,
    code: str,
    later: bool,
) -> None:
    def lose(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(HubMemory, "log_turn", lose)
    answer = ask.post("/v1/log", {"role": "user", "content": "Hello"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ("retry-after" in answer.headers) is later


@pytest.mark.parametrize("where", ["claim", "keep"])
def test_a_store_that_is_lost_beside_the_work_is_waited_for(
    ask: Asking, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = getattr(idempotency, where)
    lost: list[str] = []

    def lose_once(*values: Any, **named: Any) -> Any:
        if not lost:
            lost.append(where)
            raise ServerUnreachable("Gone.", again=True)
        return real(*values, **named)

    monkeypatch.setattr(idempotency, where, lose_once)
    said = {"role": "user", "content": "Hello"}
    first = ask.post("/v1/log", said, headers={"Idempotency-Key": "one"})
    again = ask.post("/v1/log", said, headers={"Idempotency-Key": "one"})
    assert (lost, first.status_code, again.json()) == ([where], 201, first.json())


def test_what_became_of_the_work_is_reported_where_the_store_stays_lost(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object, **__: object) -> None:
        raise ServerUnreachable("Nobody knows.", in_doubt=True)

    def still_lost(*_: object) -> None:
        raise ServerUnreachable("Gone.", again=True)

    monkeypatch.setattr(HubMemory, "log_turn", lose)
    monkeypatch.setattr(idempotency, "release", still_lost)
    said = {"role": "user", "content": "Hello"}
    answer = ask.post("/v1/log", said, headers={"Idempotency-Key": "one"})
    assert answer.json()["error"]["code"] == "in_doubt"
