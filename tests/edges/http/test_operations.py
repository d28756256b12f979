"""The route that runs operations for a remote hub: what it refuses, and how it streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.api.hub import HubMemory
from holdfast.api.operation import operations_of, remote_operations_of
from tests.edges.http.conftest import House


def run(house: House, operation: str, key: str | None = None, **arguments: Any) -> Any:
    ask = house.ask(key) if key else house.ask()
    return ask.post(f"/v1/operations/{operation}", {"arguments": arguments})


def test_what_is_no_operation_of_a_server_is_not_there(house: House) -> None:
    others = {*operations_of(HubMemory)} - {*remote_operations_of(HubMemory)}
    assert {"sync", "remember_file", "index_files", "export_files", "find_secrets"} <= others
    for name in (*others, "take_redacted", "core", "_perform", "__init__", "nothing"):
        answer = run(house, name)
        assert answer.status_code == 404, name
        assert "no operation" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("remember", {}),
        ("remember", {"content": 5}),
        ("remember", {"content": "x", "colour": "red"}),
        ("remember", {"content": "x", "attachment": {"hash": "ab"}}),
        ("remember", {"content": "x", "origin": {"turn": "t"}}),
        ("remember", {"content": "x", "ttl": 10**30}),
        ("remember_draft", {"draft": {"content": "x", "attachment": {"hash": "ab"}}}),
        ("remember_many", {"items": [{"kind": "object", "value": {"content": "x"}}]}),
        ("remember_many", {"items": ["x"] * 501}),
        ("get", {"reference": True}),
        ("get", {"reference": 2**70}),
        ("get", {"reference": ["1"]}),
        ("update", {"reference": 1, "hub_id": "hub_1"}),
        ("update", {"reference": 1, "title": 5}),
        ("recall", {"query": "x", "limit": 1_001}),
        ("recall", {"query": "x", "zone": "../../etc/passwd"}),
        ("recall", {"query": "x", "now": "2026-05-27T12:00:00"}),
        ("list", {"limit": 101}),
        ("list", {"limit": 0}),
        ("changes", {"limit": 201}),
        ("touched", {"changes": ["chg_1"] * 201}),
        ("forget_many", {"references": [1] * 101}),
        ("related", {"reference": 1, "limit": -1}),
        ("turns", {"limit": 0}),
        ("jobs", {"limit": 501}),
        ("journal", {"when": {"kind": "datetime", "value": "x"}}),
        ("context", {"count_tokens": {"kind": "function", "value": "print"}}),
        ("consolidate", {"plan": {"kind": "Plan", "value": {"hub": "x"}}}),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_are_refused(
    house: House, operation: str, arguments: dict[str, Any]
) -> None:
    house.hub.remember("One")
    answer = run(house, operation, **arguments)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"].rstrip().endswith(".")
    assert len(house.hub.list()) == 1


def test_a_list_without_a_limit_is_a_page(house: House) -> None:
    house.hub.remember_many([f"Note {number}" for number in range(101)])
    page = run(house, "list").json()["data"]
    assert len(page["items"]) == 100
    assert page["cursor"]


def test_a_stream_ends_with_a_line_that_says_so(house: House) -> None:
    house.hub.remember_many(["One", "Two"])
    lines = [json.loads(line) for line in run(house, "scan").text.splitlines()]
    assert [one["data"]["content"] for one in lines[:-1]] == ["One", "Two"]
    assert lines[-1] == {"end": True}


def test_an_error_in_a_stream_is_reported_in_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.engine.reading import listing
    from holdfast.errors import StoreError

    house.hub.remember("One")
    scan = listing.scan_memories

    def broken(*args: Any, **values: Any) -> Any:
        yield from scan(*args, **values)
        raise StoreError("The disk is gone.")

    monkeypatch.setattr(listing, "scan_memories", broken)
    lines = [json.loads(line) for line in run(house, "scan").text.splitlines()]
    assert lines[-1]["error"]["message"] == "The disk is gone."
    assert {"end": True} not in lines


def test_a_key_that_deletes_nothing_neither_compacts_nor_purges(house: House) -> None:
    key = house.key("olga", no_delete=True)
    for operation in ("compact", "purge_forgotten"):
        assert run(house, operation, key).status_code == 403
        assert run(house, operation, house.key("olga")).status_code == 200


def test_the_same_key_runs_an_operation_once(house: House) -> None:
    ask = house.ask()
    sent = {"arguments": {"role": "user", "content": "Once"}}
    for replayed in (None, "true"):
        answer = ask(
            "POST", "/v1/operations/log_turn", json=sent, headers={"Idempotency-Key": "one"}
        )
        assert answer.headers.get("Idempotent-Replay") == replayed
    assert len(house.hub.turns()) == 1


def test_where_files_are_is_not_for_a_caller_with_a_key(house: House) -> None:
    said = [{"role": "user", "content": "Hello"}]
    answer = run(house, "archive_conversation", house.key("olga"), session="s", messages=said)
    assert answer.json()["data"]["path"] is None
    assert house.memory.home not in answer.text
