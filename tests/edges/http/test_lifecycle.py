"""The lifecycle over REST and through the client: the same moves, for those who may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Forbidden
from tests.edges.client.servers import served
from tests.edges.http.conftest import House

OLD: dict[str, Any] = {"category": "daily", "occurred_at": "2024-05-03T00:00:00Z"}


def test_a_dry_run_tells_what_is_due_and_a_run_moves_it(house: House) -> None:
    house.hub.remember("Fetch the parcel", **OLD)
    ask = house.ask()
    due = ask.post("/v1/lifecycle", {"dry_run": True}).json()["data"]
    assert (due["dry_run"], due["change"]) == (True, None)
    assert [(one["memory"]["number"], one["to"]) for one in due["moves"]] == [(1, "archived")]
    assert "a daily note" in due["moves"][0]["reason"]
    assert house.hub.get(1).state == "active"
    done = ask.post("/v1/lifecycle", {}).json()["data"]
    assert [one["reason"] for one in done["moves"]] == [due["moves"][0]["reason"]]
    assert house.hub.get(1).state == "archived"
    assert ask.post("/v1/lifecycle", {}).json()["data"]["moves"] == []
    assert ask.post("/v1/undo", {"change": done["change"]}).status_code == 200
    assert house.hub.get(1).state == "active"


def test_one_category_can_be_run_alone(house: House) -> None:
    house.hub.remember("Fetch the parcel", **OLD)
    answer = house.ask().post("/v1/lifecycle", {"category": "preference"})
    assert answer.json()["data"]["moves"] == []


def test_who_may_not_manage_or_delete_runs_nothing(house: House) -> None:
    house.hub.remember("Fetch the parcel", **OLD)
    contributor = house.member("carl", "contributor")
    house.member("ann", "admin")
    for key in (
        contributor,
        house.key("ann", no_delete=True),
        house.key("ann", read_only=True),
        house.key("ann", hubs=[house.hub.id]),
    ):
        assert house.ask(key).post("/v1/lifecycle", {}).status_code == 403
    assert house.hub.get(1).state == "active"
    assert house.ask(house.key("ann")).post("/v1/lifecycle", {}).status_code == 200
    assert house.hub.get(1).state == "archived"


def test_what_is_private_to_others_moves_and_is_not_told(house: House) -> None:
    house.hub.remember("Fetch the parcel", boundary="private", **OLD)
    told = house.ask(house.member("ann", "admin")).post("/v1/lifecycle", {}).json()["data"]
    assert told["moves"] == []
    assert house.hub.get(1).state == "archived"


def test_statistics_tell_when_it_last_ran(house: House) -> None:
    ask = house.ask()
    assert ask.get("/v1/usage").json()["data"]["lifecycle_at"] is None
    ask.post("/v1/lifecycle", {"dry_run": True})
    assert ask.get("/v1/usage").json()["data"]["lifecycle_at"] is None
    ask.post("/v1/lifecycle", {})
    assert ask.get("/v1/usage").json()["data"]["lifecycle_at"] is not None


def test_the_client_runs_it_as_the_library_does(tmp_path: Path) -> None:
    with served(tmp_path / "served", key_needed=True) as server:
        local = server.memory.hub()
        local.remember("Fetch the parcel", **OLD)
        with holdfast.Client(server.url, server.key()) as client:
            hub = client.hub()
            assert hub.lifecycle(dry_run=True) == local.lifecycle(dry_run=True)
            assert hub.lifecycle(category="preference") == []
            moves = hub.lifecycle()
            assert [(move.memory.number, move.to) for move in moves] == [(1, "archived")]
            assert hub.undo().undone.id == moves.change
            assert hub.statistics().lifecycle_at == local.statistics().lifecycle_at is not None
        with holdfast.Client(server.url, server.key(no_delete=True)) as limited:
            assert limited.hub().lifecycle(dry_run=True) == []
            with pytest.raises(Forbidden, match="may not delete"):
                limited.hub().lifecycle()
