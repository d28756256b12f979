"""Consolidation over REST and through the client: the same plan, the same checks, for those who
manage the hub."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast import Forbidden
from tests.edges.client.servers import served
from tests.edges.http.conftest import House


def test_a_plan_is_made_changed_and_done(house: House) -> None:
    house.hub.journal_add("Important: the gate is blue")
    house.hub.journal_add("Always signs commits")
    ask = house.ask()
    plan = ask.post("/v1/consolidation/plan").json()["data"]
    assert len(plan["steps"]) == 2
    plan["steps"] = [step for step in plan["steps"] if "gate" in step["text"]]
    done = ask.post("/v1/consolidation", {"plan": plan}).json()["data"]
    assert [one["memory"]["content"] for one in done["done"]] == ["Important: the gate is blue"]
    assert done["change"] is not None
    assert "backup" not in done
    assert ask.post("/v1/consolidation", {}).json()["data"]["done"] == []
    undone = ask.post("/v1/undo", {"change": done["change"]})
    assert undone.status_code == 200


def test_a_plan_that_is_none_is_refused(house: House) -> None:
    ask = house.ask()
    for plan in ({"steps": 5}, "Dear diary", {"hub": "plans", "made_at": "x"}):
        answer = ask.post("/v1/consolidation", {"plan": plan})
        assert answer.status_code in (400, 422), plan
        assert answer.json()["error"]["message"]


def test_a_plan_does_not_reach_what_its_sender_does_not_see(house: House) -> None:
    secret = house.hub.remember(
        "Important: the safe is behind the map", layer="journal", boundary="private"
    ).memory
    admin = house.ask(house.member("ann", "admin"))
    step = {"kind": "promote", "sources": [secret.number], "text": "I know", "category": "fact"}
    source = {"number": secret.number, "hash": secret.content_hash[:8], "day": "", "text": ""}
    plan = {"hub": "plans", "made_at": "2026-01-14T12:00:00Z", "steps": [step]}
    told = admin.post("/v1/consolidation", {"plan": {**plan, "sources": [source]}}).json()
    assert told["data"]["refused"][0]["reason"] == f"there is no #{secret.number}"
    assert "safe" not in admin.post("/v1/consolidation/plan").text


def test_who_contributes_does_not_consolidate(house: House) -> None:
    ask = house.ask(house.member("carl", "contributor"))
    assert ask.post("/v1/consolidation/plan").status_code == 403
    assert ask.post("/v1/consolidation", {}).status_code == 403


def test_the_client_plans_and_does_as_the_library_does(tmp_path: Path) -> None:
    with served(tmp_path, key_needed=True) as server:
        local = server.memory.hub()
        for text in ("Important: the gate is blue", "Always signs commits"):
            local.journal_add(text)
        with holdfast.Client(server.url, server.key()) as client:
            hub = client.hub()
            plan = hub.plan_consolidation()
            assert plan._replace(made_at=None) == local.plan_consolidation()._replace(made_at=None)  # type: ignore[arg-type]
            assert hub.consolidate(plan, dry_run=True).refused == ()
            done = hub.consolidate(plan.text)
            assert {one.memory.content for one in done.done} == {step.text for step in plan.steps}
            assert hub.consolidate().skipped == local.consolidate().skipped != ""
            assert hub.undo().undone.id == done.change
        with (
            holdfast.Client(server.url, server.key(hubs=[local.id])) as narrow,
            pytest.raises(Forbidden),
        ):
            narrow.hub().consolidate()
