"""Organisations and teams: made, renamed, removed; and what a team leaves when it goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import AlreadyExists, Conflict, Holdfast, HubMemory, InvalidInput, NotFound
from holdfast.api.caller import Caller
from holdfast.domain.records import NO_HUB
from holdfast.engine.people import keys, members, teams
from holdfast.engine.upkeep import doctor
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import open_for_tests
from holdfast.wiring import open_store
from tests.postgres_server import database


@pytest.fixture(params=["sqlite", "memory", "postgresql"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Holdfast]:
    """On every store: what is found by its beginning depends on the order that a store keeps."""
    if request.param == "postgresql":
        with database() as url, open_for_tests(tmp_path, store=open_store(url)) as opened:
            yield opened
        return
    store = InMemoryStore() if request.param == "memory" else None
    with open_for_tests(tmp_path, store=store) as opened:
        yield opened


def caller(memory: Holdfast, actor: str, **scope: Any) -> Caller:
    handed = keys.create_key(memory.core, "laptop", actor=actor, **scope)
    return Caller(memory, keys.find_key(memory.core, handed.secret))


def test_organisations_and_teams_are_made_listed_and_renamed(memory: Holdfast) -> None:
    org = memory.create_org("Acme")
    team = memory.create_team("Tools", org="Acme")
    assert (memory.orgs(), memory.teams(org.id)) == ([org], [team])
    assert memory.rename_org("Acme", "Ajax").name == "Ajax"
    assert memory.rename_team("Tools", "Makers")._replace(name="Tools") == team
    assert [one.name for one in (*memory.orgs(), *memory.teams("Ajax"))] == ["Ajax", "Makers"]
    memory.rename_org("Ajax", "Ajax")


def test_two_of_one_name_are_refused_to_who_sees_the_first(memory: Holdfast) -> None:
    for name in ("Acme", "Other"):
        memory.create_org(name)
        memory.create_team("Tools", org=name)
    memory.create_team("More", org="Acme")
    for act in (
        lambda: memory.create_org("Acme"),
        lambda: memory.rename_org("Other", "Acme"),
        lambda: memory.create_team("Tools", org="Acme"),
        lambda: memory.rename_team("More", "Tools"),
    ):
        with pytest.raises(AlreadyExists):
            act()
    with pytest.raises(NotFound, match="Several teams are called 'Tools'"):
        memory.rename_team("Tools", "x")


def test_a_name_is_not_kept_from_who_does_not_see_whose_it_is(memory: Holdfast) -> None:
    memory.create_org("Acme")
    bob = memory.core.acting("bob")
    mine = teams.create_org(bob, "Acme", seen_by="bob")
    assert [org.id for org, _ in teams.orgs_of(memory.core, "bob")] == [mine.id]
    with pytest.raises(AlreadyExists):
        teams.create_org(bob, "Acme", seen_by="bob")
    other = teams.create_org(bob, "Other", seen_by="bob")
    with pytest.raises(AlreadyExists):
        teams.rename_org(bob, other.id, "Acme", seen_by="bob")


def test_what_was_for_a_team_is_for_the_members_of_the_hub_when_it_is_gone(
    memory: Holdfast, hub: HubMemory
) -> None:
    memory.create_org("Acme")
    team = memory.create_team("Tools", org="Acme")
    memory.set_member("tim", "viewer", team="Tools")
    memory.set_member("olaf", "viewer", org="Acme")
    memory.set_member("vera", "viewer", hub="work")
    memory.share("work", team="Tools")
    kept = {b: hub.remember(f"For the {b}", boundary=b).memory.id for b in ("team", "org")}
    token = memory.invite("viewer", team="Tools").secret
    assert {one.id for one in caller(memory, "tim").hub("work").list()} == set(kept.values())
    assert [one.id for one in caller(memory, "olaf").hub("work").list()] == [kept["org"]]

    assert memory.remove_team("Tools") == team
    for actor in ("tim", "olaf"):
        assert caller(memory, actor).hubs() == []
        with pytest.raises(NotFound):
            caller(memory, actor).hub("work")
    vera = caller(memory, "vera").hub("work")
    assert {one.id: one.boundary for one in vera.list()} == {kept[b]: b for b in kept}
    assert members.card(memory.core, hub.id).team_id is None
    with pytest.raises(NotFound, match="not valid"):
        memory.accept_invite(token, actor="eve")
    with pytest.raises(NotFound, match="There is no team 'Tools'"):
        memory.members(team="Tools")


def test_a_new_team_of_the_old_name_inherits_nothing(memory: Holdfast, hub: HubMemory) -> None:
    memory.create_org("Acme")
    memory.create_team("Tools", org="Acme")
    memory.share("work", team="Tools")
    hub.remember("For the old team", boundary="team")
    memory.remove_team("Tools")
    memory.create_team("Tools", org="Acme")
    memory.set_member("tim", "owner", team="Tools")
    assert caller(memory, "tim").hubs() == []


def test_an_organisation_with_teams_stays(memory: Holdfast, hub: HubMemory) -> None:
    memory.create_org("Acme")
    memory.create_team("Tools", org="Acme")
    with pytest.raises(Conflict, match="still has teams: Tools"):
        memory.remove_org("Acme")
    memory.share("work", org="Acme")
    memory.set_member("olaf", "viewer", org="Acme")
    assert len(caller(memory, "olaf").hubs()) == 1
    memory.remove_team("Tools")
    memory.remove_org("Acme")
    assert (memory.orgs(), caller(memory, "olaf").hubs()) == ([], [])


def test_a_hub_is_shared_with_an_organisation_as_a_whole(memory: Holdfast, hub: HubMemory) -> None:
    org = memory.create_org("Acme")
    team = memory.create_team("Tools", org="Acme")
    memory.set_member("olaf", "viewer", org="Acme")
    memory.set_member("tim", "viewer", team="Tools")
    for boundary in ("hub", "team", "org"):
        hub.remember(f"For the {boundary}", boundary=boundary)
    assert memory.share("work", org="Acme").org_id == org.id
    olaf = caller(memory, "olaf").hub("work")
    assert [one.content for one in olaf.list()] == ["For the org"]
    # Whoever is in one of its teams, and not in it, is not in it.
    assert caller(memory, "tim").hubs() == []
    # One of the two: the last that was said.
    card = memory.share("work", team="Tools", delete_policy="any")
    assert (card.team_id, card.org_id, card.delete_policy) == (team.id, None, "any")
    assert memory.share("work", team="").team_id is None
    with pytest.raises(InvalidInput, match="not to both"):
        memory.share("work", team="Tools", org="Acme")


def test_who_manages_an_organisation_manages_its_teams_and_sees_nothing_more(
    memory: Holdfast, hub: HubMemory
) -> None:
    memory.create_org("Acme")
    memory.create_team("Tools", org="Acme")
    memory.share("work", team="Tools")
    hub.remember("For the team", boundary="team")
    memory.set_member("anna", "admin", org="Acme")
    memory.set_member("olaf", "viewer", org="Acme")
    anna, olaf = caller(memory, "anna"), caller(memory, "olaf")
    assert anna.team("Tools", "manage")[1].role == "admin"
    assert olaf.team("Tools")[1].role is None
    assert anna.hub("work").list() == []


# What belongs to whom


def test_the_doctor_brings_back_entries_that_were_lost(memory: Holdfast, hub: HubMemory) -> None:
    core = memory.core
    memory.set_member("bob", "viewer", hub="work")
    bob = caller(memory, "bob")
    assert len(bob.hubs()) == 1
    with core.store.write() as writer:
        for one in writer.records(NO_HUB, "belongs", limit=500):
            writer.drop_record(NO_HUB, "belongs", one.id)
    assert bob.hubs() == []
    # Who knows its name reaches it all the same: an entry only says where to look.
    assert bob.hub("work").id == hub.id
    assert [one for one in doctor.mend(core).mended if "people have" in one]
    assert len(bob.hubs()) == 1
    assert doctor.mend(core).mended == []


def test_hubs_of_others_are_not_looked_at(
    memory: Holdfast, hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        memory.create_hub(f"hub{number}")
    memory.set_member("bob", "viewer", hub="work")
    memory.set_member("bob", "viewer", hub="hub7")
    bob = caller(memory, "bob")
    looked = []
    real = members._with_standing

    def seen(reader: Any, found: Any, actor: str) -> Any:
        looked.append(found.name)
        return real(reader, found, actor)

    monkeypatch.setattr(members, "_with_standing", seen)
    assert [found.name for found, _ in bob.hubs()] == ["hub7", "work"]
    assert sorted(looked) == ["hub7", "work"]


def test_entries_of_one_name_are_not_those_of_another(memory: Holdfast, hub: HubMemory) -> None:
    for actor in ("a", "a/hub/x", "a/", "1:a", "a/hub/"):
        memory.set_member(actor, "viewer", hub="work")
    other = memory.create_hub("other")
    memory.set_member("a/hub/x", "viewer", hub="other")
    found = {who: members.hubs_of(memory.core, who) for who in ("a", "a/hub/x", "a/hub/")}
    assert {who: len(hubs) for who, hubs in found.items()} == {"a": 1, "a/hub/x": 2, "a/hub/": 1}
    memory.delete_hub(other.name)
    assert len(members.hubs_of(memory.core, "a/hub/x")) == 1


def test_whoever_leaves_reaches_it_no_more_and_its_owner_always_does(
    memory: Holdfast, hub: HubMemory
) -> None:
    memory.set_member("bob", "viewer", hub="work")
    memory.remove_member("bob", hub="work")
    assert members.hubs_of(memory.core, "bob") == []
    lines = list(hub.export())
    copy = memory.import_hub(lines, name="copy")
    owner = memory.core.actor
    assert {found.id for found, _ in members.hubs_of(memory.core, owner)} == {hub.id, copy.id}
