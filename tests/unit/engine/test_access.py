"""Who may do what: roles, teams, invitations and keys."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import AlreadyExists, Conflict, Holdfast, HubMemory, InvalidInput, NotFound
from holdfast.domain.hub import ACTS, ROLES, Act, Key, Standing
from holdfast.engine.core import Core
from holdfast.engine.people import keys, members, teams
from holdfast.engine.people.records import parse_role
from holdfast.testing import START, FixedClock
from holdfast.text.names import parse_label
from tests.homes.traces import kept_in

# Who may do what: the one table that every route follows.
ALLOWED: dict[tuple[str | None, str], str] = {
    ("viewer", "own"): "read read_log",
    ("contributor", "none"): "read read_log write retire",
    ("contributor", "own"): "read read_log write retire delete_own",
    ("contributor", "any"): "read read_log write retire delete_own delete_any",
    ("admin", "none"): "read read_log write retire delete_own delete_any manage",
    ("owner", "none"): "read read_log write retire delete_own delete_any manage own",
}


@pytest.mark.parametrize(("who", "allowed"), ALLOWED.items(), ids=str)
@pytest.mark.parametrize("act", ACTS)
def test_a_role_allows_what_the_table_says(who: Any, allowed: str, act: Act) -> None:
    role, policy = who
    assert Standing("ada", role, ("hub",), policy).allows(act) == (act in allowed.split())


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("role", ROLES)
def test_a_key_only_ever_narrows(role: Any, act: Act) -> None:
    full = Standing("ada", role, ("hub",), "any")
    plain = Key("key_1", "ada", "laptop", START)
    assert full.allows(act, plain) == full.allows(act)
    assert full.allows(act, plain._replace(read_only=True)) == (act in ("read", "read_log"))
    kept = full.allows(act) and act not in ("retire", "delete_own", "delete_any")
    assert full.allows(act, plain._replace(no_delete=True)) == kept
    scoped = full.allows(act) and act not in ("manage", "own")
    assert full.allows(act, plain._replace(hubs=("hub_1",))) == scoped


def test_somebody_of_the_team_only_reads(core: Core) -> None:
    outside = Standing("bob", None, ("team", "org"))
    assert [act for act in ACTS if outside.allows(act)] == ["read"]
    assert not any(Standing("bob", None, ()).allows(act) for act in ACTS)


@pytest.fixture
def core(memory: Holdfast) -> Core:
    return memory.core


def test_whoever_makes_a_hub_owns_it_and_others_are_nothing_to_it(
    core: Core, hub: HubMemory
) -> None:
    mine = members.standing(core, hub.info, core.actor)
    assert mine is not None
    assert mine.role == "owner"
    assert members.standing(core, hub.info, "bob") is None
    assert [found.name for found, _ in members.hubs_of(core, core.actor)] == ["work"]
    assert members.hubs_of(core, "bob") == []


def test_a_member_has_a_role_until_it_is_taken_away(core: Core, hub: HubMemory) -> None:
    members.set_member(core, "hub", hub.id, "bob", "viewer")
    members.set_member(core, "hub", hub.id, "bob", parse_role(" Contributor"))
    assert [(one.actor, one.role) for one in members.members(core, "hub", hub.id)] == [
        ("bob", "contributor"),
        (core.actor, "owner"),
    ]
    found = members.standing(core, hub.info, "bob")
    assert found is not None
    assert found.role == "contributor"
    members.remove_member(core, "hub", hub.id, "bob")
    assert members.standing(core, hub.info, "bob") is None
    with pytest.raises(NotFound):
        members.remove_member(core, "hub", hub.id, "bob")


def test_team_and_organisation_see_what_is_for_them(core: Core, hub: HubMemory) -> None:
    org = teams.create_org(core, "Acme")
    team = teams.create_team(core, org.id, "Tools")
    members.set_card(core, hub.id, team_id=team.id)
    members.set_member(core, "team", team.id, "tim", "viewer")
    members.set_member(core, "org", org.id, "olga", "owner")
    members.set_member(core, "hub", hub.id, "hal", "viewer")
    for boundary in ("private", "hub", "team", "org"):
        hub.remember(f"For the {boundary}", boundary=boundary)
    sees = {
        "hal": ["hub", "team", "org"],
        "tim": ["team", "org"],
        "olga": ["org"],
    }
    for actor, boundaries in sees.items():
        how = members.standing(core, hub.info, actor)
        assert how is not None
        theirs = HubMemory(core.acting(actor, viewer=how.viewer), hub.info, hub.home)
        assert [one.boundary for one in theirs.list(order="oldest")] == boundaries
    assert members.standing(core, hub.info, "eve") is None
    members.set_card(core, hub.id, team_id="")
    assert members.standing(core, hub.info, "tim") is None


def test_names_are_taken_once(core: Core) -> None:
    org = teams.create_org(core, "Acme")
    other = teams.create_org(core, "Other")
    teams.create_team(core, org.id, "Tools")
    teams.create_team(core, other.id, "Tools")
    with pytest.raises(AlreadyExists, match="an organisation 'Acme' already"):
        teams.create_org(core, " Acme ")
    with pytest.raises(AlreadyExists, match="a team 'Tools' already"):
        teams.create_team(core, org.id, "Tools")
    assert [one.name for one in teams.orgs(core)] == ["Acme", "Other"]
    assert [one.name for one in teams.teams(core, org.id)] == ["Tools"]
    assert len(teams.teams(core)) == 2


def test_the_last_owner_stays(core: Core, hub: HubMemory) -> None:
    org = teams.create_org(core, "Acme")
    with pytest.raises(Conflict, match="last owner"):
        members.set_member(core, "org", org.id, core.actor, "viewer")
    with pytest.raises(Conflict, match="stays its owner") as refused:
        members.remove_member(core, "hub", hub.id, core.actor)
    assert "revoke their keys" in refused.value.hint
    members.set_member(core, "org", org.id, "bob", "owner")
    members.remove_member(core, "org", org.id, core.actor)
    assert [one.actor for one in members.members(core, "org", org.id)] == ["bob"]


def test_members_of_one_organisation_are_not_those_of_another(core: Core) -> None:
    first = teams.create_org(core, "A")
    second = teams.create_org(core, "B")
    members.set_member(core, "org", first.id, "bob/x", "viewer")
    assert members.role_in(core, "org", first.id, "bob/x") == "viewer"
    assert members.role_in(core, "org", second.id, "bob/x") is None
    assert [one.actor for one in members.members(core, "org", second.id)] == [core.actor]


WRONG: list[tuple[Any, str]] = [
    (lambda core, hub: parse_role("king"), "valid role"),
    (lambda core, hub: members.set_member(core, "hub", hub.id, "bob", "king"), "not parsed"),
    (lambda core, hub: members.set_member(core, "hub", hub.id, " bob", "viewer"), "not parsed"),
    (lambda core, hub: members.set_member(core, "hub", hub.id, " ", "viewer"), "empty"),
    (lambda core, hub: members.set_member(core, "hub", hub.id, "b" * 101, "viewer"), "longer"),
    (lambda core, hub: members.set_member(core, "hub", hub.id, "b\u200bb", "viewer"), "invisible"),
    # PostgreSQL cannot even be asked for it.
    (lambda core, hub: members.set_member(core, "hub", hub.id, "b\0b", "viewer"), "invisible|NUL"),
    (lambda core, hub: members.set_member(core, "club", hub.id, "bob", "viewer"), "scope"),
    (lambda core, hub: members.set_card(core, hub.id, delete_policy="all"), "delete policy"),
    (lambda core, hub: members.invite(core, "hub", hub.id, "viewer", days=0), "1 to 365"),
    (lambda core, hub: keys.create_key(core, "k", actor="bob "), "not parsed"),
    (lambda core, hub: parse_label("", "key"), "empty"),
]


@pytest.mark.parametrize(("act", "sentence"), WRONG)
def test_bad_input_is_refused(core: Core, hub: HubMemory, act: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        act(core, hub)


def test_what_is_not_there_is_not_found(core: Core, hub: HubMemory) -> None:
    for act in (
        lambda: teams.create_team(core, "org_x", "Tools"),
        lambda: members.set_card(core, hub.id, team_id="team_x"),
        lambda: members.members(core, "team", "team_x"),
        lambda: members.invite(core, "hub", "hub_x", "viewer"),
        lambda: keys.create_key(core, "laptop", hubs=["hub_x"]),
        lambda: keys.revoke_key(core, "key_x"),
        lambda: members.withdraw(core, "inv_x"),
    ):
        with pytest.raises(NotFound):
            act()


# Invitations


def test_an_invitation_gives_its_role_once(core: Core, hub: HubMemory) -> None:
    handed = members.invite(core, "hub", hub.id, "contributor")
    member = members.accept(core, handed.secret, "bob")
    assert (member.actor, member.role, member.added_by) == ("bob", "contributor", core.actor)
    with pytest.raises(NotFound, match="not valid"):
        members.accept(core, handed.secret, "eve")
    assert members.standing(core, hub.info, "eve") is None
    (used,) = members.invites(core, "hub", hub.id)
    assert used.used_by == "bob"


def test_a_token_that_is_old_wrong_or_withdrawn_is_refused_alike(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    old = members.invite(core, "hub", hub.id, "viewer", days=1)
    taken_back = members.invite(core, "hub", hub.id, "viewer", days=30)
    members.withdraw(core, taken_back.what.id)
    clock.tick(days=1)
    said = set()
    for token in (old.secret, taken_back.secret, "nonsense", "", "\ud800"):
        with pytest.raises(NotFound) as refused:
            members.accept(core, token, "bob")
        said.add(str(refused.value))
    assert len(said) == 1


def test_an_invitation_does_not_lower_a_role(core: Core, hub: HubMemory) -> None:
    members.set_member(core, "hub", hub.id, "bob", "admin")
    handed = members.invite(core, "hub", hub.id, "viewer")
    assert members.accept(core, handed.secret, "bob").role == "admin"
    assert members.role_in(core, "hub", hub.id, "bob") == "admin"


# Keys


def test_a_key_opens_until_it_is_revoked(core: Core) -> None:
    handed = keys.create_key(core, "laptop", read_only=True)
    assert handed.secret.startswith("hf_")
    assert len(handed.secret) > 40
    found = keys.find_key(core, handed.secret)
    assert found is not None
    assert (found.actor, found.read_only) == (core.actor, True)
    assert keys.has_keys(core)
    keys.revoke_key(core, found.id)
    assert keys.find_key(core, handed.secret) is None
    assert not keys.has_keys(core)
    assert keys.revoke_key(core, found.id).revoked_at == core.now()


def test_a_key_ends_when_it_is_to(core: Core, clock: FixedClock) -> None:
    handed = keys.create_key(core, "visit", expires_at=core.now() + timedelta(hours=1))
    assert keys.find_key(core, handed.secret) is not None
    clock.tick(hours=1)
    assert keys.find_key(core, handed.secret) is None


def test_the_secret_is_nowhere_in_the_store(memory: Holdfast, hub: HubMemory) -> None:
    from pathlib import Path

    key = keys.create_key(memory.core, "laptop").secret
    token = members.invite(memory.core, "hub", hub.id, "viewer").secret
    data = b"".join(kept for _, kept in kept_in(Path(memory.home)))
    assert b"laptop" in data
    assert key.removeprefix("hf_").encode() not in data
    assert token.encode() not in data


def test_the_last_use_is_noted_now_and_then(core: Core, clock: FixedClock) -> None:
    handed = keys.create_key(core, "laptop")
    first = clock.tick()
    keys.find_key(core, handed.secret)
    clock.tick(seconds=30)
    keys.find_key(core, handed.secret)
    assert keys.keys(core)[0].used_at == first
    later = clock.tick(minutes=2)
    keys.find_key(core, handed.secret)
    assert keys.keys(core)[0].used_at == later


@pytest.mark.parametrize("secret", ["", "hf_", "hf_wrong", "bearer", "hf_\ud800"])
def test_a_secret_that_is_none_opens_nothing(core: Core, secret: str) -> None:
    keys.create_key(core, "laptop")
    assert keys.find_key(core, secret) is None


def test_a_hub_that_goes_takes_its_members_along(memory: Holdfast, hub: HubMemory) -> None:
    members.set_member(memory.core, "hub", hub.id, "bob", "viewer")
    memory.delete_hub("work")
    again = memory.create_hub("work")
    assert members.standing(memory.core, again.info, "bob") is None
