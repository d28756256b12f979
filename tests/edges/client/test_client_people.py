"""Who may do what through a server, as a client sees it: keys, members, invitations, and hubs that
are nobody else's business."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from tests.edges.client.servers import Served, served


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Served]:
    """A server that wants keys."""
    with served(tmp_path / "served", key_needed=True) as running:
        running.memory.create_hub("work").remember("The boat is called Heron")
        yield running


def test_a_key_is_needed_and_a_wrong_one_is_not_enough(guarded: Served) -> None:
    for key in (None, "hf_wrong"):
        with holdfast.Client(guarded.url, key) as client, pytest.raises(holdfast.Forbidden):
            client.hubs()


def test_a_client_sees_the_hubs_of_its_key_and_no_others(guarded: Served) -> None:
    with holdfast.Client(guarded.url, guarded.key(actor="bob")) as bob:
        assert bob.hubs() == []
        with pytest.raises(holdfast.NotFound, match="There is no hub `work`"):
            bob.hub("work")
    with holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work") as ada:
        assert [hub.name for hub in ada.hubs()] == ["work"]
        assert ada.hub().name == "work"


def test_hubs_are_made_renamed_and_deleted(guarded: Served) -> None:
    with holdfast.Client(guarded.url, guarded.key(actor="bob")) as bob:
        made = bob.create_hub("küche")
        made.remember("Salt is in the left drawer")
        assert bob.hub("küche").id == bob.hub("küche", create=True).id == made.id
        assert bob.hub("garten", create=True).name == "garten"
        with pytest.raises(holdfast.AlreadyExists):
            bob.create_hub("garten")
        assert bob.rename_hub("küche", "kitchen").name == "kitchen"
        assert bob.delete_hub("kitchen").id == made.id
        assert [hub.name for hub in bob.hubs()] == ["garten"]


def test_an_invitation_makes_a_member_whose_role_holds(guarded: Served) -> None:
    ada = holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work")
    bob = holdfast.Client(guarded.url, guarded.key(actor="bob"), hub="work")
    with ada, bob:
        invited = ada.invite("viewer", days=1)
        assert [one.id for one in ada.invites()] == [invited.what.id]
        assert bob.accept_invite(invited.secret).role == "viewer"
        assert bob.hub().recall("boat called")[0].memory.content == "The boat is called Heron"
        with pytest.raises(holdfast.Forbidden):
            bob.hub().remember("The boat is called Egret")
        assert ada.set_member("bob", "contributor").role == "contributor"
        assert bob.hub().remember("The window is open").memory.owner == "bob"
        assert {one.actor: one.role for one in ada.members()} == {
            "ada": "owner",
            "bob": "contributor",
        }
        ada.remove_member("bob")
        with pytest.raises(holdfast.NotFound):
            bob.hub()
        other = ada.invite()
        ada.withdraw_invite(other.what.id)
        with pytest.raises(holdfast.HoldfastError):
            bob.accept_invite(other.secret)


def test_keys_are_made_listed_and_revoked(guarded: Served) -> None:
    with holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work") as ada:
        handed = ada.create_key("ci", hubs=["work"], read_only=True)
        with holdfast.Client(guarded.url, handed.secret, hub="work") as reader:
            assert reader.hub().list()
            with pytest.raises(holdfast.Forbidden):
                reader.hub().remember("No")
            listed = ada.keys()
            assert [key.read_only for key in listed if key.id == handed.what.id] == [True]
            assert ada.revoke_key(handed.what.id).revoked_at is not None
            with pytest.raises(holdfast.Forbidden):
                reader.hub()


def test_what_is_private_to_somebody_stays_so_in_every_answer(guarded: Served) -> None:
    ada = holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work")
    with ada, holdfast.Client(guarded.url, guarded.key(actor="bob"), hub="work") as bob:
        ada.set_member("bob", "contributor")
        secret = ada.hub().remember("Zanzibar is the surprise", boundary="private").memory
        ada.hub().journal_add("Bought tickets", at="2026-05-27T12:00:00Z")
        hub = bob.hub()
        assert hub.journal("2026-05-27")[0].entries[0].text == "Bought tickets"
        assert "Zanzibar" not in "\n".join(hub.export())
        answers = [hub.recall("Zanzibar surprise"), hub.search_text("Zanzibar"), hub.list()]
        answers += [list(hub.scan()), hub.context("Zanzibar"), hub.heard("Zanzibar is the")]
        touched = hub.touched([change.id for change in ada.hub().changes()])
        assert "Zanzibar" not in repr((answers[:5], touched))
        for ask in (hub.get, hub.find, hub.history, hub.related, hub.diff, hub.access, hub.pin):
            with pytest.raises(holdfast.NotFound):
                ask(secret.id)


def test_the_log_and_the_export_are_for_members(guarded: Served) -> None:
    from holdfast.engine.people import members, teams

    core = guarded.memory.core
    org = teams.create_org(core, "Acme")
    team = teams.create_team(core, org.id, "Tools")
    members.set_member(core, "team", team.id, "eve", "viewer")
    hub = guarded.memory.hub("work")
    members.set_card(core, hub.id, team_id=team.id)
    hub.remember("For the whole team", boundary="team")
    hub.log_turn("user", "Between us")
    with holdfast.Client(guarded.url, guarded.key(actor="eve"), hub="work") as eve:
        there = eve.hub()
        assert [one.content for one in there.list()] == ["For the whole team"]
        for ask in (there.turns, lambda: there.search_turns("us"), lambda: [*there.export()]):
            with pytest.raises(holdfast.Forbidden):
                ask()
        with pytest.raises(holdfast.Forbidden):
            there.recovery_prompt()


def test_organisations_and_teams_through_a_server(guarded: Served) -> None:
    ada = holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work")
    tim = holdfast.Client(guarded.url, guarded.key(actor="tim"), hub="work")
    with ada, tim:
        org = ada.create_org("Acme")
        team = ada.create_team("Tools", org="Acme")
        assert (ada.orgs(), ada.teams(), ada.teams("Acme")) == ([org], [team], [team])
        with pytest.raises(holdfast.AlreadyExists):
            ada.create_team("Tools", org=org.id)
        invited = ada.invite("viewer", team="Tools")
        assert [one.scope_id for one in ada.invites(team="Tools")] == [team.id]
        assert tim.accept_invite(invited.secret).scope == "team"
        assert tim.teams() == [team]
        assert [one.actor for one in tim.members(team="Tools")] == ["ada", "tim"]

        ada.hub().remember("For the team", boundary="team")
        assert ada.share(team="Tools").team_id == team.id
        assert [one.content for one in tim.hub().list()] == ["For the team"]
        for refused in (
            lambda: tim.rename_team("Tools", "Mine"),
            lambda: tim.remove_team("Tools"),
            lambda: tim.set_member("eve", "viewer", team="Tools"),
        ):
            with pytest.raises(holdfast.Forbidden):
                refused()
        with pytest.raises(holdfast.NotFound):
            tim.rename_org(org.id, "Mine")

        assert ada.set_member("tim", "admin", team="Tools").role == "admin"
        assert tim.set_member("eve", "viewer", team="Tools").added_by == "tim"
        tim.remove_member("eve", team="Tools")
        other = tim.invite("viewer", team="Tools")
        tim.withdraw_invite(other.what.id, team="Tools")
        assert ada.rename_team("Tools", "Makers").name == "Makers"
        assert ada.rename_org("Acme", "Ajax").name == "Ajax"
        with pytest.raises(holdfast.Conflict, match="still has teams"):
            ada.remove_org("Ajax")
        assert ada.remove_team("Makers").id == team.id
        with pytest.raises(holdfast.NotFound):
            tim.hub()
        assert ada.share(org="Ajax").org_id == org.id
        assert ada.share(org="", delete_policy="none") == (
            ada.hub().id,
            None,
            "none",
            None,
            "",
        )
        assert ada.remove_org("Ajax").id == org.id
        assert (ada.orgs(), ada.teams()) == ([], [])


def test_a_name_is_the_same_in_every_spelling(guarded: Served) -> None:
    with holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work") as ada:
        assert ada.set_member(" bob", " Viewer").actor == "bob"
        assert ada.set_member("bob\u3000", "admin").role == "admin"
        with pytest.raises(holdfast.InvalidInput, match="invisible"):
            ada.set_member("\u200bbob", "viewer")
        ada.remove_member(" bob")
        assert [one.actor for one in ada.members()] == ["ada"]


def test_names_may_hold_what_paths_are_made_of(guarded: Served) -> None:
    with holdfast.Client(guarded.url, guarded.key(actor="ada"), hub="work") as ada:
        org = ada.create_org("R&D / ümlaut?#%")
        team = ada.create_team("a/b", org="R&D / ümlaut?#%")
        for where in ({"team": "a/b"}, {"org": "R&D / ümlaut?#%"}, {"hub": "work"}):
            assert ada.set_member("bob/x y?#%2F", "viewer", **where).actor == "bob/x y?#%2F"
            assert "bob/x y?#%2F" in [one.actor for one in ada.members(**where)]
            ada.remove_member("bob/x y?#%2F", **where)
            assert [one.actor for one in ada.members(**where)] == ["ada"]
        assert ada.rename_team("a/b", "../orgs").name == "../orgs"
        assert ada.remove_team("../orgs").id == team.id
        assert ada.remove_org("R&D / ümlaut?#%").id == org.id


def test_a_client_runs_the_operations_on_people_that_an_open_memory_has() -> None:
    """They are declared once; a client writes none of its own."""
    from holdfast.api.operation import operations_of
    from holdfast.api.people import People

    declared = operations_of(People)
    assert {"orgs", "set_member", "invite", "create_key"} <= set(declared)
    for kind in (holdfast.Client, holdfast.Holdfast):
        assert operations_of(kind) == declared
        assert not set(declared) & set(vars(kind))


def test_a_name_of_somebody_elses_hub_reads_like_any_other(guarded: Served) -> None:
    """`work` is Ada's; Bob does not learn that it is."""
    with holdfast.Client(guarded.url, guarded.key(actor="bob")) as bob:
        taken, free = bob.create_hub("work"), bob.create_hub("field")
        assert (taken.name, free.name) == ("work", "field")
        assert bob.hub("work").id == taken.id
        bob.delete_hub("work")
        assert bob.rename_hub("field", "work").name == "work"
        assert [hub.name for hub in bob.hubs()] == ["work"]
    assert guarded.memory.hub("work").list()[0].content == "The boat is called Heron"
