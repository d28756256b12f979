"""Hubs, members, invitations and keys over REST."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.people import members, teams
from tests.edges.http.conftest import Asking, House


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()["data"]]


# Hubs


def test_whoever_makes_a_hub_owns_it(house: House) -> None:
    ben = house.ask(house.key("ben"), "garden")
    made = ben.post("/v1/hubs", {"name": "garden"})
    assert made.status_code == 201
    assert (made.json()["data"]["owner"], made.json()["data"]["role"]) == ("ben", "owner")
    assert names(ben.get("/v1/hubs")) == ["garden"]
    ben.push("Plant tomatoes")


def test_a_hub_is_meant_by_id_or_by_name(house: House, ask: Asking) -> None:
    by_name = house.ask(ask.key, "plans").get("/v1/hub").json()["data"]
    assert by_name["id"] == house.hub.id
    assert ask.get("/v1/hubs/plans").json()["data"]["id"] == house.hub.id


def test_two_hubs_of_one_name_are_refused(ask: Asking) -> None:
    answer = ask.post("/v1/hubs", {"name": "plans"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "already_exists")


def test_a_hub_is_renamed_and_deleted_by_its_owner_alone(house: House, ask: Asking) -> None:
    admin = house.ask(house.member("ben", "admin"))
    path = f"/v1/hubs/{house.hub.id}"
    assert admin("PATCH", path, json={"name": "mine"}).status_code == 403
    assert ask("PATCH", path, json={"name": "ours"}).json()["data"]["name"] == "ours"
    assert admin("DELETE", path).status_code == 403
    assert ask("DELETE", path).json() == {"data": {"deleted": house.hub.id}}
    assert ask.get("/v1/memories").status_code == 404


def test_a_change_of_a_hub_that_is_refused_changes_nothing(house: House, ask: Asking) -> None:
    house.memory.create_hub("taken")
    path = f"/v1/hubs/{house.hub.id}"
    for status, changes in (
        (409, {"name": "taken", "delete_policy": "any"}),
        (400, {"name": "new", "delete_policy": "some"}),
        (404, {"name": "new", "team": "nobody"}),
    ):
        assert ask("PATCH", path, json=changes).status_code == status
        told = ask.get(path).json()["data"]
        assert (told["name"], told["delete_policy"]) == ("plans", "own")


def test_a_hub_is_given_to_a_team_by_its_members_alone(house: House, ask: Asking) -> None:
    core = house.memory.core.acting("tess")
    org = teams.create_org(core, "org")
    team = teams.create_team(core, org.id, "team")
    path = f"/v1/hubs/{house.hub.id}"
    assert ask("PATCH", path, json={"team": team.id}).status_code == 404
    members.set_member(core, "org", org.id, "olga", "viewer")
    assert ask("PATCH", path, json={"team": team.id}).status_code == 403
    members.set_member(core, "team", team.id, "olga", "viewer")
    assert ask("PATCH", path, json={"team": team.id}).status_code == 200
    tess = house.ask(house.key("tess"))
    assert tess.get("/v1/hub").json()["data"]["role"] is None
    assert ask("PATCH", path, json={"team": ""}).status_code == 200
    assert tess.get("/v1/hub").status_code == 404


# Members


def test_members_are_added_changed_and_removed(house: House, ask: Asking) -> None:
    path = f"/v1/hubs/{house.hub.id}/members"
    assert ask("PUT", f"{path}/ben", json={"role": "viewer"}).status_code == 200
    ben = house.ask(house.key("ben"))
    assert ben.post("/v1/memories", {"content": "x"}).status_code == 403
    ask("PUT", f"{path}/ben", json={"role": "contributor"})
    assert ben.post("/v1/memories", {"content": "x"}).status_code == 201
    listed = ask.get(path).json()["data"]
    assert [(one["actor"], one["role"]) for one in listed] == [
        ("ben", "contributor"),
        ("olga", "owner"),
    ]
    assert ask("DELETE", f"{path}/ben").json() == {"data": {"removed": "ben"}}
    assert ben.get("/v1/memories").status_code == 404


def test_writing_without_the_right_to_has_a_code_of_its_own(house: House) -> None:
    viewer = house.ask(house.member("vera", "viewer"))
    answer = viewer.post("/v1/memories", {"content": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_write_access")


def test_an_admin_neither_makes_nor_changes_nor_removes_owners(house: House) -> None:
    admin = house.ask(house.member("ada", "admin"))
    house.member("otto", "owner")
    path = f"/v1/hubs/{house.hub.id}"
    for method, target, body in (
        ("PUT", "members/ada", {"role": "owner"}),
        ("PUT", "members/ada", {"role": " OWNER "}),
        ("PUT", "members/otto", {"role": "viewer"}),
        ("DELETE", "members/otto", None),
        ("POST", "invites", {"role": "owner"}),
    ):
        assert admin(method, f"{path}/{target}", json=body).status_code == 403, (method, target)
    assert admin("PUT", f"{path}/members/olga", json={"role": "viewer"}).status_code in (403, 409)


def test_who_made_a_hub_stays_its_owner(house: House, ask: Asking) -> None:
    path = f"/v1/hubs/{house.hub.id}/members/olga"
    assert ask("DELETE", path).status_code == 409
    assert ask("PUT", path, json={"role": "viewer"}).status_code == 409


def test_anyone_may_leave_but_not_with_a_limited_key(house: House) -> None:
    house.member("ben", "viewer")
    path = f"/v1/hubs/{house.hub.id}/members/ben"
    for limits in ({"read_only": True}, {"hubs": [house.hub.id]}):
        assert house.ask(house.key("ben", **limits))("DELETE", path).status_code == 403
    assert house.ask(house.key("ben"))("DELETE", path).status_code == 200


# Invitations


def test_an_invitation_gives_its_role_once(house: House, ask: Asking) -> None:
    made = ask.post(f"/v1/hubs/{house.hub.id}/invites", {"role": "contributor"})
    assert made.status_code == 201
    token = {"token": made.json()["data"]["token"]}
    ben, cleo = house.ask(house.key("ben")), house.ask(house.key("cleo"))
    taken = ben.post("/v1/invites/accept", token)
    assert (taken.status_code, taken.json()["data"]["role"]) == (200, "contributor")
    assert ben.post("/v1/memories", {"content": "x"}).status_code == 201
    assert cleo.post("/v1/invites/accept", token).status_code == 404
    (listed,) = ask.get(f"/v1/hubs/{house.hub.id}/invites").json()["data"]
    assert listed["used_by"] == "ben"
    assert "token" not in listed


def test_an_invitation_never_takes_a_role_away(house: House, ask: Asking) -> None:
    token = ask.post(f"/v1/hubs/{house.hub.id}/invites", {"role": "viewer"}).json()["data"]["token"]
    admin = house.ask(house.member("ada", "admin"))
    assert admin.post("/v1/invites/accept", {"token": token}).json()["data"]["role"] == "admin"


def test_used_old_withdrawn_and_made_up_invitations_read_the_same(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = house.memory.core
    withdrawn, used, old = (members.invite(core, "hub", house.hub.id, "viewer") for _ in range(3))
    members.withdraw(core, withdrawn.what.id)
    members.accept(core, used.secret, "cleo")
    later = core.now() + timedelta(days=8)
    monkeypatch.setattr(core, "clock", type("Clock", (), {"now": lambda self: later})())
    ben = house.ask(house.key("ben"))
    told = {
        ben.post("/v1/invites/accept", {"token": token}).text
        for token in (withdrawn.secret, used.secret, old.secret, "made-up", "")
    }
    assert len(told) == 1


# Keys


def test_a_key_is_told_once_and_listed_without_its_secret(ask: Asking) -> None:
    made = ask.post("/v1/keys", {"name": "laptop"})
    assert made.status_code == 201
    secret = made.json()["data"]["secret"]
    assert secret.startswith("hf_")
    listed = ask.get("/v1/keys")
    assert secret not in listed.text
    assert "laptop" in names(listed)


def test_keys_are_ones_own(house: House, ask: Asking) -> None:
    ask.post("/v1/keys", {"name": "of olga"})
    assert names(house.ask(house.key("ben")).get("/v1/keys")) == ["of ben"]


@pytest.mark.parametrize("limit", ["hubs", "read_only", "no_delete"])
def test_a_limited_key_does_not_tell_of_the_others(house: House, ask: Asking, limit: str) -> None:
    ask.post("/v1/keys", {"name": "for another hub"})
    body: dict[str, Any] = {"name": "mine", limit: [house.hub.id] if limit == "hubs" else True}
    secret = ask.post("/v1/keys", body).json()["data"]["secret"]
    assert names(house.ask(secret).get("/v1/keys")) == ["mine"]
    assert len(names(ask.get("/v1/keys"))) > 2


def test_a_key_for_some_hubs_names_only_hubs_in_reach(house: House, ask: Asking) -> None:
    good = ask.post("/v1/keys", {"name": "k", "hubs": ["plans"]}).json()["data"]
    assert good["hubs"] == [house.hub.id]
    ben = house.ask(house.key("ben"))
    assert ben.post("/v1/keys", {"name": "k", "hubs": [house.hub.id]}).status_code == 404


def test_the_last_use_of_a_key_is_noted(house: House, ask: Asking) -> None:
    ask.get("/v1/hub")
    (listed,) = ask.get("/v1/keys").json()["data"]
    assert listed["used_at"]


@pytest.mark.parametrize(
    "limits", [{"read_only": True}, {"no_delete": True}, {"hubs": ["plans"]}], ids=str
)
def test_a_limited_key_makes_no_keys_and_ends_only_itself(
    house: House, ask: Asking, limits: dict[str, Any]
) -> None:
    made = ask.post("/v1/keys", {"name": "limited", **limits}).json()["data"]
    other = ask.post("/v1/keys", {"name": "other"}).json()["data"]
    limited = house.ask(made["secret"])
    assert limited.post("/v1/keys", {"name": "more"}).status_code == 403
    assert limited("DELETE", f"/v1/keys/{other['id']}").status_code == 403
    assert limited("DELETE", f"/v1/keys/{made['id']}").status_code == 200
    assert limited.get("/v1/hub").status_code == 401


def test_no_secret_is_in_the_store(house: House, ask: Asking) -> None:
    key = ask.post("/v1/keys", {"name": "laptop"}).json()["data"]["secret"]
    token = ask.post(f"/v1/hubs/{house.hub.id}/invites", {}).json()["data"]["token"]
    house.memory.close()
    for file in Path(house.memory.home).rglob("*"):
        if file.is_file():
            held = file.read_bytes()
            assert key.encode() not in held
            assert token.encode() not in held
