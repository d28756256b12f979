"""Organisations and teams in the page: made, joined, renamed and removed, each as the role may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from holdfast.api.memory import Holdfast
from tests.edges.http.conftest import House
from tests.edges.web.conftest import PAGE

EVIL = "<script>alert('x')</script>\"'>"


def post(client: TestClient, path: str, **data: str) -> str:
    answer = client.post(path, data=data, headers=PAGE)
    assert answer.status_code in (200, 204), answer.text
    return answer.headers.get("hx-redirect", "") or answer.text


def test_an_organisation_and_its_team_are_made_and_removed(
    memory: Holdfast, client: TestClient
) -> None:
    org = post(client, "/h/default/orgs", name=f"Acme {EVIL[:20]}")
    assert re.fullmatch(r"/h/default/orgs/\w+", org)
    (made,) = memory.orgs()
    page = client.get(org).text
    assert "Acme &lt;script&gt;" in page and "<script>alert" not in page
    team = post(client, "/h/default/teams", name="Riggers", org=made.id)
    assert "Riggers" in client.get(team).text and "Riggers" in client.get("/h/default/orgs").text
    post(client, f"{team}/rename", name="Sailors")
    assert [one.name for one in memory.teams()] == ["Sailors"]
    refused = client.post(f"{org}/remove", headers=PAGE)
    assert refused.status_code >= 400 and memory.orgs()
    post(client, f"{team}/remove")
    post(client, f"{org}/remove")
    assert memory.orgs() == [] and memory.teams() == []


def test_members_and_invitations(memory: Holdfast, client: TestClient) -> None:
    org = memory.create_org("Acme")
    base = f"/h/default/orgs/{org.id}"
    assert "bo" in post(client, f"{base}/members", actor="bo", role="viewer")
    assert {one.actor: one.role for one in memory.members(org=org.id)}["bo"] == "viewer"
    shown = post(client, f"{base}/invites", role="contributor", days="3")
    found = re.search(r"<code>([^<]+)</code>", shown)
    assert found is not None
    assert memory.accept_invite(found[1], actor="cy").role == "contributor"
    # The token is shown once.
    again = client.get(base).text
    assert found[1] not in again and "used by cy" in again
    post(client, f"{base}/invites", role="viewer", days="1")
    open_one = next(one for one in memory.invites(org=org.id) if one.used_at is None)
    post(client, f"{base}/invites/withdraw", invite=open_one.id)
    assert [one for one in memory.invites(org=org.id) if one.used_at is None] == []
    post(client, f"{base}/members/remove", actor="bo")
    assert "bo" not in {one.actor for one in memory.members(org=org.id)}
    for days in ("0", "366", "x", "-1"):
        answer = client.post(f"{base}/invites", data={"role": "viewer", "days": days}, headers=PAGE)
        assert answer.status_code == 422


@contextmanager
def as_person(house: House, name: str) -> Iterator[TestClient]:
    headers = {"Authorization": f"Bearer {house.key(name)}"}
    with TestClient(house.app, base_url="http://localhost", headers=headers) as made:
        yield made


def test_each_sees_and_does_what_their_role_may(house: House) -> None:
    memory = house.memory
    org, other = memory.create_org("Acme"), memory.create_org("Secretive")
    team = memory.create_team("Riggers", org=org.id)
    memory.set_member("bo", "viewer", org=org.id)
    base = f"/h/{house.hub.name}"
    memory.set_member("bo", "viewer", hub=house.hub.name)
    with as_person(house, "bo") as bo:
        listed = bo.get(f"{base}/orgs").text
        assert "Acme" in listed and "Secretive" not in listed
        page = bo.get(f"{base}/orgs/{org.id}").text
        assert "Invitations" not in page and "Rename" not in page
        assert bo.get(f"{base}/orgs/{other.id}").status_code == 404
        for path, data in (
            (f"orgs/{org.id}/members", {"actor": "bo", "role": "owner"}),
            (f"orgs/{org.id}/invites", {"role": "admin"}),
            (f"orgs/{org.id}/rename", {"name": "Mine"}),
            (f"orgs/{org.id}/remove", {}),
            (f"teams/{team.id}/remove", {}),
            (f"orgs/{other.id}/members", {"actor": "bo", "role": "owner"}),
            ("teams", {"name": "Ours", "org": org.id}),
        ):
            answer = bo.post(f"{base}/{path}", data=data, headers=PAGE)
            assert answer.status_code in (403, 404), path
        assert [one.name for one in memory.orgs()] == ["Acme", "Secretive"]
        assert {one.actor: one.role for one in memory.members(org=org.id)}["bo"] == "viewer"
        # Anyone may leave.
        left = bo.post(f"{base}/orgs/{org.id}/members/remove", data={"actor": "bo"}, headers=PAGE)
        assert left.status_code in (200, 204)
        assert bo.get(f"{base}/orgs/{org.id}").status_code == 404
