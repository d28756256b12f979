"""Signing in by key: the cookie, what it opens, and what it does not."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from starlette.testclient import TestClient

from holdfast.edges.web.visit import NAME
from holdfast.engine.people import keys
from tests.edges.http.conftest import House
from tests.edges.web.conftest import PAGE


def sign_in(door: TestClient, key: str) -> str:
    """The token, which the client also keeps as a cookie."""
    answer = door.post("/sign-in", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 204
    return str(SimpleCookie(answer.headers["set-cookie"])[NAME].value)


def test_without_a_key_there_is_a_page_to_sign_in(door: TestClient) -> None:
    answer = door.get("/")
    assert answer.status_code == 401
    assert "Sign in" in answer.text
    assert "vault" not in answer.text
    assert door.get("/h/plans/m/1").status_code == 401


def test_a_key_signs_in_and_out(house: House, door: TestClient) -> None:
    sign_in(door, house.key())
    assert "The vault opens on Friday" in door.get("/h/plans").text
    answer = door.post("/sign-out", headers=PAGE)
    assert answer.headers["hx-redirect"] == "/sign-in"
    assert door.get("/h/plans").status_code == 401


def test_who_reaches_several_hubs_begins_in_one_of_them(house: House, door: TestClient) -> None:
    house.memory.hub("atlas", create=True).remember("The atlas is in the hall")
    sign_in(door, house.key())
    answer = door.get("/?q=atlas")
    assert (answer.status_code, answer.headers["location"]) == (303, "/h/atlas?q=atlas")
    page = door.get("/h/atlas")
    assert page.status_code == 200
    assert "The atlas is in the hall" in page.text and "/h/plans" in page.text


def test_who_reaches_no_hub_is_told_so(house: House, door: TestClient) -> None:
    sign_in(door, house.key("nobody"))
    answer = door.get("/")
    assert answer.status_code == 404
    assert "plans" not in answer.text


def test_a_token_that_was_signed_out_opens_nothing(house: House, door: TestClient) -> None:
    token = sign_in(door, house.key())
    door.post("/sign-out", headers=PAGE)
    assert door.get("/h/plans", headers={"Cookie": f"{NAME}={token}"}).status_code == 401


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
def test_the_cookie_is_closed_to_scripts_and_other_sites(
    house: House, scheme: str, secure: bool
) -> None:
    with TestClient(house.app, base_url=f"{scheme}://localhost") as door:
        answer = door.post("/sign-in", headers={"Authorization": f"Bearer {house.key()}"})
    morsel = SimpleCookie(answer.headers["set-cookie"])[NAME]
    assert morsel["httponly"]
    assert morsel["samesite"] == "Strict"
    assert bool(morsel["secure"]) == secure


def test_a_wrong_key_signs_nobody_in(door: TestClient) -> None:
    answer = door.post("/sign-in", headers={"Authorization": "Bearer hf_" + "x" * 43})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_cookie_opens_pages_and_not_the_api(house: House, door: TestClient) -> None:
    sign_in(door, house.key())
    assert door.get("/h/plans").status_code == 200
    for method, path in (
        ("GET", "/v1/memories"),
        ("POST", "/v1/memories"),
        ("POST", "/mcp"),
        ("GET", "/metrics"),
    ):
        headers = {"X-Hub-ID": house.hub.id}
        assert door.request(method, path, headers=headers).status_code in (401, 403), path


def test_a_write_by_cookie_needs_a_header_of_our_own_page(house: House, door: TestClient) -> None:
    sign_in(door, house.key())
    bare = door.post("/h/plans/m/1/forget")
    assert (bare.status_code, bare.json()["error"]["code"]) == (403, "client_header_missing")
    assert house.hub.get(1).forgotten_at is None
    assert door.post("/h/plans/m/1/forget", headers=PAGE).status_code == 200


def test_a_revoked_key_ends_its_sign_ins(house: House, door: TestClient) -> None:
    sign_in(door, house.key("olga"))
    assert door.get("/h/plans").status_code == 200
    for key in keys.keys(house.memory.core):
        keys.revoke_key(house.memory.core, key.id)
    answer = door.get("/h/plans/results", headers=PAGE)
    assert answer.status_code == 401
    assert answer.headers["hx-retarget"] == "#notices"
    assert "Sign in again" in answer.text


def test_the_page_offers_and_does_what_the_role_allows(house: House, door: TestClient) -> None:
    sign_in(door, house.member("vera", "viewer"))
    shown = door.get("/h/plans/m/1").text
    assert "The vault opens on Friday" in shown
    assert "/m/1/forget" not in shown
    assert "/m/1/edit" not in shown
    for action in ("forget", "pin", "archive", "edit"):
        data = {"version": "1", "content": "Changed"}
        answer = door.post(f"/h/plans/m/1/{action}", headers=PAGE, data=data)
        assert answer.status_code == 403, action
    memory = house.hub.get(1)
    assert (memory.version, memory.pinned, memory.state) == (1, False, "active")


def test_a_stranger_is_told_the_same_of_a_hub_that_is_there_and_one_that_is_not(
    house: House, door: TestClient
) -> None:
    sign_in(door, house.key("mallory"))
    there, not_there = door.get("/h/plans"), door.get("/h/other")
    assert there.status_code == not_there.status_code == 404
    assert there.text.replace("plans", "X") == not_there.text.replace("other", "X")


def test_sign_ins_are_kept_as_hashes(house: House, door: TestClient) -> None:
    token = sign_in(door, house.key())
    with house.memory.core.store.read() as reader:
        rows = list(reader.records("", "sign-in", limit=10))
    assert len(rows) == 1
    assert token not in repr(rows)


def test_members_and_keys_are_changed_by_those_who_may(house: House, door: TestClient) -> None:
    form = {"actor": "mallory", "role": "admin"}
    for who, role in (("vera", "viewer"), ("carl", "contributor")):
        sign_in(door, house.member(who, role))
        assert door.post("/h/plans/members", data=form, headers=PAGE).status_code == 403
        removing = door.post("/h/plans/members/remove", data={"actor": "vera"}, headers=PAGE)
        assert removing.status_code == 403
        assert door.post("/h/plans/doctor", headers=PAGE).status_code == 403
        assert door.post("/h/plans/files/memory-md", headers=PAGE).status_code == 403
    sign_in(door, house.member("anna", "admin"))
    owner = {"actor": "mallory", "role": "owner"}
    assert door.post("/h/plans/members", data=owner, headers=PAGE).status_code == 403
    assert door.post("/h/plans/members", data=form, headers=PAGE).status_code == 200
    held = {one.actor: one.role for one in house.memory.members("plans")}
    assert held["mallory"] == "admin"


def test_a_key_of_somebody_else_is_neither_seen_nor_revoked(house: House, door: TestClient) -> None:
    house.key()
    theirs = next(key for key in keys.keys(house.memory.core) if key.actor == "olga")
    sign_in(door, house.member("vera", "viewer"))
    assert theirs.id not in door.get("/h/plans/team").text
    assert door.post(f"/h/plans/keys/{theirs.id}/revoke", headers=PAGE).status_code == 404


def test_a_limited_key_makes_no_keys(house: House, door: TestClient) -> None:
    sign_in(door, house.key("olga", read_only=True))
    answer = door.post("/h/plans/keys", data={"name": "more"}, headers=PAGE)
    assert answer.status_code == 403


def test_every_page_shows_only_what_the_caller_may_see(house: House, door: TestClient) -> None:
    house.hub.remember("The private diary of Olga is in the attic", boundary="private")
    sign_in(door, house.member("vera", "viewer"))
    pages = (
        "",
        "?q=diary",
        "/today",
        "/agent",
        "/pictures",
        "/pictures/map-text",
        "/files",
        "/team",
    )
    for path in pages:
        answer = door.get(f"/h/plans{path}")
        assert answer.status_code == 200, path
        assert "attic" not in answer.text, path
    assert door.get("/h/plans/m/2").status_code == 404
    assert door.get("/h/plans/m/2/peek").status_code == 404
